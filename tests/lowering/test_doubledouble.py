"""Every double-double rule against ball arithmetic, because it is in the table."""

from __future__ import annotations

import ctypes
import math
import operator
import random
import struct
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from flint import arb, ctx, fmpq

from symdiff.ir import POW, Op
from symdiff.lowering.double_double import arithmetic as dd
from symdiff.lowering.double_double import pairs
from symdiff.lowering.double_double.arithmetic import Pair
from symdiff.lowering.double_double.functions import FLOOR, RULES, UNIT
from symdiff.lowering.double_double.pairs import PairFunction
from tests import pair_code

SAMPLES = 1500
PRECISION = 400
ARITHMETIC = {
    "add": (3, operator.add),
    "mul": (4, operator.mul),
    "div": (9.8, operator.truediv),
    "sqrt": (3.2, lambda x: x.sqrt()),
}
"""Units of 2**-106 by which arithmetic may be off, and the truth."""
STEPS = {
    "floor": (dd.floor, lambda x: x.floor()),
    "ceil": (dd.ceil, lambda x: x.ceil()),
    "trunc": (dd.trunc, lambda x: x.floor() if x >= 0 else x.ceil()),
}


class _Result(ctypes.Structure):
    _fields_ = (("hi", ctypes.c_double), ("lo", ctypes.c_double))


def compiled(function: PairFunction) -> Callable[..., Any]:
    code = pair_code.compiled(function)
    kind = ctypes.CFUNCTYPE(_Result, *[ctypes.c_double] * (2 * function.arity))
    found = kind(code.address(function.symbol))
    found.code = code  # type: ignore[attr-defined]
    return found


def exactly(value: float) -> Any:
    return arb(fmpq(*value.as_integer_ratio()))


def _high(random: random.Random) -> float:
    """A double: of any exponent, ordinary, or near a special point."""
    kind = random.randrange(9)
    if kind == 0:
        value = math.inf
        while not math.isfinite(value):
            value = struct.unpack("d", struct.pack("Q", random.getrandbits(64)))[0]
        return float(value)
    if kind == 1:
        return random.gauss(0, 1)
    if kind == 2:
        return random.choice([-1, 1]) * 10 ** random.uniform(-12, 6)
    if kind == 3:
        return random.choice([-1, 1]) * (1 + random.choice([-1, 1]) * 2 ** -random.uniform(1, 53))
    if kind == 4:
        return random.randrange(-9999, 9999) * math.pi / 2 * random.choice([1, 1 + 2**-52])
    if kind == 5:
        return random.uniform(-750, 750)
    if kind == 6:
        return float(random.randrange(-40, 40)) / 4
    if kind == 7:
        return random.randrange(-800, 800) * math.log(2) * random.choice([1, 0.5])
    return random.choice([0.0, 1.0, -1.0, 0.5, 2.0, 1e5, -1e5, 2.0**60])


def sample(random: random.Random) -> tuple[float, float]:
    """A pair whose low part may be anything below half an ulp of the high part."""
    high = _high(random)
    low = (
        math.ulp(high)
        / 2
        * random.uniform(-1, 1)
        * random.choice([0, 1, 2.0 ** -random.randrange(50)])
    )
    if abs(high) < 1e-280 or high + low != high:
        low = 0.0
    return high, low


def truth(function: Callable[..., Any], args: list[Any]) -> Any | None:
    """The value if it is real and finite, else None."""
    try:
        if function is operator.pow and args[0] < 0:
            if not args[1].is_integer():
                return None
            value = args[0] ** args[1].unique_fmpz()
        else:
            value = function(*args)
    except (ValueError, ZeroDivisionError):
        return None
    return value if value.is_finite() else None


def worst_error(call: Callable[..., Any], arity: int, function: Callable[..., Any]) -> float:
    """The largest error in units, less the absolute error that is allowed."""
    rng, worst, finite = random.Random(7), 0.0, 0
    floor = exactly(float(FLOOR))
    for _ in range(SAMPLES):
        given = [part for _ in range(arity) for part in sample(rng)]
        args = [exactly(given[k]) + exactly(given[k + 1]) for k in range(0, len(given), 2)]
        value = truth(function, args)
        result = call(*given)
        if value is None or not math.isfinite(result.hi) or not math.isfinite(result.lo):
            continue
        finite += 1
        assert result.hi + result.lo == result.hi
        error = abs(exactly(result.hi) + exactly(result.lo) - value)
        if error < floor:
            continue
        units = float(((error - floor) / abs(value) / exactly(float(UNIT))).upper())
        if not units <= worst:
            worst = units
            assert math.isfinite(worst), given
    assert finite > SAMPLES / 5
    return worst


