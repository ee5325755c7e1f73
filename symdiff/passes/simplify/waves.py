"""Products of sines and cosines as sums of them, of sums and differences of their angles.

Before:  cos(x)*cos(y) - sin(x)*sin(y)
After:   cos(x + y)

Also of hyperbolic functions: `cosh(x)**2 + sinh(x)**2` is `cosh(2*x)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

from symdiff import ir
from symdiff.ir import ZERO, Expr
from symdiff.ir.functions import COS, COSH, SIN, SINH
from symdiff.passes.cancel.algebra import linear
from symdiff.passes.cancel.rational import Factored
from symdiff.passes.simplify.frame import CIRCULAR, Frame
from symdiff.passes.simplify.writer import Writer, primitive

MAX_TERMS = 24
MAX_DEGREE = 6


def forms(frame: Frame, value: Factored, writer: Writer) -> Iterator[Expr]:
    """The value with the numerator as such a sum."""
    for kind in (CIRCULAR, -CIRCULAR):
        chosen = [a for a in frame.turns.values() if a.kind == kind]
        if not chosen or len(chosen) > 3:
            continue
        columns = [(frame.index[str(a.s)], frame.index[str(a.c)]) for a in chosen]
        angles = [a.of for a in chosen]
        above, below = (
            {k: f for k, f in value.factors.items() if side * f[1] > 0 and _is_of(f[0], columns)}
            for side in (1, -1)
        )
        top = _sum_of(frame, kind, columns, above, angles, writer)
        bottom = _sum_of(frame, kind, columns, below, angles, writer)
        pairs: list[tuple[Expr | None, Expr | None]] = [(top, None)]
        if len(chosen) > 1 and bottom is not None:
            pairs.append((top, bottom))
        for over, under in pairs:
            if over is None:
                continue
            inner = {**above, **(below if under is not None else {})}
            rest = {k: f for k, f in value.factors.items() if k not in inner}
            made = ir.mul(writer.write(Factored(value.unit, rest)), over)
            yield made if under is None else ir.div(made, under)


def _is_of(base: Any, columns: list[tuple[int, int]]) -> bool:
    degrees = base.degrees()
    return any(degrees[i] or degrees[j] for i, j in columns)


def _sum_of(
    frame: Frame,
    kind: int,
    columns: list[tuple[int, int]],
    factors: dict[str, tuple[Any, int]],
    angles: list[Expr],
    writer: Writer,
) -> Expr | None:
    """The product of some factors, to the sizes of their powers, as such a sum."""
    total = frame.ring.context.constant(1)
    for base, n in factors.values():
        if abs(n) > MAX_DEGREE:
            return None
        total = total * base ** abs(n)
    if not factors or len(total) > MAX_TERMS:
        return None
    made = _waves(frame, kind, columns, total)
    if made is None or len(made) > MAX_TERMS:
        return None
    return _written(frame, kind, angles, made, writer)


def of_half_sums(frame: Frame, e: Expr) -> Expr | None:
    """The sines and cosines of two angles by those of half their sum and half their difference,
    where these are shorter: `sin(x + y) + sin(x - y)` by functions of x and y; and hyperbolic
    ones."""
    for functions in ((SIN, COS), (SINH, COSH)):
        found = _of_half_sums(frame, e, functions)
        if found is not None:
            return found
    return None


def _of_half_sums(frame: Frame, e: Expr, functions: tuple[ir.Op, ir.Op]) -> Expr | None:
    sine, cosine = functions
    nodes = [n for n in frame.nodes if n.op in functions]
    angles = list(dict.fromkeys(n.args[0] for n in nodes))
    if len(angles) != 2 or len(nodes) > MAX_TERMS or e.op not in (ir.ADD, ir.SUB, ir.MUL, ir.DIV):
        return None
    half = Fraction(1, 2)
    p, q = (combined(zip((half, sign * half), angles, strict=True)) for sign in (1, -1))
    length = frame.formulas.length
    if length(p) + length(q) >= length(angles[0]) + length(angles[1]):
        return None
    new: dict[Expr, Expr] = {}
    for node in nodes:
        sign = 1 if node.args[0] is angles[0] else -1
        first, second = functions if node.op is sine else (cosine, sine)
        one, other = ir.mul(first(p), cosine(q)), ir.mul(second(p), sine(q))
        alike = node.op is sine or sine is SINH  # cos(p + q) has the other sign
        new[node] = ir.add(one, other) if (sign > 0) is alike else ir.sub(one, other)
    return ir.substitute((e,), new)[0]


def _waves(
    frame: Frame, kind: int, columns: list[tuple[int, int]], p: Any
) -> dict[tuple[int, ...], tuple[Any, Any]] | None:
    """A polynomial in sines and cosines by frequency: coefficients of cosine and sine."""
    ring, context = frame.ring, frame.ring.context
    zero = context.constant(0)
    # by exponentials e**(k*x): s = (E - 1/E)/2 (over i if circular), c = (E + 1/E)/2
    total: dict[tuple[int, ...], list[Any]] = {}
    inside = {i for pair in columns for i in pair}
    for m, q in p.terms():
        rest = tuple(0 if k in inside else int(n) for k, n in enumerate(m))
        sines = sum(int(m[i]) for i, _ in columns)
        if any(int(m[i]) + int(m[j]) > MAX_DEGREE for i, j in columns):
            return None
        waves: dict[tuple[int, ...], Fraction] = {(): Fraction(1)}
        for i, j in columns:
            row = _binomials(int(m[i]), int(m[j]))
            waves = {(*k, f): a * b for k, a in waves.items() for f, b in row.items()}
        for k, a in waves.items():
            # 1/i**sines: 1, -i, -1, i
            turn = sines % 4 if kind == CIRCULAR else 0
            real = turn in (0, 2)
            sign = 1 if turn in (0, 3) else -1
            part = context.from_dict({rest: q}) * _number(ring, a * sign)
            entry = total.setdefault(k, [zero, zero])
            entry[0 if real else 1] = entry[0 if real else 1] + part
    # e**(ikx): real part a, imaginary b: a*cos - b*sin; hyperbolic: cosh and sinh
    result: dict[tuple[int, ...], tuple[Any, Any]] = {}
    for k, (a, b) in total.items():
        other = tuple(-n for n in k)
        if k < other:
            continue
        c, d = total.get(other, [zero, zero])
        if k == other:
            cosine, sine = a, zero
        elif kind == CIRCULAR:
            cosine, sine = a + c, d - b
        else:
            cosine, sine = a + c, a - c
        if not (cosine.is_zero() and sine.is_zero()):
            result[k] = cosine, sine
    return result


def _number(ring: Any, q: Fraction) -> Any:
    from flint import fmpq

    return ring.context.constant(fmpq(q.numerator, q.denominator))


def _binomials(sines: int, cosines: int) -> dict[int, Fraction]:
    """((E - 1/E)/2)**sines * ((E + 1/E)/2)**cosines by powers of E."""
    row = {0: Fraction(1)}
    for sign, count in ((-1, sines), (1, cosines)):
        for _ in range(count):
            new: dict[int, Fraction] = {}
            for k, a in row.items():
                new[k + 1] = new.get(k + 1, Fraction(0)) + a / 2
                new[k - 1] = new.get(k - 1, Fraction(0)) + sign * a / 2
            row = {k: a for k, a in new.items() if a}
    return row


def combined(pairs: Iterable[tuple[int | Fraction, Expr]]) -> Expr:
    """A combination of angles with like terms collected."""
    total: dict[Expr, Fraction] = {}
    for n, angle in pairs:
        for m, c in (linear(angle) or {angle: Fraction(1)}).items():
            total[m] = total.get(m, Fraction(0)) + n * c
    argument = ZERO
    for m, c in total.items():
        argument = ir.add(argument, ir.mul(ir.const(c), m))
    return argument


def _written(
    frame: Frame,
    kind: int,
    angles: list[Expr],
    waves: dict[tuple[int, ...], tuple[Any, Any]],
    writer: Writer,
) -> Expr:
    cosine_of, sine_of = (COS, SIN) if kind == CIRCULAR else (COSH, SINH)
    parts: list[tuple[Any, Expr]] = []
    for k, (a, b) in waves.items():
        argument = combined(sorted(zip(k, angles, strict=True), key=lambda p: -p[0]))
        for coefficient, function in ((a, cosine_of), (b, sine_of)):
            if not coefficient.is_zero():
                parts.append((coefficient, function(argument)))
    if not parts:
        return ZERO
    common: Any = parts[0][0]
    for coefficient, _ in parts[1:]:
        common = common.gcd(coefficient)
    ratios = [primitive(c / common)[1] for c, _ in parts if (c / common).is_constant()]
    if len(ratios) == len(parts):  # the numbers have a common factor as well
        first = min(abs(r) for r in ratios)
        if all((r / first).denominator == 1 for r in ratios):
            common = common * _number(frame.ring, first)
    total = ZERO
    for coefficient, node in parts:
        total = ir.add(total, ir.mul(writer.poly(coefficient / common), node))
    return ir.mul(writer.poly(common), total)
