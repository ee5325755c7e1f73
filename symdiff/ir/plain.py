"""Plain operations: IEEE arithmetic in the order written, for values that decide.

Before:  int(T/dt), x if a*10 == 1.0 else y
After:   trunc(plain:div(T, dt)), where(plain:mul(a, 10) == 1, x, y)

A value that decides (a condition, a count, a rounded number) is computed as the plain function
computes it, in doubles. Its operands are *plain* nodes: operations of their own, one for each
operation on reals. No pass knows them, so none rewrites them: nothing is folded exactly, reordered,
cancelled or fused. Their leaves (arguments, constants, elements of arrays) are those of all
formulas. Operations that are exact on doubles (`where`, the absolute value, maxima, rounding to
integers) have no plain form and are used as they are.

A plain value is a double without an error; its derivatives are 0. On balls that are doubles it is
the double, with the sign of a zero (`as_ball`); on others (points of a path that leads to a limit)
it is the ball of the exact operation.

`plain`      an operation applied to plain nodes
`as_ball`    the ball of a double
`as_plain`   a formula, read operation by operation (`Reading`: several)
`in_single`  decisions in float32
`exactly`    plain nodes as formulas of reals (`conditions_exactly`: in conditions)
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from symdiff.ir import functions
from symdiff.ir.arithmetic import ABS, div, neg
from symdiff.ir.functions.columns import flint
from symdiff.ir.loop_program import ARRAY, LEAVES, kind_of
from symdiff.ir.nodes import (
    ADD,
    COMPARISONS,
    CONST,
    DIV,
    HALF,
    MUL,
    NEG,
    ONE,
    OPS,
    POW,
    SUB,
    VAR,
    WHERE,
    ZERO,
    Expr,
    Op,
    apply,
    const,
    op_named,
    rational,
    raw,
    rebuild,
    substitute,
    topological,
)
from symdiff.process.lazy_modules import Later
from symdiff.process.locks import Lock

np: Any = Later("numpy")

PREFIX, SINGLE = "plain:", "float32:"
EXACT = frozenset((
    WHERE, NEG, ABS, functions.FLOOR, functions.CEIL, functions.TRUNC, functions.ROUND,
    functions.COPYSIGN, functions.FLOOR_QUOTIENT, *functions.EXTREMES,
))  # fmt: skip
"""Operations that map doubles to doubles without rounding."""

_real: dict[Op, Op] = {}
"""Plain operations and the operations on reals that they round."""
_plain: dict[Op, Op] = {}
_making = Lock()


def plain_op(op: Op) -> Op:
    """The plain form of an operation."""
    found = _plain.get(op)
    if found is None:
        with _making:
            found = _plain.get(op)
            if found is None:
                found = _made(op)
                _real[found] = op
                _plain[op] = found
    return found


def _made(op: Op) -> Op:
    return OPS.get(PREFIX + op.name) or Op(
        PREFIX + op.name,
        op.arity,
        partials=lambda *args: (ZERO,) * len(args),
        slope=lambda *args: (ZERO,) * len(args),
        fold=lambda *values: _folded(op, values),
        ball=lambda *balls: _ball(op, balls),
        intrinsic="-",
    )


def plain_named(name: str) -> Op:
    """The plain operation of this name."""
    if name.startswith(PREFIX + SINGLE):
        return _single_op(plain_op(op_named(name.removeprefix(PREFIX + SINGLE))))
    return plain_op(op_named(name.removeprefix(PREFIX)))


def _single_op(op: Op) -> Op:
    """A plain operation whose result is rounded to float32."""
    name = PREFIX + SINGLE + _real[op].name
    found = OPS.get(name)
    if found is None:
        with _making:
            found = OPS.get(name) or replace(
                op, name=name, fold=None, ball=lambda *balls: _narrowed(_ball(_real[op], balls))
            )
            _real[found] = _real[op]
    return found


def real_op(op: Op) -> Op:
    """The operation on reals that a plain one rounds; other operations unchanged."""
    return _real.get(op, op)


def are_builtin(roots: Iterable[Expr]) -> bool:
    """Whether all operations below are symdiff's own, so that another process finds them by their names."""
    return all(real_op(e.op) in functions.BUILTIN for e in topological(roots))


def is_plain_op(op: Op) -> bool:
    """Whether an operation is a plain one."""
    return op in _real


def is_plain(e: Expr) -> bool:
    """Whether a node is a plain operation."""
    return e.op in _real


