"""Balls of Python's integers, of which modules contain copies, against those of python-flint."""

from __future__ import annotations

import math
import operator
import random

import pytest
from flint import arb, ctx, fmpz

from symdiff.codegen.source.modules.helpers import copies, definitions
from symdiff.export.measured import run

MODULE = run(copies([name for name, d in definitions().items() if d.balls]))
"""All that modules contain of balls, where there is no python-flint."""
_Ball, _ball_of, _widened, BITS = (MODULE[n] for n in ("_Ball", "_ball_of", "_widened", "_BITS"))

METHODS = (
    "sqrt", "exp", "expm1", "log", "log1p", "sin", "cos", "tan", "sinc_pi", "atan", "asin", "acos",
    "cosh", "sinh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "floor", "ceil",
    "gamma", "lgamma", "digamma",
)  # fmt: skip
LOOSE = 20
"""Bits that a ball may have fewer than those of python-flint."""


def exact(ball: _Ball) -> arb:
    if ball.r < 0:
        return arb("nan")
    return (arb(fmpz(ball.m)) + arb(0, 1) * arb(fmpz(ball.r))) * arb(2) ** ball.e


def number(rng: random.Random) -> float:
    sign, kind = rng.choice((1, -1)), rng.randrange(6)
    if kind < 2:
        return sign * 2.0 ** rng.uniform(-6, 5)
    if kind == 2:
        return sign * float(rng.randint(0, 5))
    if kind == 3:
        return sign * rng.randint(1, 40) * math.pi / 4
    if kind == 4:
        return sign * (1 + rng.choice((1, -1)) * 2.0 ** -rng.randint(1, 52))
    return sign * 2.0 ** rng.uniform(-1000, 1000)


@pytest.fixture(autouse=True)
def _restored():
    before = BITS[0]
    yield
    BITS[0] = before


@pytest.mark.parametrize("name", METHODS)
def test_functions_hold_the_truth(name):
    rng = random.Random(name)
    counted = 0
    for _ in range(12 if "gamma" in name else 40):
        bits = BITS[0] = rng.choice((64, 128, 320))
        x = number(rng)
        if name.startswith(("erf", "gamma", "lgamma", "digamma")) and abs(x) > 40:
            x = rng.uniform(-40, 40)
        ball = _ball_of(x)
        if rng.random() < 0.5:  # with a radius
            ball = _widened(ball, _ball_of(abs(x) * 2.0 ** -rng.randint(3, 90)))
        found = getattr(ball, name)()
        with ctx.workprec(8000):
            ends = [exact(ball.lower()), exact(ball.mid()), exact(ball.upper())]
            for truth in (getattr(end, name)() for end in ends):
                if truth.is_finite() and found.r >= 0:
                    counted += 1
                    assert exact(found).overlaps(truth), (x, ball.r, bits)
        with ctx.workprec(bits):
            theirs = getattr(exact(ball), name)()
        if ball.r == 0 and theirs.is_finite() and -1100 < math.log2(abs(x) or 1) < 60:
            least = min(theirs.rel_accuracy_bits(), bits) - LOOSE
            assert found.r == 0 or found.rel_accuracy_bits() >= least, (x, bits)
    assert counted > 8


def test_hurwitz_zeta():
    BITS[0] = 160
    for s in (2, 3, 5):
        for x in (0.01, 1.5, 1e8):
            with ctx.workprec(300):
                found = exact(_ball_of(x).hurwitz(s))
                truth = arb(s).zeta(arb(x))
            assert found.overlaps(truth) and found.rel_accuracy_bits() > 120, (s, x)


def test_arithmetic_holds_the_truth():
    rng = random.Random(7)
    for _ in range(300):
        BITS[0] = rng.choice((64, 128, 320))
        x, y = (_ball_of(number(rng)) for _ in range(2))
        if rng.random() < 0.5:
            x = _widened(x, x * _Ball(1, 0, -rng.randint(2, 80)))
        if rng.random() < 0.2:
            x = x * _Ball(1, 0, rng.choice((1, -1)) * 10**9)  # far outside of the doubles
        operations = [(x + y, 1), (x - y, 1), (x * y, 1), (abs(x), 0), (x**3, 0), (x.max(y), 1)]
        operations += [(x / y, 1), (x.union(y), 1)] if y.m else []
        with ctx.workprec(8000):
            for at in (exact(x.lower()), exact(x.upper())):
                b = exact(y)
                truths = [at + b, at - b, at * b, abs(at), at**3, at.max(b)]
                truths += [at / b, at] if y.m else []
                for (found, _), truth in zip(operations, truths, strict=True):
                    assert found.r >= 0 and exact(found).overlaps(truth), (x.m, x.r, x.e, y.m, y.e)


