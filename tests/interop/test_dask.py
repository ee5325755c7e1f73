"""dask and xarray: elementwise functions stay lazy and chunked, kernels go to workers."""

import numpy as np
import pytest

from symdiff import symgrad

da = pytest.importorskip("dask.array")

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


@pytest.mark.parametrize("apply", CHUNKED.values(), ids=CHUNKED)
def test_chunks_stay_chunks(apply):
    found = apply(da.from_array(X, chunks=2))
    assert isinstance(found, da.Array) and found.chunks == ((2, 2, 2),)
    np.testing.assert_allclose(found.compute(), SLOPES, rtol=1e-14, atol=1e-15)


def test_xarray_keeps_its_labels():
    xr = pytest.importorskip("xarray")
    x = xr.DataArray(X, dims="t", coords={"t": np.arange(6)})
    lazy = xr.apply_ufunc(sinc.grad, x.chunk({"t": 3}), dask="parallelized", output_dtypes=[float])
    for found in (sinc.grad(x), sinc.grad(x.chunk({"t": 3})), lazy):
        assert found.dims == ("t",) and "t" in found.coords
        np.testing.assert_allclose(found.values, SLOPES, rtol=1e-14, atol=1e-15)


@pytest.mark.slow
def test_two_processes_compute_a_gradient():
    distributed = pytest.importorskip("distributed")
    alone = symgrad(lambda x: np.cos(x) / (1 + x))  # sent by value, with its text
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        x = da.from_array(X, chunks=3)
        found = x.map_blocks(alone.grad, dtype=float).compute()
        np.testing.assert_allclose(found, alone.grad(X), rtol=1e-14)
        parts = [client.submit(energy.grad, part) for part in np.split(X, 2)]
        np.testing.assert_allclose(np.concatenate(client.gather(parts)), energy.grad(X), rtol=1e-14)