def is_decided(e: Expr) -> bool:
    """Whether a node is a double in every arithmetic: a plain one, or the integer of `//`."""
    return e.op in _real or e.op is functions.FLOOR_QUOTIENT


def decides_plainly(comparison: Expr) -> bool:
    """Whether a comparison is of arguments, constants, elements and plain values, so has no
    error."""
    return all(not a.args or a.op in LEAVES or is_decided(a) for a in comparison.args)


def by_sign(p: Expr, q: Expr) -> tuple[Expr, Expr]:
    """The sides of a comparison, as real arithmetic where rounding decides nothing: a sum,
    difference or root of doubles is rounded to a double of the same sign."""
    for a, b in ((p, q), (q, p)):
        if b is ZERO and a.op in _real:
            op = _real[a.op]
            root = op is POW and a.args[1] is HALF
            if root or op in (ADD, SUB):
                if all(map(_is_double, a.args[:1] if root else a.args)):
                    found = apply(op, *a.args)
                    return (found, q) if a is p else (p, found)
    return p, q


def _is_double(e: Expr) -> bool:
    """Whether a node is an argument, an element, a carried number, or a constant of every
    precision."""
    if e.op is CONST:
        q = rational(e)
        return q is not None and q.denominator == 1 and abs(q) <= 2**24
    return e.op in LEAVES or e.op is VAR


# ---------------------------------------------------------------------- building
def plain(op: Op, *args: Expr) -> Expr:
    """An operation on plain nodes as plain Python computes it."""
    if op.boolean or op in EXACT:
        return apply(op, *args)
    if (same := _exact_already(op, *args)) is not None:
        return same
    if op is POW and (q := rational(args[1])) is not None:
        if q == 1:
            return args[0]
        if q == 2:  # as in NumPy; Python's pow rounds it alike
            return plain(MUL, args[0], args[0])
        if q == -1:
            return plain(DIV, ONE, args[0])
        if q == -HALF.value:
            return plain(DIV, ONE, plain(POW, args[0], HALF))
    elif not (op.libm or op.intrinsic or op in _CORE) and op.expand is not None:
        return as_plain(op.expand(*args))
    found = apply(plain_op(op), *args)
    if found.op is CONST:
        _note_folded(found, op, args)
    return found


_folded_from: dict[Expr, Expr] = {}
"""Maps constants that plain functions of constants produced to their formulas over the reals."""
LONG = 40
"""The least bits of a constant that is read as a formula: shorter ones are just numbers."""
LARGEST = 2**1023
"""Numbers up to this are doubles."""


def _note_folded(found: Expr, op: Op, args: tuple[Expr, ...]) -> None:
    """Remember the formula of a constant, if it is no rational number."""
    if not isinstance(found.value, Fraction) or found.value.numerator.bit_length() < LONG:
        return
    stands = apply(op, *(_folded_from.get(a, a) for a in args))
    if stands.op is not CONST:
        if len(_folded_from) > MOST_READ:
            _folded_from.clear()
        _folded_from[found] = stands


def _exact_already(op: Op, *args: Expr) -> Expr | None:
    """The result of an operation that rounds nothing: a sum with 0, a product with 1 or -1."""
    if op in (ADD, SUB, MUL, DIV):
        a, b = args
        if op in (ADD, SUB):
            return a if b is ZERO else b if a is ZERO and op is ADD else None
        if b is ONE or (a is ONE and op is MUL):
            return a if b is ONE else b
        for one, other in ((b, a), (a, b))[: 2 if op is MUL else 1]:
            if one is const(-1):
                return neg(other)
    return None


_CORE = (ADD, SUB, MUL, DIV, POW)


class Reading:
    """Formulas read operation by operation, each node once.

    Attributes
    ----------
    known : plain forms of nodes, among them the plain twins of carried values of loops.
    """

    def __init__(self) -> None:
        self.known: dict[Expr, Expr] = {}
        self._kinds: dict[Expr, str] = {}

    def of(self, e: Expr) -> Expr:
        """The plain form of a formula."""
        for n in topological((e,), self.known):
            self.known[n] = self._read(n)
        return self.known[e]

    def _read(self, n: Expr) -> Expr:
        if n.op is CONST:
            return _rounded(n)
        if n.op in LEAVES or n.op is ARRAY or n.op is VAR or is_plain(n):
            return n
        args = tuple(self.known[a] for a in n.args)
        if n.args and not n.op.boolean and kind_of(n, self._kinds) == "i":
            return n if args == n.args else rebuild(n, args)
        if n.op.boolean or n.op in EXACT:
            return rebuild(n, args)
        return plain(n.op, *args) if n.args else n


