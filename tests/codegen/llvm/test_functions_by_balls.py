"""Functions that ball arithmetic computes: right to the last digit everywhere, in kernels of all
kinds; refused by name where there is only source code."""

from __future__ import annotations

import _thread
import math
import random
import struct
import threading
import time
from collections.abc import Callable
from itertools import product
from typing import Any

import flint
import mpmath
import numpy as np
import pytest
import scipy.special as sc

from symdiff import symgrad
from symdiff.errors import SymdiffError
from symdiff.interpret import Certified, exclusive
from symdiff.interpret.ball_values import value_of
from symdiff.interpret.rounding import FLOAT64
from symdiff.ir import var
from symdiff.ir.functions import TABLE
from tests.kernels import at_once, make_kernel

mp = mpmath.mp
KERNELS = [op for op in TABLE if op.edges is not None]
Point = tuple[float, ...]


def share(a: Any, b: Any, x: Any) -> Any:
    return mpmath.betainc(a, b, 0, x, regularized=True)


def student(df: Any, t: Any) -> Any:
    tail = share(df / 2, mpmath.mpf(0.5), df / (df + t * t)) / 2
    return 1 - tail if t > 0 else tail


def owen(h: Any, a: Any) -> Any:
    def density(t: Any) -> Any:
        return mpmath.exp(-((h * a * t) ** 2) / 2) / (1 + (a * t) ** 2)

    scale = a * mpmath.exp(-h * h / 2) / (2 * mpmath.pi)
    return scale * mpmath.quad(density, [0, 0.05, 0.25, 1])


def voigt(x: Any, sigma: Any, gamma: Any) -> Any:
    with mp.workdps(3 * mp.dps):
        z = mpmath.mpc(x, gamma) / (sigma * mpmath.sqrt(2))
        w = mpmath.exp(-z * z) * mpmath.erfc(-1j * z)
        return w.real / (sigma * mpmath.sqrt(2 * mpmath.pi))


