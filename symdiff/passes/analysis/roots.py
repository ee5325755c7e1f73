"""Where may a formula be singular, and at which rational points?

`loci` lists, for every operation, the quantities that vanish where it, or its derivative,
is undefined: denominators, bases of roots, and for an elementary function the
same of its derivative (`log`: 1/x; `acos`: (1-x)*(1+x)). `rational_roots`
solves such a formula for one node below it: by inverting operation by
operation, as a polynomial, and by trying the constants that occur.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from weakref import WeakKeyDictionary

from flint import fmpq, fmpq_poly

from symdiff import ir
from symdiff.errors import UnsupportedError
from symdiff.interpret.balls import Undecided, constant_ball
from symdiff.ir import ABS, ADD, DIV, MUL, NEG, POW, SUB, WHERE, Expr, Op
from symdiff.ir.functions import FILLED, SQUARES
from symdiff.passes.analysis.dependence import Dependence
from symdiff.series.coefficients import constant_value, is_zero
from symdiff.series.germs import AtPoint

MAX_DEGREE = 24
MAX_TRIALS = 16
MAX_STEPS = 200
TRIED = (Fraction(0), Fraction(1), Fraction(-1), Fraction(2))
"""Arguments at which a function may have a given value."""

_templates: WeakKeyDictionary[Op, tuple[Expr, ...]] = WeakKeyDictionary()


def _slots(count: int) -> list[Expr]:
    """Variables that denote the arguments of a function."""
    return [ir.var(f"argument {i}") for i in range(count)]


def loci(e: Expr, whole: bool = False) -> Iterator[Expr]:
    """Expressions whose zeros are the singular points of one operation: for a product its
    factors, and with `whole` the product as well, if the operation is a function of it."""
    if e.op.boolean or e.op is WHERE or not e.args:
        return
    for d in _own_loci(e):
        found = list(factors(d))
        yield from found
        if whole and len(found) > 1:
            yield d
    if e.op in ir.ARITHMETIC or e.op.partials is None:
        return
    template = _templates.get(e.op)
    if template is None:
        template = _templates[e.op] = tuple(_function_loci(e.op))
    slots = dict(zip(_slots(len(e.args)), e.args, strict=True))
    yield from ir.substitute(template, slots)


def _own_loci(e: Expr) -> Iterator[Expr]:
    if e.op in (DIV, FILLED):
        yield e.args[1]
    elif e.op is POW:
        q = ir.rational(e.args[1])
        if q is None or q.denominator > 1 or q < 0:
            yield e.args[0]


def _function_loci(op: Op) -> Iterator[Expr]:
    """The loci of the derivatives of a function."""
    seen = {op}
    stack = [op(*_slots(op.arity))]
    while stack:
        e = stack.pop()
        if e.op.partials is None:
            continue
        try:
            partials = [p for p in e.op.partials(*e.args) if p is not None]
        except NotImplementedError:
            continue
        for node in ir.topological(partials):
            for d in _own_loci(node):
                yield from factors(d)
            if node.op not in seen and node.op.partials is not None and node.args:
                seen.add(node.op)
                if len(seen) < 8:
                    stack.append(node)


def factors(d: Expr) -> Iterator[Expr]:
    """Each factor of a product once."""

    def below(e: Expr) -> tuple[Expr, ...]:
        if e.op is MUL:
            return e.args[::-1]
        return (
            e.args[:1] if e.op is NEG or (e.op is POW and (ir.rational(e.args[1]) or 0) > 0) else ()
        )

    return (e for e in ir.reached((d,), below) if not below(e) and e.op is not ir.CONST)


def rational_roots(
    e: Expr, t: Expr, constants: Iterable[Fraction], below: Dependence | None = None
) -> list[Fraction]:
    """Rational values of the node t at which e, a function of t alone, vanishes."""
    found, complete = _inverted(e, t, below or Dependence())
    if not complete:
        for c in list(dict.fromkeys((*TRIED[:3], *constants)))[:MAX_TRIALS]:
            if _excluded(e, t, c):
                continue
            value = AtPoint(t, c).of(e)
            try:
                if value is not None and is_zero(value):
                    found.add(c)
            except Undecided:
                found.add(c)
    return sorted(found)


def _excluded(e: Expr, t: Expr, c: Fraction) -> bool:
    """Whether a ball around the value at t = c, which is cheaper than the exact value, excludes
    zero."""
    try:
        value = constant_value(e, {t: constant_ball(c)})
    except (UnsupportedError, ArithmeticError):
        return False
    return bool(value.is_finite() and not value.contains(0))


def _inverted(e: Expr, t: Expr, below: Dependence) -> tuple[set[Fraction], bool]:
    """Roots from inverting one operation after the other, and whether these are all."""
    found: set[Fraction] = set()
    complete = True
    stack: list[tuple[Expr, Expr]] = [(e, ir.ZERO)]
    for _ in range(MAX_STEPS):
        if not stack:
            return found, complete
        node, target = stack.pop()
        if node is t:
            q = ir.rational(target)
            if q is not None:
                found.add(q)
            continue
        step = _undone(node, target, None, below)
        if step is not None:
            stack.extend(step)
            continue
        roots = _polynomial_roots(node, t, ir.rational(target))
        if roots is None:
            complete = False
        else:
            found |= roots
    return found, False


def symbolic_roots(e: Expr, v: Expr, below: Dependence | None = None) -> list[Expr]:
    """Values of a variable at which e vanishes, as expressions in the others, as far
    as inverting one operation after the other finds them."""
    below = below or Dependence()
    found: dict[Expr, None] = {}
    stack: list[tuple[Expr, Expr]] = [(e, ir.ZERO)]
    for _ in range(MAX_STEPS):
        if not stack:
            break
        node, target = stack.pop()
        if node is v:
            found[target] = None
        elif below.on(node, v):
            stack += _undone(node, target, v, below) or []
    return list(found)


def _undone(
    e: Expr, target: Expr, v: Expr | None, below: Dependence
) -> list[tuple[Expr, Expr]] | None:
    """(child, value) pairs, at least one of which must hold for e to have the target value;
    what does not depend on v (None: on any variable) counts as a constant."""
    op, args = e.op, e.args
    if op is NEG:
        return [(args[0], -target)]
    if op in (ADD, SUB, MUL, DIV):
        a, b = args
        if not below.on(b, v):
            undo = {ADD: ir.sub, SUB: ir.add, MUL: ir.div, DIV: ir.mul}[op]
            return [(a, undo(target, b))]
        if not below.on(a, v):
            if op is ADD or op is SUB:
                return [(b, target - a if op is ADD else a - target)]
            if op is MUL:
                return [(b, target / a)]
            return [] if target is ir.ZERO else [(b, a / target)]
        if target is ir.ZERO and op is MUL:
            return [(a, target), (b, target)]
        return [(a, target)] if target is ir.ZERO and op is DIV else None
    if op is POW:
        return _undone_power(e, target)
    if op is ABS:
        return [(args[0], target), (args[0], -target)]
    if op is SQUARES:
        return [(args[0], target)]
    if len(args) != 1 or op.boolean:
        return None
    if target.op is op:
        return [(args[0], target.args[0])]
    q = ir.rational(target)
    if q is not None and op.fold is not None:
        found = [u for u in TRIED if op.fold(u) == q]
        if found:
            return [(args[0], ir.const(u)) for u in found]
    return None


def _undone_power(e: Expr, target: Expr) -> list[tuple[Expr, Expr]] | None:
    base, exponent = e.args
    q, c = ir.rational(exponent), ir.rational(target)
    if q is None or q <= 0:
        return None
    if c is None:
        if q.denominator > 1 or (value := _root(target, q)) is None:
            return None
        return [(base, -value), (base, value)] if q % 2 == 0 else [(base, value)]
    if c == 0:
        return [(base, ir.ZERO)]
    value = ir.power(ir.const(abs(c)), ir.const(1 / q))
    even = q.denominator == 1 and q % 2 == 0
    if c < 0:
        return [] if even or q.denominator > 1 else [(base, -value)]
    return [(base, value), (base, -value)] if even else [(base, value)]


def _root(e: Expr, q: Fraction) -> Expr | None:
    """The base whose q-th power e is, if it is recognised: for c**2 this is c, which may be
    negative."""
    if e.op in (MUL, DIV):
        a, b = (_root(a, q) for a in e.args)
        return None if a is None or b is None else e.op(a, b)
    if e.op is POW and (m := ir.integer(e.args[1])) is not None and m % q == 0:
        return ir.power(e.args[0], ir.const(m / q))
    if (c := ir.rational(e)) is not None and c > 0:
        root = ir.power(e, ir.const(1 / q))
        return root if ir.rational(root) is not None else None
    return None


def _polynomial_roots(e: Expr, t: Expr, target: Fraction | None) -> set[Fraction] | None:
    """Rational roots of a rational function of t; None for other functions."""
    if target is None:
        return None
    values: dict[Expr, tuple[fmpq_poly, fmpq_poly]] = {t: (fmpq_poly([0, 1]), fmpq_poly([1]))}
    for node in ir.topological((e,)):
        if node in values:
            continue
        form = _fraction(node, values)
        if form is None or max(form[0].degree(), form[1].degree()) > MAX_DEGREE:
            if node is e:
                return None
            continue
        values[node] = form
    num, den = values[e]
    num = num - fmpq_poly([fmpq(target.numerator, target.denominator)]) * den
    if num.degree() < 1:
        return set()
    roots = set()
    for factor, _ in num.factor()[1]:
        if factor.degree() == 1:
            r = -factor[0] / factor[1]
            roots.add(Fraction(int(r.p), int(r.q)))
    return roots


def _fraction(
    e: Expr, values: dict[Expr, tuple[fmpq_poly, fmpq_poly]]
) -> tuple[fmpq_poly, fmpq_poly] | None:
    """A node as a quotient of polynomials, from its children's."""
    if (q := ir.rational(e)) is not None:
        return fmpq_poly([fmpq(q.numerator, q.denominator)]), fmpq_poly([1])
    n = ir.integer(e.args[1]) if e.op is POW else None
    args = e.args[:1] if n is not None else e.args
    if e.op not in ir.ARITHMETIC or (e.op is POW and (n is None or not 0 < n <= MAX_DEGREE)):
        return None
    if any(a not in values for a in args):
        return None
    (p, q_), (r, s) = values[args[0]], values[args[-1]]
    if e.op is NEG:
        return -p, q_
    if n is not None:
        return p**n, q_**n
    if e.op is MUL:
        return p * r, q_ * s
    if e.op is DIV:
        return (p * s, q_ * r) if r.degree() >= 0 else None
    return (p * s + r * q_, q_ * s) if e.op is ADD else (p * s - r * q_, q_ * s)
