"""Values of expressions in CUDA C++, each computed where it is needed first and as far out as
it goes; the counterpart of `nestscope` for devices.

A scope is a kernel or the body of a loop in it. An expression is printed in the outermost
scope that knows all names in it, so what does not change in a loop is computed before it.
Expressions are pure and loads are safe: an index that is not proved to be within its axis
is moved into it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field

from symdiff.codegen.cudaops import Operations
from symdiff.functions import CONSTANT_VALUES
from symdiff.integers import in_range
from symdiff.ir import (
    ABS,
    ADD,
    AND,
    BOOL,
    CONST,
    EQ,
    LE,
    LT,
    MUL,
    NEG,
    NOT,
    OR,
    POW,
    SUB,
    VAR,
    WHERE,
    Expr,
    integer,
    topological,
)
from symdiff.structure import ARRAY, FLOORDIV, INDEX, LOAD, MOD, index, kind_of, name_of

HELPERS = """\
static __device__ __forceinline__ long long symdiff_at(const long long i, const long long n)
{
    return i >= n ? (n > 0 ? n - 1 : 0) : i < 0 ? 0 : i;
}

static __device__ __forceinline__ long long symdiff_floordiv(const long long a, const long long b)
{
    if (b == 0) return 0;
    if (b == -1) return (long long)(0ull - (unsigned long long)a);
    const long long q = a / b, r = a - q * b;
    return q - (r != 0 && (r < 0) != (b < 0));
}

static __device__ __forceinline__ long long symdiff_divide(const long long a, const long long b)
{
    return (a | b) >> 31 ? a / b : (long long)((unsigned)a / (unsigned)b);
}

static __device__ __forceinline__ long long symdiff_mod(const long long a, const long long b)
{
    return b == 0 || b == -1 ? 0 : a - symdiff_floordiv(a, b) * b;
}

