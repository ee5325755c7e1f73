"""The expression DAG: immutable, hash-consed nodes over exact real numbers.

Two nodes that are built alike are the same object, so a shared subexpression is stored,
differentiated and evaluated once. Children exist before their parents and no walk recurses, so
Python's stack does not limit the depth.

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
from typing import Any, NamedTuple
from weakref import WeakValueDictionary, _remove_dead_weakref, ref  # type: ignore[attr-defined]

from symdiff.process.lazy_modules import Later
from symdiff.process.locks import Lock

Number = int | float | Fraction


OPS: dict[str, Op] = {}
"""Every operation by its name, except those that are made for a program."""
_makers: dict[str, dict[str, Any]] = {}
"""The modules that made them, by their names: a module whose import was interrupted (Ctrl-C) is
run again, and makes its operations anew."""
_made: WeakValueDictionary[str, Op] = WeakValueDictionary()
_making = Lock()
_plain = Later("symdiff.ir.plain")


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True)
class Op:
    """One operation. Elementary functions are declared in `symdiff.ir.functions`.

    Only `name` and `arity` matter to the DAG; the other columns hold the facts that
    passes and targets need, so that one entry declares a function.

    Parameters
    ----------
    name : the operation's name, unique.
    arity : number of arguments; -1 if it varies.
    boolean : whether the result is a truth value.
    partials : `(*args) -> derivative with respect to each argument` (None: none).
    slope : `(*args) -> cheap upper bounds on the sizes of the partials`; None: the partials.
    steepest : an upper bound on every partial, for all arguments; 0 if there is no such number.
    by_value : `(value) -> partials` in terms of the function's own value, for a value
        that is stored while the arguments would have to be computed again.
    live : `(*args) -> condition under which each argument counts`; for max and
        min, where an argument that is not taken must not leak into the derivative.
    domain : `(*args) -> closed condition`; the value is nan where it does not hold.
    pole : `(*args) -> where` the value is not finite though the arguments are, on that domain.
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
    written : whether that replaces it before errors are bounded: near its roots it loses digits.
    ball : `(*arbs) -> arb`, rigorous evaluation in ball arithmetic.
    flint : in C: FLINT's function `f(result, *args, bits)`, or `(*args) -> a formula` of such.
    edges : `(*floats) -> float, or None` where their balls have the value: what arguments that are not finite
        give, and poles. For functions that no library has right: kernels call `libm`, which rounds `ball`.
    monotone : whether it only rises, or only falls, on its domain.
    sign : "positive", "nonnegative", or "same" as the argument's; "" if neither.
    kink : `(*args) -> where`, the node whose zeros are kinks, and
    kink_rule : the documented value of the derivative there.
    cut : `(*args) -> where`, the node across whose zeros the function may jump, and
    pieces : `(*args) -> the function by branches` that are smooth there.
    means : the meaning of an operation that is made for a program, such as the completed function
        of which it is a derivative; None for all others. It lives as long as an expression has it,
        and all threads share the operation of its name. See `made`.
    remake : `(function, arguments)` that make it again in another process.
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
    pole: Callable[..., Expr] | None = None
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
    flint: str | Callable[..., Expr] | None = None
    edges: Callable[..., float | None] | None = None
    monotone: bool = False
    sign: str = ""
    kink: Callable[..., Expr] | None = None
    kink_rule: str = ""
    cut: Callable[..., Expr] | None = None
    pieces: Callable[..., Expr] | None = None
    means: Any = None
    remake: tuple[Callable[..., Any], tuple[Any, ...]] | None = None

    def __post_init__(self) -> None:
        if self.means is not None:
            return
        here = sys._getframe(2).f_globals  # the caller of the dataclass constructor
        there = _makers.get(self.name)
        if there is not None and (there is here or there["__name__"] != here["__name__"]):
            raise ValueError(f"an operation named {self.name} exists already")
        OPS[self.name], _makers[self.name] = self, here

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

    __slots__ = ("__weakref__", "_leaves", "args", "op", "value")
    op: Op
    args: tuple[Expr, ...]
    value: Any
    _leaves: tuple[Expr, ...] | None  # the leaves below, once they were computed

    def __add__(self, other: Expr | Number) -> Expr:
        return apply(ADD, self, other)

    def __radd__(self, other: Number) -> Expr:
        return apply(ADD, other, self)

    def __sub__(self, other: Expr | Number) -> Expr:
        return apply(SUB, self, other)

    def __rsub__(self, other: Number) -> Expr:
        return apply(SUB, other, self)

    def __mul__(self, other: Expr | Number) -> Expr:
        return apply(MUL, self, other)

    def __rmul__(self, other: Number) -> Expr:
        return apply(MUL, other, self)

    def __truediv__(self, other: Expr | Number) -> Expr:
        return apply(DIV, self, other)

    def __rtruediv__(self, other: Number) -> Expr:
        return apply(DIV, other, self)

    def __pow__(self, other: Expr | Number) -> Expr:
        return apply(POW, self, other)

    def __rpow__(self, other: Number) -> Expr:
        return apply(POW, other, self)

    def __neg__(self) -> Expr:
        return apply(NEG, self)

    def __bool__(self) -> bool:
        if self.op is BOOL:
            return bool(self.value)
        raise TypeError("a symbolic expression has no truth value")

    def __repr__(self) -> str:
        return format_expr(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (pack((self,)),)


class _Entry(ref[Expr]):
    """A weak reference to a node, with its key in the table."""

    __slots__ = ("key",)
    key: tuple[Any, ...]


_nodes: dict[tuple[Any, ...], _Entry] = {}


def _forget(
    entry: _Entry,
    remove: Callable[[Any, Any], None] = _remove_dead_weakref,
    nodes: dict[tuple[Any, ...], _Entry] = _nodes,
) -> None:
    remove(nodes, entry.key)  # in one step, unless the node has been built again meanwhile


def raw(op: Op, args: tuple[Expr, ...], value: Any = None) -> Expr:
    """The node as given: nothing is folded, no identity applied. It is the same object for all
    threads, whichever of them builds it first."""
    key = (op, args, value)
    entry = _nodes.get(key)
    found = entry() if entry is not None else None
    if found is not None:
        return found
    made = object.__new__(Expr)
    made.op, made.args, made.value, made._leaves = op, args, value, None
    own = _Entry(made, _forget)
    own.key = key
    while (entry := _nodes.setdefault(key, own)) is not own:
        found = entry()
        if found is not None:
            return found
        _remove_dead_weakref(_nodes, key)
    return made


# --------------------------------------------------------------------- leaves
CONST = Op("const", 0)
VAR = Op("var", 0)
BOOL = Op("bool", 0, boolean=True)

TRUE = raw(BOOL, (), True)
FALSE = raw(BOOL, (), False)


_small: dict[int, Expr] = {}
"""Constants that are made often: small integers."""


def const(value: Number) -> Expr:
    """The constant that a Python number denotes, exactly."""
    if type(value) is int or (type(value) is Fraction and value.denominator == 1):
        n = value.numerator
        if -64 <= n <= 64:
            found = _small.get(n)
            if found is None:
                found = _small[n] = raw(CONST, (), Fraction(n))
            return found
    if isinstance(value, float):
        if math.isfinite(value):
            value = Fraction(value)
        elif math.isnan(value):
            return NAN
    elif not isinstance(value, Fraction):
        value = Fraction(value)
    return raw(CONST, (), value)


NAN = raw(CONST, (), math.nan)
INF = const(math.inf)
ZERO = const(0)
ONE = const(1)
HALF = const(Fraction(1, 2))


def var(name: str) -> Expr:
    """The real variable of this name."""
    return raw(VAR, (), name)


def as_expr(value: Expr | Number) -> Expr:
    return value if isinstance(value, Expr) else const(value)


def rational(e: Expr) -> Fraction | None:
    """The exact value of a finite constant, else None."""
    return e.value if e.op is CONST and isinstance(e.value, Fraction) else None


LARGEST, SMALLEST = Fraction(2) ** 1023, Fraction(1, 2**1022)


def is_infinite(e: Expr) -> bool:
    """Whether a node is the constant inf or -inf."""
    return e.op is CONST and isinstance(e.value, float) and math.isinf(e.value)


def is_far(e: Expr) -> bool:
    """Whether a node is a constant beyond the range of doubles."""
    q = rational(e)
    return q is not None and q != 0 and not SMALLEST <= abs(q) < LARGEST


def is_rounded(e: Expr) -> bool:
    """Whether a node is a constant in the range of doubles that is not a double."""
    q = rational(e)
    return q is not None and abs(q) < LARGEST and Fraction(float(q)) != q


def integer(e: Expr) -> int | None:
    """The value of an integer constant, else None."""
    q = rational(e)
    return int(q) if q is not None and q.denominator == 1 else None


# --------------------------------------------------- operations that have constructors
ADD = Op("add", 2)
SUB = Op("sub", 2)
MUL = Op("mul", 2)
DIV = Op("div", 2)
NEG = Op("neg", 1)
POW = Op("pow", 2, libm="pow", vector=True)
ARITHMETIC = (ADD, SUB, MUL, DIV, NEG, POW)

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


# ------------------------------------------------------- applying and rebuilding
def apply(op: Op, *args: Expr | Number) -> Expr:
    """The op applied to arguments, folded and simplified where that is exact."""
    builder = BUILDERS.get(op)
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
    return raw(op, nodes)


BUILDERS: dict[Op, Callable[..., Expr]] = {}
"""Constructors of the operations that have their own; `arithmetic` and `conditions` add them."""


def rebuild(e: Expr, args: tuple[Expr, ...]) -> Expr:
    """The same operation on other children; `e` itself if none changed."""
    return e if args == e.args else apply(e.op, *args)  # nodes are equal if they are the same


# ---------------------------------------------------------------------- walking
def with_args(e: Expr, args: tuple[Expr, ...]) -> Expr:
    """The node over other children, without simplification."""
    return e if args == e.args else raw(e.op, args, e.value)


def topological(roots: Iterable[Expr], known: Container[Expr] = ()) -> list[Expr]:
    """All nodes below the roots, children first, in an order that depends only
    on the structure of the DAG; without known nodes and the nodes below them."""
    order: list[Expr] = []
    done: set[Expr] = set()
    stack: list[Any] = list(roots)[::-1]
    while stack:
        e = stack.pop()
        if e is None:  # the children of the node below it are in the order
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
    for e in topological(roots, new):
        new[e] = rebuild(e, tuple(new[a] for a in e.args))
    return tuple(new[r] for r in roots)


FEW = 64
"""The number of leaves that a node remembers,"""
MANY: tuple[Expr, ...] = (ZERO,)
"""and the mark of nodes that have more."""


def leaves(roots: Iterable[Expr]) -> list[Expr]:
    """The nodes without children below the roots, except constants, in the order in which
    `topological` meets them.

    Each node remembers its leaves, so that repeated calls on growing expressions walk over the
    new nodes only.
    """
    found: dict[Expr, None] = {}
    done: set[Expr] = set()
    for root in roots:
        if root._leaves is MANY:
            found.update(dict.fromkeys(_leaves_below(root, done)))
        elif root._leaves is not None:
            found.update(dict.fromkeys(root._leaves))
        else:
            own = _leaves_below(root, set())
            if root.args:
                root._leaves = tuple(own) if len(own) <= FEW else MANY
            found.update(own)
    return list(found)


def _leaves_below(root: Expr, done: set[Expr]) -> dict[Expr, None]:
    """The leaves of nodes that were not visited before."""
    found: dict[Expr, None] = {}
    stack = [root]
    while stack:
        e = stack.pop()
        if e in done:
            continue
        done.add(e)
        if not e.args:
            if e.op is not CONST and e.op is not BOOL:
                found[e] = None
        elif e._leaves is None or e._leaves is MANY:
            stack.extend(e.args[::-1])
        else:
            found.update(dict.fromkeys(e._leaves))
    return found


def variables(roots: Iterable[Expr]) -> list[Expr]:
    """The variables below the roots; see `leaves`."""
    return [e for e in leaves(roots) if e.op is VAR]


def variables_of_values(roots: Iterable[Expr]) -> set[Expr]:
    """The variables that the roots depend on other than by conditions."""
    return {e for e in topological(roots, CONDITIONS) if e.op is VAR}


class _Conditions(Container[Expr]):
    def __contains__(self, e: object) -> bool:
        return isinstance(e, Expr) and e.op.boolean


CONDITIONS = _Conditions()
"""All conditions."""


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
            nodes.append(raw(op_named(name), tuple(nodes[i] for i in children), value))
    return tuple(nodes[i] for i in rows[-1][1:])


Packed = tuple[tuple[tuple[Any, ...], ...], tuple[tuple[Callable[..., Any], tuple[Any, ...]], ...]]


def pack(roots: Iterable[Expr]) -> Packed:
    """Roots for another process: a listing, and the makers of operations that were made for
    a program."""
    roots = tuple(roots)
    ops = dict.fromkeys(e.op for e in topological(roots))
    return encode(roots), tuple(op.remake for op in ops if op.remake is not None)


def unpack(packed: Packed) -> tuple[Expr, ...]:
    """Inverse of `pack`."""
    rows, remade = packed
    ops = [make(*args) for make, args in remade]  # they live until nodes have them
    found = decode(rows)
    del ops
    return found


def _rebuild(packed: Packed) -> Expr:
    return unpack(packed)[0]


def made(name: str, make: Callable[[], Op]) -> Op:
    """The operation of this name that is made for a program; all threads share the same object,
    as long as anything refers to it."""
    found = _made.get(name)
    if found is None:
        with _making:
            found = _made.get(name)
            if found is None:
                found = _made[name] = make()
    return found


class Maker(NamedTuple):
    """How operations of a kind are rebuilt from text: `Op.remake`, and the types of its arguments."""

    make: Callable[..., Op]
    types: tuple[Any, ...]


MAKERS: dict[str, Maker] = {}
"""The makers of operations that are made for a program, by their names in texts."""


def op_named(name: str) -> Op:
    """The operation of this name.

    Raises
    ------
    KeyError : if there is none.
    """
    found = OPS.get(name) or _made.get(name)
    if found is None and name.startswith("plain:"):  # made at first use
        made: Op = _plain.plain_named(name)
        return made
    if found is None:
        raise KeyError(name)
    return found


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
    """A text no longer than a limit, plus dots if it is cut."""
    return text if len(text) <= limit else text[:limit] + "..."
