"""Translate programs with arrays and loops to SymPy, for `.expr`.

Elements of arrays are `Indexed`, sums and products are `Sum` and `Product`, an array is a
`Lambda` of its indices. A loop that adds to elements of arrays is a sum for each element. Any
other loop is a recurrence: a function named after its result, of the iteration that it stands
for, the step that defines it, and the initial value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from symdiff import ir
from symdiff.codegen.sympy.translate import to_sympy
from symdiff.ir import TRUE, Expr, topological
from symdiff.ir.loop_program import (
    ARRAY,
    FLOORDIV,
    INDEX,
    LOAD,
    MOD,
    REAL_OF,
    Block,
    Build,
    Call,
    Carried,
    Loop,
    LoopProgram,
    Statement,
    Update,
    expressions_in,
    kind_of,
    name_of,
    scalar,
)

MOST_NODES = 2**13
"""SymPy holds trees, in which a number that is used twice stands twice, and takes minutes for large
ones."""


def loops_to_sympy(program: LoopProgram) -> list[Any]:
    """The outputs as SymPy expressions of real symbols and indexed bases.

    Raises
    ------
    TypeError : if SymPy has none, or one that is too large.
    """
    translator = _Translator()
    translator.block(program.block)
    return [translator.output(e) for e in program.outputs]


def with_symbols(e: Any, symbols: Mapping[str, Any]) -> Any:
    """The same expression of these symbols and arrays, by name, or of plain ones."""
    import sympy

    values: dict[Any, Any] = {}
    for base in e.atoms(sympy.IndexedBase):
        values[base] = symbols.get(str(base)) or sympy.IndexedBase(str(base))
    for s in e.free_symbols:
        if isinstance(s, sympy.Symbol) and s.is_real and not s.is_integer:
            values[s] = symbols.get(s.name) or sympy.Symbol(s.name)
    return e.xreplace(values)


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
        additions = _Additions(self)
        if additions.of(s, {}):
            for c in s.carried:
                if c.type.shape:
                    self.arrays[c.result] = additions.result(c)
                else:
                    self.numbers[c.result] = self.number(c.init)
            return
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
        if s.count is None or s.condition is not TRUE:
            return None
        own = (self.symbol if c.type.kind == "f" else self.integer)(c.name)
        new = sympy.sympify(inside.number(c.next))
        others = [a for a in new.args if a != own]
        if own not in new.args or any(a.has(own) for a in others):
            return None
        bounds = (self.integer(s.index), 0, self.number(s.count) - 1)
        if isinstance(new, sympy.Add):
            return self.number(c.init) + sympy.Sum(sympy.Add(*others), bounds)
        if isinstance(new, sympy.Mul):
            return self.number(c.init) * sympy.Product(sympy.Mul(*others), bounds)
        return None

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
        """An expression, with definitions for names."""
        leaves = self.leaves(e)
        stand_ins = {n: ir.var(f"leaf {k}") for k, n in enumerate(leaves)}
        (made,) = to_sympy(ir.substitute((e,), stand_ins))
        values: Mapping[Any, Any] = {
            self.symbol(str(v.value)): self.leaf(n) for n, v in stand_ins.items()
        }
        if not hasattr(made, "xreplace"):
            return made
        sizes = {v: self.size(value) for v, value in values.items()}
        if sum(sizes.get(n, 1) for n in self.nodes(made)) >= MOST_NODES:
            raise TypeError(f"one of its numbers has {MOST_NODES} operations or more")
        return made.xreplace(values)

    def nodes(self, e: Any) -> Iterator[Any]:
        """The nodes of a tree, at most as many as it may have."""
        return islice(self.sympy.preorder_traversal(e), MOST_NODES)

    def size(self, e: Any) -> int:
        return sum(1 for _ in self.nodes(e))

    def leaves(self, e: Expr) -> list[Expr]:
        """The topmost elements, integers and names in an expression."""
        found: dict[Expr, None] = {}
        seen: set[Expr] = set()
        stack = [e]
        while stack:
            n = stack.pop()
            if n.op in (LOAD, INDEX, FLOORDIV, MOD, REAL_OF, ir.VAR):
                found[n] = None
            elif n not in seen:
                seen.add(n)
                stack.extend(n.args)
        return list(found)

    def leaf(self, n: Expr) -> Any:
        if n.op is LOAD:
            return self.element(name_of(n.args[0]), [self.number(i) for i in n.args[1:]])
        if n.op is REAL_OF:
            return self.number(n.args[0])
        if n.op in (FLOORDIV, MOD):
            a, b = (self.number(x) for x in n.args)
            return self.sympy.floor(a / b) if n.op is FLOORDIV else self.sympy.Mod(a, b)
        name = name_of(n)
        if name in self.numbers:
            return self.numbers[name]
        return self.integer(name) if kind_of(n) == "i" else self.symbol(name)


class _Additions:
    """What loops add to elements of arrays that they do not read: the index of the element, the
    value, when, and the loops around, each with how often it runs."""

    def __init__(self, outside: _Translator) -> None:
        self.outside, self.sympy = outside, outside.sympy
        self.terms: dict[str, list[tuple[Any, Any, Any, tuple[Any, ...]]]] = {}

    def of(self, s: Loop, versions: dict[str, str], around: tuple[Any, ...] = ()) -> bool:
        """Whether this is all that a loop does; `versions` are the names of the arrays so far,
        and the results that they become."""
        if s.count is None or s.condition is not TRUE or s.saves or s.restores:
            return False
        if not any(c.type.shape for c in s.carried):
            return False
        inside = _Translator(self.outside)
        arrays = [c for c in s.carried if c.type.shape]
        for c in s.carried:
            if not c.type.shape:  # a number that stays what it is
                if c.next is not scalar(c.name, "f" if c.type.kind == "f" else "i"):
                    return False
                inside.numbers[c.name] = self.outside.number(c.init)
                continue
            own = versions.get(name_of(c.init)) if around else c.result
            if own is None:
                return False
            versions[c.name] = own
        bounds = (*around, (inside.integer(s.index), inside.number(s.count)))
        if not self.block(s.body, inside, versions, bounds):
            return False
        for c in arrays:
            if c.next.op is not ARRAY or versions.get(name_of(c.next)) != versions[c.name]:
                return False
            versions[c.result] = versions[c.name]
        return True

    def block(
        self, block: Block, inside: _Translator, versions: dict[str, str], bounds: tuple[Any, ...]
    ) -> bool:
        for s in block:
            if isinstance(s, Loop) and any(c.type.shape for c in s.carried):
                nested = _Additions(inside)
                nested.terms = self.terms
                if not nested.of(s, versions, bounds):
                    return False
                continue
            added = s if isinstance(s, Update) and s.source in versions else None
            read = (added.value, *added.index, added.guard) if added else _all_expressions(s)
            if any(n in versions for e in read for n in _arrays_in(e)):
                return False
            if added is None:
                inside.block((s,))
                continue
            if not added.add:
                return False
            versions[added.name] = own = versions[added.source]
            at = tuple(inside.number(i) for i in added.index)
            term = at, inside.number(added.value), inside.number(added.guard), bounds
            self.terms.setdefault(own, []).append(term)
        return True

    def result(self, c: Carried) -> Any:
        """The array after the loops, as a function of its indices."""
        sympy, outside = self.sympy, self.outside
        terms = self.terms.get(c.result, ())
        inside = [v for t in terms for v in (*t[0], t[1], t[2], *(n for _, n in t[3]))]
        inside += [i for t in terms for i, _ in t[3]] + [outside.number(n) for n in c.type.shape]
        used = {str(a) for v in inside for a in sympy.sympify(v).atoms(sympy.Symbol)}
        free = [n for n in ("k", "l", "m", "p") if n not in used]
        free += [f"{c.result}_{k}" for k in range(len(c.type.shape))]
        letters = tuple(map(outside.integer, free[: len(c.type.shape)]))
        total = outside.element(name_of(c.init), letters)
        sizes = [outside.number(n) for n in c.type.shape]
        for at, value, guard, bounds in terms:
            counts, known, tests = dict(bounds), {}, [guard]
            for letter, index, size in zip(letters, at, sizes, strict=True):
                if index in counts and index not in known:
                    known[index] = letter
                    tests += [] if counts[index] == size else [letter < counts[index]]
                else:
                    tests.append(sympy.Eq(letter, index))
            when = sympy.And(*tests).xreplace(known)
            term = value.xreplace(known) if hasattr(value, "xreplace") else sympy.sympify(value)
            if when != sympy.true:
                term = sympy.Piecewise((term, when), (0, True))
            left = [(i, 0, n.xreplace(known) - 1) for i, n in bounds[::-1] if i not in known]
            total += sympy.Sum(term, *left) if left else term
        return sympy.Lambda(letters, total)


def _all_expressions(s: Statement) -> list[Expr]:
    """Those of a statement and of what is inside of it."""
    return expressions_in((s,))


def _arrays_in(e: Expr) -> list[str]:
    """The arrays that an expression reads."""
    return [name_of(n) for n in topological((e,)) if n.op is ARRAY]
