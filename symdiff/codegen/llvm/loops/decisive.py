"""Which numbers of a program decide, so that their doubles are needed where it is computed in balls.

Before:  while t < 1: t = t + h; s = s + f(t)
After:   t and h decide, s does not
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from symdiff import ir
from symdiff.ir import Expr, topological
from symdiff.ir.loop_program import (
    ARRAY,
    INDEX,
    LOAD,
    Build,
    Call,
    Loop,
    LoopProgram,
    Update,
    array,
    expressions,
    kind_of,
    leaves,
    name_of,
    walk,
)
from symdiff.ir.plain import decides_plainly, is_decided, is_plain


class Decisive:
    """The expressions whose doubles decide.

    Parameters
    ----------
    program : without checks.
    kinds : what is known of the kinds of expressions.

    Attributes
    ----------
    names : the names in them.
    """

    def __init__(self, program: LoopProgram, kinds: dict[Expr, str]) -> None:
        self.kinds = kinds
        self.given = {p.name for p in program.params} | {*program.data}
        self._values: dict[str, list[Expr]] = defaultdict(list)
        self._found: set[Expr] = set()
        todo: list[Expr] = []
        for s in walk(program.block):
            todo += self._decisions(s)
        todo += [n for e in program.outputs for n in self._inside(e)]
        self.names: set[str] = set()
        while todo:
            e = todo.pop()
            if e in self._found:
                continue
            self._found.add(e)
            for leaf in leaves((e,)):
                name = name_of(leaf)
                if name not in self.names:
                    self.names.add(name)
                    todo += self._values[name]

    def __contains__(self, e: Expr) -> bool:
        return e in self._found

    def _decisions(self, s: object) -> list[Expr]:
        """What decides in a statement; what names are is noted."""
        found: list[Expr] = []
        match s:
            case Build():
                self._values[s.name].append(s.value)
                found += [] if s.type.kind == "f" else [s.value]
            case Update():
                self._values[s.name] += [s.value, array(s.source, s.type.kind)]
                found += [s.guard, *s.index]
                found += [] if s.type.kind == "f" else [s.value]
            case Loop():
                found += [s.condition] if s.count is None else [s.condition, s.count]
                for c in s.carried:
                    for name in (c.name, c.result):
                        self._values[name] += [c.init, c.next]
                    found += [] if c.type.kind == "f" else [c.init, c.next]
                for v in s.saves:
                    self._values[f"tape {v.tape}"].append(v.value)
                    found += [] if v.type.kind == "f" else [v.value]
                for r in s.restores:
                    self._values[r.name].append(ir.var(f"tape {r.tape}"))
            case Call():
                found += s.args
        if isinstance(s, (Build, Update, Loop)):
            found += [n for e in expressions(s) for n in self._inside(e)]
        return found

    def _inside(self, e: Expr) -> Iterable[Expr]:
        """What decides in an expression of real numbers."""
        for n in topological((e,)):
            if n.op in (ARRAY, INDEX):
                continue
            if n.op.boolean:
                if self.by_doubles(n):
                    yield n
            elif n.args and (kind_of(n, self.kinds) == "i" or self.is_double(n)):
                yield n
            elif n.op is LOAD:
                yield from n.args[1:]

    def is_double(self, e: Expr) -> bool:
        """Whether a number is a double in every arithmetic."""
        return is_decided(e)

    def of_balls(self, c: Expr) -> bool:
        """Whether a condition of doubles compares numbers that are none in every arithmetic."""
        if is_plain(c) or not c.args:
            return False
        if c.op not in ir.COMPARISONS:
            return any(map(self._of_balls, ir.reached(c.args, _parts)))
        return self._of_balls(c)

    def _of_balls(self, c: Expr) -> bool:
        """The same for a comparison; no other condition has numbers of its own."""
        if is_plain(c) or c.op not in ir.COMPARISONS:
            return False
        return not any(map(ir.is_infinite, c.args)) and any(
            kind_of(a, self.kinds) == "f" and not self._is_exact(a) for a in c.args
        )

    def _is_exact(self, e: Expr) -> bool:
        name = name_of(e.args[0] if e.op is LOAD else e) if e.op in (LOAD, ir.VAR) else None
        return self.is_double(e) or e.op is ir.CONST or name in self.given

    def by_doubles(self, c: Expr) -> bool:
        """Whether a condition is one of doubles or integers."""
        return all(map(self._by_doubles, ir.reached((c,), _parts)))

    def _by_doubles(self, c: Expr) -> bool:
        """The same for a comparison, and whether others consist of conditions."""
        if is_plain(c) or not c.args:
            return True
        if c.op not in ir.COMPARISONS:
            return c.op.boolean and all(a.op.boolean for a in c.args)
        if decides_plainly(c) or all(kind_of(a, self.kinds) != "f" for a in c.args):
            return True
        return any(map(ir.is_infinite, c.args))


def _parts(c: Expr) -> tuple[Expr, ...]:
    """The conditions that one consists of."""
    whole = is_plain(c) or c.op in ir.COMPARISONS or not c.op.boolean
    return () if whole else c.args


__all__ = ["Decisive"]
