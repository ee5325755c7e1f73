"""Calls with arguments that are seldom given: values are NumPy's, slopes those of differences."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import linalg

from symdiff import UnsupportedError, symgrad
from tests.frontend.differences import slopes_by

X = np.array([0.3, 1.2, -0.7, 2.0])
M = np.array([[2.0, 0.5, -1.0], [0.7, 1.0, 3.0]])
XP, FP = np.array([0.1, 1.1, 2.4]), np.array([1.0, 2.0, 4.0])
WEIGHTS = np.array([0.4, -1.1, 0.6, 0.9, 1.7, -0.3])

OF_VECTORS: dict[str, Callable[..., Any]] = {
    "interp with ends": lambda x: np.interp(x, XP, FP, left=0.0, right=9.0),
    "interp with a period": lambda x: np.interp(x, XP, FP, period=3.0),
    "diff with ends": lambda x: np.diff(x, prepend=0.0, append=x[:1]),
    "open meshgrid": lambda x: np.meshgrid(x, x[:2], sparse=True)[0] * WEIGHTS[:4],
    "meshgrid by indices": lambda x: np.meshgrid(x, x[:2], copy=False, indexing="ij")[1],
    "concatenate with a dtype": lambda x: np.concatenate([x, x * x], dtype=float),
    "stack with a dtype": lambda x: np.stack([x, x * x], axis=1, dtype=float),
    "hstack with a dtype": lambda x: np.hstack([x, x * x], dtype=float),
    "vstack with a dtype": lambda x: np.vstack([x, x * x], dtype=float),
    "cumsum with a dtype": lambda x: np.cumsum(x, dtype=float),
    "cumprod with a dtype": lambda x: np.cumprod(x, dtype=float),
    "the step of linspace": lambda x: np.linspace(0.0, x[0], 5, retstep=True)[1] * x,
    "linspace with a dtype": lambda x: np.linspace(x[1], x[0], 5, dtype=float, endpoint=False),
    "array with dimensions": lambda x: np.array(x, ndmin=2),
    "weighted polyfit": lambda x: np.polyfit(
        np.arange(4.0), x, 1, w=np.array([1.0, 2.0, 1.0, 3.0])
    ),
    "running logaddexp": lambda x: np.logaddexp.accumulate(x),
    "differences one by one": lambda x: np.subtract.accumulate(x),
    "a norm by pairs": lambda x: np.hypot.reduce(x) * x,
    "accumulate": lambda x: np.array(list(itertools.accumulate(x))),
    "accumulate by a function": lambda x: sum(itertools.accumulate(x, lambda a, b: a * b)) * x,
    "lower quantile": lambda x: np.quantile(x, 0.3, method="lower"),
    "higher quantile": lambda x: np.quantile(x, [0.3, 0.5], method="higher"),
    "nearest percentile": lambda x: np.percentile(x, 30, method="nearest"),
    "midpoint percentile": lambda x: np.percentile(x, 30, method="midpoint"),
}
OF_MATRICES: dict[str, Callable[..., Any]] = {
    "trace with axes": lambda m: np.trace(m, axis1=1, axis2=0),
    "insert along an axis": lambda m: np.insert(m, 1, 7.0, axis=1),
    "insert a row": lambda m: np.insert(m, -1, m[0] ** 2, axis=0),
    "cov with weights": lambda m: np.cov(m, aweights=[1.0, 2.0, 0.5]),
    "cov with counts": lambda m: np.cov(m, fweights=[1, 2, 3], bias=True),
    "reshape by columns": lambda m: m.reshape(3, 2, order="F") @ np.array([1.0, 2.0]),
    "reshape to a tuple": lambda m: np.reshape(m, (3, 2), order="F") @ np.array([1.0, 2.0]),
    "running logaddexp along an axis": lambda m: np.logaddexp.accumulate(m, axis=1),
    "an inverse without checks": lambda m: linalg.inv(
        m @ m.T, check_finite=False, overwrite_a=False
    ),
    "eigenvalues alone": lambda m: linalg.eigh(m @ m.T, eigvals_only=True, check_finite=False),
    "ravel by columns": lambda m: m.ravel(order="F") * WEIGHTS,
    "flatten by columns": lambda m: m.flatten("F") * WEIGHTS,
}


@pytest.mark.sampled(30)
@pytest.mark.parametrize("name", [*OF_VECTORS, *OF_MATRICES])
def test_values_are_numpys_and_slopes_those_of_differences(name: str) -> None:
    f, x = (OF_VECTORS[name], X) if name in OF_VECTORS else (OF_MATRICES[name], M)
    np.testing.assert_allclose(symgrad(f)(x), f(x), rtol=1e-13)
    found = symgrad(lambda x: np.sum(f(x) ** 2)).grad(x)
    expected = slopes_by(lambda x: np.sum(f(x) ** 2), (x,), 0)
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: np.quantile(x, 0.3, method="weibull"), "the method weibull"),
        (lambda x: np.polyfit(x, x, 1, full=True), "full or cov"),
    ],
)
def test_what_is_refused(f: Callable[..., Any], message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        symgrad(f)(X)


def test_types_that_are_joined_by_a_bar() -> None:
    def twice(x: Any, y: Any = None) -> Any:
        if isinstance(y, int | None) and isinstance(x, int | float):
            return x * 2
        return x

    assert symgrad(twice)(1.5) == 3.0
    assert symgrad(twice).grad(1.5) == (2.0, 0.0) or symgrad(twice).grad(1.5) == 2.0


@pytest.mark.parametrize("subscripts", ["ij,jk->ii", "ij,jk->ijkk", "i1,1k->ik", "ij,jk->il"])
def test_subscripts_that_numpy_refuses(subscripts):
    with pytest.raises(UnsupportedError):
        symgrad(lambda a: np.einsum(subscripts, a, a))(np.eye(2))


@pytest.mark.parametrize("dtype", [np.float64, float])
def test_numbers_of_another_kind_are_numbers(dtype):
    f = symgrad(lambda x: np.sum(x * x).astype(dtype))
    x = np.array([1.0, 2.5], np.float32)
    assert np.shape(f(x)) == () and not isinstance(f(x), np.ndarray)
    np.testing.assert_array_equal(f.grad(x), 2 * x)
    assert symgrad(lambda x: np.sum(x).astype(int) * x[0])(np.array([1.5, 2.5])) == 6.0
