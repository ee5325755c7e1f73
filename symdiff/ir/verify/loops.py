"""Reports why a program with arrays or loops is not valid; passes may assume that it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from symdiff.ir import BOOL, CONST, NAN, TRUE, VAR, WHERE, Expr, topological
from symdiff.ir.loop_program import (
    ARRAY,
    INDEX,
    INTEGER,
    LOAD,
    Block,
    Build,
    Call,
    Carried,
    Check,
    Loop,
    LoopProgram,
    Statement,
    Type,
    Update,
    defined,
    inner,
    kind_of,
    leaves,
    name_of,
    types,
    walk,
)


def faults(program: LoopProgram) -> list[str]:
    """Everything that is wrong with a program; an empty list if it is valid.

    In a valid program every name is defined once, and before it is used; a load from an array
    has as many integers as the array has axes; whole arrays occur only where a statement takes
    an array; what is updated or carried keeps its type; conditions are conditions and indices
    integers; every tape that is restored is saved at one place.
    """
    checker = _Checker(types(program))
    checker.scope = {p.name for p in program.params} | set(program.data)
    checker.scope |= {name_of(e) for p in program.params for e in p.type.shape if e.op is INDEX}
    return [
        *_repeated(program),
        *checker.block(program.block),
        *(f for e in program.outputs for f in checker.value(e, "an output")),
        *_tape_faults(program.block),
    ]


def _repeated(program: LoopProgram) -> Iterator[str]:
    names = [p.name for p in program.params]
    for s in walk(program.block):
        names += [n for n, _ in (*defined(s), *inner(s))]
    yield from (f"{n} is defined {k} times" for n, k in Counter(names).items() if k > 1)


def _tape_faults(block: Block) -> Iterator[str]:
    loops = [s for s in walk(block) if isinstance(s, Loop)]
    saved = Counter(v.tape for s in loops for v in s.saves)
    restored = {r.tape for s in loops for r in s.restores}
    yield from (f"the tape {t} is saved at {k} places" for t, k in saved.items() if k > 1)
    yield from (f"the tape {t} is restored but not saved" for t in sorted(restored - set(saved)))


class _Checker:
    """The names that are in scope, and their types."""

    def __init__(self, known: dict[str, Type]) -> None:
        self.known = known
        self.scope: set[str] = set()

    def block(self, block: Block) -> Iterator[str]:
        """The faults of statements; the names that they define are in scope afterwards."""
        for s in block:
            yield from self.statement(s)
            self.scope |= {n for n, _ in defined(s)}

    def statement(self, s: Statement) -> Iterator[str]:
        """The faults of one statement and its block."""
        outer = set(self.scope)
        yield from self._shapes(s)
        match s:
            case Build():
                if len(s.indices) != len(s.type.shape):
                    yield f"{s.name} has {len(s.indices)} indices for {len(s.type.shape)} axes"
                self.scope |= set(s.indices)
                yield from self.block(s.body)
                yield from self.number(s.value, s.type, f"an element of {s.name}")
            case Update():
                yield from self._update(s)
            case Loop():
                yield from self._loop(s)
            case Call():
                for e in s.args:
                    yield from self.value(e, f"an argument of {s.routine}")
            case Check():
                yield from self.condition(s.condition, "a check")
        self.scope = outer

    def _shapes(self, s: Statement) -> Iterator[str]:
        for name, t in defined(s):
            for e in t.shape:
                yield from self.integer(e, f"a size of {name}")

    def _update(self, s: Update) -> Iterator[str]:
        source = self.known.get(s.source)
        if s.source not in self.scope or source is None:
            yield f"{s.name} is made from {s.source}, which is not defined"
        elif source.kind != s.type.kind or len(source.shape) != len(s.type.shape):
            yield f"{s.name} has another type than {s.source}"
        if len(s.index) != len(s.type.shape):
            yield f"{s.name} is changed at {len(s.index)} indices of {len(s.type.shape)} axes"
        for e in s.index:
            yield from self.integer(e, f"an index of {s.name}")
        yield from self.number(s.value, s.type, f"an element of {s.name}")
        yield from self.condition(s.guard, f"the guard of {s.name}")

    def _loop(self, s: Loop) -> Iterator[str]:
        if s.count is not None:
            yield from self.integer(s.count, f"the count of {s.index}")
        elif s.condition is TRUE or s.reverse:
            yield f"the loop over {s.index} has no count"
        for c in s.carried:
            yield from self._carried(c, c.init, "start")
        self.scope |= {c.name for c in s.carried}
        yield from self.condition(s.condition, f"the condition of {s.index}")
        self.scope |= {n for n, _ in inner(s)}
        yield from self.block(s.body)
        for c in s.carried:
            yield from self._carried(c, c.next, "end")
        for v in s.saves:
            if v.type.shape:
                yield from self.value(v.value, f"what is saved to {v.tape}")
            else:
                yield from self.number(v.value, v.type, f"what is saved to {v.tape}")

    def _carried(self, c: Carried, e: Expr, when: str) -> Iterator[str]:
        what = f"{c.name} at the {when} of an iteration"
        if not c.type.shape:
            yield from self.number(e, c.type, what)
        elif e.op is not ARRAY:
            yield f"{what} is no array: {e}"
        else:
            yield from self.value(e, what)
            own = self.known.get(name_of(e), c.type)
            if own.kind != c.type.kind or len(own.shape) != len(c.type.shape):
                yield f"{what} is {name_of(e)}, which has another type"

    # ----------------------------------------------------------------- expressions
    def value(self, e: Expr, what: str) -> Iterator[str]:
        """The faults of a number or an array."""
        if e.op is ARRAY:
            yield from self._names((e,), what)
        else:
            yield from self.number(e, Type(), what)

    def number(self, e: Expr, t: Type, what: str) -> Iterator[str]:
        """The faults of a number of a type."""
        if e.op.boolean and t.kind == "f":
            yield f"{what} is a condition: {e}"
        elif t.kind == "i" and kind_of(e) != "i":
            yield f"{what} is not an integer: {e}"
        yield from self._nodes(e, what)

    def integer(self, e: Expr, what: str) -> Iterator[str]:
        """The faults of an integer."""
        return self.number(e, INTEGER, what)

    def condition(self, e: Expr, what: str) -> Iterator[str]:
        """The faults of a condition."""
        if not e.op.boolean:
            yield f"{what} is not a condition: {e}"
        yield from self._nodes(e, what)

    def _nodes(self, e: Expr, what: str) -> Iterator[str]:
        order = topological((e,))
        yield from self._names(leaves((e,)), what)
        for n in order:
            if n.op is LOAD:
                yield from self._load(n, what)
            elif any(a.op is ARRAY for a in n.args) or (n.op is ARRAY and n is e):
                yield f"{what} uses a whole array: {n}"
            elif n.op not in (CONST, BOOL, VAR, INDEX, ARRAY) and n.op.arity != len(n.args):
                yield f"{what}: {n.op.name} has {len(n.args)} arguments, not {n.op.arity}"
            elif NAN in n.args and n.op is not WHERE:
                yield f"{what}: an argument of {n.op.name} is the constant nan"

    def _load(self, n: Expr, what: str) -> Iterator[str]:
        a, *indices = n.args
        if a.op is not ARRAY:
            yield f"{what} loads from what is no array: {a}"
            return
        t = self.known.get(name_of(a))
        if t is not None and len(t.shape) != len(indices):
            yield f"{what} loads {n} from {len(t.shape)} axes"
        for i in indices:
            if kind_of(i) != "i":
                yield f"{what} loads at {i}, which is not an integer"

    def _names(self, found: Iterable[Expr], what: str) -> Iterator[str]:
        for e in found:
            name = name_of(e)
            t = self.known.get(name)
            if name not in self.scope or t is None:
                yield f"{what} uses {name}, which is not defined there"
            elif (e.op is ARRAY) != bool(t.shape):
                yield f"{what} uses {name} as {'an array' if e.op is ARRAY else 'a number'}"
            elif e.op is ARRAY and e.value[1] != t.kind:
                yield f"{what} uses {name} as an array of another kind"
            elif not t.shape and (e.op is VAR) != (t.kind == "f"):
                yield f"{what} uses {name} as a number of another kind"