CASES: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[Point, ...]]] = {
    # in Python, the truth, and points: ordinary, beside zeros, small and large
    "j0": (sc.j0, lambda x: mpmath.besselj(0, x), ((0.5,), (2.404825557695773,), (-5.5,), (1e-200,), (1e10,))),
    "j1": (sc.j1, lambda x: mpmath.besselj(1, x), ((0.5,), (3.8317059702075125,), (-5.5,), (1e-300,), (1e5,))),
    "y0": (sc.y0, lambda x: mpmath.bessely(0, x), ((0.5,), (0.8935769662791675,), (1e-20,), (1e5,))),
    "y1": (sc.y1, lambda x: mpmath.bessely(1, x), ((0.5,), (2.197141326031017,), (1e-20,))),
    "jn": (sc.jn, mpmath.besselj, ((3, 2.0), (-3, 2.0), (5, -1.5), (40, 1e-3))),
    "jv": (sc.jv, mpmath.besselj, ((0.5, 3.0), (-1.25, 0.75), (2.5, 1e-10), (100.5, 90.0))),
    "yv": (sc.yv, mpmath.bessely, ((0.5, 3.0), (-1.25, 0.75), (7.5, 20.0))),
    "yn": (sc.yn, mpmath.bessely, ((2, 3.0), (3, 0.5))),
    "iv": (sc.iv, mpmath.besseli, ((0.5, 3.0), (-1.25, 0.75), (3, -2.0), (2.5, 700.0))),
    "i0": (sc.i0, lambda x: mpmath.besseli(0, x), ((0.0,), (1e-9,), (-3.0,), (700.0,))),
    "i1": (sc.i1, lambda x: mpmath.besseli(1, x), ((0.0,), (5e-324,), (-3.0,), (700.0,))),
    "i0e": (sc.i0e, lambda x: mpmath.exp(-abs(x)) * mpmath.besseli(0, x), ((0.0,), (-3.0,), (1e4,))),
    "i1e": (sc.i1e, lambda x: mpmath.exp(-abs(x)) * mpmath.besseli(1, x), ((1e-300,), (-3.0,), (1e4,))),
    "ive": (sc.ive, lambda v, x: mpmath.exp(-abs(x)) * mpmath.besseli(v, x), ((0.5, 3.0), (3, -2.0), (2, 1e3))),
    "kv": (sc.kv, mpmath.besselk, ((0.5, 3.0), (-1.25, 0.75), (2.5, 700.0), (1.5, 1e-100))),
    "kn": (sc.kn, mpmath.besselk, ((2, 3.0), (0, 1e-5))),
    "k0": (sc.k0, lambda x: mpmath.besselk(0, x), ((1e-300,), (1.0,), (700.0,))),
    "k1": (sc.k1, lambda x: mpmath.besselk(1, x), ((1e-300,), (1.0,), (700.0,))),
    "kve": (sc.kve, lambda v, x: mpmath.exp(x) * mpmath.besselk(v, x), ((0.5, 3.0), (2.5, 1e3), (0, 0.5))),
    "gammainc": (sc.gammainc, lambda a, x: mpmath.gammainc(a, 0, x, regularized=True), ((2.5, 3.1), (0.3, 9.0), (30.0, 2.0), (1e-3, 1e-9), (200.0, 210.0))),
    "gammaincc": (sc.gammaincc, lambda a, x: mpmath.gammainc(a, x, regularized=True), ((2.5, 3.1), (0.3, 90.0), (30.0, 2.0), (1e-3, 1e-9), (200.0, 210.0))),
    "betainc": (sc.betainc, share, ((2.5, 1.25, 0.3), (0.01, 3.0, 0.999), (50.0, 60.0, 0.4), (2.0, 0.5, 1e-80))),
    "erfinv": (sc.erfinv, mpmath.erfinv, ((0.3,), (-0.999999,), (1e-300,), (0.9999999999999999,))),
    "ndtri": (sc.ndtri, lambda p: mpmath.sqrt(2) * mpmath.erfinv(2 * mpmath.mpf(p) - 1), ((0.3,), (0.5000000001,), (0.999,))),
    "expi": (sc.expi, mpmath.ei, ((0.3,), (0.37250741078136663,), (-30.0,), (600.0,), (1e-300,))),
    "exp1": (sc.exp1, mpmath.e1, ((0.3,), (30.0,), (700.0,), (1e-300,))),
    "expn": (sc.expn, mpmath.expint, ((3, 0.3), (2, 30.0), (10, 1e-5))),
    "ellipk": (sc.ellipk, mpmath.ellipk, ((0.0,), (0.3,), (-0.5,), (0.9999999999999999,), (-1e10,), (1e-300,))),
    "ellipe": (sc.ellipe, mpmath.ellipe, ((0.0,), (0.3,), (-0.5,), (0.9999999999999999,), (-1e10,), (1e-300,))),
    "ellipkm1": (sc.ellipkm1, lambda p: mpmath.ellipk(1 - p), ((0.3,), (1e-40,), (5.0,))),
    "lambertw": (lambda x: sc.lambertw(x).real, mpmath.lambertw, ((0.0,), (0.3,), (-0.367,), (1e300,), (-1e-200,))),
    "lambertw_lower": (lambda x: sc.lambertw(x, -1).real, lambda x: mpmath.lambertw(x, -1).real, ((-0.3,), (-0.367,), (-1e-200,))),
    "zeta": (sc.zeta, mpmath.zeta, ((2.0,), (0.5,), (-3.5,), (-4.0,), (1.0000000001,), (60.0,), (-150.5,))),
    "hurwitz": (sc.zeta, mpmath.zeta, ((2.5, 1.25), (1.0000000001, 0.5), (20.0, 1e-3), (3.0, 1e5))),
    "si": (lambda x: sc.sici(x)[0], mpmath.si, ((0.5,), (-7.25,), (1e5,), (1e-300,))),
    "ci": (lambda x: sc.sici(x)[1], lambda x: mpmath.ci(abs(x)), ((0.5,), (0.6165054856207162,), (-7.25,), (1e5,))),
    "shi": (lambda x: sc.shichi(x)[0], mpmath.shi, ((0.5,), (-7.25,), (700.0,), (1e-300,))),
    "chi": (lambda x: sc.shichi(x)[1], lambda x: mpmath.chi(abs(x)), ((0.5,), (0.5238225713898644,), (-7.25,), (700.0,))),
    "ai": (lambda x: sc.airy(x)[0], mpmath.airyai, ((0.5,), (-2.338107410459767,), (-1e4,), (90.0,))),
    "ai'": (lambda x: sc.airy(x)[1], lambda x: mpmath.airyai(x, derivative=1), ((0.5,), (-1.0187929716474710,), (-1e4,), (90.0,))),
    "bi": (lambda x: sc.airy(x)[2], mpmath.airybi, ((0.5,), (-1.1737132227091279,), (-1e4,), (90.0,))),
    "bi'": (lambda x: sc.airy(x)[3], lambda x: mpmath.airybi(x, derivative=1), ((0.5,), (-2.2944396826141233,), (-1e4,), (90.0,))),
    "ellipkinc": (sc.ellipkinc, mpmath.ellipf, ((0.5, 0.3), (1.5707, 0.9999999), (-20.0, -5.0), (1.0, 1.0), (1e-200, 0.5))),
    "ellipeinc": (sc.ellipeinc, mpmath.ellipe, ((0.5, 0.3), (1.5707, 0.9999999), (-20.0, -5.0), (1.0, 0.999), (1e-200, 0.5))),
    "owens_t": (sc.owens_t, owen, ((0.5, 0.3), (-1.5, -0.9), (30.0, 0.1), (1e-9, 1.0), (2.0, 1e-200))),
    "voigt": (sc.voigt_profile, voigt, ((0.5, 1.0, 0.3), (30.0, 0.5, 1e-6), (-2.0, 1e-3, 1.0), (1.5, 2.0, 4.0))),
    "hyp0f1": (sc.hyp0f1, mpmath.hyp0f1, ((0.5, 3.0), (2.5, -40.0), (-1.5, 1e-3))),
    "hyp1f1": (sc.hyp1f1, mpmath.hyp1f1, ((0.5, 1.5, 3.0), (2.5, -0.5, -40.0), (-2.0, 1.5, 0.3), (30.0, 1.0, 5.0))),
    "hyp2f1": (sc.hyp2f1, mpmath.hyp2f1, ((0.5, 1.5, 2.5, 0.3), (1.0, 2.0, 3.5, -4.0), (-2.0, 1.5, 0.5, 0.7), (0.3, 0.4, 2.0, 0.999999))),
    "stdtr": (sc.stdtr, student, ((4.5, 0.3), (4.5, -0.3), (1.0, -1e5), (200.0, 1.5), (0.5, 30.0), (3.0, 1e-10))),
}  # fmt: skip
ULPS = {"ndtri": 2.0, "voigt": 2.0}  # are written in terms of others
DERIVATIVES = (
    "ellipk", "ellipe", "ellipf", "ellipeinc", "zeta", "faddeeva_real", "faddeeva_imag", "von_mises_arc",
)  # fmt: skip
"""Functions of which the first argument says which derivative is meant."""
BY_REALS = (
    "jv", "yv", "iv", "kv", "ive", "kve", "gammainc", "gammaincc", "betainc", "stdtr",
    "hurwitz", "ellipkinc", "ellipeinc", "owens_t", "hyp0f1",
)  # fmt: skip