def as_plain(e: Expr) -> Expr:
    """A formula read operation by operation."""
    return Reading().of(e)


def _rounded(n: Expr) -> Expr:
    """A constant as a double."""
    if not isinstance(n.value, Fraction) or (n.value.denominator == 1 and abs(n.value) < 2**53):
        return n
    try:
        return const(float(n.value))
    except OverflowError:
        return const(math.copysign(math.inf, n.value))


_read: dict[Expr, Expr] = {}
MOST_READ = 1 << 16
"""Largest number of formulas that are remembered."""


def exactly(roots: Iterable[Expr]) -> tuple[Expr, ...]:
    """The formulas over the reals of plain nodes, for passes that read conditions and for printing."""
    global _read
    if len(_read) > MOST_READ:
        _read = {}
    roots, read = tuple(roots), _read
    for n in topological(roots, read):
        args = tuple([read[a] for a in n.args])
        if is_plain(n):
            read[n] = apply(real_op(n.op), *args)
        elif n.op is functions.FLOOR_QUOTIENT:
            read[n] = functions.FLOOR(div(*args))
        else:
            read[n] = rebuild(n, args)
    return tuple(read[r] for r in roots)


def conditions_exactly(roots: Iterable[Expr]) -> tuple[tuple[Expr, ...], dict[Expr, Expr]]:
    """Formulas with their plain comparisons as formulas of reals, for passes that reason about
    conditions, and a map back. A comparison that would read like another one stays plain."""
    roots = tuple(roots)
    order = topological(roots)
    if not any(map(is_plain, order)):
        return roots, {}
    written = [n for n in order if n.op in COMPARISONS]
    found = _with_constants_of(order, exactly(substitute(written, _unfolded(order))))
    read = dict(zip(written, found, strict=True))
    times = Counter(read.values())
    new = {n: e for n, e in read.items() if n is not e and times[e] == 1 and e.op in COMPARISONS}
    return substitute(roots, new), {e: n for n, e in new.items()}


def _unfolded(order: Sequence[Expr]) -> dict[Expr, Expr]:
    """The formulas from which constants in conditions were folded, if formulas elsewhere use their
    functions; for constants that occur in conditions only."""
    nodes = set(order)
    compared = [a for n in order if n.op in COMPARISONS or is_plain(n) for a in n.args]
    return {
        c: stands
        for c in compared
        if (stands := _folded_from.get(c)) is not None
        and all(n in nodes for n in topological((stands,)) if n.args and n.op not in _CORE)
    }


