"""Operations on real numbers and truth values, with the conditions they need.

A product with a truth value selects: `(x > 0)*v` is `where(x > 0, v, 0)`, so that
v counts only where the condition holds.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from symdiff import ir
from symdiff.frontend.trace import constants, implied, poles
from symdiff.frontend.trace.domains import all_given_real, by_side, conditions, domain_of
from symdiff.frontend.trace.values import (
    TRUTH_OF_ARRAY,
    Cond,
    Integral,
    Masked,
    Ratio,
    Real,
    Refused,
    Selected,
    SmallArray,
    SymArray,
    Whole,
    as_real,
    describe,
    is_number,
    join,
    number,
    of_integers,
    python_kind,
    unsure,
    written,
)
from symdiff.ir import FALSE, TRUE, ZERO, Expr, Op, functions
from symdiff.ir.loop_program import FLOORDIV, MOD, kind_of
from symdiff.ir.plain import by_sign, exactly, plain
from symdiff.passes.analysis.flat_regions import flat

MAX_INTEGER_BITS = 1 << 16


# ------------------------------------------------------------------- choices
def select(condition: Expr, defined: Expr, a: Any, b: Any, integers: bool = False) -> Any:
    """`where(condition, a, b)` of two numbers or truth values; of two known integers an
    integer, if that is wanted."""
    if isinstance(a, (Cond, bool)) and isinstance(b, (Cond, bool)):
        p, q = as_cond(a), as_cond(b)
        e = ir.where(condition, p.expr, q.expr)
        return cond(e, join(defined, by_side(condition, p.defined, q.defined)))
    x, y = as_real(a), as_real(b)
    e = ir.where(condition, *poles.beside_poles(condition, x.expr, y.expr))
    integers = integers or isinstance(a, Whole) or isinstance(b, Whole)
    if integers and is_whole(a) and is_whole(b):
        return whole(e)
    made = Integral if _may_be_integer(a, b) else Real
    as_written = None
    if x.plain is not None or y.plain is not None or e.args != (condition, x.expr, y.expr):
        as_written = ir.where(condition, written(x), written(y))
    return made(e, join(defined, by_side(condition, x.defined, y.defined)), as_written)


def _may_be_integer(a: Any, b: Any) -> bool:
    """Whether one of two numbers is an int in Python; where arguments are traced as integers, also
    whether it may be one."""
    found = any if of_integers.get() else all
    kinds = {python_kind(a), python_kind(b)}
    _note_mixed(kinds)
    return found(k != "f" for k in kinds) and kinds != {"b"}


def _note_mixed(kinds: set[str]) -> None:
    """Record that a number may be an integer or a float, where arguments are traced as integers."""
    met = unsure.get()
    if met is not None and "f" in kinds and len(kinds) > 1:
        met.add("mixed")


def as_cond(value: Any) -> Cond:
    """A truth value as an expression."""
    return value if isinstance(value, Cond) else Cond(ir.boolean(bool(value)))


def cond(e: Expr, defined: Expr = TRUE) -> Cond | bool:
    """A truth value; a Python bool if it is known."""
    if e.op is ir.BOOL:
        return bool(e.value)
    if constants.is_closed(e) and (answer := constants.decide(e)) is not None:
        return answer
    return Cond(e, defined)


def _divides(op: ir.Op, args: tuple[Expr, ...]) -> Expr:
    if op is ir.DIV:
        return ir.ne(args[1], ZERO)
    if op is ir.POW and (q := ir.rational(args[1])) is not None and q < 0:
        return ir.ne(args[0], ZERO)
    return TRUE


def poleless(value: Real) -> Cond | bool:
    """Whether no operation in a value has a pole: what it computes is finite."""
    return cond(conditions((value.expr,), _poleless)[value.expr])


def _poleless(op: ir.Op, args: tuple[Expr, ...]) -> Expr:
    if op is ir.POW and ir.rational(args[1]) is None:
        return ir.or_(ir.ne(args[0], ZERO), ir.le(ZERO, args[1]))
    return ir.not_(op.pole(*args)) if op.pole is not None else _divides(op, args)


# -------------------------------------------------------------------- logic
def truth(value: Any) -> Cond | bool:
    """Whether a scalar counts as true."""
    if isinstance(value, Cond):
        return value
    if isinstance(value, Real):
        return compare(ast.NotEq, value, 0)
    if isinstance(value, (SymArray, SmallArray, Selected, Masked)):
        raise Refused(TRUTH_OF_ARRAY, "use np.any or np.all")
    return bool(value)


def negate(value: Any) -> Cond | bool:
    c = truth(value)
    return Cond(ir.not_(c.expr), c.defined) if isinstance(c, Cond) else not c


def conjunction(a: Any, b: Any) -> Cond | bool:
    """`a and b`: b counts only where a holds."""
    p, q = as_cond(truth(a)), as_cond(truth(b))
    return cond(ir.and_(p.expr, q.expr), join(p.defined, by_side(p.expr, q.defined, TRUE)))


def disjunction(a: Any, b: Any) -> Cond | bool:
    """`a or b`: b counts only where a does not hold."""
    p, q = as_cond(truth(a)), as_cond(truth(b))
    return cond(ir.or_(p.expr, q.expr), join(p.defined, by_side(p.expr, TRUE, q.defined)))


def exclusive(a: Any, b: Any) -> Cond | bool:
    p, q = as_cond(truth(a)), as_cond(truth(b))
    e = ir.where(p.expr, ir.not_(q.expr), q.expr)
    return cond(e, join(p.defined, q.defined))


# --------------------------------------------------------------- comparisons
_COMPARE: dict[type[ast.cmpop], tuple[Callable[[Any, Any], bool], Callable[..., Expr]]] = {
    ast.Lt: (lambda a, b: a < b, ir.lt),
    ast.LtE: (lambda a, b: a <= b, ir.le),
    ast.Gt: (lambda a, b: a > b, ir.gt),
    ast.GtE: (lambda a, b: a >= b, ir.ge),
    ast.Eq: (lambda a, b: a == b, ir.eq),
    ast.NotEq: (lambda a, b: a != b, ir.ne),
}


def compare(op: type[ast.cmpop], a: Any, b: Any) -> Cond | bool:
    """Two numbers compared, as plain Python computes them."""
    exact, build = _COMPARE[op]
    if isinstance(a, int) and isinstance(b, int):
        return exact(a, b)
    if isinstance(a, (Cond, bool)) and isinstance(b, (Cond, bool)):
        if op is ast.Eq:
            return negate(exclusive(a, b))
        if op is ast.NotEq:
            return exclusive(a, b)
    x, y = as_real(a), as_real(b)
    p, q = by_sign(written(x), written(y))
    if p is q and p.op is not ir.CONST and op not in (ast.Lt, ast.Gt):  # a test for nan
        same = ir.or_(all_given_real(p), ir.le(p, ir.INF))
        same = ir.and_(join(x.defined, y.defined), same)
        return cond(ir.not_(same) if op is ast.NotEq else same)
    unlike = op is ast.NotEq
    found = _of_defined(ir.eq(p, q) if unlike else build(p, q), x, y)
    return cond(ir.not_(found) if unlike else found)


def _of_defined(comparison: Expr, *values: Real) -> Expr:
    """A comparison that is false where a number is undefined, as for nan. The remaining functions
    are nan there by themselves."""
    defined = TRUE
    for v in values:
        defined = join(defined, v.defined)
    if defined is TRUE or comparison.op is ir.BOOL:
        return defined if comparison is TRUE else comparison
    (formula,) = exactly((comparison,))
    kept = set(implied.conjuncts(domain_of((formula,))[formula]))
    for c in implied.conjuncts(defined):
        comparison = comparison if c in kept else ir.and_(c, comparison)
    return comparison


# ----------------------------------------------------------------- arithmetic
def _int_divide(a: int, b: int) -> Any:
    return number(Fraction(a, b)) if b else Real(ir.div(a, b))


def _int_power(a: int, b: int) -> Any:
    if b < 0:
        return Real(ir.power(a, b))
    if a.bit_length() * b > MAX_INTEGER_BITS:
        raise Refused("this integer power is too large", "use real numbers, such as 2.0")
    return a**b


def _int_product(a: int, b: int) -> int:
    if a.bit_length() + b.bit_length() > MAX_INTEGER_BITS:
        raise Refused("this integer is too large", "use real numbers, such as 2.0")
    return a * b


def _shift(a: int, b: int) -> int:
    if b > MAX_INTEGER_BITS:
        raise Refused("this integer is too large")
    return a << b


_INTEGER: dict[type[ast.operator], Callable[[int, int], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: _int_product,
    ast.Div: _int_divide,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
    ast.Pow: _int_power,
    ast.LShift: _shift,
    ast.RShift: lambda a, b: a >> b,
    ast.BitAnd: lambda a, b: a & b,
    ast.BitOr: lambda a, b: a | b,
    ast.BitXor: lambda a, b: a ^ b,
}


def _quotient(a: Real, b: Real) -> Real:
    found = ir.div(a.expr, b.expr)
    poles.divided(b.expr, found)
    return Real(found, join(join(a.defined, b.defined), _divides_somewhere(a.expr, b.expr)))


def _divides_somewhere(a: Expr, b: Expr) -> Expr:
    """Whether not both are zero throughout a region, where their quotient is nan without a
    limit."""
    zero = flat(b)
    return TRUE if zero is FALSE else ir.not_(ir.and_(zero, flat(a)))


def _product(a: Real, b: Real) -> Real:
    defined = join(a.defined, b.defined)
    for u, v in ((a.expr, b.expr), (b.expr, a.expr)):
        if v.op is ir.DIV or (v.op is ir.POW and (ir.rational(v.args[1]) or 0) < 0):
            defined = join(defined, _divides_somewhere(u, v.args[v.op is ir.DIV]))
    return Real(ir.mul(a.expr, b.expr), defined)


def _power(a: Real, b: Real) -> Real:
    defined = join(a.defined, b.defined)
    if ir.integer(b.expr) is None:
        defined = join(defined, functions.domain(ir.POW, (a.expr, b.expr)))
    found = ir.power(a.expr, b.expr)
    if (ir.rational(b.expr) or 0) < 0:
        poles.divided(a.expr, found)
    return Real(found, defined)


_REAL: dict[type[ast.operator], Callable[[Real, Real], Real]] = {
    ast.Add: lambda a, b: Real(ir.add(a.expr, b.expr), join(a.defined, b.defined)),
    ast.Sub: lambda a, b: Real(ir.sub(a.expr, b.expr), join(a.defined, b.defined)),
    ast.Mult: _product,
    ast.Div: _quotient,
    ast.Pow: _power,
    ast.FloorDiv: lambda a, b: as_real(apply(functions.FLOOR_QUOTIENT, a, b)),
    ast.Mod: lambda a, b: remainder(a, b),
}
_ARITHMETIC: dict[type[ast.operator], Op] = {
    ast.Add: ir.ADD, ast.Sub: ir.SUB, ast.Mult: ir.MUL, ast.Div: ir.DIV, ast.Pow: ir.POW,
}  # fmt: skip


def _of_reals(op: type[ast.operator], a: Real, b: Real) -> Real:
    """An operation on two real numbers."""
    found = _REAL[op](a, b)
    if op in _ARITHMETIC:
        found.plain = _plain(_ARITHMETIC[op], (a, b), found.expr)
    return found


def _plain(op: Op, values: tuple[Real, ...], found: Expr) -> Expr | None:
    """The plain form of an operation; None if it equals its formula."""
    if found.op is op and all(v.plain is None for v in values):
        args = tuple(v.expr for v in values)
        if found.args == args or (op in (ir.ADD, ir.MUL) and found.args == args[::-1]):
            return None
    return plain(op, *map(written, values))


_WHOLE: dict[type[ast.operator], Callable[[Expr, Expr], Expr]] = {
    ast.Add: ir.add,
    ast.Sub: ir.sub,
    ast.Mult: ir.mul,
    ast.FloorDiv: lambda a, b: ir.apply(FLOORDIV, a, b),
    ast.Mod: lambda a, b: ir.apply(MOD, a, b),
}
"""Operations on integers, at least one of which is not known when traced."""


_BITS: dict[type[ast.operator], type[ast.operator]] = {
    ast.LShift: ast.Mult, ast.RShift: ast.FloorDiv, ast.BitAnd: ast.Mod,
}  # fmt: skip
"""Operations on the bits of an unknown integer, with a known one, as arithmetic."""


def _of_bits(op: type[ast.operator], n: Any, k: int) -> Any:
    """`n << k`, `n >> k`, or the lowest bits of n, negative or not: its remainder."""
    if op is ast.BitAnd and k & (k + 1):
        raise Refused("'&' of an integer that is not known when traced", "take a remainder: n % 2")
    return binary(_BITS[op], n, k + 1 if op is ast.BitAnd else 2**k)


def is_whole(value: Any) -> bool:
    """Whether a value is an integer, known or not."""
    return isinstance(value, Whole) or (isinstance(value, int) and not isinstance(value, bool))


def whole(e: Expr) -> Any:
    """An integer expression as a value: a Python int if it is known."""
    n = ir.integer(e)
    return Whole(e) if n is None else n


_LOGIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.BitAnd: conjunction,
    ast.BitOr: disjunction,
    ast.BitXor: exclusive,
}

SYMBOLS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.Mod: "%",
    ast.FloorDiv: "//", ast.MatMult: "@", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&",
    ast.BitOr: "|", ast.BitXor: "^", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Eq: "==", ast.NotEq: "!=", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip


def binary(op: type[ast.operator], a: Any, b: Any) -> Any:
    """An arithmetic or bit operation on two scalars."""
    if type(a) is Real and type(b) is Real and op in _REAL:
        return _of_reals(op, a, b)
    if isinstance(a, int) and isinstance(b, int):
        return _INTEGER[op](a, b)
    if op is ast.BitAnd and isinstance(b, (Whole, Integral)):
        a, b = b, a
    if (
        op in _BITS
        and isinstance(a, (Whole, Integral))
        and type(b) is int
        and 0 <= b < MAX_INTEGER_BITS
    ):
        return _of_bits(op, a, b)
    if is_whole(a) and is_whole(b):
        x, y = as_real(a).expr, as_real(b).expr
        if op in _WHOLE:
            return whole(_WHOLE[op](x, y))
        if op is ast.Pow and isinstance(b, int) and b >= 0:
            return whole(ir.power(x, y))
        if op is ast.Div and isinstance(b, int) and b > 0:
            return Ratio(ir.div(x, y), x, b)
    if not (is_number(a) and is_number(b)):
        raise Refused(f"'{SYMBOLS[op]}' of {describe(a)} and {describe(b)}")
    if op is ast.Mult and isinstance(a, (Cond, bool)):
        return _masked(a, b)
    if op is ast.Mult and isinstance(b, (Cond, bool)):
        return _masked(b, a)
    if op in _LOGIC and isinstance(a, (Cond, bool)) and isinstance(b, (Cond, bool)):
        return _LOGIC[op](a, b)
    if op not in _REAL:
        hint = "it works on integers and truth values known when traced"
        if op in _LOGIC:
            hint = "put comparisons in parentheses: (a > 0) & (b > 0)"
        raise Refused(f"'{SYMBOLS[op]}' of {describe(a)} and {describe(b)}", hint)
    found = _of_reals(op, as_real(a), as_real(b))
    if op in _WHOLE and found.defined is TRUE and _counts(a, b):
        return whole(_WHOLE[op](as_real(a).expr, as_real(b).expr))
    return integral(found) if _gives_integers(op, a, b) else found


def _counts(a: Any, b: Any) -> bool:
    """Whether an unknown integer meets a truth value, or one of two integers."""
    for v, other in ((a, b), (b, a)):
        if isinstance(v, Whole) and python_kind(other) != "f":
            return kind_of(as_real(other).expr) == "i"
    return False


def _gives_integers(op: type[ast.operator], a: Any, b: Any) -> bool:
    """Whether an operation gives an int in Python."""
    if python_kind(a) == "f" or python_kind(b) == "f":
        return False
    if op is ast.Pow:
        return b >= 0 if isinstance(b, int) else isinstance(b, Cond) or of_integers.get()
    return op is not ast.Div


def integral(value: Real) -> Any:
    """A number that is an int in Python; a Python int if it is known."""
    n = ir.integer(value.expr)
    return Integral(value.expr, value.defined, value.plain) if n is None else n


def _masked(mask: Cond | bool, value: Any) -> Any:
    whole = python_kind(value) != "f"
    if isinstance(mask, bool):
        found = as_real(value) if mask else as_real(0)
        return integral(found) if whole else found
    if whole and isinstance(value, (bool, Cond)):
        value = integral(as_real(value))
    nothing: Any = 0 if whole else as_real(0)
    if isinstance(value, Real):  # 0 times an undefined value is undefined
        fine = as_cond(poleless(value)).expr
        if fine is not TRUE or value.defined is not TRUE:
            none = Real(ir.where(fine, ZERO, ir.NAN), value.defined)
            nothing = integral(none) if whole else none
    return select(mask.expr, mask.defined, value, nothing)


def negative(value: Any) -> Any:
    if isinstance(value, int):
        return -value
    x = as_real(value)
    if isinstance(value, Whole):
        return whole(ir.neg(x.expr))
    found = Real(ir.neg(x.expr), x.defined, None if x.plain is None else ir.neg(x.plain))
    return found if python_kind(value) == "f" else integral(found)


# ------------------------------------------------------------------ functions
def _arguments(n: int) -> str:
    return f"{n} argument" if n == 1 else f"{n} arguments"


_WHOLE_FUNCTIONS: dict[Op, Callable[..., Expr]] = {
    ir.ABS: ir.abs_,
    ir.SIGN: lambda a: ir.where(
        ir.lt(ZERO, a), ir.ONE, ir.where(ir.lt(a, ZERO), ir.const(-1), ZERO)
    ),
    **dict.fromkeys(functions.MAXIMA, lambda a, b: ir.where(ir.lt(a, b), b, a)),
    **dict.fromkeys(functions.MINIMA, lambda a, b: ir.where(ir.lt(b, a), b, a)),
}
"""Functions of integers that are integers."""

_OF_TRUTH: dict[Op, Callable[..., Any]] = {
    **dict.fromkeys(functions.MAXIMA, disjunction), **dict.fromkeys(functions.MINIMA, conjunction),
    ir.ABS: lambda a: a,
}  # fmt: skip
"""Functions of truth values that are truth values."""

_OF_INTEGERS = frozenset((
    *_WHOLE_FUNCTIONS, ir.SIGN, functions.FMOD, functions.FLOOR, functions.CEIL, functions.TRUNC,
    functions.ROUND, functions.FLOOR_QUOTIENT,
))  # fmt: skip
_COMPOSED_OF_INTEGERS = frozenset(
    functions.COMPOSITES[f"numpy.{name}"]
    for name in (
        "square", "negative", "positive", "add", "subtract", "multiply", "power", "reciprocal",
        "mod", "remainder", "pow", "conj", "conjugate", "real", "imag",
    )
)  # fmt: skip
"""Those that NumPy also has for integers."""


def apply(op: Op, *values: Any) -> Any:
    """An operation of the table applied to scalars; its domain joins theirs."""
    if len(values) != op.arity:
        raise Refused(f"{op.name} takes {_arguments(op.arity)}, not {len(values)}")
    if op in _OF_TRUTH and all(isinstance(v, (bool, Cond)) for v in values):
        return _OF_TRUTH[op](*values)
    if op in _WHOLE_FUNCTIONS and any(isinstance(v, Whole) for v in values):
        if all(is_whole(v) or isinstance(v, (bool, Cond)) for v in values):
            return whole(_WHOLE_FUNCTIONS[op](*(as_real(v).expr for v in values)))
    reals = tuple(map(as_real, values))
    args, defined = [written(x) if op in DECIDING else x.expr for x in reals], TRUE
    for x in reals:
        defined = join(defined, x.defined)
    if op.domain is not None:
        defined = join(defined, op.domain(*args))
    if op is functions.FMOD:  # it tends to 0 with its divisor
        defined = join(defined, ir.ne(args[1], ZERO))
    e = _truncated_rest(*reals) if op is functions.FMOD else ir.apply(op, *args)
    found = Real(e, defined, None if op in DECIDING else _plain(op, reals, e))
    kinds = {python_kind(v) for v in values}
    if op in _WHOLE_FUNCTIONS and "i" in kinds and "f" not in kinds:
        return integral(found)
    return _perhaps_integer(found, values) if op in _OF_INTEGERS else found


DECIDING = frozenset((
    functions.FLOOR, functions.CEIL, functions.TRUNC, functions.ROUND, functions.FLOOR_QUOTIENT,
))  # fmt: skip
"""Functions with integer values, which the plain values of their arguments decide."""


def _truncated_rest(a: Real, b: Real) -> Expr:
    """`fmod(a, b)`: the remainder of a after a whole multiple of b, which doubles determine."""
    p, q = written(a), written(b)
    if p is a.expr and q is b.expr:
        return ir.apply(functions.FMOD, p, q)
    times = ir.apply(functions.FLOOR_QUOTIENT, ir.abs_(p), ir.abs_(q))
    for e in (p, q):
        times = ir.where(ir.lt(e, ZERO), ir.neg(times), times)
    return ir.sub(a.expr, ir.mul(b.expr, times))


_templates: dict[Callable[..., Expr], tuple[int, Expr, Expr]] = {}


def _template(build: Callable[..., Expr]) -> tuple[int, Expr, Expr]:
    """The number of arguments of a shorthand, where it is defined, and its formula, in terms of
    placeholders: its operations before any simplification."""
    found = _templates.get(build)
    if found is None:
        names = [f"#{i}" for i in range(len(inspect.signature(build).parameters))]
        value = build(*(ir.var(n) for n in names))
        found = _templates[build] = len(names), domain_of((value,))[value], value
    return found


def remainder(a: Real, b: Real) -> Real:
    """a % b, undefined for b = 0, though it tends to 0; doubles determine the whole quotient."""
    p, q = written(a), written(b)
    defined = join(join(a.defined, b.defined), ir.ne(q, ir.ZERO))
    rest = plain(functions.FMOD, p, q)
    other = ir.where(ir.lt(q, ZERO), ir.lt(ZERO, rest), ir.lt(rest, ZERO))
    as_written = ir.where(other, plain(ir.ADD, rest, q), rest)
    times = ir.apply(functions.FLOOR_QUOTIENT, p, q)
    return Real(ir.sub(a.expr, ir.mul(b.expr, times)), defined, as_written)


def compose(build: Callable[..., Expr], values: tuple[Any, ...]) -> Real:
    """A shorthand such as `sqrt` or `expit` applied to scalars."""
    arity, needs, formula = _template(build)
    if len(values) != arity:
        raise Refused(f"this function takes {_arguments(arity)}, not {len(values)}")
    reals, defined = tuple(map(as_real, values)), TRUE
    args = [x.expr for x in reals]
    for x in reals:
        defined = join(defined, x.defined)
    if needs is not TRUE:
        mapping = {ir.var(f"#{i}"): a for i, a in enumerate(args)}
        defined = join(defined, ir.substitute((needs,), mapping)[0])
    found = Real(build(*args), defined)
    found.plain = _plain_composite(formula, reals, found.expr)
    return _perhaps_integer(found, values) if build in _COMPOSED_OF_INTEGERS else found


def _plain_composite(formula: Expr, values: tuple[Real, ...], found: Expr) -> Expr | None:
    """The plain form of a shorthand; None if it equals its formula."""
    new: dict[Expr, Expr] = {ir.var(f"#{i}"): v.expr for i, v in enumerate(values)}
    order = ir.topological((formula,))
    if all(v.plain is None for v in values):
        for e in order:
            if e not in new:
                new[e] = ir.raw(e.op, tuple(new[a] for a in e.args), e.value)
        if new[formula] is found:
            return None
    new = {ir.var(f"#{i}"): written(v) for i, v in enumerate(values)}
    for e in order:
        if e not in new:
            args = tuple(new[a] for a in e.args)
            new[e] = plain(e.op, *args) if args else e
    return new[formula]


def _perhaps_integer(found: Real, values: tuple[Any, ...]) -> Any:
    """The value of a function that may be an int in Python if arguments are, if arguments are
    traced as integers."""
    if all(map(is_whole, values)) and kind_of(found.expr) == "i":
        return whole(found.expr)
    kinds = {python_kind(v) for v in values}
    _note_mixed(kinds)
    if (of_integers.get() and kinds != {"f"}) or ("i" in kinds and "f" not in kinds):
        return integral(found)
    return found