def truth(f: Callable[..., Any], point: Point, by: int | None = None) -> Any:
    """The value to many digits, or the derivative by one argument."""
    with mp.workdps(60):
        numbers = [mpmath.mpf(v) for v in point]
        if by is None:
            return +f(*numbers)
        h = mpmath.mpf(2) ** -120 * (abs(numbers[by]) or 1)
        with mp.workdps(140):
            sides = [f(*numbers[:by], numbers[by] + s * h, *numbers[by + 1 :]) for s in (1, -1)]
            return (sides[0] - sides[1]) / (2 * h)


def ulps(got: float, want: Any) -> float:
    """The error, in units of the last place of the truth."""
    return float(abs(mpmath.mpf(got) - want) / math.ulp(float(want)))


@pytest.mark.sampled
@pytest.mark.parametrize("name", CASES)
def test_values_and_slopes(name: str) -> None:
    plain, exact, points = CASES[name]
    arity = len(points[0])
    of = (
        lambda x: plain(x),
        lambda v, x: plain(v, x),
        lambda a, b, x: plain(a, b, x),
        lambda a, b, c, x: plain(a, b, c, x),
    )
    f = symgrad(of[arity - 1], wrt="x" if arity == 2 and name not in BY_REALS else None)
    for p in points:
        for value in (f(*p), f(*(np.full(3, v) for v in p))[1]):
            assert ulps(value, truth(exact, p)) <= ULPS.get(name, 0.5), (p, value)
        slopes = f.grad(*p)
        slopes = slopes if isinstance(slopes, tuple) else (slopes,)
        for k, slope in enumerate(slopes, arity - len(slopes)):
            want = truth(exact, p, k)
            if isinstance(want, mpmath.mpc):  # of another order it is not real there
                assert math.isnan(slope)
            elif abs(p[k]) > 1e-20 and abs(want) < 1e300:
                assert math.isclose(slope, want, rel_tol=1e-13), (p, k, slope)


