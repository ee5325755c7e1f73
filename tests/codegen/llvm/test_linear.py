"""Linear systems in kernels: NumPy's results and errors, without asking the library where they are
small or triangular."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from symdiff import symgrad
from symdiff.runtime.loops.call import Code
from tests.law.alike import differences

PLAIN: dict[str, Callable[..., Any]] = {
    "solve": lambda a, b: np.linalg.solve(a, b),
    "inv": lambda a: np.linalg.inv(a),
    "det": lambda a: np.linalg.det(a),
    "slogdet": lambda a: np.linalg.slogdet(a)[0] * np.exp(np.linalg.slogdet(a)[1] / 8),
    "cholesky": lambda a: np.linalg.cholesky(a),
}
COMPILED = {name: symgrad(f, accuracy="fast", verify=False) for name, f in PLAIN.items()}


def outcome(f: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    with np.errstate(all="ignore"):
        try:
            return np.asarray(f(*args))
        except np.linalg.LinAlgError:
            return None


def compare(name: str, *args: Any) -> None:
    want, got = outcome(PLAIN[name], args), outcome(COMPILED[name], args)
    assert (want is None) == (got is None), (name, args)
    if want is None:
        return
    assert want.dtype == got.dtype
    unit = np.finfo(want.dtype).eps
    size = np.abs(want).max() if np.isfinite(want).all() else 1.0
    assert np.allclose(got, want, rtol=0, atol=1e4 * unit * max(size, 1e-300), equal_nan=True)


def shapes(rng: Any, n: int, dtype: Any) -> list[np.ndarray]:
    """A matrix of each kind that is treated apart."""
    full = rng.normal(size=(n, n)) + 3 * np.diag(np.sign(rng.normal(size=n)))
    found = [
        full,
        np.tril(full),
        np.triu(full),
        np.diag(np.diag(full)),
        np.eye(n)[rng.permutation(n)],
    ]
    return [a.astype(dtype) for a in found]


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 8, 9, 16, 17, 33])
def test_regular_matrices(n: int, dtype: Any) -> None:
    rng = np.random.default_rng(n)
    for a in shapes(rng, n, dtype):
        compare("solve", a, rng.normal(size=n).astype(dtype))
        compare("solve", a, rng.normal(size=(n, 3)).astype(dtype))
        compare("inv", a)
        compare("det", a)
        compare("slogdet", a)
        compare("cholesky", (a @ a.T + np.eye(n)).astype(dtype))
        compare("cholesky", a)  # of which only the lower triangle is read, if it is one


@pytest.mark.sampled
@pytest.mark.parametrize("n", [1, 2, 5, 16, 20])
def test_what_is_singular_or_not_finite_is_the_librarys(n: int) -> None:
    rng = np.random.default_rng(n)
    for a in shapes(rng, n, np.float64):
        column, nan, inf = a.copy(), a.copy(), a.copy()
        column[:, n // 2] = 0.0
        nan[-1, 0], inf[0, -1] = np.nan, np.inf
        for b in (column, nan, inf):
            for name in ("inv", "det", "slogdet"):
                compare(name, b)
            compare("solve", b, np.ones(n))
        compare("solve", a, np.where(np.arange(n) == n // 2, np.nan, 1.0))
    compare("cholesky", -np.eye(n))
    compare("cholesky", np.full((n, n), np.nan))
    compare("inv", np.array([[1.0, 2.0], [2.0, 4.0]]))
    compare("det", np.array([[1.0, 2.0], [2.0, 4.0]]))


@pytest.mark.slow
def test_cofactors_of_more_digits() -> None:
    """Determinants and their gradients where they cancel: the second tier has minors, too."""
    f = symgrad(lambda a: np.linalg.det(a) + np.sum(a) * 0, wrt="a")
    for n in (1, 2, 3):
        a = np.full((n, n), 3.0) + 2.0**-20 * np.eye(n)
        with mpmath.workdps(60):
            matrix = mpmath.matrix(a.tolist())
            exact = mpmath.det(matrix)
            want = np.array((exact * matrix**-1).T.tolist(), float)
        assert float(f(a)) == pytest.approx(float(exact), rel=1e-6)
        assert f.grad(a) == pytest.approx(want, rel=1e-9)


def test_digits() -> None:
    """Backward stable: the residual is a few units of what is multiplied in it."""
    rng = np.random.default_rng(5)
    for n in (2, 5, 16):
        for a in shapes(rng, n, np.float64):
            b = rng.normal(size=n)
            x = COMPILED["solve"](a, b)
            rest = mpmath.matrix(a.tolist()) * mpmath.matrix(x.tolist()) - mpmath.matrix(b.tolist())
            bound = (np.abs(a) @ np.abs(x) + np.abs(b)) * 2.0**-53 * 8 * n
            assert all(abs(r) <= v for r, v in zip(rest, bound, strict=True))


def filtered(theta: Any, ys: Any) -> Any:
    q, r = np.exp(theta[0]), np.exp(theta[1])
    F = np.array([[1.0, 0.1], [0.0, 1.0]])
    H = np.array([[1.0, 0.0]])
    x, P, total = np.zeros(2), np.eye(2), 0.0
    for y in ys:
        x, P = F @ x, F @ P @ F.T + q * np.eye(2)
        S = H @ P @ H.T + np.array([[r]])
        v, K = y - H @ x, P @ H.T @ np.linalg.inv(S)
        total -= v @ np.linalg.solve(S, v) + np.log(np.linalg.det(S))
        x, P = x + K @ v, (np.eye(2) - K @ H) @ P
    return total


@pytest.mark.slow
def test_a_kalman_filter_asks_no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    before = Code.routine_of

    def counted(self: Code, s: Any, record: int) -> None:
        asked.append(record)
        before(self, s, record)

    monkeypatch.setattr(Code, "routine_of", counted)
    theta, ys = np.array([-1.0, 0.5]), np.sin(np.arange(20.0))
    f = symgrad(filtered, wrt="theta", accuracy="fast")
    value, slopes = f.value_and_grad(theta, ys)
    assert not asked
    assert value == pytest.approx(filtered(theta, ys), rel=1e-12)
    np.testing.assert_allclose(slopes, differences(filtered, (theta, ys)), rtol=1e-7)


def test_large_matrices_ask_it() -> None:
    """With a text that says what is asked, so that kernels of other tiers may ask for more."""
    f = COMPILED["det"]
    assert f(np.eye(40)) == pytest.approx(1.0, rel=1e-12)
    assert 'c"det f2 f0\\00"' in f.source("llvm")
