"""The expression DAG: immutable, hash-consed nodes over exact real numbers.

Two nodes that are built alike are the same object, so a shared subexpression
is stored, differentiated and evaluated once. Children exist before their
parents and no walk recurses, so depth is not limited by Python's stack.

A node is a constant (an exact `Fraction`, or one of the floats inf, -inf,
nan), a real variable, a truth value, or an `Op` applied to nodes. The
constructors (`add`, `mul`, `where`, ...) keep the order the user wrote,
fold exact constants, and apply only local identities that hold wherever
their left side is defined (over the reals).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from weakref import _remove_dead_weakref, ref  # type: ignore[attr-defined]

MAX_CONSTANT_BITS = 4096
"""Exact constants longer than this are left as operations."""

MAX_FACTOR_BITS = 256
"""Constant factors are gathered into one while it stays within this."""

Number = int | float | Fraction


OPS: dict[str, Op] = {}
"""Every operation by its name."""


@dataclass(frozen=True, eq=False, slots=True)
class Op:
    """One operation. Elementary functions are declared in `symdiff.functions`.

    Only `name` and `arity` matter to the DAG; the other columns say what the
    passes and targets need to know, so that one entry declares a function.

    Parameters
    ----------
    name : the operation's name, unique.
    arity : number of arguments; -1 if it varies.
    boolean : whether the result is a truth value.
    partials : `(*args) -> derivative with respect to each argument` (None: none).
    slope : `(*args) -> cheap upper bounds of the sizes of the partials`; None: those.
    steepest : what the size of no partial exceeds anywhere; 0 if there is no such number.
    by_value : `(value) -> partials` in terms of the function's own value, for a value
        that is stored while the arguments would have to be computed again.
    live : `(*args) -> condition under which each argument counts`; for max and
        min, where an argument that is not taken must not leak into the derivative.
    domain : `(*args) -> closed condition` outside of which the value is nan.
    simplify : `(*args) -> an equal node, or None`, tried at construction.
    fold : `(*Fractions) -> exact Fraction, or None`.
    names : dotted Python names that mean this function.
    sympy : `(sympy, *args) -> SymPy expression`.
    libm : C name in libm (float32: with an `f` appended); None: see `expand`.
    vector : whether glibc's libmvec has a SIMD variant.
    intrinsic : LLVM intrinsic used instead of `libm`, such as `llvm.sqrt`.
    python : how a generated module writes it, such as `math.exp({0})`.
    helper : source of a Python function that `python` calls, for a user's own rule.
    expand : `(*args) -> the function in terms of others`, for targets without it.
    written : whether that stands for it before errors are bounded: near its roots it loses digits.
    ball : `(*arbs) -> arb`, rigorous evaluation in ball arithmetic.
    sign : "positive", "nonnegative", or "same" as the argument's; "" if neither.
    kink : `(*args) -> where`, the node whose zeros are kinks, and
    kink_rule : the documented value of the derivative there.
    cut : `(*args) -> where`, the node across whose zeros the function may jump, and
    pieces : `(*args) -> the function by branches` that are smooth there.
    """

    name: str
    arity: int
    boolean: bool = False
    partials: Callable[..., tuple[Expr | None, ...]] | None = None
    slope: Callable[..., tuple[Expr, ...]] | None = None
    steepest: int = 0
    by_value: Callable[[Expr], tuple[Expr, ...]] | None = None
    live: Callable[..., tuple[Expr, ...]] | None = None
    domain: Callable[..., Expr] | None = None
    simplify: Callable[..., Expr | None] | None = None
    fold: Callable[..., Fraction | None] | None = None
    names: tuple[str, ...] = ()
    sympy: Callable[..., Any] | None = None
    libm: str | None = None
    vector: bool = False
    intrinsic: str | None = None
    python: str | None = None
    helper: str | None = None
    expand: Callable[..., Expr] | None = None
    written: bool = False
    ball: Callable[..., Any] | None = None
    sign: str = ""
    kink: Callable[..., Expr] | None = None
    kink_rule: str = ""
    cut: Callable[..., Expr] | None = None
    pieces: Callable[..., Expr] | None = None

    def __post_init__(self) -> None:
        if self.name in OPS:
            raise ValueError(f"an operation named {self.name} exists already")
        OPS[self.name] = self

    def __repr__(self) -> str:
        return self.name

    def __call__(self, *args: Expr | Number) -> Expr:
        return apply(self, *args)


class Expr:
    """A node of the DAG. Compare with `is`; build with the constructors below.

    Attributes
    ----------
    op : what the node does; `CONST`, `VAR`, `BOOL` for leaves.
    args : the children.
    value : the `Fraction` (or float inf, -inf, nan) of a constant, the name of
        a variable, the `bool` of a truth value; None otherwise.
    """

    __slots__ = ("__weakref__", "args", "op", "value")
    op: Op
    args: tuple[Expr, ...]
    value: Any

    def __add__(self, other: Expr | Number) -> Expr:
        return add(self, other)

    def __radd__(self, other: Number) -> Expr:
        return add(other, self)

    def __sub__(self, other: Expr | Number) -> Expr:
        return sub(self, other)

    def __rsub__(self, other: Number) -> Expr:
        return sub(other, self)

    def __mul__(self, other: Expr | Number) -> Expr:
        return mul(self, other)

    def __rmul__(self, other: Number) -> Expr:
        return mul(other, self)

    def __truediv__(self, other: Expr | Number) -> Expr:
        return div(self, other)

    def __rtruediv__(self, other: Number) -> Expr:
        return div(other, self)

    def __pow__(self, other: Expr | Number) -> Expr:
        return power(self, other)

    def __rpow__(self, other: Number) -> Expr:
        return power(other, self)

    def __neg__(self) -> Expr:
        return neg(self)

    def __bool__(self) -> bool:
        if self.op is BOOL:
            return bool(self.value)
        raise TypeError("a symbolic expression has no truth value")

    def __repr__(self) -> str:
        return format_expr(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (encode((self,)),)


class _Entry(ref[Expr]):
    """A node that lives as long as somebody else holds it, and where it is in the table."""

    __slots__ = ("key",)
    key: tuple[Any, ...]


_nodes: dict[tuple[Any, ...], _Entry] = {}


def _forget(
    entry: _Entry,
    remove: Callable[[Any, Any], None] = _remove_dead_weakref,
    nodes: dict[tuple[Any, ...], _Entry] = _nodes,
) -> None:
    remove(nodes, entry.key)  # in one step, unless the node has been built again meanwhile


def _node(op: Op, args: tuple[Expr, ...], value: Any = None) -> Expr:
    """The node; the same object for all threads, whichever of them asks first."""
    key = (op, args, value)
    entry = _nodes.get(key)
    found = entry() if entry is not None else None
    if found is not None:
        return found
    made = object.__new__(Expr)
    made.op, made.args, made.value = op, args, value
    own = _Entry(made, _forget)
    own.key = key
    while (entry := _nodes.setdefault(key, own)) is not own:
        found = entry()
        if found is not None:
            return found
        _remove_dead_weakref(_nodes, key)
    return made


def raw(op: Op, args: tuple[Expr, ...], value: Any = None) -> Expr:
    """The node as given: nothing folded, no identity applied."""
    return _node(op, args, value)


# --------------------------------------------------------------------- leaves
CONST = Op("const", 0)
VAR = Op("var", 0)
BOOL = Op("bool", 0, boolean=True)

TRUE = _node(BOOL, (), True)
FALSE = _node(BOOL, (), False)


def const(value: Number) -> Expr:
    """The constant that a Python number denotes, exactly."""
    if isinstance(value, float):
        if math.isfinite(value):
            value = Fraction(value)
        elif math.isnan(value):
            return NAN
    elif not isinstance(value, Fraction):
        value = Fraction(value)
    return _node(CONST, (), value)


NAN = _node(CONST, (), math.nan)
INF = const(math.inf)
ZERO = const(0)
ONE = const(1)
HALF = const(Fraction(1, 2))


def var(name: str) -> Expr:
    """The real variable of this name."""
    return _node(VAR, (), name)


def as_expr(value: Expr | Number) -> Expr:
    return value if isinstance(value, Expr) else const(value)


def rational(e: Expr) -> Fraction | None:
    """The exact value of a finite constant, else None."""
    return e.value if e.op is CONST and isinstance(e.value, Fraction) else None


def integer(e: Expr) -> int | None:
    """The value of an integer constant, else None."""
    q = rational(e)
    return int(q) if q is not None and q.denominator == 1 else None


def _exact(q: Fraction) -> Expr | None:
    return _node(CONST, (), q) if _bits(q) <= MAX_CONSTANT_BITS else None


# ----------------------------------------------------------------- arithmetic
ADD = Op("add", 2)
SUB = Op("sub", 2)
MUL = Op("mul", 2)
DIV = Op("div", 2)
NEG = Op("neg", 1)
POW = Op("pow", 2, libm="pow", vector=True)
ARITHMETIC = (ADD, SUB, MUL, DIV, NEG, POW)

Pair = tuple[Expr, Expr]


def _factor(e: Expr) -> Fraction | None:
    """The constant c of a product `c*u`, if it is short enough to move."""
    if e.op is not MUL or (q := rational(e.args[0])) is None:
        return None
    inner = e.args[1]
    if inner.op is MUL and inner.args[0].op is CONST:
        return None  # two constants that were too long for one
    return q if _bits(q) <= MAX_FACTOR_BITS else None


def _bits(q: Fraction) -> int:
    return q.numerator.bit_length() + q.denominator.bit_length()


def _moved(q: Fraction) -> Expr | None:
    """The constant of a product of constants, if it is short."""
    return _node(CONST, (), q) if _bits(q) <= MAX_FACTOR_BITS else None


def scaled(e: Expr) -> tuple[Fraction, Expr]:
    """Split `c*u` into (c, u) with c a rational; c = 1 if there is none."""
    if (q := _factor(e)) is not None:
        return q, e.args[1]
    if e.op is NEG:
        q, u = scaled(e.args[0])
        return -q, u
    return Fraction(1), e


def _nonfinite(op: Op, a: Expr, b: Expr) -> Expr | None:
    """An operation on two constants of which one is inf, -inf or nan, as IEEE has it."""
    if a.op is not CONST or b.op is not CONST:
        return None
    if isinstance(a.value, Fraction) and isinstance(b.value, Fraction):
        return None
    x, y = _clamped(a.value), _clamped(b.value)
    if op is DIV:
        return const(x * math.inf if y == 0 else x / y)
    if op is POW:
        return const(math.pow(x, y))
    return const(x + y if op is ADD else x - y if op is SUB else x * y)


def _clamped(value: float | Fraction) -> float:
    """A constant as a double; one that is finite stays finite and keeps its sign."""
    if isinstance(value, float):
        return value
    bounded = min(max(value, -_LARGEST), _LARGEST)
    return float(bounded) or math.copysign(math.ulp(0.0), value) * (value != 0)


_LARGEST = Fraction(sys.float_info.max)


def add(a: Expr | Number, b: Expr | Number) -> Expr:
    a, b = as_expr(a), as_expr(b)
    if (e := _nonfinite(ADD, a, b)) is not None:
        return e
    p, q = rational(a), rational(b)
    if p is not None and q is not None and (e := _exact(p + q)) is not None:
        return e
    if p == 0:
        return b
    if q == 0:
        return a
    if b.op is NEG:
        return sub(a, b.args[0])
    if a.op is NEG:
        return sub(b, a.args[0])
    if p is not None and q is None:  # constants to the right, so that they meet
        return add(b, a)
    if q is not None and a.op in (ADD, SUB) and (r := rational(a.args[1])) is not None:
        if (e := _exact(q + r if a.op is ADD else q - r)) is not None:
            return add(a.args[0], e)
    (m, u), (n, v) = scaled(a), scaled(b)
    if u is v:
        return mul(const(m + n), u)
    return _node(ADD, (a, b))


def sub(a: Expr | Number, b: Expr | Number) -> Expr:
    a, b = as_expr(a), as_expr(b)
    if (e := _nonfinite(SUB, a, b)) is not None:
        return e
    p, q = rational(a), rational(b)
    if p is not None and q is not None and (e := _exact(p - q)) is not None:
        return e
    if q == 0:
        return a
    if p == 0:
        return neg(b)
    if b.op is NEG:
        return add(a, b.args[0])
    if q is not None:
        if q < 0:
            return add(a, const(-q))
        if a.op in (ADD, SUB) and (r := rational(a.args[1])) is not None:
            return add(a.args[0], const(r - q if a.op is ADD else -r - q))
        if a.op is SUB and (r := rational(a.args[0])) is not None:
            return sub(const(r - q), a.args[1])
    if p is not None and b.op in (ADD, SUB) and (r := rational(b.args[1])) is not None:
        return sub(const(p - r if b.op is ADD else p + r), b.args[0])
    if p is not None and b.op is SUB and (r := rational(b.args[0])) is not None:
        return add(b.args[1], const(p - r))
    (m, u), (n, v) = scaled(a), scaled(b)
    if u is v:
        return mul(const(m - n), u)
    return _node(SUB, (a, b))


def neg(a: Expr | Number) -> Expr:
    a = as_expr(a)
    if a.op is CONST:
        return const(-a.value)
    if a.op is NEG:
        return a.args[0]
    if a.op is SUB:
        return sub(a.args[1], a.args[0])
    if a.op is MUL and (q := rational(a.args[0])) is not None:
        return mul(const(-q), a.args[1])
    return _node(NEG, (a,))


def _base_exponent(e: Expr) -> tuple[Expr, int] | None:
    """Write e as base**n with an integer n > 0."""
    if e.op is POW:
        n = integer(e.args[1])
        return (e.args[0], n) if n is not None and n > 0 else None
    return e, 1


def _exponent_of(a: Expr, b: Expr) -> tuple[Expr, int, int] | None:
    """(base, m, n) if a = base**m and b = base**n, and neither is a constant."""
    left, right = _base_exponent(a), _base_exponent(b)
    if left is None or right is None or left[0] is not right[0] or left[0].op is CONST:
        return None
    return left[0], left[1], right[1]


def mul(a: Expr | Number, b: Expr | Number) -> Expr:
    a, b = as_expr(a), as_expr(b)
    if (e := _nonfinite(MUL, a, b)) is not None:
        return e
    p, q = rational(a), rational(b)
    if p is not None and q is not None and (e := _exact(p * q)) is not None:
        return e
    if q is not None and p is None:
        return mul(b, a)
    if p is not None:
        if p == 0:
            return ZERO
        if p == 1:
            return b
        if p == -1:
            return neg(b)
        if b.op is NEG:
            return mul(const(-p), b.args[0])
        if (r := _factor(b)) is not None and (e := _moved(p * r)) is not None:
            return mul(e, b.args[1])
        if b.op is DIV and (r := rational(b.args[0])) is not None:
            if (e := _moved(p * r)) is not None:
                return div(e, b.args[1])
        if b.op is DIV and (r := rational(b.args[1])):
            if (e := _moved(p / r)) is not None and (e.value.denominator == 1 or p.denominator > 1):
                return mul(e, b.args[0])
        return _node(MUL, (a, b))
    if a.op is NEG:
        return neg(mul(a.args[0], b))
    if b.op is NEG:
        return neg(mul(a, b.args[0]))
    if _factor(a) is not None:
        return mul(a.args[0], mul(a.args[1], b))
    if _factor(b) is not None:
        return mul(b.args[0], mul(a, b.args[1]))
    for quotient, factor in ((b, a), (a, b)):
        if quotient.op is DIV and (n := _exponent_of(factor, quotient.args[1])) is not None:
            base, m, k = n
            if m >= k:
                return mul(quotient.args[0], power(base, m - k))
            return div(quotient.args[0], power(base, k - m))
    for quotient, factor in ((b, a), (a, b)):
        if quotient.op is DIV and (r := rational(quotient.args[0])) is not None:
            if _bits(r) <= MAX_FACTOR_BITS:
                return mul(quotient.args[0], div(factor, quotient.args[1]))
    if (n := _exponent_of(a, b)) is not None:
        return power(n[0], n[1] + n[2])
    return _node(MUL, (a, b))


def div(a: Expr | Number, b: Expr | Number) -> Expr:
    a, b = as_expr(a), as_expr(b)
    if (e := _nonfinite(DIV, a, b)) is not None:
        return e
    p, q = rational(a), rational(b)
    if q is not None:
        if q == 0:
            if p is None:
                return _node(DIV, (a, b))
            return NAN if p == 0 else INF if p > 0 else neg(INF)
        if p is not None and (e := _exact(p / q)) is not None:
            return e
        if q == 1:
            return a
        if q == -1:
            return neg(a)
        if q < 0:
            return neg(div(a, const(-q)))
        if (r := _factor(a)) is not None and (e := _moved(r / q)) is not None:
            return mul(e, a.args[1])
        if a.op is DIV and (r := rational(a.args[1])) is not None:
            if (e := _moved(r * q)) is not None:
                return div(a.args[0], e)
        if q.numerator == 1:
            return mul(const(1 / q), a)
    if p == 0:
        return ZERO
    if a is b:
        return ONE
    if a.op is NEG:
        return neg(div(a.args[0], b))
    if b.op is NEG:
        return neg(div(a, b.args[0]))
    if (r := _factor(b)) is not None:
        if p is not None and (e := _moved(p / r)) is not None:
            return div(e, b.args[1])
        if r.denominator == 1 and (s := _factor(a)) is not None:
            if (e := _moved(s / r)) is not None:
                return mul(e, div(a.args[1], b.args[1]))
    elif p is None and _factor(a) is not None:
        return mul(a.args[0], div(a.args[1], b))
    if b.op is DIV:
        return div(mul(a, b.args[1]), b.args[0])
    if (n := _exponent_of(a, b)) is not None:
        return power(n[0], n[1] - n[2])
    if a.op is MUL:
        for i, f in enumerate(a.args):
            if (n := _exponent_of(f, b)) is not None:
                return mul(a.args[1 - i], power(n[0], n[1] - n[2]))
    return _node(DIV, (a, b))


def power(a: Expr | Number, b: Expr | Number) -> Expr:
    """`a**b` over the reals: nan for a < 0 unless b is an integer; a**0 is 1."""
    a, b = as_expr(a), as_expr(b)
    if (e := _nonfinite(POW, a, b)) is not None:
        return e
    p, q = rational(a), rational(b)
    if q is None:
        return ONE if p == 1 else _node(POW, (a, b))
    if q == 0:
        return ONE
    if q == 1:
        return a
    if q < 0:
        return div(ONE, power(a, const(-q)))
    n = integer(b)
    if (
        p is not None
        and n is not None
        and n * max(1, p.numerator.bit_length()) <= MAX_CONSTANT_BITS
    ):
        if (e := _exact(p**n)) is not None:
            return e
    if n is None:
        if p == 0:
            return ZERO
        if p is not None and p < 0:
            return NAN
        if a.op is CONST and p is not None and p > 0 and (r := _root(p, q)) is not None:
            return const(r)
        if a.op is POW and (m := rational(a.args[1])) is not None:
            if m.denominator == 1 and m % 2 == 0:
                return power(abs_(a.args[0]), const(m * q))
            if m.denominator != 1:
                return power(a.args[0], const(m * q))
        return _node(POW, (a, b))
    if a.op is NEG:
        e = power(a.args[0], b)
        return e if n % 2 == 0 else neg(e)
    if a.op is POW and (m := rational(a.args[1])) is not None:
        return power(a.args[0], const(m * n))
    if a.op is DIV and rational(a.args[0]) is not None:
        return div(power(a.args[0], b), power(a.args[1], b))
    if a.op is MUL and rational(a.args[0]) is not None:
        return mul(power(a.args[0], b), power(a.args[1], b))
    if a.op is ABS and n % 2 == 0:
        return power(a.args[0], b)
    return _node(POW, (a, b))


def sqrt(a: Expr | Number) -> Expr:
    """The square root is the power 1/2."""
    return power(a, HALF)


def _root(p: Fraction, q: Fraction) -> Fraction | None:
    """The exact value of p**q, p > 0, where it is rational."""
    if q.denominator > 64 or abs(q.numerator) > 64:
        return None
    parts = []
    for n in (p.numerator, p.denominator):
        r = round(n ** (1 / q.denominator)) if n < 2**53 else -1
        if r < 0 or r**q.denominator != n:
            return None
        parts.append(r)
    return Fraction(parts[0], parts[1]) ** q.numerator


def _abs_simplify(a: Expr) -> Expr | None:
    if a.op is NEG:
        return abs_(a.args[0])
    if a.op is ABS:
        return a
    if a.op is POW and (q := rational(a.args[1])) is not None:
        if q.denominator != 1 or q % 2 == 0:
            return a
        return power(abs_(a.args[0]), a.args[1])
    if a.op is MUL and (q := rational(a.args[0])) is not None:
        return mul(const(abs(q)), abs_(a.args[1]))
    return None


SIGN: Op = Op(
    "sign", 1,
    partials=lambda x: (ZERO,),
    fold=lambda x: Fraction((x > 0) - (x < 0)),
    names=("numpy.sign",),
    sign="same",
    sympy=lambda sp, x: sp.sign(x),
    python="np.sign({0})",
    expand=lambda x: where(lt(ZERO, x), ONE, where(lt(x, ZERO), const(-1), x)),
    ball=lambda x: x if x.is_nan() else x.sgn(),
    kink=lambda x: x,
    kink_rule="sign'(0) = 0",
)  # fmt: skip

ABS: Op = Op(
    "abs", 1,
    partials=lambda x: (SIGN(x),),
    slope=lambda x: (ONE,),
    simplify=_abs_simplify,
    fold=lambda x: abs(x),
    names=("builtins.abs", "math.fabs", "numpy.abs", "numpy.absolute", "numpy.fabs"),
    sympy=lambda sp, x: sp.Abs(x),
    libm="fabs", intrinsic="llvm.fabs", python="abs({0})", sign="nonnegative",
    ball=lambda x: abs(x),
    kink=lambda x: x,
    kink_rule="abs'(0) = 0",
)  # fmt: skip


def abs_(a: Expr | Number) -> Expr:
    return apply(ABS, a)


# ------------------------------------------------------------------ conditions
LT = Op("lt", 2, boolean=True)
LE = Op("le", 2, boolean=True)
EQ = Op("eq", 2, boolean=True)
NOT = Op("not", 1, boolean=True)
AND = Op("and", 2, boolean=True)
OR = Op("or", 2, boolean=True)
WHERE = Op("where", 3)
COMPARISONS = (LT, LE, EQ)


def boolean(value: bool) -> Expr:
    return TRUE if value else FALSE


def _compare(op: Op, test: Callable[[Any, Any], bool], same: bool, a: Any, b: Any) -> Expr:
    a, b = as_expr(a), as_expr(b)
    if a.op is CONST and b.op is CONST:
        return boolean(test(a.value, b.value))
    if a is NAN or b is NAN:
        return FALSE
    if a is b:
        return boolean(same)
    return _node(op, (a, b))


def lt(a: Expr | Number, b: Expr | Number) -> Expr:
    return _compare(LT, lambda x, y: x < y, False, a, b)


def le(a: Expr | Number, b: Expr | Number) -> Expr:
    return _compare(LE, lambda x, y: x <= y, True, a, b)


def eq(a: Expr | Number, b: Expr | Number) -> Expr:
    return _compare(EQ, lambda x, y: x == y, True, a, b)


def ne(a: Expr | Number, b: Expr | Number) -> Expr:
    return not_(eq(a, b))


def gt(a: Expr | Number, b: Expr | Number) -> Expr:
    return lt(b, a)


def ge(a: Expr | Number, b: Expr | Number) -> Expr:
    return le(b, a)


def not_(a: Expr) -> Expr:
    if a.op is BOOL:
        return boolean(not a.value)
    return a.args[0] if a.op is NOT else _node(NOT, (a,))


def and_(a: Expr, b: Expr) -> Expr:
    if a is FALSE or b is FALSE or a is not_(b):
        return FALSE
    if a is TRUE or a is b:
        return b
    return a if b is TRUE else _node(AND, (a, b))


def or_(a: Expr, b: Expr) -> Expr:
    if a is TRUE or b is TRUE or a is not_(b):
        return TRUE
    if a is FALSE or a is b:
        return b
    return a if b is FALSE else _node(OR, (a, b))


def where(condition: Expr, a: Expr | Number, b: Expr | Number) -> Expr:
    """The value of `a` where the condition holds, else of `b`; real or boolean."""
    a, b = as_expr(a), as_expr(b)
    if condition.op is BOOL:
        return a if condition.value else b
    if a is b:
        return a
    if condition.op is NOT:
        return where(condition.args[0], b, a)
    if a.op is WHERE and a.args[0] is condition:
        a = a.args[1]
    if b.op is WHERE and b.args[0] is condition:
        b = b.args[2]
    if a.op.boolean:
        if a is TRUE or b is FALSE:
            return or_(condition, b) if a is TRUE else and_(condition, a)
        if a is FALSE or b is TRUE:
            return and_(not_(condition), b) if a is FALSE else or_(not_(condition), a)
        return or_(and_(condition, a), and_(not_(condition), b))
    return a if a is b else _node(WHERE, (condition, a, b))


# ------------------------------------------------------- applying and rebuilding
def apply(op: Op, *args: Expr | Number) -> Expr:
    """The op applied to arguments, folded and simplified where that is exact."""
    builder = _BUILDERS.get(op)
    if builder is not None:
        return builder(*args)
    nodes = tuple(as_expr(a) for a in args)
    if op.arity >= 0 and len(nodes) != op.arity:
        raise TypeError(f"{op.name} takes {op.arity} arguments, not {len(nodes)}")
    if op.fold is not None:
        values = [rational(a) for a in nodes]
        if None not in values and (q := op.fold(*values)) is not None:
            return const(q)
    if op.simplify is not None and (e := op.simplify(*nodes)) is not None:
        return e
    return _node(op, nodes)


_BUILDERS: dict[Op, Callable[..., Expr]] = {
    ADD: add, SUB: sub, MUL: mul, DIV: div, NEG: neg, POW: power,
    LT: lt, LE: le, EQ: eq, NOT: not_, AND: and_, OR: or_, WHERE: where,
}  # fmt: skip


def rebuild(e: Expr, args: tuple[Expr, ...]) -> Expr:
    """The same operation on other children; `e` itself if none changed."""
    return e if args == e.args else apply(e.op, *args)  # nodes are equal if they are the same


# ---------------------------------------------------------------------- walking
def topological(roots: Iterable[Expr], known: Container[Expr] = ()) -> list[Expr]:
    """All nodes below the roots, children first, in an order that depends only
    on the structure of the DAG; known nodes and what is below them are left out."""
    order: list[Expr] = []
    done: set[Expr] = set()
    stack: list[Any] = list(roots)[::-1]
    while stack:
        e = stack.pop()
        if e is None:  # the node below it has its children in the order
            order.append(stack.pop())
        elif e not in done and e not in known:
            done.add(e)
            if e.args:
                stack += e, None
                stack += [a for a in e.args[::-1] if a not in done]
            else:
                order.append(e)
    return order


def transform(
    roots: Iterable[Expr], rule: Callable[[Expr, tuple[Expr, ...]], Expr]
) -> tuple[Expr, ...]:
    """Rewrite bottom-up: `rule(node, new children) -> new node`, once per node."""
    roots = tuple(roots)
    new: dict[Expr, Expr] = {}
    for e in topological(roots):
        new[e] = rule(e, tuple([new[a] for a in e.args]))
    return tuple(new[r] for r in roots)


def substitute(roots: Iterable[Expr], mapping: Mapping[Expr, Expr]) -> tuple[Expr, ...]:
    """Replace whole nodes, at once."""
    roots = tuple(roots)
    new: dict[Expr, Expr] = dict(mapping)
    for e in topological(roots):
        if e not in new:
            new[e] = rebuild(e, tuple(new[a] for a in e.args))
    return tuple(new[r] for r in roots)


def variables(roots: Iterable[Expr]) -> list[Expr]:
    return [e for e in topological(roots) if e.op is VAR]


# --------------------------------------------------------------- text and bytes
def encode(roots: Iterable[Expr]) -> tuple[tuple[Any, ...], ...]:
    """A flat, picklable and deterministic listing of the DAG below the roots."""
    roots = tuple(roots)
    index: dict[Expr, int] = {}
    rows: list[tuple[Any, ...]] = []
    for e in topological(roots):
        index[e] = len(rows)
        value = str(e.value) if e.op is CONST else e.value
        rows.append((e.op.name, value, *(index[a] for a in e.args)))
    return (*rows, ("roots", *(index[r] for r in roots)))


def decode(rows: tuple[tuple[Any, ...], ...]) -> tuple[Expr, ...]:
    """Inverse of `encode`."""
    nodes: list[Expr] = []
    for name, value, *children in rows[:-1]:
        if name == "const":
            special = value in ("inf", "-inf", "nan")
            nodes.append(const(float(value) if special else Fraction(value)))
        elif name == "var":
            nodes.append(var(value))
        elif name == "bool":
            nodes.append(boolean(value))
        else:
            nodes.append(_node(OPS[name], tuple(nodes[i] for i in children), value))
    return tuple(nodes[i] for i in rows[-1][1:])


def _rebuild(rows: tuple[tuple[Any, ...], ...]) -> Expr:
    return decode(rows)[0]


_SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "pow": "**", "lt": "<", "le": "<=",
            "eq": "==", "and": "&", "or": "|"}  # fmt: skip


def format_expr(e: Expr, limit: int = 2000) -> str:
    """A one-line text for people and error messages; cut at `limit` characters."""
    text: dict[Expr, str] = {}
    for n in topological((e,)):
        kids = [text[a] for a in n.args]
        if n.op in (CONST, VAR, BOOL):
            s = str(n.value)
            if n.op is CONST and isinstance(n.value, Fraction) and n.value.denominator > 1000:
                s = repr(float(n.value))
        elif not n.args:
            s = str(n.value[0] if isinstance(n.value, tuple) else n.value or n.op.name)
        elif n.op.name == "load":
            s = f"{kids[0]}[{', '.join(kids[1:])}]"
        elif n.op.name in _SYMBOLS:
            s = f"({kids[0]} {_SYMBOLS[n.op.name]} {kids[1]})"
        elif n.op is NEG:
            s = f"-{kids[0]}"
        else:
            s = f"{n.op.name}({', '.join(kids)})"
        text[n] = cut(s, limit)
    return text[e]


def cut(text: str, limit: int) -> str:
    """A text that is no longer than a limit, apart from the dots that say so."""
    return text if len(text) <= limit else text[:limit] + "..."
