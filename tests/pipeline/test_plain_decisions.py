"""Decisions are Python's: simulations as people write them, by value, gradient, module and Numba."""

from __future__ import annotations

import inspect
import math
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from symdiff import ir, symgrad
from symdiff.frontend import capture
from symdiff.ir.plain import is_plain
from tests.fuzz.decisions import loaded, truth

Function = Callable[..., Any]


def steps(x: float, T: float, dt: float):
    return int(T / dt) * x


def euler(k: float, T: float, dt: float):
    x = 1.0
    for _ in range(int(T / dt)):
        x -= k * x * dt
    return x


def accumulated(x: float, dt: float, T: float):
    t, s = 0.0, 0.0
    while t < T:
        s += np.exp(x * t)
        t += dt
    return s


def runge_kutta(y: float, h: float, T: float):
    t, n = 0.0, 0
    while t < T:
        k1 = -y
        k2 = -(y + 0.5 * h * k1)
        y = y + h * k2
        t = t + h
        n += 1
    return y + n


def pulsed(v: float, dt: float, T: float):
    t, n, s = 0.0, 0.3, 0.0
    while t < T:
        current = 10.0 if 0.3 <= t < 0.7 else 0.0
        n += dt * (0.1 * (1 - n) - 0.2 * n)
        v += dt * (current - n**4 * (v + 77) * 0.36)
        if v > -60.0:
            s += 1.0
        t += dt
    return v + s


def newton(a: float):
    x, d, k = a, 1.0, 0
    while abs(d) > 1e-12 and k < 50:
        d = (x * x - a) / (2 * x)
        x = x - d
        k += 1
    return x + 0 * k


def bisection(a: float):
    lo, hi = 0.0, 2.0
    while hi - lo > 1e-9:
        m = (lo + hi) / 2
        if m * m < a:
            lo = m
        else:
            hi = m
    return a * (lo + hi)


def bouncing(x: float, v: float, dt: float):
    t, hits = 0.0, 0
    for _ in range(40):
        v = v - 9.81 * dt
        x = x + v * dt
        t += dt
        if x < 0:
            x, v = -x, -0.9 * v
            hits += 1
        if t >= 0.3:
            v = v * 0.99
    return x + hits


def firing(i: float, dt: float, theta: float):
    v, spikes = 0.0, 0.0
    for _ in range(20):
        v = v + dt * i
        if v >= theta:
            v = 0.0
            spikes += 1
    return v * i + spikes


def schedule(rate: float, decay: float):
    s = 0.0
    for k in range(10):
        if k / 10 >= 0.3:
            rate = rate * decay
        if (k * 0.1) % 0.3 < 1e-12:
            s += 1
        s += rate
    return s


def table(x: float, h: float):
    i = int(x / h)
    w = x / h - i
    return (i * i) * (1 - w) + (i + 1) * (i + 1) * w


