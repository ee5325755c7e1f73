"""Values of expressions in CUDA C++, each computed where it is needed first and as far out as
it goes (see `symdiff.codegen.scopes`); the counterpart of `nestscope` for devices.

Loads are safe: an index that is not proved to be within its axis is moved into it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from symdiff.codegen import scopes
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
    WHERE,
    Expr,
    integer,
)
from symdiff.structure import FLOORDIV, MOD, name_of

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


Scope = scopes.Scope[Stored]


class Values(scopes.Blocks[Scope, Stored]):
    """Prints expressions of one kernel."""

    def __init__(self, operations: Operations) -> None:
        super().__init__(Scope())
        self.operations = operations
        self.real = operations.real
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

    # ----------------------------------------------------------------- numbers
    def literal(self, e: Expr) -> str:
        if e.op is not BOOL and self.kind(e) == "i":
            return whole(int(e.value))
        return self.operations.leaf(e)

    def operation(self, n: Expr, scope: Scope) -> str:
        kind = {"f": self.real, "i": INTEGER, "b": "bool"}[self.kind(n)]
        return self.emit(kind, self._operation(n), scope)

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


__all__ = ["BYTE", "HELPERS", "INTEGER", "Scope", "Stored", "Values", "whole"]
