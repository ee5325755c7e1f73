"""Integers that loops carry have any size, as Python's do; and loops can be interrupted."""

from __future__ import annotations

import math
import re
import signal
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symdiff
from symdiff import symgrad
from symdiff.frontend import capture
from symdiff.ir.loop_program import Check, LoopProgram, walk
from symdiff.runtime.loops.call import WideIntegerError
from symdiff.runtime.scalar.elementwise import ArgumentError
from tests.api.test_arrays import complex_gradient
from tests.law.made import loaded, made

Vector = np.ndarray


def factorials(x: Vector) -> Any:
    f, total = 1, 0.0
    for k in range(len(x)):
        f *= k + 1
        total += x[k] ** 2 / f
    return total


def roots(x: Vector) -> Any:
    total = 0.0
    for i in range(len(x)):
        m = (i + 3) ** 18
        r, y = m, (m + 1) // 2
        while y < r:
            r, y = y, (y + m // y) // 2
        total += x[i] * r
    return total


def ups_and_downs(x: Vector) -> Any:
    w, up, total = 0, 1, 0.0
    for v in x:
        w += up
        if w > 3 or w < -3:
            up = -up
        total += w * v**2
    return total


def continued_fractions(x: Vector) -> Any:
    p, q, p1, q1, total = 1, 0, 2, 1, 0.0
    for i in range(len(x)):
        p, p1 = p1, (i + 2) * p1 + p
        q, q1 = q1, (i + 2) * q1 + q
        total += x[i] * (p1 / q1)
    return total


DOWNWARDS, BY_SHAPE = "for i in range(len(x) - 1, -1, -1):", "for i in range(x.shape[0]):"
FACTOR = 6364136223846793005


def looped(name: str, start: str, *body: str, head: str = "", found: str = "total") -> Any:
    """A loop over the elements of x, or over their places where the body has i, that adds to a total."""
    places = any(re.search(r"\bi\b", line) for line in body)
    head = head or ("for i in range(len(x)):" if places else "for v in x:")
    inside = [f"    {line}" for line in body]
    return made("total = 0.0", start, head, *inside, f"return {found}", name=name)


NARROW = [
    looped("cycles", "k = 2", "k = (k + 1) % 3", "total += x[i] ** (k + 1)"),
    looped("on_and_off", "w = 0", "w = 1 - w", "if w:", "    total += v**2", "w = -w"),
    looped("downwards", "w = 7", "total += w * x[i] ** 2", "w = max(w - 2, -5)", head=DOWNWARDS),
    looped("tables", "w = 1", "w = 3 * w % 7", "for _ in range(w):", "    total += v**2 * w"),
    looped("signs", "sign = 1", "total += sign * x[i] ** 2", "sign = -sign"),
    looped("steps", "w = 0", "w += 3", "total += w * v**2"),
    looped("swaps", "w = 2", "w = 6 - w", "total += w * x[i] ** 2", head=BY_SHAPE),
    looped("halves", "w = 200", "w //= 2", "total += w * v**2"),
    looped("turns", "k = 0", "k = (k + 5) % 7", "total += v**2 * k"),
    looped("distances", "w = -4", "w += 1", "total += abs(w) * v**2"),
    looped("largest", "w = 9", "w = max(w - 2, i)", "total += w * x[i] ** 2"),
    ups_and_downs,
    looped("two_at_once", "a, b = 1, -2", "a, b = -b, a", "total += a * v + b * v**2"),
    looped("short_random", "s = 12345", "s = (1103515245 * s + 12345) % 2**31", "total += v * (s / 2**31)"),
    looped("reciprocals", "pass", "total += x[i] * (i + 2) ** -1"),
]  # fmt: skip
WIDE = [
    looped("squares", "w = 1", "w = 2 * i + 1 - w", "total += w * x[i] ** 2"),
    factorials,
    looped("tens", "w = 1", "w *= 10", "total += v * v / w"),
    looped("binomials", "n, c = 2 * len(x), 1", "total += c * x[i] * 0.5**n", "c = c * (n - i) // (i + 1)"),
    looped("fibonacci", "a, b = 0, 1", "a, b = b, a + b * b // (a + 1)", "total += v**2 / a"),
    looped("random_numbers", "s = 12345", f"s = ({FACTOR} * s + 1442695040888963407) % 2**64", "total += v * (s / 2**64)"),
    looped("powers", "pass", "total += x[i] * (i + 1) ** 15"),
    looped("odd_powers", "pass", "total += x[i] * ((2 * i + 1) ** 11 % 1000)"),
    looped("collatz", "n = 27", "n = n // 2 if n % 2 == 0 else 3 * n + 1", "total += v * n"),
    roots,
    looped("last_digits", "m = 1", "m *= 7", "total += v * (m % 10)"),
    looped("afterwards", "m = 1", "m *= 7", "total += v", found="total * m"),
    looped("on_one_side", "m = 1", "if i < 10:", "    m *= 9", "total += x[i] * m"),
    looped("compared", "m = 1", "m *= 12", "if m * m > 10**30:", "    total += v"),
    looped("as_index", "m = 1", "m *= 13", "total += x[m % len(x)] * x[i]"),
    looped("double_factorials", "pass", "f = 1", "for k in range(i):", "    f *= 2 * k + 1", "total += x[i] / f"),
    looped("catalan", "c = 1", "total += x[i] / c", "c = c * 2 * (2 * i + 1) // (i + 2)"),
    looped("horner", "h = 5381", "h = 33 * h + i", "total += x[i] * (h % 1009)"),
    continued_fractions,
]  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("f", NARROW + WIDE, ids=lambda f: f.__name__)
def test_as_python(f: Callable[..., Any]) -> None:
    x = np.linspace(1, 2, 30)
    s = symgrad(f)
    assert s(x) == pytest.approx(f(x), rel=1e-14)
    assert s.grad(x) == pytest.approx(complex_gradient(f, (x,), 0), rel=1e-13, abs=0)
    assert s.grad(x) == pytest.approx(
        complex_gradient(f, (x,), 0), rel=1e-13, abs=0
    )  # by the compiled entry


@pytest.mark.parametrize("f", NARROW, ids=lambda f: f.__name__)
def test_bounds_are_proved(f: Callable[..., Any]) -> None:
    program = capture(f, None, {"x": (1, "f")})
    assert isinstance(program, LoopProgram)
    assert not any(isinstance(s, Check) and s.error == "overflow" for s in walk(program.block))


def exponential(x: float) -> Any:
    term, total, fact, k = 1.0, 1.0, 1, 0
    while abs(term) > 1e-17:
        k += 1
        fact *= k
        term = x**k / fact
        total += term
    return total


def test_a_series_ends() -> None:
    f = symgrad(exponential)
    for x in (0.5, 20.0, 40.0):
        assert f(x) == pytest.approx(math.exp(x), rel=1e-14)
        assert f.grad(x) == pytest.approx(math.exp(x), rel=1e-12)
    x = np.array([0.5, 20.0])
    assert f(x) == pytest.approx(np.exp(x), rel=1e-14)


def counted(x: Vector) -> Any:
    m = 1
    for _ in range(len(x)):
        m *= 12
    return np.sum(x) * 2, m


def test_integer_results_have_any_size() -> None:
    x = np.ones(30)
    assert symgrad(counted)(x) == counted(x)


def stored(x: Vector) -> Any:
    a = np.zeros(len(x), int)
    w = 1
    for i in range(len(x)):
        w *= 10
        a[i] = w
    return x[0] * a


def test_arrays_of_integers_are_refused() -> None:
    f = symgrad(stored)
    assert f(np.ones(5)) == pytest.approx(stored(np.ones(5)))
    with pytest.raises((WideIntegerError, symdiff.SymdiffError), match="64 bits"):
        f(np.ones(30))


def test_unsigned_integers() -> None:
    def f(x: Vector, k: Vector) -> Any:
        total = 0.0
        for i in range(len(k)):
            total += x[k[i] % 3]
        return total

    k = np.array([2**64 - 1, 5], np.uint64)
    with pytest.raises(symdiff.SymdiffError, match="64 bits"):
        symgrad(f)(np.arange(3.0), k)


@pytest.mark.slow
def test_modules_say_so(tmp_path: Any) -> None:
    pytest.importorskip("numba")
    path = tmp_path / "kernels.py"
    f = symgrad(factorials)
    f(np.ones(3))
    f.save(path, companion=None)
    module = loaded(path)
    x = np.linspace(1, 2, 5)
    assert module.factorials(x) == pytest.approx(factorials(x))
    with pytest.raises(OverflowError, match="64 bits"):
        module.factorials(np.ones(30))


class Alarm(BaseException):
    """What the handler of a signal raises."""


def endless(x: float) -> Any:
    s = 0.0
    while s > -1.0:
        s = abs(s * 0.5 + x)
    return s


def nested(x: Vector) -> Any:
    s = 0.0
    for i in range(10**7):
        for j in range(10**3):
            s = 0.5 * s + np.sin(x[0] * i + j)
    return s


def far(x: float) -> Any:
    s = 0.0
    for k in range(10**12):
        s += 1 / (x + k) ** 2
    return s


def products(x: Vector) -> Any:
    s = 0.0
    for _ in range(10**9):
        x = np.tanh(x @ x)
        s += x[0, 0]
    return s


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
@pytest.mark.parametrize(
    ("f", "args"),
    [(endless, (1.0,)), (nested, (np.ones(2),)), (far, (1.0,)), (products, (np.eye(9),))],
    ids=lambda f: getattr(f, "__name__", ""),
)
def test_a_signal_interrupts(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    def handler(*_: Any) -> None:
        raise Alarm

    s = symgrad(f)
    before = signal.signal(signal.SIGALRM, handler)
    try:
        for seconds in (1.5, 0.2):  # it is compiled before the first
            signal.setitimer(signal.ITIMER_REAL, seconds, 0.5)
            with pytest.raises(Alarm):
                s(*args)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


NARROW = np.arange(3, dtype=np.int32)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("fun", "most"),
    [
        (lambda x, a: np.sum(x * (a * a)), 2**15),
        (lambda x, a: x * (a * a), 2**15),
        (lambda x, a: np.sum((2 * a - 1) * x), 2**28),
        (lambda x, a: np.sum(x * a**3), 2**10),
        (lambda x, a: np.sum(x * np.sum(a.copy() * a)), 2**14),
        (lambda x, a: np.sum(x) * (a @ a), 2**14),
    ],
)
def test_integers_of_32_bits_that_wrap_around_are_refused(fun, most) -> None:
    f, x = symgrad(fun, wrt="x"), np.ones(3)
    for a in (NARROW, np.array([1, -3, most], np.int32)):
        np.testing.assert_array_equal(f(x, a), fun(x, a))
    for call in (f, f.jacobian):
        with pytest.raises(ArgumentError, match="argument a is of dtype int32, and what"):
            call(x, np.array([1, -3, 4 * most], np.int32))
        call(x, np.array([1, -3, 4 * most]))
    with pytest.raises(ArgumentError, match="argument a is of dtype int32, and what"):
        f.map(np.ones((2, 3)), np.full((2, 3), -4 * most, np.int32))


@pytest.mark.slow
def test_integers_of_32_bits_beside_floats_are_exact() -> None:
    large = np.array([2**31 - 1, -(2**31), 0], np.int32)
    for fun in (
        lambda x, a: np.sum(x * a),
        lambda x, a: np.sum(x) * np.sum(a),
        lambda x, a: np.sum(x[a == 0]),
        lambda x, a: x * a * a,
    ):
        f = symgrad(fun)
        np.testing.assert_array_equal(f(np.ones(3), large), fun(np.ones(3), large))
    picked = symgrad(lambda x, a: np.sum(x[a]))
    assert picked(np.arange(3.0), NARROW) == 3.0


def _of_far_literals(x):
    return np.sum(np.where(x > 0, 1e300, -1e300) * x) + np.sum(np.nan_to_num(x)) + np.sum(x * 1e200)


def test_literals_beyond_64_bits_are_reals_beside_reals():
    """Nothing is checked, and nothing computed with Python's integers."""
    from symdiff.ir.loop_program import Check, walk

    x = np.array([1.0, -2.0, 0.5])
    f = symgrad(_of_far_literals)
    assert f(x) == _of_far_literals(x)
    np.testing.assert_array_equal(f.grad(x), [1e300, -1e300, 1e300])
    (kernel,) = [k for _, k in f._arrays._kernels.values()]
    assert not [s for s in walk(kernel.program.block) if isinstance(s, Check)]


@pytest.mark.parametrize("n", [3, 80])
def test_literals_beyond_64_bits_are_integers_of_any_size(n):
    def f(x, n):
        m = 1
        for _ in range(n):
            m = m * 2
        return (2**70 if np.sum(x) > 0 else 2**71) + m

    for sign in (1, -1):
        got = symgrad(f)(sign * np.ones(2), n)
        assert type(got) is int and got == f(sign * np.ones(2), n)