@pytest.mark.parametrize(
    ("h", "a"), [(-1.5, 2.0), (3.0, -1e5), (0.0, 7.0), (0.25, 1.5), (8.0, 1.1)]
)
def test_owens_function_beyond_the_diagonal(h: float, a: float) -> None:
    """Of large slopes, where the integral is reflected."""

    def density(t: Any) -> Any:
        return mpmath.exp(-((h * t) ** 2) / 2) / (1 + t * t)

    f = symgrad(lambda h, a: sc.owens_t(h, a))
    with mp.workdps(30):
        scale = mpmath.exp(-(mpmath.mpf(h) ** 2) / 2) / (2 * mpmath.pi)
        want = scale * mpmath.quad(
            density,
            [math.copysign(v, a) for v in (0, 0.1, 1, 2, 4, 8, 20, 100) if v < abs(a)] + [a],
        )
        assert ulps(f(h, a), want) <= 0.501


def anything(rng: random.Random) -> float:
    """A double with random bits."""
    return struct.unpack("<d", struct.pack("<Q", rng.getrandbits(64)))[0]


@pytest.mark.sampled
@pytest.mark.parametrize("op", KERNELS, ids=repr)
def test_kernels_round_what_balls_say(op: Any) -> None:
    """At random doubles of any size: nan outside of the domain, else the double next to the value
    at twice the precision that sufficed, or what the function tends to."""
    rng, names = random.Random(op.name), ["x", "y", "z", "t"][: op.arity]
    kernel = make_kernel((op(*map(var, names)),), names)
    special = (0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324, -5e-324, 1.0, 2.0, 1.5)
    checked = 0
    for k in range(40):
        point = [rng.choice(special) if rng.random() < 0.3 else
                 anything(rng) if k % 2 else rng.uniform(-1, 4) for _ in names]  # fmt: skip
        for i, v in enumerate(point[:-1]):
            if 250 < abs(v) < math.inf:  # beyond, balls may take long, and kernels give up
                point[i] = rng.uniform(-5, 250)
        if op.name in DERIVATIVES and k % 3:
            point[0] = float(rng.randrange(4))
        (got,) = kernel([np.array([v]) for v in point])
        if any(map(math.isnan, point)):
            assert math.isnan(got[0]), point
        if not all(map(math.isfinite, point)):
            continue
        with exclusive(2000):
            ball = op.ball(*map(flint.arb, point))
            if ball.is_finite() and ball.rel_accuracy_bits() > 60:
                assert got[0] == FLOAT64.round(ball.mid()), point
                checked += 1
    assert checked


