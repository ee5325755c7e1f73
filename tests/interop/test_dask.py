"""dask and xarray: elementwise functions stay lazy and chunked, kernels go to workers."""

import numpy as np
import pytest

from symdiff import SymdiffError, symgrad

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

from symdiff.interop.dask import summed  # noqa: E402

X = np.arange(6.0)
SLOPES = np.array([0.0, *((X * np.cos(X) - np.sin(X))[1:] / X[1:] ** 2)])


@symgrad
def sinc(x):
    return np.sin(x) / x


@symgrad
def energy(x):
    return np.sum(np.expm1(x) / x)


CHUNKED = {
    "call": lambda x: sinc.grad(x),
    "map_blocks": lambda x: x.map_blocks(sinc.grad, dtype=float),
    "map_blocks without a dtype": lambda x: da.map_blocks(sinc.grad, x),
    "blockwise": lambda x: da.blockwise(sinc.grad, "i", x, "i", dtype=float),
    "apply_gufunc": lambda x: da.apply_gufunc(sinc.grad, "()->()", x, output_dtypes=float),
}


@pytest.mark.sampled
@pytest.mark.parametrize("apply", CHUNKED.values(), ids=CHUNKED)
def test_chunks_stay_chunks(apply):
    found = apply(da.from_array(X, chunks=2))
    assert isinstance(found, da.Array) and found.chunks == ((2, 2, 2),)
    np.testing.assert_allclose(found.compute(), SLOPES, rtol=1e-14, atol=1e-15)


def product(x, y):
    return np.sin(x) * y


TWO = symgrad(product)
Y = np.array([1.0, -0.5, 2.0, 3.0, 0.25, -1.0])
LAZY = {
    "gradient by two": lambda x, y: TWO.grad(x, y),
    "value and gradient": lambda x, y: TWO.value_and_grad(x, y),
    "hessian": lambda x, y: TWO.hessian(x, y),
    "mixed derivative": lambda x, y: TWO.diff("x", "y")(x, y),
    "jvp": lambda x, y: TWO.jvp((x, y), (y, x)),
    "vjp": lambda x, y: TWO.vjp((x, y), y),
    "hvp": lambda x, y: TWO.hvp((x, y), (y, x)),
    "hvp by one": lambda x, y: symgrad(product, wrt="x").hvp((x, y), y),
    "a number among them": lambda x, y: TWO.value_and_grad(x, 2.0),
    "without axes": lambda x, y: TWO.value_and_grad(x.sum(), y.sum()),
    "a domain": lambda x, y: symgrad(lambda t: t * t, domain={"t": (3, 20)}).grad(x + 3),
}


def flat(found):
    return [v for f in found for v in flat(f)] if isinstance(found, tuple) else [found]


def nesting(found):
    return tuple(map(nesting, found)) if isinstance(found, tuple) else None


@pytest.mark.sampled
@pytest.mark.parametrize("call", LAZY.values(), ids=LAZY)
def test_derivatives_of_lazy_arrays_are_lazy(call):
    found, wanted = call(da.from_array(X, chunks=2), da.from_array(Y, chunks=2)), call(X, Y)
    assert nesting(found) == nesting(wanted)
    for lazy, plain in zip(flat(found), flat(wanted), strict=True):
        assert isinstance(lazy, da.Array) and lazy.dtype == np.float64
        np.testing.assert_array_equal(lazy.compute(scheduler="sync"), plain)


def test_hints_of_what_is_not_elementwise_apply():
    with pytest.raises(
        SymdiffError, match=r"x.map_blocks\(...\) .*summed adds one number for each"
    ):
        energy(da.from_array(X, chunks=2))


def test_labels_of_several_results():
    xr = pytest.importorskip("xarray")
    x = xr.DataArray(X, dims="t", coords={"t": np.arange(6)})
    value, (by_x, by_y) = TWO.value_and_grad(x, 2.0)
    for found, wanted in ((value, 2 * np.sin(X)), (by_x, 2 * np.cos(X)), (by_y, np.sin(X))):
        assert found.dims == ("t",) and "t" in found.coords
        np.testing.assert_allclose(found.values, wanted, rtol=1e-14, atol=1e-15)


def test_xarray_keeps_its_labels():
    xr = pytest.importorskip("xarray")
    x = xr.DataArray(X, dims="t", coords={"t": np.arange(6)})
    lazy = xr.apply_ufunc(sinc.grad, x.chunk({"t": 3}), dask="parallelized", output_dtypes=[float])
    for found in (sinc.grad(x), sinc.grad(x.chunk({"t": 3})), lazy):
        assert found.dims == ("t",) and "t" in found.coords
        np.testing.assert_allclose(found.values, SLOPES, rtol=1e-14, atol=1e-15)


