"""Arrays with labels, names of axes or blocks: functions that are proved to be elementwise are
applied as NumPy's protocol says, everything else is refused by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.errors import SymdiffError

wave = symgrad(lambda x: x * np.sin(x))
product = symgrad(lambda x, y: x * y)
both = symgrad(lambda x: (x, 2 * x))
relu = symgrad(lambda x: x if x > 2 else 0.5 * x)
total = symgrad(lambda x: np.sum(x))
NOT_ELEMENTWISE = [
    lambda x: np.sum(x),
    lambda x: x - x[0],
    lambda x: np.cumsum(x),
    lambda x: x[::-1],
    lambda x: x / np.max(x),
    lambda x: (x, np.sum(x)),
    lambda x: np.stack([x, x]),
]


class Named:
    """The least that follows the protocol."""

    def __init__(self, values: Any, name: str) -> None:
        self.values, self.name = np.asarray(values), name

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [v.values if isinstance(v, Named) else v for v in inputs]
        found = getattr(ufunc, method)(*plain, **options)
        if ufunc.nout > 1:
            return tuple(Named(v, self.name) for v in found)
        return Named(found, self.name)


class Choosy(Named):
    """Something with units, say, that knows some functions only."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return NotImplemented if ufunc is not np.add else super().__array_ufunc__(ufunc, method)


def test_the_protocol() -> None:
    x = np.array([1.0, 2.0, 3.0])
    for _ in range(2):
        got = wave(Named(x, "t"))
        assert got.name == "t"
        np.testing.assert_array_equal(got.values, wave(x))
        np.testing.assert_array_equal(wave.grad(Named(x, "t")).values, wave.grad(x))
        np.testing.assert_array_equal(product(Named(x, "t"), 2.0).values, 2 * x)
        np.testing.assert_array_equal(product(2.0, y=Named(x, "t")).values, 2 * x)
        np.testing.assert_array_equal(product(x, Named(x, "t")).values, x * x)
        by_x, by_y = product.grad(Named(x, "t"), 2.0)
        assert (by_x.values == 2.0).all()
        assert (by_y.values == x).all()
        assert [v.name for v in both(Named(x, "t"))] == ["t", "t"]
        np.testing.assert_array_equal(relu(Named(x, "t")).values, [0.5, 1.0, 3.0])
        np.testing.assert_array_equal(symgrad(lambda p: p[0] * 2)([Named(x, "t")]).values, 2 * x)
    assert wave(Named(np.array([1, 2]), "t")).values.dtype == np.float64
    assert symgrad(lambda x: x * x)(Named(np.array([1, 2]), "t")).values.dtype == np.int64


def test_derivatives_of_several_results_and_products_keep_labels() -> None:
    x, y = np.array([1.0, 2.0, 3.0]), np.array([0.5, -1.0, 2.0])
    a, b = Named(x, "t"), Named(y, "t")
    for got, wanted in (
        (wave.value_and_grad(a), wave.value_and_grad(x)),
        (wave.jvp((a,), (b,)), wave.jvp((x,), (y,))),
        (wave.vjp((a,), b), wave.vjp((x,), y)),
        ((wave.hessian(a),), (wave.hessian(x),)),
        (product.hessian(a, b)[0], product.hessian(x, y)[0]),
        (product.value_and_grad(a, b)[1], (y, x)),
        (product.hvp((a, b), (a, b)), (y, x)),
    ):
        assert type(got) is tuple and [v.name for v in got] == ["t"] * len(wanted)
        np.testing.assert_array_equal([v.values for v in got], wanted)


@pytest.mark.parametrize("f", NOT_ELEMENTWISE)
def test_what_is_not_elementwise_is_refused_by_name(f: Any) -> None:
    s = symgrad(f)
    with pytest.raises(SymdiffError, match=r"test_labelled_arrays\.Named"):
        s(Named(np.ones(3), "t"))
    with pytest.raises(SymdiffError, match=r"test_labelled_arrays\.Named"):
        s.jacobian(Named(np.ones(3), "t"))


def test_other_ways_of_calling_are_refused_by_name() -> None:
    x = Named(np.ones(3), "t")
    for call in (
        lambda: wave(Choosy(np.ones(3), "t")),
        lambda: wave(x, out=np.zeros(3)),
        lambda: wave.map(x),
        lambda: wave.jacobian(x),
    ):
        with pytest.raises(SymdiffError, match=r"test_labelled_arrays\.(Named|Choosy)"):
            call()


def test_pandas() -> None:
    pd = pytest.importorskip("pandas")
    s = pd.Series([1.0, 2.0, 3.0], index=list("abc"), name="s")
    pd.testing.assert_series_equal(product(s, s), s * s)
    pd.testing.assert_series_equal(wave(s), s * np.sin(s))
    other = pd.Series([1.0, 2.0], index=list("ca"))
    pd.testing.assert_series_equal(product(s, other), s * other)
    by_x, by_y = product.grad(s, 2.0)
    assert list(by_x.index) == list("abc")
    pd.testing.assert_series_equal(by_y, s)
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3, 4]}, index=["x", "y"])
    pd.testing.assert_frame_equal(wave(frame), frame * np.sin(frame))
    whole = pd.Series([1, None, 3], dtype="Int64")
    pd.testing.assert_series_equal(symgrad(lambda x: x * x)(whole), whole * whole)
    for refused in (lambda: total(s), lambda: total.grad(s), lambda: total(frame)):
        with pytest.raises(SymdiffError, match=r"pandas\."):
            refused()
    with pytest.raises(SymdiffError, match="object"):
        wave(pd.Series(["a", "b"]))

    def add(x: Any, y: Any) -> Any:  # a name that pandas knows
        return x * y

    pd.testing.assert_series_equal(symgrad(add)(s, s), s * s)


def test_xarray() -> None:
    xr = pytest.importorskip("xarray")
    x = xr.DataArray([1.0, 2.0, 3.0], dims="t", coords={"t": [10, 20, 30]}, name="q")
    y = xr.DataArray([1.0, 2.0], dims="u")
    xr.testing.assert_allclose(wave(x), x * np.sin(x))
    xr.testing.assert_equal(product(x, y), x * y)
    assert product.grad(x, y)[0].dims == ("t", "u")
    with pytest.raises(SymdiffError, match=r"xarray\."):
        total(x)


@pytest.mark.slow
def test_dask() -> None:
    da = pytest.importorskip("dask.array")
    d = da.from_array(np.arange(6.0), chunks=2)
    got = wave(d)
    assert isinstance(got, da.Array)
    assert got.chunks == d.chunks
    np.testing.assert_allclose(got.compute(), wave(np.arange(6.0)))
    np.testing.assert_allclose(wave.grad(d).compute(), wave.grad(np.arange(6.0)))
    for lazy, ours in zip(product.grad(d, d), product.grad(*[np.arange(6.0)] * 2), strict=True):
        np.testing.assert_allclose(lazy.compute(), ours)
    with pytest.raises(SymdiffError, match=r"dask\."):
        total(d)