def test_comparisons_are_certain_or_false():
    one, wide = _Ball(1), _Ball(3, 1, -1)  # 1 and [1, 2]
    relations = (operator.lt, operator.le, operator.eq, operator.ne, operator.ge, operator.gt)
    expected = {
        (one, wide): "le", (one, _Ball(1)): "le eq ge", (one, _Ball(2)): "lt le ne",
        (_Ball(1, 0, -(10**30)), _Ball(0)): "ne ge gt", (one, _ball_of("nan")): "",
    }  # fmt: skip
    for (x, y), names in expected.items():
        assert [r.__name__ for r in relations if r(x, y)] == names.split()
    nothing = _ball_of("nan")
    assert not (nothing + 1).is_finite() and not nothing.sin().is_finite()
    assert not one.no_such_function().is_finite()


@pytest.mark.parametrize("value", [0.1, 5e-324, 3.5e-310, -1e308, 2.0**-1022, -3.0])
def test_doubles_are_rounded_once(value):
    assert float(_ball_of(value)) == value
    above = _Ball(int(math.ldexp(math.frexp(value)[0], 60)) * 2 + 1, 0, math.frexp(value)[1] - 61)
    assert float(above) == value
    assert float(_Ball(1, 0, 1024)) == math.inf and float(_Ball(-(10**400), 0, 0)) == -math.inf


EDGES = [(0, 0), (1, 0), (-3, 0), (0, 1), (1, 1), (5, 7), (-5, 7), (2**60 + 1, 1)]
SCALES = (0, 3, -3, 12, 700, -1074, 3990, 6000, 10**9, -(10**9), 1 << 70, -(1 << 4000), 1 << 4000)


@pytest.mark.parametrize("bits", [64, 192])
def test_functions_answer_for_every_ball(bits, monkeypatch):
    """Huge, tiny, wide and undefined arguments: an answer of few digits, and never an exception."""
    most, fixed = [0], MODULE["_fixed"]

    def counted(m, k):
        value = fixed(m, k) if k < 1 << 17 or m == 0 else pytest.fail(f"a shift by 2**{k}")
        most[0] = max(most[0], value.bit_length())
        return value

    monkeypatch.setitem(MODULE, "_fixed", counted)
    BITS[0] = bits
    balls = [_Ball(m, r, e) for m, r in EDGES for e in SCALES]
    nothing = [_Ball(0, -1), _ball_of(math.inf), _ball_of(-math.inf)]
    calls = [(name, ()) for name in (*METHODS, "sinc_pi")] + [("hurwitz", (3,))]
    calls += [(n, (y,)) for n in ("max", "min", "union", "atan2") for y in (*balls[::17], *nothing)]
    for name, others in calls:
        for x in balls:
            found = getattr(x, name)(*others)
            float(found)
            ends = found.lower(), found.upper(), found.mid()
            if found.r >= 0:
                assert ends[0] <= ends[2] <= ends[1], name
                assert max(found.m.bit_length(), found.r.bit_length()) <= bits + 128 or x is found
            else:
                assert not any(e.is_finite() for e in ends), name
        for x in nothing:
            assert not getattr(x, name)(*others).is_finite(), name
    assert most[0] < 20_000
    for name, function in MODULE.items():
        if name.startswith("_ball_") and function.__code__.co_argcount == 1:
            for x in (*balls, *nothing):
                function(x)
    for x in balls[::3]:
        for y in balls[::7]:
            MODULE["_ball_pow"](x, y), MODULE["_ball_fmod"](x, y), MODULE["_ball_logaddexp"](x, y)
        MODULE["_ball_power"](x, 2, 3), MODULE["_ball_power"](x, -7, 65)
        MODULE["_ball_polygamma"](_Ball(2), x)


def test_what_holds_undefined_numbers_is_undefined():
    """The ends of what is not known are not known, nor is what is made of them."""
    nothing, one = _Ball(0, -1), _Ball(1)
    for found in (nothing.lower(), nothing.upper(), nothing.mid(), nothing.abs_upper()):
        assert not found.is_finite()
    assert not one.union(nothing).is_finite() and not nothing.union(one).is_finite()
    assert not _widened(one, _ball_of(math.inf)).is_finite()
    assert not _Ball(0, 1, 5000).exp().is_finite()  # holds numbers beyond all bounds


@pytest.mark.parametrize("name", ["erf", "erfc"])
@pytest.mark.parametrize("x", [27.0, 1e3, 1e9, 1e300, 1.7976931348623157e308])
def test_error_functions_far_out(name, x):
    BITS[0] = 128
    for sign in (1, -1):
        found = exact(getattr(_ball_of(sign * x), name)())
        with ctx.workprec(300):
            assert found.overlaps(getattr(arb(sign * x), name)())
    wide = exact(getattr(_Ball(1, 3, 1000), name)())
    assert wide.overlaps(arb(0)) and abs(wide) < 3


def test_digamma_of_a_wide_ball():
    assert not _Ball(4, 44, -2).digamma().is_finite()
    assert not _Ball(-8, 0, -2).digamma().is_finite()  # a pole
