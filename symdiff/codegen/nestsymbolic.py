"""Translate programs with arrays and loops to SymPy, for `.expr`.

Elements of arrays are `Indexed`, sums and products are `Sum` and `Product`, an array is a
`Lambda` of its indices. Any other loop is a recurrence: a function named after its result,
of the iteration that it stands for, the step that defines it, and the initial value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from symdiff import ir
from symdiff.codegen.symbolic import to_sympy
from symdiff.ir import TRUE, Expr, topological
from symdiff.structure import (
    ARRAY,
    FLOORDIV,
    INDEX,
    LOAD,
    MOD,
    Block,
    Build,
    Call,
    Loop,
    Structured,
    Update,
    kind_of,
    name_of,
    scalar,
)


def structured_to_sympy(program: Structured) -> list[Any]:
    """The outputs as SymPy expressions of real symbols and indexed bases."""
    translator = _Translator()
    translator.block(program.block)
    return [translator.output(e) for e in program.outputs]


class _Translator:
    """Values of names as SymPy has them: numbers, and for arrays functions of indices."""

    def __init__(self, outer: _Translator | None = None) -> None:
        import sympy

        self.sympy = sympy
        self.numbers: dict[str, Any] = dict(outer.numbers) if outer else {}
        self.arrays: dict[str, Any] = dict(outer.arrays) if outer else {}

    # ---------------------------------------------------------------- statements
    def block(self, block: Block) -> None:
        for s in block:
            match s:
                case Build():
                    inside = _Translator(self)
                    inside.block(s.body)
                    letters = tuple(self.integer(i) for i in s.indices)
                    self.arrays[s.name] = self.sympy.Lambda(letters, inside.number(s.value))
                case Update():
                    self.arrays[s.name] = self.updated(s)
                case Loop():
                    self.loop(s)
                case Call():
                    args = [self.output(e) for e in s.args]
                    for name, t in s.results:
                        known = self.sympy.Function(f"{s.routine}_{name}")(*args)
                        if t.shape:
                            self.arrays[name] = self.sympy.IndexedBase(str(known))
                        else:
                            self.numbers[name] = known

    def updated(self, s: Update) -> Any:
        sympy = self.sympy
        letters = tuple(self.integer(f"{s.name}_{k}") for k in range(len(s.index)))
        at = [sympy.Eq(a, self.number(b)) for a, b in zip(letters, s.index, strict=True)]
        old = self.element(s.source, letters)
        new = self.number(s.value) + (old if s.add else 0)
        here = sympy.And(*at, *([] if s.guard is TRUE else [self.number(s.guard)]))
        return sympy.Lambda(letters, sympy.Piecewise((new, here), (old, True)))

    def loop(self, s: Loop) -> None:
        inside = _Translator(self)
        inside.block(s.body)
        for c in s.carried:
            total = None if c.type.shape or len(s.carried) > 1 else self.reduction(s, inside)
            if c.type.shape:
                self.arrays[c.result] = self.sympy.IndexedBase(c.result)
            elif total is not None:
                self.numbers[c.result] = total
            else:
                self.numbers[c.result] = self.recurrence(s, c.name, inside)
        self.numbers[s.trips] = self.integer(s.trips)

    def reduction(self, s: Loop, inside: _Translator) -> Any:
        """A sum or product of what does not depend on the total."""
        c, sympy = s.carried[0], self.sympy
        if s.count is None or s.condition is not TRUE or c.next.op not in (ir.ADD, ir.MUL):
            return None
        own = scalar(c.name, "f" if c.type.kind == "f" else "i")
        first, second = c.next.args
        if first is not own or own in topological((second,)):
            return None
        bounds = (self.integer(s.index), 0, self.number(s.count) - 1)
        term, init = inside.number(second), self.number(c.init)
        if c.next.op is ir.ADD:
            return init + sympy.Sum(term, bounds)
        return init * sympy.Product(term, bounds)

    def recurrence(self, s: Loop, name: str, inside: _Translator) -> Any:
        """The value after the last iteration, with the step that defines it."""
        sympy = self.sympy
        state = tuple(self.symbol(c.name) for c in s.carried if not c.type.shape)
        step = tuple(inside.number(c.next) for c in s.carried if not c.type.shape)
        start = tuple(self.number(c.init) for c in s.carried if not c.type.shape)
        last = self.integer(s.trips) if s.count is None else self.number(s.count)
        return sympy.Function(name)(
            last, sympy.Lambda((self.integer(s.index), *state), sympy.Tuple(*step)),
            sympy.Tuple(*start),
        )  # fmt: skip

    # --------------------------------------------------------------- expressions
    def integer(self, name: str) -> Any:
        return self.sympy.Symbol(name, integer=True)

    def symbol(self, name: str) -> Any:
        return self.sympy.Symbol(name, real=True)

    def element(self, name: str, at: Sequence[Any]) -> Any:
        known = self.arrays.get(name)
        if known is None:
            return self.sympy.IndexedBase(name, real=True)[tuple(at)]
        return known(*at) if isinstance(known, self.sympy.Lambda) else known[tuple(at)]

    def output(self, e: Expr) -> Any:
        """A number, or an array as a function of its indices."""
        if e.op is not ARRAY:
            return self.number(e)
        known = self.arrays.get(name_of(e))
        return self.sympy.IndexedBase(name_of(e), real=True) if known is None else known

    def number(self, e: Expr) -> Any:
        """An expression, with what names stand for."""
        leaves = self.leaves(e)
        stand_ins = {n: ir.var(f"leaf {k}") for k, n in enumerate(leaves)}
        (made,) = to_sympy(ir.substitute((e,), stand_ins))
        values: Mapping[Any, Any] = {
            self.symbol(str(v.value)): self.leaf(n) for n, v in stand_ins.items()
        }
        return made.xreplace(values) if hasattr(made, "xreplace") else made

    def leaves(self, e: Expr) -> list[Expr]:
        """The topmost elements, integers and names in an expression."""
        found: dict[Expr, None] = {}
        stack = [e]
        while stack:
            n = stack.pop()
            if n.op in (LOAD, INDEX, FLOORDIV, MOD, ir.VAR):
                found[n] = None
            else:
                stack.extend(n.args)
        return list(found)

    def leaf(self, n: Expr) -> Any:
        if n.op is LOAD:
            return self.element(name_of(n.args[0]), [self.number(i) for i in n.args[1:]])
        if n.op in (FLOORDIV, MOD):
            a, b = (self.number(x) for x in n.args)
            return self.sympy.floor(a / b) if n.op is FLOORDIV else self.sympy.Mod(a, b)
        name = name_of(n)
        if name in self.numbers:
            return self.numbers[name]
        return self.integer(name) if kind_of(n) == "i" else self.symbol(name)
