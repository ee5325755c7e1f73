"""Absolute values and signs: `x*sign(x)` is `abs(x)`, `abs(x)*sign(x)` is `x`, at 0 as well."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from symdiff.ir import ABS, SIGN, ZERO
from symdiff.ir.functions import EXTREMES, MAXIMA
from symdiff.passes.cancel.rational import Factored
from symdiff.passes.simplify.frame import Frame


def forms(frame: Frame, value: Factored) -> Iterator[Factored]:
    """The value with products of that kind replaced, if it has any."""
    for e, sign in frame.plain.items():
        if e.op is not SIGN or e.args[0] not in frame.plain:
            continue
        x = frame.plain[e.args[0]]
        size = frame.plain.get(ABS(e.args[0]))
        if size is None:
            continue
        columns = (frame.index[str(sign)], frame.index[str(x)], frame.index[str(size)])
        result = frame.ring.const(value.unit)
        for base, n in value.factors.values():
            poly = _replaced(frame, base, columns)
            if poly.is_zero():
                if n < 0:
                    return
                result = frame.ring.const(Fraction(0))
                break
            made = frame.ring.of(poly)
            result = frame.ring.mul(result, frame.ring.pow(made, n))
        yield result


def clipped(frame: Frame, value: Factored) -> Iterator[Factored]:
    """`max(x, 0)*sign(x)` as `max(x, 0)`, and `x*sign(x)` beside it as `2*max(x, 0) - x`; those
    of `min(x, 0)` are the negatives."""
    ring = frame.ring
    for e, part in frame.plain.items():
        if e.op not in EXTREMES or ZERO not in e.args:
            continue
        inner = e.args[0] if e.args[1] is ZERO else e.args[1]
        sign = frame.plain.get(SIGN(inner))
        if sign is None:
            continue
        s, m = frame.index[str(sign)], frame.index[str(part)]
        turn = 1 if e.op in MAXIMA else -1
        result = ring.const(value.unit)
        whole = value.factors.get(str(part), (part, 0))[1] > 0
        for base, n in value.factors.values():
            total = ring.context.constant(0)
            for row, q in base.terms():
                powers = [int(k) for k in row]
                if whole or powers[m]:
                    q, powers[s] = q * turn ** powers[s], 0
                plain = frame.plain.get(inner)
                x = -1 if plain is None else frame.index[str(plain)]
                rest = ring.context.constant(1)
                while x >= 0 and powers[s] and powers[x]:
                    powers[s], powers[x] = powers[s] - 1, powers[x] - 1
                    rest = rest * turn * (2 * part - plain)
                total = total + ring.context.from_dict({tuple(powers): q}) * rest
            if total.is_zero():
                if n > 0:
                    yield ring.const(Fraction(0))
                return
            result = ring.mul(result, ring.pow(ring.of(total), n))
        yield result


def sized(frame: Frame, value: Factored) -> Iterator[Factored]:
    """Even powers of what stands in an absolute value by that: `x**2/abs(x)` is `abs(x)`."""
    ring = frame.ring
    for e, size in frame.plain.items():
        if e.op is not ABS:
            continue
        if e.args[0] not in frame.columns:
            continue
        inner = frame.gens[frame.columns.index(e.args[0])]
        a, n = (value.factors.get(str(g), (g, 0))[1] for g in (size, inner))
        if not a or not n:
            continue
        ratio = ring.div(ring.pow(ring.of(size), 2), ring.pow(ring.of(inner), 2))
        for k in {n // 2, (n + 1) // 2, -(a // 2), -((a + 1) // 2)}:
            if k:
                yield ring.mul(value, ring.pow(ratio, k))


def _replaced(frame: Frame, base: Any, columns: tuple[int, int, int]) -> Any:
    """A polynomial with s*x by a and s*a by x, of the columns s, x, a."""
    s, x, a = columns
    total = frame.ring.context.constant(0)
    for m, q in base.terms():
        row = [int(n) for n in m]
        while row[s] and (row[x] or row[a]):
            row[s] -= 1
            if row[x]:
                row[x], row[a] = row[x] - 1, row[a] + 1
            else:
                row[a], row[x] = row[a] - 1, row[x] + 1
        total = total + frame.ring.context.from_dict({tuple(row): q})
    return total
