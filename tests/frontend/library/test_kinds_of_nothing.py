"""Reductions of arrays without elements have NumPy's values and dtypes."""

import warnings

import numpy as np
import pytest

from symdiff import symgrad

REDUCTIONS = [np.sum, np.prod, np.any, np.all, np.cumsum, np.cumprod]


def same(f):
    g = symgrad(f)
    for _ in range(2):
        found, true = g(1.5), f(1.5)
        assert np.asarray(found).dtype == np.asarray(true).dtype
        np.testing.assert_array_equal(found, true, strict=np.ndim(true) > 0)


@pytest.mark.sampled
@pytest.mark.parametrize("kind", [int, float, bool])
@pytest.mark.parametrize(
    "shape, axis", [((0,), None), ((3, 0), 1), ((3, 0), 0), ((0, 2), 1), ((0, 2), None)]
)
def test_reductions_of_nothing(kind, shape, axis):
    for reduction in REDUCTIONS:
        same(lambda x, f=reduction: f(np.zeros(shape, kind), axis=axis))


@pytest.mark.sampled
@pytest.mark.parametrize("left", [int, float, bool])
@pytest.mark.parametrize("right", [int, float, bool])
def test_products_of_nothing(left, right):
    for first, second in (((0, 2), (2,)), ((2, 0), (0,)), ((2, 0), (0, 3))):
        same(lambda x, a=first, b=second: np.zeros(a, left) @ np.zeros(b, right))


def test_programs_on_disk_keep_kinds():
    for kind in (int, float, bool):
        same(lambda x, kind=kind: np.zeros(0, kind))
    same(lambda x: np.zeros(0, int))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("ddof", [0, 1, 2, 3])
def test_degrees_of_freedom_that_are_used_up(ddof):
    x = np.array([[1.0, 2.0], [3.0, 5.0]])
    for f in (
        lambda x: np.var(x, axis=0, ddof=ddof), lambda x: np.std(x[0], ddof=ddof),
        lambda x: np.nanvar(x, axis=1, ddof=ddof), lambda x: np.cov(x, ddof=ddof),
        lambda x: np.var(x[:, :0], ddof=ddof),
    ):  # fmt: skip
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            want = f(x)
        np.testing.assert_allclose(symgrad(f)(x), want, rtol=1e-14)