static __device__ __forceinline__ long long symdiff_power(long long a, long long k)
{
    long long p = 1;
    for (; k > 0; k >>= 1, a *= a) p = k & 1 ? p * a : p;
    return p;
}
"""
"""Indices moved into their axes, division rounded down, powers of integers; and division of
what is not negative, in 32 bits where that is enough."""

_WHOLE = {
    ADD: "{0} + {1}",
    SUB: "{0} - {1}",
    MUL: "{0} * {1}",
    NEG: "-{0}",
    ABS: "llabs({0})",
    FLOORDIV: "symdiff_floordiv({0}, {1})",
    MOD: "symdiff_mod({0}, {1})",
    POW: "symdiff_power({0}, {1})",
    WHERE: "{0} ? {1} : {2}",
}
_COMPARISONS = {LT: "{0} < {1}", LE: "{0} <= {1}", EQ: "{0} == {1}"}

INTEGER = "long long"
BYTE = "unsigned char"


@dataclass(frozen=True, slots=True)
class Stored:
    """An array in memory, row by row without gaps.

    Attributes
    ----------
    address : name of a pointer to its first element.
    shape, kind : as of its type.
    own : whether it may be changed in place.
    """

    address: str
    shape: tuple[Expr, ...]
    kind: str
    own: bool = False


@dataclass(eq=False, slots=True)
class Scope:
    """A kernel, or the body of a loop.

    Attributes
    ----------
    lines : the statements so far.
    names : what the names mean that are defined here.
    values : names of values by what they are the value of.
    ranges : how many values an index has, from 0.
    """

    parent: Scope | None = None
    lines: list[str] = field(default_factory=list)
    names: dict[str, str | Stored] = field(default_factory=dict)
    values: dict[Hashable, str] = field(default_factory=dict)
    homes: dict[Expr, Scope] = field(default_factory=dict)
    ranges: dict[str, Expr] = field(default_factory=dict)
    depth: int = 0

    def __post_init__(self) -> None:
        self.depth = 0 if self.parent is None else self.parent.depth + 1


class Values:
    """Prints expressions of one kernel."""

    def __init__(self, operations: Operations) -> None:
        self.operations = operations
        self.real = operations.real
        self.root = self.scope = Scope()
        self.kinds: dict[Expr, str] = {}
        self.sizes: set[Expr] = set()
        self._count = 0

    # ------------------------------------------------------------------- names
    def fresh(self, stem: str = "v") -> str:
        self._count += 1
        return f"{stem}{self._count}"

    def emit(self, kind: str, text: str, scope: Scope | None = None) -> str:
        """Print a definition; returns its name."""
        name = self.fresh()
        (scope or self.scope).lines.append(f"const {kind} {name} = {text};")
        return name

    def line(self, text: str) -> None:
        self.scope.lines.append(text)

    def element_type(self, kind: str) -> str:
        """What an element of an array is called."""
        return {"f": self.real, "i": INTEGER, "b": BYTE}[kind]

    def kind(self, e: Expr) -> str:
        return kind_of(e, self.kinds)

    def find(self, name: str) -> tuple[Scope, str | Stored]:
        """What a name means here, and where it is defined."""
        scope: Scope | None = self.scope
        while scope is not None:
            if name in scope.names:
                return scope, scope.names[name]
            scope = scope.parent
        return self.root, self.outside(name)

    def outside(self, name: str) -> str | Stored:
        """What a name means that is defined outside of the kernel.

        Raises
        ------
        KeyError : if it is not.
        """
        raise NotImplementedError

    def stored(self, name: str) -> Stored:
        """The array of a name."""
        found = self.find(name)[1]
        assert isinstance(found, Stored)
        return found

    def home(self, *nodes: Expr) -> Scope:
        """The outermost scope that knows every name in the nodes."""
        known = self.scope.homes
        deepest = self.root
        for n in topological(nodes, known):
            if n.op in (VAR, INDEX, ARRAY):
                known[n] = self.find(name_of(n))[0]
            else:
                known[n] = max((known[a] for a in n.args), key=_depth, default=self.root)
        for n in nodes:
            if known[n].depth > deepest.depth:
                deepest = known[n]
        return deepest

    def is_known(self, e: Expr) -> bool:
        """Whether an expression can be computed here."""
        try:
            self.home(e)
        except KeyError:
            return False
        return True

    def shared(self, key: Hashable, nodes: Sequence[Expr], make: Callable[[Scope], str]) -> str:
        """A value that depends on nodes, made once where they are known."""
        scope = self.home(*nodes)
        found = scope.values.get(key)
        if found is None:
            found = scope.values[key] = make(scope)
        return found

    # ----------------------------------------------------------------- numbers
    def value(self, e: Expr) -> str:
        """The value of an expression, of its own kind."""
        if not e.args:
            return self._leaf(e)
        found = self.home(e).values.get(e)
        if found is not None:
            return found
        for n in self._missing(e):
            scope = self.home(n)
            if n.op is LOAD:
                scope.values[n] = self.element(n, scope)
            else:
                kind = {"f": self.real, "i": INTEGER, "b": "bool"}[self.kind(n)]
                scope.values[n] = self.emit(kind, self._operation(n), scope)
        return self.home(e).values[e]

    def _missing(self, e: Expr) -> list[Expr]:
        """What must be printed for a node, children first."""
        order: list[Expr] = []
        seen: set[Expr] = set()
        stack = [(e, False)]
        while stack:
            n, ready = stack.pop()
            if ready:
                order.append(n)
            elif n.args and n not in seen and n not in self.home(n).values:
                seen.add(n)
                stack.append((n, True))
                stack += [(a, False) for a in reversed(n.args) if a.op is not ARRAY]
        return order

    def _leaf(self, e: Expr) -> str:
        if e.op in (VAR, INDEX):
            found = self.find(name_of(e))[1]
            assert isinstance(found, str)
            return found
        if e.op is not BOOL and self.kind(e) == "i":
            return whole(int(e.value))
        return self.operations.leaf(e)

    def number(self, e: Expr) -> str:
        """The value of an expression as a real number."""
        if e.op is CONST or e.op in CONSTANT_VALUES:
            return self.operations.leaf(e)
        value, kind = self.value(e), self.kind(e)
        if kind == "f":
            return value
        text = f"({self.real}){value}"
        return self.shared(("real", e), (e,), lambda at: self.emit(self.real, text, at))

    def typed(self, e: Expr, kind: str) -> str:
        """The value of an expression as one of a kind."""
        if kind == "f":
            return self.number(e)
        value, own = self.value(e), self.kind(e)
        if own == kind:
            return value
        return f"({self.element_type(kind)}){value}"

    def _operation(self, e: Expr) -> str:
        kinds = [self.kind(a) for a in e.args]
        if e.op in _COMPARISONS and all(k == kinds[0] != "f" for k in kinds):
            return _COMPARISONS[e.op].format(*map(self.value, e.args))
        if self.kind(e) == "i":
            return _WHOLE[e.op].format(*map(self.value, e.args))
        if e.op in (AND, OR, NOT):
            return self.operations.operation(e, [self.value(a) for a in e.args])
        own = [k == "b" for k in kinds]
        args = [self.value(a) if b else self.number(a) for a, b in zip(e.args, own, strict=True)]
        return self.operations.operation(e, args)

    # ------------------------------------------------------------------ arrays
    def ranges(self) -> dict[Expr, Expr]:
        """How many values the indices have that are known here, the outermost first."""
        found: dict[Expr, Expr] = {}
        scope: Scope | None = self.scope
        while scope is not None:
            found = {**{index(k): v for k, v in scope.ranges.items()}, **found}
            scope = scope.parent
        return found

    def inside(self, i: Expr, n: Expr) -> str:
        """An index, moved into its axis where it may be outside."""
        if in_range(i, n, self.ranges(), self.sizes):
            return self.value(i)
        text = f"symdiff_at({self.value(i)}, {self.value(n)})"
        return self.shared(("inside", i, n), (i, n), lambda at: self.emit(INTEGER, text, at))

    def offset(self, shape: Sequence[Expr], indices: Sequence[Expr]) -> str:
        """How many elements lie before one."""
        total = self.inside(indices[0], shape[0])
        for k in range(1, len(indices)):
            text = f"{total} * {self.value(shape[k])} + {self.inside(indices[k], shape[k])}"
            key = ("offset", *indices[: k + 1], *shape[: k + 1])
            nodes = (*indices[: k + 1], *shape[: k + 1])
            total = self.shared(key, nodes, lambda at, text=text: self.emit(INTEGER, text, at))  # type: ignore[misc]
        return total

    def element(self, n: Expr, scope: Scope) -> str:
        """Print the load of an element."""
        a = self.stored(name_of(n.args[0]))
        text = f"{a.address}[{self.offset(a.shape, n.args[1:])}]"
        if a.kind == "b":
            return self.emit(INTEGER, f"(long long){text}", scope)
        return self.emit(self.element_type(a.kind), text, scope)

    def count(self, n: Expr) -> str:
        """An integer, at least 0."""
        if (k := integer(n)) is not None:
            return whole(max(0, k))
        value = self.value(n)
        if n in self.sizes:
            return value
        text = f"{value} < 0 ? 0ll : {value}"
        return self.shared(("count", n), (n,), lambda at: self.emit(INTEGER, text, at))

    def length(self, shape: Sequence[Expr]) -> str:
        """How many elements an array has."""
        counts = [self.count(n) for n in shape]
        if not counts:
            return "1ll"
        if len(counts) == 1:
            return counts[0]
        text = " * ".join(counts)
        return self.shared(("length", *shape), shape, lambda at: self.emit(INTEGER, text, at))


def whole(k: int) -> str:
    """An integer as a literal."""
    return f"{k}ll" if k >= 0 else f"({k}ll)"


def _depth(scope: Scope) -> int:
    return scope.depth


__all__ = ["BYTE", "HELPERS", "INTEGER", "Scope", "Stored", "Values", "whole"]