def _with_constants_of(order: Iterable[Expr], conditions: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Conditions with constants of formulas in place of those that equal them up to rounding, since
    products of constants are rounded in conditions."""
    exact = {float(q): e for e in order if (q := _long(e)) is not None}
    if not exact:
        return conditions
    rounded = {
        e: other
        for e in topological(conditions)
        if (q := rational(e)) is not None
        and abs(q) <= LARGEST
        and (other := exact.get(float(q))) is not None
    }
    return substitute(conditions, rounded) if rounded else conditions


def _long(e: Expr) -> Fraction | None:
    """A constant that is neither a double nor the decimal that prints as one."""
    if e.op is not CONST or not isinstance(e.value, Fraction) or abs(e.value) > LARGEST:
        return None
    return None if e.value in (Fraction(x := float(e.value)), Fraction(repr(x))) else e.value


# -------------------------------------------------------------------- evaluating
def _folded(op: Op, values: tuple[Fraction | None, ...]) -> Fraction | None:
    """The double result on doubles; None for other operands, and if it is -0.0 or not finite."""
    numbers = [float(q) for q in values if q is not None]
    if any(Fraction(x) != q for x, q in zip(numbers, values, strict=True)):
        return None
    found = in_doubles(op)(*numbers)
    return Fraction(found) if math.isfinite(found) and not _is_negative_zero(found) else None


def _ball(op: Op, balls: tuple[Any, ...]) -> Any:
    numbers = [_double(b) for b in balls]
    if None not in numbers:
        return as_ball(in_doubles(op)(*numbers))
    ball = BALLS.get(op) or op.ball
    return ball(*balls) if ball is not None else flint().arb("nan")


def _narrowed(ball: Any) -> Any:
    found = _double(ball)
    return ball if found is None else as_ball(float(np.float32(found)))


def in_single(roots: Iterable[Expr]) -> tuple[Expr, ...]:
    """Formulas whose decisions are made in float32, though the other arithmetic is not: plain
    operations and deciding constants are rounded to it."""
    roots = tuple(roots)
    new: dict[Expr, Expr] = {}
    for n in topological(roots):
        args = tuple(new[a] for a in n.args)
        if is_plain(n) or (n.op in COMPARISONS and decides_plainly(n)):
            args = tuple(map(_single_constant, args))
        new[n] = raw(_single_op(n.op), args) if is_plain(n) else rebuild(n, args)
    return tuple(new[r] for r in roots)


def _single_constant(e: Expr) -> Expr:
    q = rational(e)
    return e if q is None or abs(q) > 2**127 else const(float(np.float32(float(q))))


def as_ball(x: float) -> Any:
    """The ball of a double. That of -0.0 is 0 in all arithmetic, and -0.0 for plain operations."""
    return _negative_zero() if _is_negative_zero(x) else flint().arb(x)


def negated_ball(ball: Any) -> Any:
    """A ball with the other sign, also of a zero."""
    if not ball.is_zero():
        return -ball
    return flint().arb(0) if ball is _negative_zero() else _negative_zero()


@lru_cache(maxsize=1)
def _negative_zero() -> Any:
    class NegativeZero(flint().arb):  # type: ignore[misc]  # made when the library is loaded
        """A ball that represents -0.0: balls have no sign of zero."""

    return NegativeZero(0)


def _is_negative_zero(x: float) -> bool:
    return x == 0.0 and math.copysign(1.0, x) < 0


def _double(ball: Any) -> float | None:
    """The double that a ball equals, or None."""
    if ball is _negative_zero():
        return -0.0
    if ball.is_nan():
        return math.nan
    if not ball.is_exact():
        return None
    found = float(ball)
    return found if math.isinf(found) or ball == flint().arb(found) else None


def _power(a: Any, b: Any) -> Any:
    return a**b if a > 0 or b.is_integer() else a.sqrt() if b == 0.5 else flint().arb("nan")


BALLS: dict[Op, Callable[..., Any]] = {
    ADD: lambda a, b: a + b, SUB: lambda a, b: a - b, MUL: lambda a, b: a * b,
    DIV: lambda a, b: a / b, POW: _power,
}  # fmt: skip
DOUBLES: dict[Op, Callable[..., Any]] = {
    ADD: lambda a, b: a + b, SUB: lambda a, b: a - b, MUL: lambda a, b: a * b,
    DIV: lambda a, b: np.divide(a, b), POW: lambda a, b: np.sqrt(a) if b == 0.5 else np.power(a, b),
}  # fmt: skip


@lru_cache(maxsize=1024)
def in_doubles(op: Op) -> Callable[..., float]:
    """An operation on floats, as NumPy and libm compute it; never an exception."""
    op = real_op(op)
    function = DOUBLES.get(op) or _written(op) or _by_ball(op)
    array_names = [n.removeprefix("numpy.") for n in op.names if n.startswith("numpy.")]
    at_edges: Callable[..., Any] | None = getattr(np, array_names[0], None) if array_names else None

    def quietly(*args: float) -> float:
        try:
            with np.errstate(all="ignore"):
                return float(function(*map(np.float64, args)))
        except (ValueError, ZeroDivisionError):  # functions of `math` raise where NumPy's do not
            with np.errstate(all="ignore"):
                return math.nan if at_edges is None else float(at_edges(*args))
        except OverflowError:
            return math.inf

    return quietly


def _written(op: Op) -> Callable[..., Any] | None:
    """The function that a generated module calls."""
    if op.python is None or op.edges is not None or op.helper is not None:
        return None
    names = [f"x{i}" for i in range(op.arity)]
    text = f"lambda {', '.join(names)}: {op.python.format(*names)}"
    found: Callable[..., Any] = eval(text, {"math": math, "np": np})
    return found


def _by_ball(op: Op) -> Callable[..., Any]:
    def function(*args: float) -> float:
        library = flint()
        if op.ball is None:
            return math.nan
        return float(op.ball(*(library.arb(float(a)) for a in args)).mid())

    return function