@pytest.mark.sampled
@pytest.mark.parametrize("op", KERNELS, ids=repr)
def test_infinite_arguments_have_one_value(op: Any) -> None:
    """Kernels have the value of `Op.edges` or of the ball there, and so has the last tier."""
    names = ["x", "y", "z", "t"][: op.arity]
    last = Certified(names, [op(*map(var, names))], jumps=True)
    choices: Any = product((0.0, 0.5, 1.0, 8.0, -1.5, math.inf, -math.inf), repeat=op.arity)
    points = [p for p in choices if any(map(math.isinf, p))]
    for p in points[:: 1 + len(points) // 100]:
        np.testing.assert_equal(last.at(p)[0] + 0.0, value_of(op, p) + 0.0, str(p))  # without signs


@pytest.mark.parametrize("h", [0.5, -8.0])
def test_owens_function_of_an_infinite_slope(h: float) -> None:
    f = symgrad(lambda h, a: sc.owens_t(h, a))
    with mp.workdps(30):
        assert ulps(f(h, math.inf), mpmath.erfc(abs(h) / mpmath.sqrt(2)) / 4) <= 0.501


@pytest.mark.parametrize("target", ["cpu", "c", "cuda", "cuda-c", None])
def test_source_code_is_refused_by_name(target: str | None) -> None:
    """Of targets, and of the engine that compiles it."""
    f = symgrad(lambda x: 2.0 * sc.i0(x), **({} if target else {"engine": "numba"}))
    with pytest.raises(SymdiffError, match="iv cannot be"):
        f.source(target) if target else f(1.0)


def test_second_derivatives_by_orders_are_refused() -> None:
    f = symgrad(lambda v, x: sc.jv(v, x))
    assert math.isfinite(f.grad(1.5, 2.0)[0])
    with pytest.raises(SymdiffError, match="the second derivative of jv by its order is not known"):
        f.diff("v", "v")(1.5, 2.0)
    assert math.isfinite(f.diff("v", "x")(1.5, 2.0))


def test_threads_wait_for_nothing() -> None:
    x = np.linspace(0.1, 20.0, 3000)
    f = symgrad(lambda x: sc.j0(x) + 1.0, parallel=True)
    np.testing.assert_allclose(f(x), sc.j0(x) + 1.0, rtol=0, atol=1e-14)
    found = at_once(3, lambda: f(x[:300]))
    assert all((a == f(x[:300])).all() for a in found) and len(found) == 3


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_is_neither_lost_nor_makes_a_wrong_value() -> None:
    x = np.linspace(0.1, 20.0, 20_000)
    f = symgrad(lambda x: sc.j0(x), parallel=False)
    f(x[:10])
    threading.Timer(0.05, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        for _ in range(10):
            f(x)
        time.sleep(1)
    np.testing.assert_allclose(f(x[:100]), sc.j0(x[:100]), rtol=0, atol=1e-14)


def test_loops_and_reductions() -> None:
    def total(x: Any) -> Any:
        s = 0.0
        for i in range(len(x)):
            s += sc.i0(x[i]) * sc.gammainc(2.0, x[i])
        return s

    f, x = symgrad(total), np.linspace(0.1, 3, 5)
    want = sc.i1(x) * sc.gammainc(2.0, x) + sc.i0(x) * x * np.exp(-x)
    assert math.isclose(f(x), total(x), rel_tol=1e-14)
    np.testing.assert_allclose(f.grad(x), want, rtol=1e-13)


@pytest.mark.slow
def test_overflow_of_a_function_is_no_overflow_of_the_result() -> None:
    f = symgrad(lambda x: sc.i0(x) * np.exp(-x))
    x = np.full(2000, 750.0)
    want = float(truth(lambda t: mpmath.besseli(0, t) * mpmath.exp(-t), (750.0,)))
    assert math.isclose(f(750.0), want, rel_tol=1e-14)
    np.testing.assert_allclose(f(x), want, rtol=1e-14)
    np.testing.assert_allclose(f(x[:3]), want, rtol=1e-14)