class TestSums:
    """Sums over blocks: values and gradients beside those of the whole arrays."""

    ROWS, TARGETS = np.cos(np.arange(60.0)).reshape(20, 3), np.sin(np.arange(20.0))
    PARAMETERS = {"w": np.array([0.5, -1.0, 2.0]), "b": 0.25}  # noqa: RUF012

    @staticmethod
    def loss(p, x, y):
        return np.sum((np.tanh(x @ p["w"]) + p["b"] - y) ** 2)

    @pytest.fixture
    def lazy(self):
        return da.from_array(self.ROWS, chunks=(3, 3)), da.from_array(self.TARGETS, chunks=3)

    def exact(self, x, y):
        """Of the formula, by hand."""
        t = np.tanh(x @ self.PARAMETERS["w"])
        error = t + self.PARAMETERS["b"] - y
        bars = 2 * error * (1 - t**2)
        gradient = {"w": bars @ x, "b": np.sum(2 * error)}
        return np.sum(error**2), (gradient, np.outer(bars, self.PARAMETERS["w"]), -2 * error)

    def test_gradients_of_shared_arguments_and_of_blocks(self, lazy):
        total = summed(self.loss, split_every=2)
        value, (shared, rows, targets) = total.value_and_grad(self.PARAMETERS, *lazy)
        assert (rows.chunks, targets.chunks) == (lazy[0].chunks, lazy[1].chunks)
        assert value.shape == () and shared["w"].shape == (3,) and not isinstance(value, float)
        found = dask.compute(value, (shared, rows, targets))
        wanted = self.exact(self.ROWS, self.TARGETS)
        assert dask.compute(total(self.PARAMETERS, *lazy))[0] == found[0]
        for a, b in zip(_leaves(found), _leaves(wanted), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-14)

    def test_only_what_is_asked_for_is_computed(self, lazy):
        total = summed(symgrad(self.loss, wrt="p"))
        found = total.grad(self.PARAMETERS, *lazy)
        assert set(found) == {"w", "b"}
        np.testing.assert_allclose(
            found["b"].compute(), self.exact(self.ROWS, self.TARGETS)[1][0]["b"]
        )

    @pytest.mark.parametrize("every", [2, 8])
    def test_blocks_are_added_by_a_tree(self, lazy, every):
        """No task adds more blocks than it may, and of 7 blocks some sums are of sums."""
        graph = dict(summed(self.loss, split_every=every)(self.PARAMETERS, *lazy).__dask_graph__())
        names = {k: k[0].rsplit("-", 1)[0] for k in graph if isinstance(k, tuple)}
        partial = [n for n in names.values() if "_sum-partial" in n or n.endswith("partial")]
        assert len(partial) == {2: 4 + 2, 8: 0}[every]

    def test_arrays_that_are_cut_along_several_axes(self):
        x = np.linspace(-1.0, 1.0, 35).reshape(7, 5)
        value, slopes = summed(energy).value_and_grad(da.from_array(x, chunks=(3, 2)))
        assert slopes.chunks == ((3, 3, 1), (2, 2, 1))
        x[3, 2] = np.nan  # where the formula has 1 and its slope is 1/2
        with np.errstate(invalid="ignore"):
            exact = np.expm1(x) / x, ((x - 1) * np.exp(x) + 1) / x**2
        value, slopes = dask.compute(value, slopes)
        assert slopes[3, 2] == 0.5
        np.testing.assert_allclose(value, np.nansum(exact[0]) + 1, rtol=1e-14)
        np.testing.assert_allclose(np.where(np.isnan(x), np.nan, slopes), exact[1], rtol=1e-12)

    def test_rounding_errors_of_sums_are_kept(self):
        x = np.array([1e16, 1.0, -1e16, 1.0])
        total = summed(lambda x, a: a * np.sum(x))
        value, (_, slope) = total.value_and_grad(da.from_array(x, chunks=1), 1.0)
        assert dask.compute(value, slope) == (2.0, 2.0)
        x[0] = np.inf
        assert total(da.from_array(x, chunks=1), 1.0).compute() == np.inf

    def test_lazy_arguments_in_one_block_are_shared(self):
        total = summed(lambda x, a: np.sum((x - a) ** 2))
        for chunks in (2, 4):
            x = da.arange(4.0, chunks=chunks)
            found = dask.compute(*total.value_and_grad(x, da.from_array(np.array(1.0))))
            assert found[0] == 6.0 and found[1][1] == -4.0
            assert found[1][0].tolist() == [-2.0, 0.0, 2.0, 4.0]

    def test_single_precision_stays(self):
        found = dask.compute(*summed(energy).value_and_grad(da.ones(4, chunks=2, dtype="f4")))
        assert [v.dtype for v in found] == [np.float32] * 2

    def test_what_is_refused(self):
        x = da.ones(4, chunks=2)
        with pytest.raises(SymdiffError, match="no argument of energy is in blocks"):
            summed(energy)(np.ones(4))
        with pytest.raises(SymdiffError, match="argument y is cut otherwise than x"):
            summed(lambda x, y: np.sum(x * y))(x, da.ones(4, chunks=1))
        with pytest.raises(SymdiffError, match="an array for a block, not a number"):
            summed(lambda x: x[:1])(x).compute()
        with pytest.raises(SymdiffError, match="uses one of its arguments as integers"):
            dask.compute(summed(lambda x, i: np.sum(x[i])).grad(x, np.array([0, 1])))
        with pytest.raises(SymdiffError, match="summed"):
            energy(x)


def _leaves(nested):
    if isinstance(nested, dict):
        nested = tuple(nested.values())
    return [v for n in nested for v in _leaves(n)] if isinstance(nested, tuple) else [nested]


@pytest.mark.slow
def test_two_processes_compute_a_gradient():
    distributed = pytest.importorskip("distributed")
    alone = symgrad(lambda x: np.cos(x) / (1 + x))  # sent by value, with its text
    alone_sum = symgrad(lambda x, a: np.sum(np.cos(a * x)))
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        x = da.from_array(X, chunks=3)
        found = x.map_blocks(alone.grad, dtype=float).compute()
        np.testing.assert_allclose(found, alone.grad(X), rtol=1e-14)
        total = summed(alone_sum).value_and_grad(x, 2.0)
        value, (slopes, by) = dask.compute(*total)
        np.testing.assert_allclose(slopes, -2.0 * np.sin(2.0 * X), rtol=1e-14, atol=1e-15)
        np.testing.assert_allclose((value, by), (np.cos(2 * X).sum(), -(X * np.sin(2 * X)).sum()))
        parts = [client.submit(energy.grad, part) for part in np.split(X, 2)]
        np.testing.assert_allclose(np.concatenate(client.gather(parts)), energy.grad(X), rtol=1e-14)
