"""Points at which quantities are zero, by the secant method, and values in doubles there.

Zeros of rational quantities are exact: they are recomputed in rational arithmetic.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from symdiff import ir
from symdiff.interpret import work
from symdiff.interpret.in_doubles import Program
from symdiff.ir import Expr, topological

SOLVING = 40
"""Steps of the secant method."""
ROUNDED = 1e-15
"""What rounding leaves of a zero, relative to values near it."""
RATIONAL: dict[ir.Op, Callable[..., Fraction]] = {
    ir.ADD: operator.add, ir.SUB: operator.sub, ir.MUL: operator.mul, ir.DIV: operator.truediv,
    ir.NEG: operator.neg, ir.ABS: abs,
}  # fmt: skip
"""Operations that are computed exactly."""
LARGEST = 2**1023
"""The largest number that counts as a double."""


def zero_by(u: Expr, v: str, point: dict[str, float]) -> tuple[str, dict[str, float], float] | None:
    """The variable, and the point with another value of it, at which a quantity is zero: exactly,
    or as close to zero as rounded functions get; and how close."""
    tried = [point[v], 0.0, point[v] + 1.0]
    values = [value_at(u, {**point, v: x}) for x in tried]
    a, b = point[v], point[v] + 1.0
    p, q = values[0], values[2]
    close = ROUNDED * (abs(p) + abs(q))
    for _ in range(SOLVING):
        if 0.0 in values or not math.isfinite(p - q) or p == q:
            break
        a, b, p = b, b - q * (b - a) / (q - p), q
        q = value_at(u, {**point, v: b})
        tried.append(b)
        values.append(q)
    known = [(abs(y), x) for x, y in zip(tried, values, strict=True) if not math.isnan(y)]
    error, best = min(known, default=(math.inf, 0.0))
    found = {**point, v: best}
    if not (error == 0.0 or (error <= close and not _is_rational(u))):
        return None
    return (v, found, error) if _is_zero(u, found) else None


def _is_rational(u: Expr) -> bool:
    return all(
        n.op in RATIONAL or not n.args or (n.op is ir.POW and ir.integer(n.args[1]) is not None)
        for n in topological((u,))
    )


def _is_zero(u: Expr, point: dict[str, float]) -> bool:
    """Whether a quantity that is zero in doubles is zero in exact arithmetic, if it is rational."""
    if not _is_rational(u):
        return True
    values: dict[Expr, Fraction] = {}
    for n in topological((u,)):
        args = [values[a] for a in n.args]
        power = ir.integer(n.args[1]) if n.op is ir.POW else None
        if n.op is ir.VAR:
            values[n] = Fraction(point[n.value])
        elif (q := ir.rational(n)) is not None:
            if abs(q) > LARGEST:
                return False
            values[n] = Fraction(float(q))  # a literal is the double next to it
        elif n.op in RATIONAL and not (n.op is ir.DIV and not args[1]):
            values[n] = RATIONAL[n.op](*args)
        elif power is not None and (power > 0 or args[0]):
            values[n] = args[0] ** power
        else:
            return False
    return values[u] == 0


def value_at(e: Expr, point: dict[str, float]) -> float:
    return float(_run(_program((e,)), point)[-1])


def values_at(roots: Iterable[Expr], point: dict[str, float]) -> dict[Expr, Any]:
    """The values of all nodes at a point, in doubles."""
    program = _program(tuple(roots))
    return dict(zip(program.nodes, _run(program, point), strict=True))


def _run(program: Program, point: dict[str, float]) -> list[Any]:
    work.spend(len(program.nodes))  # in Python, about as slow as operations on balls
    return program.at(point)


@functools.lru_cache(maxsize=256)
def _program(roots: tuple[Expr, ...]) -> Program:
    return Program(roots)