def remainder(x: float, L: float, h: float):
    return x * ((L / h) % 1.0) + x * (L // h)


def quotient_and_rest(x: float, h: float):
    q, r = divmod(x, h)
    return q * x + r


def rounded(x: float, w: float):
    return x * int(x / w) + math.ceil(x / w) + round(x / w)


def compared(x: float, a: float):
    return x if a * 10 == 1.0 else 100.0 * x


def folded(x: float):
    return x * int(5.0 / 0.01) + (1.0 if 0.1 * 3 > 0.3 else 0.0)


def associated(x: float, a: float, b: float):
    return x if (a + b) + 0.3 == a + (b + 0.3) else 2 * x


def cooled(T: float, k: float):
    n = 0
    while T > 0.1 * 3:
        T = T - k
        n += 1
    return T * T + n


def asserted(x: float, h: float):
    assert x / h >= 2.9999999999999996
    return math.floor(x / h) * x


def quadrature(x: float, a: float, h: float):
    s, t = 0.0, a
    while t <= a + 1.0:
        w = 0.5 if t == a else 1.0
        s += w * h * np.sin(x * t)
        t += h
    return s


PROGRAMS: list[tuple[Function, tuple[float, ...]]] = [
    (steps, (1.5, 5.0, 0.01)), (euler, (0.5, 5.0, 0.01)), (accumulated, (0.3, 0.1, 1.0)),
    (runge_kutta, (1.0, 0.1, 1.0)), (pulsed, (-65.0, 0.1, 1.5)), (newton, (2.0,)), (bisection, (1.3,)),
    (bouncing, (1.0, 0.0, 0.02)), (firing, (1.0, 0.1, 0.3)), (schedule, (0.1, 0.5)), (table, (0.3, 0.1)),
    (remainder, (2.0, 5.0, 0.01)), (quotient_and_rest, (5.0, 0.01)), (rounded, (0.9, 0.1)), (compared, (2.0, 0.1)),
    (folded, (1.5,)), (associated, (2.0, 0.1, 0.2)), (cooled, (0.9, 0.1)), (asserted, (0.3, 0.1)),
    (quadrature, (0.7, 0.3, 0.1)),
]  # fmt: skip


def plain(f: Function, args: tuple[float, ...]) -> tuple[float, list[float]]:
    source = "import math\n\nimport numpy as np\n\n\n" + textwrap.dedent(inspect.getsource(f))
    source = source.replace(f"def {f.__name__}(", "def f(", 1)
    value, slopes = truth(source, list(args))
    assert value == pytest.approx(f(*args), rel=1e-14)
    return value, slopes


@pytest.mark.sampled
@pytest.mark.parametrize("accuracy", ["high", "fast", "strict"])
@pytest.mark.parametrize(("f", "args"), PROGRAMS, ids=lambda v: getattr(v, "__name__", ""))
def test_called(f: Function, args: tuple[float, ...], accuracy: str) -> None:
    value, slopes = plain(f, args)
    made = symgrad(f, accuracy=accuracy)
    assert made(*args) == pytest.approx(value, rel=1e-12, abs=1e-12)
    got = np.ravel(made.grad(*args))
    assert got == pytest.approx(slopes, rel=1e-11, abs=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize(("f", "args"), PROGRAMS, ids=lambda v: getattr(v, "__name__", ""))
def test_saved_and_inside_numba(f: Function, args: tuple[float, ...], tmp_path: Path) -> None:
    value, slopes = plain(f, args)
    made = symgrad(f)
    made(*args)
    path = tmp_path / f"decided_{f.__name__}.py"
    made.save(path, companion=None)
    module = loaded(path.read_text(encoding="utf-8"), f"decided_{f.__name__}", tmp_path)
    assert getattr(module, f.__name__)(*args) == pytest.approx(value, rel=1e-12, abs=1e-12)
    got = np.ravel(getattr(module, f"{f.__name__}_grad")(*args))
    assert got == pytest.approx(slopes, rel=1e-11, abs=1e-11)
    if f is asserted:
        return  # modules and Numba do not check

    @numba.njit
    def caller(given: Any) -> Any:
        return made(*given)

    assert caller(tuple(args)) == pytest.approx(value, rel=1e-12, abs=1e-12)
    generated = symgrad(f, engine="numba")
    assert generated(*args) == pytest.approx(value, rel=1e-12, abs=1e-12)


X = np.array([0.1, 0.2, 0.3, 0.6, 0.7, 0.9, 0.05])


def histogram(x):
    h = np.zeros(10)
    for v in x:
        h[int(v / 0.1)] += v
    return h


def cells(x):
    c = np.zeros(8)
    for i in range(len(x)):
        c[int(np.floor(x[i] / 0.1)) % 8] += x[i]
    return c


ARRAYS = [
    lambda x: np.where(x * 10 == 3.0, 1.0, x),
    lambda x: np.floor(x / 0.1) * x,
    lambda x: np.where((x * 0.1) * 3 >= 0.3 * x, x, -x),
    lambda x: np.digitize(x * 3, np.array([0.0, 0.3, 0.6, 0.9])) * x,
    lambda x: np.searchsorted(np.arange(11) * 0.1, x * 3) * x,
    lambda x: x[np.argmax(np.where(x * 0.1 * 3 <= 0.3 * 0.3, x, -1.0))],
    lambda x: np.interp(x, np.arange(11) * 0.1, np.arange(11.0) ** 2),
    lambda x: np.mod(x, 0.1) + x // 0.1,
    lambda x: np.sum(np.where(np.arange(11) * 0.1 == 0.3, 1.0, 0.0)) + np.sum(x),
    lambda x: np.sum(x[x / 0.3 <= 1.0]),
    histogram,
    cells,
]


@pytest.mark.sampled
@pytest.mark.parametrize("accuracy", ["high", "fast"])
@pytest.mark.parametrize("k", range(len(ARRAYS)))
def test_arrays(k: int, accuracy: str) -> None:
    f = ARRAYS[k]
    np.testing.assert_allclose(symgrad(f, accuracy=accuracy)(X), f(X), rtol=1e-13, atol=1e-13)


@pytest.mark.sampled
@pytest.mark.parametrize("k", [0, 1, 9])
def test_float32_decides_in_float32(k: int) -> None:
    f, x = ARRAYS[k], X.astype(np.float32)
    np.testing.assert_allclose(symgrad(f)(x), f(x), rtol=1e-6)


def test_integer_quotients_of_all_doubles() -> None:
    v = np.array(
        [0.0, 1.0, -1.0, 5.0, 0.01, 0.1, -0.3, 1e300, 3.0, 7.5, 1e17, np.inf, -np.inf, np.nan]
    )
    a, b = (m.ravel().copy() for m in np.meshgrid(v, v))
    quotient = symgrad(lambda x, y: np.floor_divide(x, y))
    with np.errstate(all="ignore"):
        want = np.floor_divide(a, b)
    got = quotient(a, b)
    fine = (np.abs(want) < 2**53) | ~np.isfinite(want)  # beyond, they are rounded
    np.testing.assert_array_equal(got[fine], want[fine])


@pytest.mark.parametrize(
    ("f", "is_real"),
    [
        (lambda x, y: x if x - y >= 0 else y, True),
        (lambda x, y: x if x + y > 0 else y, True),
        (lambda x, y: x if math.sqrt(x) > 0 else y, True),
        (lambda x, y: x if 3 * x - y >= 0 else y, False),
        (lambda x, y: x if x - 0.1 > 0 else y, False),  # of float32, 0.1 is another number
        (lambda x, y: x if x - y >= 1 else y, False),
        (lambda x, y: x if x * y > 0 else y, False),
    ],
)
def test_only_signs_that_rounding_keeps_are_those_of_real_numbers(f, is_real) -> None:
    """A sum or difference of two numbers, and a root of one, is rounded to a double of the same sign."""
    (output,) = capture(f, {}).outputs
    assert any(map(is_plain, ir.topological((output,)))) is not is_real
