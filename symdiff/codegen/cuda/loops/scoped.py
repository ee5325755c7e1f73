"""Values of expressions in CUDA kernels, each computed where it is needed first and as far out as
it goes (see `symdiff.codegen.common.scopes`); the counterpart of `nestscope` for devices.

Loads are safe: an index that is not proved to be within its axis is moved into it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from symdiff.codegen.common import scopes
from symdiff.codegen.cuda.loops.language import COMPARISONS, Language
from symdiff.ir import (
    AND,
    BOOL,
    CONST,
    NOT,
    OR,
    Expr,
    integer,
)
from symdiff.ir.functions import CONSTANT_VALUES
from symdiff.ir.integers import in_range
from symdiff.ir.loop_program import REAL_OF, name_of


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

    def __init__(self, language: Language) -> None:
        super().__init__(Scope())
        self.language = language
        self._count = 0

    # ------------------------------------------------------------------- names
    def fresh(self, stem: str = "v") -> str:
        self._count += 1
        return f"{stem}{self._count}"

    def emit(self, kind: str, text: str, scope: Scope | None = None) -> str:
        """Print a definition; returns its name."""
        name = self.fresh()
        (scope or self.scope).lines.append(self.language.constant(kind, name, text))
        return name

    def pointer(self, kind: str, text: str, scope: Scope | None = None) -> str:
        """Give a place in memory a name."""
        name = self.fresh("p")
        (scope or self.scope).lines.append(self.language.constant(kind, name, text, memory=True))
        return name

    def line(self, *lines: str) -> None:
        self.scope.lines += lines

    # ----------------------------------------------------------------- numbers
    def literal(self, e: Expr) -> str:
        if e.op is not BOOL and self.kind(e) == "i":
            return self.language.whole(int(e.value))
        return self.language.leaf(e)

    def operation(self, n: Expr, scope: Scope) -> str:
        kind = self.kind(n)
        return self.emit("c" if kind == "b" else kind, self._operation(n), scope)

    def number(self, e: Expr) -> str:
        """The value of an expression as a real number."""
        if e.op is CONST or e.op in CONSTANT_VALUES:
            return self.language.leaf(e)
        value, kind = self.value(e), self.kind(e)
        if kind == "f":
            return value
        text = self.language.cast("f", value)
        return self.shared(("real", e), (e,), lambda at: self.emit("f", text, at))

    def typed(self, e: Expr, kind: str) -> str:
        """The value of an expression as one of a kind."""
        if kind == "f":
            return self.number(e)
        value, own = self.value(e), self.kind(e)
        return value if own == kind else self.language.cast(kind, value)

    def _operation(self, e: Expr) -> str:
        kinds = [self.kind(a) for a in e.args]
        if e.op in COMPARISONS and all(k == kinds[0] != "f" for k in kinds):
            return COMPARISONS[e.op].format(*map(self.value, e.args))
        if self.kind(e) == "i":
            return self.language.integer(e.op, [*map(self.value, e.args)])
        if e.op is REAL_OF:
            return self.number(e.args[0])
        if e.op in (AND, OR, NOT):
            return self.language.operation(e, [self.value(a) for a in e.args])
        own = [k == "b" for k in kinds]
        args = [self.value(a) if b else self.number(a) for a, b in zip(e.args, own, strict=True)]
        return self.language.operation(e, args)

    # ------------------------------------------------------------------ arrays
    def inside(self, i: Expr, n: Expr) -> str:
        """An index, moved into its axis where it may be outside."""
        if in_range(i, n, self.ranges(), self.sizes):
            return self.value(i)
        text = self.language.at(self.value(i), self.value(n))
        return self.shared(("inside", i, n), (i, n), lambda at: self.emit("i", text, at))

    def offset(self, shape: Sequence[Expr], indices: Sequence[Expr]) -> str:
        """How many elements lie before one."""
        total = self.inside(indices[0], shape[0])
        for k in range(1, len(indices)):
            text = f"{total} * {self.value(shape[k])} + {self.inside(indices[k], shape[k])}"
            key = ("offset", *indices[: k + 1], *shape[: k + 1])
            nodes = (*indices[: k + 1], *shape[: k + 1])
            total = self.shared(key, nodes, lambda at, text=text: self.emit("i", text, at))  # type: ignore[misc]
        return total

    def element(self, n: Expr, scope: Scope) -> str:
        a = self.stored(name_of(n.args[0]))
        text = f"{a.address}[{self.offset(a.shape, n.args[1:])}]"
        if a.kind == "b":
            return self.emit("i", self.language.cast("i", text), scope)
        return self.emit(a.kind, text, scope)

    def count(self, n: Expr) -> str:
        """An integer, at least 0."""
        if (k := integer(n)) is not None:
            return self.language.whole(max(0, k))
        value = self.value(n)
        if n in self.sizes:
            return value
        text = self.language.choice(f"{value} < 0", self.language.whole(0), value)
        return self.shared(("count", n), (n,), lambda at: self.emit("i", text, at))

    def length(self, shape: Sequence[Expr]) -> str:
        """How many elements an array has."""
        counts = [self.count(n) for n in shape]
        if not counts:
            return self.language.whole(1)
        if len(counts) == 1:
            return counts[0]
        text = " * ".join(counts)
        return self.shared(("length", *shape), shape, lambda at: self.emit("i", text, at))


__all__ = ["Scope", "Stored", "Values"]
