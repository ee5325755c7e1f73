"""Is a shorter formula equal to what it replaces? Tried at points, in ball arithmetic.

Requires: two formulas.
Ensures: False if some point proves that they differ, or that the second is undefined where the
first is defined. Points are of all sizes and signs, and on edges: zeros, ones, equal values.
Each rewrite is an identity to start with; this is the second line.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

from flint import arb, fmpq

from symdiff import ir
from symdiff.errors import UnsupportedError
from symdiff.interpret.balls import exclusive
from symdiff.interpret.flat import Tape
from symdiff.ir import Expr
from symdiff.ir.formula_text import factors, of_factors
from symdiff.ir.functions import COS, COSH, ERF, ERFC, EXP, PI, SIN, SINH, TAN, TANH
from symdiff.passes.cancel.algebra import linear

ENOUGH, MOST = 6, 40
"""Ordinary points at which both must be known, and points tried for that."""
FEW = 2
"""So many of them decide for formulas that are analytic where complex numbers but for isolated
ones are: equal somewhere, they are equal."""
EDGES = (0, 1, -1)
"""Each variable takes these values in turn, while the others are positive, and are anything."""
MAX_DIVISORS = 8
"""Sums in denominators whose zeros are examined."""
PRECISION = 128
TINY = arb(2) ** -80
_ENTIRE = frozenset((
    ir.VAR, ir.CONST, ir.ADD, ir.SUB, ir.MUL, ir.NEG, PI, EXP, SIN, COS, SINH, COSH, ERF, ERFC,
))  # fmt: skip
"""Operations that are analytic for all complex numbers."""


def equal(before: Expr, after: Expr, strict: bool = True, within: Expr | None = None) -> bool:
    """Whether no point distinguishes the two, and both are known at some point;
    strict: the second must also have the domain of the first. Points where `within` is undefined
    do not count."""
    return compare(before, after, strict, within) == ()


def compare(
    before: Expr, after: Expr, strict: bool = True, within: Expr | None = None
) -> tuple[Expr, ...] | None:
    """As `equal`: None if they differ, else the variables at whose zeros only the first is
    defined; none of them if they are equal."""
    inputs = ir.variables((before,))
    if not set(ir.variables((after,))) <= set(inputs):
        return None
    given: tuple[Expr, ...] = (before, after)
    if within is not None:
        given = before, after, within
    more = () if within is None else ir.variables((within,))
    params = (*inputs, *(v for v in more if v not in inputs))
    nodes = ir.topological(given)
    if any(e.op is ir.POW and ir.rational(e.args[1]) is None for e in nodes):
        given = ir.transform(given, _above)
        nodes = ir.topological(given)
    if within is not None:
        nodes = ir.topological(given[:2])
    own = ir.topological(given[1:2])
    try:
        tape = Tape(params, given)
    except (UnsupportedError, ValueError, NotImplementedError):
        return None
    rng, seen = random.Random(len(inputs)), 0
    nonzero: dict[Expr, None] = {}
    exposed = _exposed(nodes, own)
    enough = FEW if all(map(_is_meromorphic, nodes)) else ENOUGH
    with exclusive():
        for k in range(MOST + 2 * len(EDGES) * len(inputs)):
            edge = k >= MOST
            if not edge and (seen >= enough or (k and not inputs)):
                continue
            if edge and inputs[(k - MOST) // (2 * len(EDGES))] not in exposed:
                continue
            point = list(_point(len(params), k, len(inputs)))
            verdict = _verdict(tape, point, edge, strict)
            if verdict == "undefined" and edge:
                which, rest = divmod(k - MOST, 2 * len(EDGES))
                if EDGES[rest // 2] == 0:
                    nonzero[inputs[which]] = None
                    continue
            if verdict == "undefined" or verdict is False:
                return None
            seen += verdict is True and not edge
        if (
            seen
            and not nonzero
            and not _defined_on_surfaces(tape, params, rng, _divisors(own), strict)
        ):
            return None
        if seen and not _defined_at_poles(tape, len(params), before, after):
            return None
    return tuple(nonzero) if seen else None


def _is_meromorphic(e: Expr) -> bool:
    """Whether an operation keeps formulas analytic on the complex numbers except at isolated points."""
    return e.op in _ENTIRE or e.op is ir.DIV or e.op is TAN or e.op is TANH or _is_whole(e)


def _is_whole(e: Expr) -> bool:
    return e.op is ir.POW and ir.integer(e.args[1]) is not None


def _exposed(nodes: Iterable[Expr], own: Iterable[Expr]) -> set[Expr]:
    """The variables at whose edges the second formula may be undefined, or one of the formulas may
    jump: the others occur only in operations that are defined and continuous for all numbers. The
    arguments are the nodes of both formulas, and those of the second."""
    below: list[Expr] = []
    for e in own:
        if e.op is ir.DIV:
            below.append(e.args[1])
        elif not (e.op in _ENTIRE or e.op is TANH or (_is_whole(e) and e.args[1].value > 0)):
            below += e.args
    for e in nodes:
        if not _is_meromorphic(e):
            below += e.args
    return set(ir.variables(below))


def _defined_on_surfaces(
    tape: Tape, params: Sequence[Expr], rng: random.Random, divisors: list[Expr], strict: bool
) -> bool:
    """Whether the second is defined where the first is, where a sum that the second divides by
    is zero."""
    for below in divisors[:MAX_DIVISORS]:
        own = Tape(params, (below,))
        for v in ir.variables((below,)):
            at = params.index(v)
            point = [arb(rng.randrange(2, 40)) / 8 for _ in params]
            root = _zero(own, point, at)
            if root is not None:
                point[at] = root
                if _verdict(tape, point, True, strict) in (False, "undefined"):
                    return False
                break
    return True


def is_defined(formula: Expr, h: Expr) -> bool:
    """Whether a formula is known to have values where another is zero."""
    params = ir.variables((formula, h))
    rng = random.Random(len(params))
    try:
        tape, own = Tape(params, (formula,)), Tape(params, (h,))
    except (UnsupportedError, ValueError, NotImplementedError):
        return False
    seen = 0
    with exclusive():
        for v in ir.variables((h,)):
            at = params.index(v)
            for low in (2, 2, -40, -40):
                point = [arb(rng.randrange(low, 40)) / 8 for _ in params]
                root = _zero(own, point, at)
                if root is not None:
                    point[at] = root
                    if not _is_finite(tape.run(point, PRECISION)[tape.roots[0]]):
                        return False
                    seen += 1
    return seen > 0


def _defined_at_poles(tape: Tape, count: int, before: Expr, after: Expr) -> bool:
    """Whether the second is defined where the first is, at the poles of tangents that the first
    lacks: `sin(x)/(sin(x) + cos(x))` is 1 where `tan(x)/(tan(x) + 1)` is undefined. No double is
    such a pole, so sines and cosines are set to their values."""
    tangents = [node for node in tape.nodes if node.op is TAN]
    given = set(ir.topological((before,))) if tangents else set()
    for node in tangents:
        if node in given:
            continue
        direction = linear(node.args[0]) or {}
        if len(direction) != 1:
            continue
        ((m, c),) = direction.items()
        for quarter in (1, 3):
            fixed, others = _fixed(tape, m, quarter / c)
            for k in range(2):
                values = tape.run(_point(count, k, count), PRECISION, fixed, others.get)
                a, b = (values[i] for i in tape.roots[:2])
                if _is_finite(a) and not _is_finite(b):
                    return False
    return True


def _fixed(tape: Tape, m: Expr, quarters: Fraction) -> tuple[dict[int, Any], dict[int, arb]]:
    """The sines, cosines and tangents of multiples of an angle, at that many quarter turns: those
    that are integers or infinite, and the others."""
    found: dict[int, Any] = {}
    others: dict[int, arb] = {}
    for i, e in enumerate(tape.nodes):
        if e.op not in (SIN, COS, TAN):
            continue
        direction = linear(e.args[0]) or {}
        turn = direction.get(m, Fraction(0)) * quarters
        if len(direction) != 1 or m not in direction:
            continue
        if turn.denominator != 1:
            half = arb(fmpq(turn.numerator, 2 * turn.denominator))
            others[i] = {SIN: half.sin_pi, COS: half.cos_pi, TAN: half.tan_pi}[e.op]()
            continue
        sine, cosine = ((0, 1), (1, 0), (0, -1), (-1, 0))[turn.numerator % 4]
        if e.op is TAN:
            found[i] = math.inf if cosine == 0 else Fraction(0)  # 1/tan(x) is 0 there
        else:
            found[i] = Fraction(sine if e.op is SIN else cosine)
    return found, others


def _divisors(nodes: Iterable[Expr]) -> list[Expr]:
    """The sums in the denominators among some nodes."""
    found: dict[Expr, None] = {}
    for node in nodes:
        if node.op is ir.DIV:
            for base, _ in factors(node.args[1])[1]:
                if base.op in (ir.ADD, ir.SUB):
                    found[base] = None
    return list(found)


def _zero(tape: Tape, point: list[arb], at: int) -> arb | None:
    """Where a sum is zero along a variable, if it is linear in it and that is known exactly."""

    def value(t: arb) -> Any:
        point[at] = t
        found = tape.run(point, PRECISION)[tape.roots[0]]
        return found if isinstance(found, arb) and found.is_finite() else arb("nan")

    zero, one = value(arb(0)), value(arb(1))
    slope = one - zero
    if not slope.is_finite() or slope.contains(0):
        return None
    root = -zero / slope
    return root if root.is_exact() and value(root).is_zero() else None


def _above(e: Expr, args: tuple[Expr, ...]) -> Expr:
    """Powers with symbolic exponents in the numerator: `1/x**a` is written for `x**(-a)`, which
    is 0 at 0 if -a is positive."""
    if e.op is not ir.DIV:
        return ir.rebuild(e, args)
    unit, found = factors(args[1])
    powers = [(b, x) for b, x in found if ir.rational(x) is None]
    if not powers:
        return ir.rebuild(e, args)
    top = ir.product([args[0], *(ir.power(b, ir.neg(x)) for b, x in powers)])
    return ir.div(top, of_factors(unit, [f for f in found if f not in powers]))


def _is_finite(value: Any) -> bool:
    return isinstance(value, arb) and bool(value.is_finite())


def _verdict(
    tape: Tape, point: list[arb], edge: bool, strict: bool
) -> bool | Literal["undefined"] | None:
    """Whether the two are equal at a point; None if that is unknown, or only the first is
    defined."""
    values = tape.run(point, PRECISION)
    a, b = (values[i] for i in tape.roots[:2])
    if len(tape.roots) > 2 and not _is_finite(values[tape.roots[2]]):
        return None
    if not isinstance(a, arb) or not isinstance(b, arb):
        return False
    if a.is_finite() and b.is_finite():
        if not a.overlaps(b):
            return False
        if edge:
            return True  # whether it is known counts for ordinary points alone
        known = all(bool(v.rad() <= TINY * (1 + abs(v))) for v in (a, b))
        return True if known else None
    if a.is_finite():  # the second formula must not be undefined there
        return None if tape.trouble(tape.roots[1], values) == "undecided" else "undefined"
    if strict and b.is_finite() and not edge and tape.trouble(tape.roots[0], values) == "domain":
        return False  # the first has a domain that the second lost
    return None


def ordinary_points(count: int) -> list[list[arb]]:
    """Points of all sizes and signs."""
    return [list(_point(count, k, count)) for k in range(12)]


@lru_cache(maxsize=4096)
def _point(count: int, k: int, edges: int) -> tuple[arb, ...]:
    """Values at which formulas differ if they do: ordinary ones, then edges. All of them are
    doubles, so that they are exact at every precision."""
    rng = random.Random(1000 * count + k)
    if k < MOST:
        if k < 4:  # positive, within (0, 1) for every other
            low, high = ((0.1, 0.9), (1.1, 3.0), (0.1, 3.0), (0.3, 0.7))[k]
            return tuple(arb(rng.uniform(low, high)) for _ in range(count))
        size = (1.0, 3.0, 0.9, 8.0)[k % 4]
        return tuple(arb(rng.uniform(-size, size)) for _ in range(count))
    which, rest = divmod(k - MOST, 2 * len(EDGES))
    assert which < edges
    low = 1.1 if rest % 2 else -2.0
    point = [arb(rng.uniform(low, 3.0)) for _ in range(count)]
    point[which] = arb(EDGES[rest // 2])
    return tuple(point)