@pytest.mark.sampled
@pytest.mark.parametrize("op", RULES, ids=lambda op: op.name)
def test_rule(op: Op) -> None:
    """Within the units that the table states."""
    call = compiled(pairs.TABLE[op].function)
    function = operator.pow if op is POW else op.ball
    assert function is not None
    with ctx.workprec(PRECISION):
        assert worst_error(call, op.arity, function) <= RULES[op].units


@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic(name: str) -> None:
    units, function = ARITHMETIC[name]
    symbol = pairs.SYMBOL.format(name)
    found = next(f for f, _ in pairs.PARTS.values() if f.symbol == symbol)
    rng = random.Random(3)
    with ctx.workprec(PRECISION):
        for _ in range(SAMPLES):
            given = [part for _ in range(found.arity) for part in sample(rng)]
            if any(v != 0 and not 1e-140 < abs(v) < 1e140 for v in given[::2]):
                continue
            args = [exactly(given[k]) + exactly(given[k + 1]) for k in range(0, len(given), 2)]
            value = truth(function, args)
            if value is None:
                continue
            result = compiled_once(found)(*given)
            error = abs(exactly(result.hi) + exactly(result.lo) - value)
            assert error <= abs(value) * exactly(units * float(UNIT)), given


_compiled: dict[str, Any] = {}


def compiled_once(function: PairFunction) -> Any:
    if function.symbol not in _compiled:
        _compiled[function.symbol] = compiled(function)
    return _compiled[function.symbol]


@pytest.mark.parametrize("name", STEPS)
def test_step(name: str) -> None:
    """Steps are exact: of integers, halves and their neighbours, and with low parts."""
    build, function = STEPS[name]
    call = compiled(PairFunction(f"test_{name}", 1, build))
    with ctx.workprec(PRECISION):
        for high in (0.0, 1.0, -1.0, 2.5, -2.5, 3.0, 1e17, -1e17, 2.0**60, 0.75):
            for low in (0.0, math.ulp(high) / 4, -math.ulp(high) / 4):
                result = call(high, low)
                expected = function(exactly(high) + exactly(low))
                assert exactly(result.hi) + exactly(result.lo) == expected, (high, low)


@pytest.mark.parametrize(
    ("high", "low", "expected"),
    [(2.5, 0.0, 2), (3.5, 0.0, 4), (2.5, 1e-20, 3), (2.5, -1e-20, 2), (3.5, -1e-20, 3),
     (-2.5, -1e-20, -3), (-2.5, 0.0, -2), (2.0, 1e-20, 2), (1e17, 7.0, 10**17 + 7)],
)  # fmt: skip
def test_rint(high: float, low: float, expected: int) -> None:
    """The nearest integer, ties to even; a low part breaks the tie."""
    result = compiled_once(PairFunction("test_rint", 1, dd.rint))(high, low)
    assert Fraction(result.hi) + Fraction(result.lo) == expected


@pytest.mark.sampled(11)
@pytest.mark.parametrize("x", [math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("op", RULES, ids=lambda op: op.name)
def test_nothing_finite_from_nan(op: Op, x: float) -> None:
    """A nan stays one; infinities never give a wrong finite number."""
    result = compiled_once(pairs.TABLE[op].function)(*[x, 0.0] * op.arity)
    if math.isnan(x):
        assert math.isnan(result.hi) or math.isnan(result.lo)


@pytest.mark.parametrize("x", [1e-300, 5e-324, 2.0**-1000])
def test_underflow_is_not_silent(x: float) -> None:
    """Quotients of tiny numbers have lost their low parts: atan2 says nan."""
    from symdiff.ir.functions import ATAN2

    assert math.isnan(compiled_once(pairs.TABLE[ATAN2].function)(x, 0.0, x / 3, 0.0).hi)


def test_constants_have_two_parts() -> None:
    pair: Pair = dd.constant(Fraction(1, 3))
    total = pair.hi.value + pair.lo.value
    assert abs(total - Fraction(1, 3)) < Fraction(1, 2**107)


def test_erfc_of_large_arguments() -> None:
    """Down to the smallest normal double, within the stated units; nan below."""
    op = next(o for o in RULES if o.name == "erfc")
    call, rng = compiled_once(pairs.TABLE[op].function), random.Random(5)
    with ctx.workprec(PRECISION):
        for k in range(600):
            high = rng.uniform(8.4, 26.5) if k % 3 else 8.5 + (k - 300) * 2.0**-52
            low = math.ulp(high) / 2 * rng.uniform(-1, 1)
            value = (exactly(high) + exactly(low)).erfc()
            result = call(high, low)
            error = abs(exactly(result.hi) + exactly(result.lo) - value) - exactly(float(FLOOR))
            assert error <= value * exactly(RULES[op].units * float(UNIT)), high
        assert math.isnan(call(26.6, 0.0).hi)
