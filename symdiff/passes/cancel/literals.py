"""Zeros that are missed only by the rounding of literals.

Before:  (x**2 - 0.09)/(x - 0.3), where 0.3**2 is not 0.09 in doubles
After:   (x**2 - 9/100)/(x - 3/10), which is x + 3/10

Requires: any DAG.
Ensures: the function is changed only where a zero of a denominator would be one
of the numerator too, up to 2**-50 of the numerator's terms. Then the
literals of that quotient are read as the decimals that they print as, in the
whole function; if that does not help, the constant of the numerator is changed by
the residue, or the residue is subtracted (`passes.cancel.residues`). The same holds for literals of
pi where quotients of slopes by angles need them. Each change is recorded; the changed function is
the truth.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from symdiff import ir
from symdiff.errors import SymdiffError
from symdiff.interpret import Certified
from symdiff.ir import ABS, ADD, CONST, DIV, MUL, NEG, POW, SUB, VAR, Expr, as_expr
from symdiff.ir.functions import ACOS, ASIN, ATAN, ATAN2, LOG, PI
from symdiff.passes.analysis.zeros import Solution, sampled, value_there, zero_sets
from symdiff.passes.cancel.cancel import cancel
from symdiff.passes.cancel.common_denominator import together
from symdiff.passes.cancel.residues import correction
from symdiff.passes.differentiate import pushforward

ROUNDING = Fraction(1, 2**50)
MAX_QUOTIENTS = 40
MAX_NODES = 150
MAX_TERMS = 24
MAX_PART = 1000
"""The largest denominator of a multiple of pi that a literal may be."""
ANGLES = (ACOS, ASIN, ATAN, ATAN2)
MAX_ANGLES = 8
"""The most angles by whose arguments slopes are taken."""


@dataclass(frozen=True, slots=True)
class LiteralRepair:
    """A quotient whose literals were changed so that its zeros meet.

    Attributes
    ----------
    node : the quotient, as written.
    literals : the constants before and after.
    zero : where numerator and denominator now vanish together.
    moved : the residue that was subtracted from the numerator instead of a change of literals.
    """

    node: Expr
    literals: tuple[tuple[Fraction, Expr], ...]
    zero: tuple[tuple[Expr, Expr], ...]
    moved: Expr = ir.ZERO

    @property
    def message(self) -> str:
        """The message for people."""
        place = ", ".join(
            f"{ir.format_expr(v, 60)} = {ir.format_expr(e, 60)}" for v, e in self.zero
        )
        changes = ", ".join(f"{float(a)!r} as {_printed(b)}" for a, b in self.literals)
        done = f"read {changes}" if changes else f"subtracted {ir.format_expr(self.moved, 60)}"
        return (
            f"the zero at {place} is missed only by the rounding of literals and counts "
            f"as one; {done}"
        )


def exact_literals(
    outputs: tuple[Expr, ...],
) -> tuple[tuple[Expr, ...], list[LiteralRepair], dict[Expr, Expr]]:
    """The outputs with repaired literals, the repairs, and the origins of new nodes."""
    repairs: list[LiteralRepair] = []
    origin: dict[Expr, Expr] = {}
    inexact = _above_inexact(ir.topological(outputs))
    if not inexact:
        return outputs, repairs, origin
    tried: set[tuple[Expr, Expr]] = set()
    done: set[Expr] = set()
    while True:
        found = _first(outputs, inexact, tried, done) or _of_slopes(outputs, inexact, tried)
        if found is None:
            return outputs, repairs, origin
        node, mapping, repair = found
        if node in mapping:
            done.update(ir.topological((mapping[node],)))
        outputs = _replaced(outputs, mapping, origin)
        repairs.append(LiteralRepair(origin.get(node, node), *repair))
        inexact = _above_inexact(ir.topological(outputs))


Repair = tuple[tuple[tuple[Fraction, Expr], ...], tuple[tuple[Expr, Expr], ...], Expr]


def _first(
    outputs: tuple[Expr, ...], inexact: set[Expr], tried: set[tuple[Expr, Expr]], done: set[Expr]
) -> tuple[Expr, dict[Expr, Expr], Repair] | None:
    for e in ir.topological(outputs):
        if e not in inexact or e in done:
            continue
        for numerator, denominator in _quotients(e):
            if len(tried) >= MAX_QUOTIENTS:
                return None
            if (numerator, denominator) in tried:
                continue
            tried.add((numerator, denominator))
            if numerator.op is CONST or not ir.variables((denominator,)):
                continue
            found = _repair(e, numerator, denominator)
            if found is not None:
                return e, *found
    return None


def _of_slopes(
    outputs: tuple[Expr, ...], inexact: set[Expr], tried: set[tuple[Expr, Expr]]
) -> tuple[Expr, dict[Expr, Expr], Repair] | None:
    """Literals of pi that a quotient of a slope needs, such as that of (acos(x) - math.pi)**2 at
    -1."""
    order = ir.topological(outputs)
    if not any((q := ir.rational(e)) is not None and _of_pi(q) is not q for e in order):
        return None
    for n in [n for n in order if n.op in ANGLES][:MAX_ANGLES]:
        names = ir.variables((n,))
        place = names[0] if len(names) == 1 else n.args[0] if len(n.args) == 1 else None
        above = [o for o in outputs if o in inexact and n in ir.topological((o,))]
        if place is None or not above:
            continue
        slopes = _slopes(above, place)
        found = _first(slopes, _above_inexact(ir.topological(slopes)), tried, set())
        if found is not None and all(e.op is CONST for e in found[1]):
            return found
    return None


def _slopes(outputs: Sequence[Expr], place: Expr) -> tuple[Expr, ...]:
    """The slopes of formulas by a part of them, and these as one quotient."""
    t = place if place.op is VAR else ir.var(ir.format_expr(place, 60))
    slopes = cancel(pushforward(ir.substitute(outputs, {place: t}), {t: ir.ONE}))
    quotients = [n / d for n, d in filter(None, map(together, slopes))]
    return *slopes, *cancel(quotients)


def _above_inexact(
    order: Iterable[Expr], point: Mapping[Expr, Fraction] | None = None
) -> set[Expr]:
    """The nodes above literals that differ from their decimals, and above variables with such
    values."""
    above: set[Expr] = set()
    given = point or {}
    for e in order:
        if (q := given.get(e, ir.rational(e))) is not None:
            if _decimal(q) != q or _of_pi(q) is not q:
                above.add(e)
        elif not e.op.boolean and any(a in above for a in e.args):
            above.add(e)
    return above


def _decimal(q: Fraction) -> Fraction:
    """The decimal that a literal prints as; likewise for one over a literal."""
    return _read(q, lambda x: repr(float(x)) if Fraction(float(x)) == x else None)


def _shorter(q: Fraction) -> Fraction:
    """The decimal of 15 digits that a literal is close to; likewise for one over a literal."""
    return _read(q, lambda x: f"{float(x):.15g}")


def _is_literal(q: Fraction) -> bool:
    """Whether q is no integer, but a double or a multiple of one."""
    return q.denominator > 1 and not q.denominator & (q.denominator - 1) and abs(q) < 1e300


def _read(q: Fraction, text: Callable[[Fraction], str | None]) -> Fraction:
    inverse = q != 0 and _is_literal(1 / q) and not _is_literal(q)
    literal = 1 / q if inverse else q
    written = text(literal) if _is_literal(literal) else None
    read = literal if written is None else Fraction(written)
    if abs(read - literal) > ROUNDING * abs(literal):
        return q
    return 1 / read if inverse else read


def _of_pi(q: Fraction) -> Expr | Fraction:
    """A simple multiple of pi or of 1/pi, if the literal is a neighbour of the double nearest to
    it."""
    multiple, inverse = q / Fraction(math.pi), q * Fraction(math.pi)
    if multiple and multiple.denominator <= MAX_PART:
        return PI() * ir.const(multiple)
    return ir.const(inverse) / PI() if inverse and inverse.denominator <= MAX_PART else q


def _printed(e: Expr) -> str:
    q = ir.rational(e)
    if q is None:
        return ir.format_expr(e, 60)
    return str(q) if q.denominator <= 10**17 else repr(float(q)) + "..."


def _quotients(e: Expr) -> Iterator[tuple[Expr, Expr]]:
    """(numerator, denominator) of a quotient, a product with one, a sum of quotients
    with one denominator, or all of it over the common denominator; of the logarithm of a
    power whose exponent is a quotient."""
    if e.op is DIV:
        yield e.args[0], e.args[1]
    elif e.op is POW and e.args[1].op is DIV:
        exponent = e.args[1]
        yield exponent.args[0] * LOG(e.args[0]), exponent.args[1]
    elif e.op is MUL:
        for a, b in (e.args, e.args[::-1]):
            if b.op is DIV:
                yield a * b.args[0], b.args[1]
    elif e.op in (ADD, SUB):
        terms: list[tuple[Expr, Fraction]] = []
        stack = [(e, Fraction(1))]
        while stack:
            n, sign = stack.pop()
            if n.op in (ADD, SUB):
                stack += [(n.args[0], sign), (n.args[1], sign if n.op is ADD else -sign)]
            else:
                factor, rest = ir.scaled(n)
                terms.append((rest, sign * factor))
            if len(terms) > MAX_TERMS:
                return
        for d in dict.fromkeys(t.args[1] for t, _ in terms if t.op is DIV):
            shared = [(t.args[0], c) for t, c in terms if t.op is DIV and t.args[1] is d]
            if len(shared) > 1:
                total = ir.ZERO
                for n, c in shared:
                    total = total + ir.const(c) * n
                yield total, d
    if e.op in (ADD, SUB, DIV) and (whole := together(e)) is not None:
        yield whole


def _repair(
    node: Expr, numerator: Expr, denominator: Expr
) -> tuple[dict[Expr, Expr], Repair] | None:
    """Replacements that make a zero of the denominator one of the numerator."""
    below = ir.topological((denominator,))
    if len(below) > MAX_NODES:
        return None
    if not _above_inexact(below) and not zero_sets(denominator):
        return None
    below = ir.topological((numerator, denominator))
    if len(below) > MAX_NODES:
        return None
    literals = [q for n in below if (q := ir.rational(n)) is not None]
    readings = list(_readings(node, literals))
    for changed, mapping in readings:
        n, d = ir.substitute((numerator, denominator), mapping)
        zeros = _common_zeros(n, d)
        if len(zeros) > len(_common_zeros(numerator, denominator)) and all(
            _negligible(f, p) for _, points in zeros for p in points for f in (numerator, denominator)
        ):  # fmt: skip
            return mapping, (changed, tuple(zeros[-1][0].items()), ir.ZERO)
    if node.op is POW:
        return None
    if numerator in ir.topological((node,)):
        shifted = _shifted(numerator, denominator)
        if shifted is not None:
            return shifted
    missed = correction(numerator, denominator, _negligible)
    if missed is None:
        return None
    for changed, mapping in readings:
        n, d = ir.substitute((numerator, denominator), mapping)
        if d is denominator and correction(n, d, _negligible) is None:  # already a zero
            return mapping, (changed, tuple(missed.zero.items()), ir.ZERO)
    moved = (numerator - missed.polynomial) / denominator
    if node.op in (ADD, SUB):  # a sum of quotients, and of other terms
        moved = node - missed.polynomial / denominator
    return {node: moved}, ((), tuple(missed.zero.items()), missed.polynomial)


def _readings(
    node: Expr, literals: Iterable[Fraction]
) -> Iterator[tuple[tuple[tuple[Fraction, Expr], ...], dict[Expr, Expr]]]:
    """Other values that the literals of a node may denote: the changes, and replacements."""
    for read in (_decimal, _shorter, _of_pi):
        changed = {q: r for q in literals if (r := as_expr(read(q))) is not ir.const(q)}
        mapping = {ir.const(s * q): s * r for q, r in changed.items() for s in (1, -1)}
        if ir.substitute((node,), mapping)[0] is not node:
            yield tuple(changed.items()), mapping


def _common_zeros(
    numerator: Expr, denominator: Expr
) -> list[tuple[Solution, list[dict[Expr, Fraction]]]]:
    """The zero sets of the denominator on which the numerator vanishes, with samples."""
    names = ir.variables((numerator, denominator))
    found = []
    for solution in zero_sets(denominator):
        points = list(sampled(solution, names))
        if points and all(_at(numerator, p) is ir.ZERO for p in points):
            found.append((solution, points))
    return found


def _shifted(numerator: Expr, denominator: Expr) -> tuple[dict[Expr, Expr], Repair] | None:
    """Move the constant of a numerator in one variable."""
    constant = numerator.args[1] if numerator.op in (ADD, SUB) else numerator
    if ir.rational(constant) is None or len(ir.variables((numerator, denominator))) != 1:
        return None
    for solution in zero_sets(denominator):
        for point in sampled(solution, ()):
            residue = ir.rational(_at(numerator, point))
            if residue == 0:
                return None
            if residue and _negligible(numerator, point):
                moved = ir.sub(numerator, ir.const(residue))
                change = residue if numerator.op is SUB else -residue
                literal = ((constant.value, ir.const(constant.value + change)),)
                return {numerator: moved}, (literal, tuple(solution.items()), ir.ZERO)
    return None


def _at(e: Expr, point: Mapping[Expr, Fraction]) -> Expr:
    """The value of a formula at a point, as far as it folds; nan at a pole of a part of it."""
    found = value_there(e, {v: ir.const(q) for v, q in point.items()})
    return ir.NAN if found is None else found


def _negligible(e: Expr, point: Mapping[Expr, Fraction]) -> bool:
    """Whether a value is below 2**-50 of the terms that add up to it."""
    value = _at(e, point)
    if value is ir.ZERO:
        return True
    size = _at(_terms(e, _above_inexact(ir.topological((e,)), point)), point)
    try:  # no bound where a slope is infinite
        small = ir.le(ir.abs_(value), ir.const(ROUNDING) * size)
        inside = ir.where(ir.and_(small, ir.lt(size, ir.INF)), 1, 0)
        return inside is ir.ONE or Certified([], [inside]).at([]) == (1.0,)
    except (SymdiffError, ArithmeticError):
        return False


def _terms(e: Expr, inexact: Container[Expr]) -> Expr:
    """The sum of the sizes of the terms: a bound of the effect of relative errors of the
    leaves. A function of exact arguments has no error, however steep it is there."""
    size: dict[Expr, Expr] = {}
    for n in ir.topological((e,)):
        s = [size.get(a, ir.ZERO) for a in n.args]
        if n.op in (ADD, SUB):
            size[n] = s[0] + s[1]
        elif n.op is NEG or n.op is ABS:
            size[n] = s[0]
        elif n.op is MUL:
            size[n] = s[0] * s[1]
        elif n.op is DIV:
            size[n] = s[0] * s[1] / n.args[1] ** 2
        elif n.op is POW and (k := ir.integer(n.args[1])) is not None and k > 0:
            size[n] = s[0] ** k
        elif n.op in (VAR, CONST) or n.op.boolean or n.op.partials is None or n not in inexact:
            size[n] = ir.abs_(n) if not n.op.boolean else ir.ZERO
        else:
            size[n] = ir.abs_(n)
            for p, part in zip(n.op.partials(*n.args), s, strict=True):
                if p is not None:
                    size[n] = size[n] + ir.abs_(p) * part
    return size[e]


def _replaced(
    outputs: tuple[Expr, ...], mapping: Mapping[Expr, Expr], origin: dict[Expr, Expr]
) -> tuple[Expr, ...]:
    """Replace nodes everywhere; `origin` records the nodes that new ones replace."""
    new = dict(mapping)
    for e in ir.topological(outputs):
        if e not in new:
            new[e] = ir.rebuild(e, tuple(new[a] for a in e.args))
        if new[e] is not e and e.op is not CONST:
            origin.setdefault(new[e], origin.get(e, e))
    return tuple(new[o] for o in outputs)
