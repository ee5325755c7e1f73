"""The chain rule as a textbook has it: the derivatives that kernels are compared with.

Before:  a captured program and a path of derivations, say gradient, then Hessian
After:   one expression for each output, from the captured formulas alone

Requires: a program of numbers; the operations' own partial derivatives.
Ensures: nothing is cancelled, completed or rewritten, and no code is shared with the passes
but the table of functions: forward mode, one variable after the other, where the compiler
differentiates in reverse. An output is derived when it is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from symdiff import ir
from symdiff.ir import ADD, DIV, MUL, NEG, ONE, POW, SUB, VAR, WHERE, ZERO, Expr
from symdiff.ir.functions import XLOGY
from symdiff.ir.names import untaken
from symdiff.ir.program import Program
from symdiff.pipeline.scalar import tangent_names

Step = tuple[str, tuple[str, ...]]
Entry = Callable[[], Expr]


class Tangents:
    """Derivatives of expressions by one variable; each node is differentiated once."""

    def __init__(self, name: str) -> None:
        self.variable = ir.var(name)
        self.known: dict[Expr, Expr] = {}

    def of(self, e: Expr) -> Expr:
        """The derivative of an expression."""
        for n in ir.topological((e,), self.known):
            self.known[n] = self._node(n)
        return self.known[e]

    def _node(self, n: Expr) -> Expr:
        if n.op is VAR:
            return ONE if n is self.variable else ZERO
        if n.op.boolean or not n.args:
            return ZERO
        slopes = [self.known[a] for a in n.args]
        if all(s is ZERO for s in slopes):
            return ZERO
        return _rule(n, slopes)


def _rule(n: Expr, slopes: Sequence[Expr]) -> Expr:
    """The derivative of an operation from those of its arguments."""
    args = n.args
    if n.op is WHERE:
        c, *branches = args
        return ir.where(
            c, *(u if u is ir.NAN else s for u, s in zip(branches, slopes[1:], strict=True))
        )
    if n.op is ADD:
        return slopes[0] + slopes[1]
    if n.op is SUB:
        return slopes[0] - slopes[1]
    if n.op is NEG:
        return -slopes[0]
    if n.op is MUL:
        return slopes[0] * args[1] + args[0] * slopes[1]
    if n.op is DIV:
        return (slopes[0] - n * slopes[1]) / args[1]
    if n.op is POW:
        return _power(n, slopes)
    if n.op.partials is None:
        raise NotImplementedError(f"{n.op.name} has no derivative")
    total = ZERO
    conditions = n.op.live(*args) if n.op.live else (ir.TRUE,) * len(args)
    for slope, partial, counts in zip(slopes, n.op.partials(*args), conditions, strict=True):
        if slope is not ZERO and partial is not None:
            total = total + ir.where(counts, slope * partial, ZERO)
    return total


def _power(n: Expr, slopes: Sequence[Expr]) -> Expr:
    base, exponent = n.args
    total = ZERO
    if slopes[0] is not ZERO:
        total = exponent * ir.power(base, exponent - 1) * slopes[0]
    if slopes[1] is not ZERO:
        total = total + XLOGY(n, base) * slopes[1]  # a branch would have slopes of 0
    return total


@dataclass(frozen=True, slots=True)
class Derived:
    """What a path makes of a program.

    Attributes
    ----------
    params : names of the parameters, tangents and cotangents behind them.
    entries : what makes each output.
    """

    params: tuple[str, ...]
    entries: tuple[Entry, ...]


class Chain:
    """The derivatives of one captured program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._tangents: dict[str, Tangents] = {}

    def slope(self, entry: Entry, name: str) -> Entry:
        """The derivative of an entry by a variable."""

        def made() -> Expr:
            if name not in self._tangents:
                self._tangents[name] = Tangents(name)
            return self._tangents[name].of(entry())

        return made

    def derived(self, path: Sequence[Step]) -> Derived:
        """The outputs after all steps of a path, in the compiler's order."""
        params = self.program.params
        entries: tuple[Entry, ...] = tuple(_given(e) for e in self.program.outputs)
        for kind, names in path:
            params, entries = self._step(kind, names, params, entries)
        return Derived(params, entries)

    def _step(
        self, kind: str, wrt: Sequence[str], params: tuple[str, ...], old: tuple[Entry, ...]
    ) -> tuple[tuple[str, ...], tuple[Entry, ...]]:
        def rows() -> tuple[Entry, ...]:
            return tuple(self.slope(e, v) for e in old for v in wrt)

        match kind:
            case "gradient" | "jacobian":
                return params, rows()
            case "value_and_gradient":
                return params, (*old, *rows())
            case "hessian":
                f = old[0]
                return params, tuple(self.slope(self.slope(f, v), w) for v in wrt for w in wrt)
            case "derivative":
                for v in wrt:
                    old = tuple(self.slope(e, v) for e in old)
                return params, old
            case "jvp" | "hvp":
                dots = tangent_names(replace_params(self.program, params), wrt)
                base = old if kind == "jvp" else tuple(self.slope(old[0], v) for v in wrt)
                moved = tuple(
                    _total([(ir.var(d), self.slope(e, v)) for v, d in zip(wrt, dots, strict=True)])
                    for e in base
                )
                return (*params, *dots), (*old, *moved) if kind == "jvp" else moved
            case "vjp":
                bars = [untaken(f"cotangent_{i}", params) for i in range(len(old))]
                back = tuple(
                    _total([(ir.var(b), self.slope(e, v)) for b, e in zip(bars, old, strict=True)])
                    for v in wrt
                )
                return (*params, *bars), (*old, *back)
        raise NotImplementedError(f"no chain rule for {kind}")


def replace_params(program: Program, params: tuple[str, ...]) -> Program:
    """The program with these parameters."""
    return Program(program.name, params, program.outputs)


def _given(e: Expr) -> Entry:
    return lambda: e


def _total(terms: Sequence[tuple[Expr, Entry]]) -> Entry:
    def made() -> Expr:
        total: Expr = ir.const(Fraction(0))
        for weight, entry in terms:
            total = total + weight * entry()
        return total

    return made
