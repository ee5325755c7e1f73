"""Local identities of statements: a load yields the stored value.

Before:  b = a with a[i] = 0;  c = b with b[i] += v
After:   c = a with a[i] = v

Requires: a valid program.
Ensures: the same values. An element that was just written is not loaded again, two
changes of one element become one, loads see through arrays that are constant or views of
another, and a carried value that no iteration changes is replaced by its initial value.
No array stays alive longer where it is changed in the meantime.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from symdiff import ir
from symdiff.ir import (
    ADD,
    CONST,
    LE,
    LT,
    MUL,
    NEG,
    SUB,
    TRUE,
    WHERE,
    ZERO,
    Expr,
    topological,
)
from symdiff.ir import loop_program as lp
from symdiff.ir.blocks import element
from symdiff.ir.effects import changed, ranges

MAX_ROUNDS = 6
MAX_THROUGH = 12
"""The most nodes of a value that is written out wherever its array is read."""


def rewritten(block: lp.Block, roots: Sequence[Expr]) -> tuple[lp.Block, tuple[Expr, ...]]:
    """Apply the identities until nothing changes."""
    roots = tuple(roots)
    for _ in range(MAX_ROUNDS):
        rewriter = _Rewriter(block, roots)
        after = rewriter.block(block), tuple(map(rewriter.expression, roots))
        if after == (block, roots):
            break
        block, roots = after
    return block, roots


class _Rewriter:
    """One round.

    Attributes
    ----------
    made : the statement that made an array.
    here : the arrays that the present block has made.
    leaves : what replaces a name now.
    loaded, used : the arrays that are loaded from, and how often each is used otherwise.
    changed : arrays that some statement changes in place.
    counts : how many values an index takes, from 0.
    """

    def __init__(self, block: lp.Block, roots: Sequence[Expr]) -> None:
        self.made: dict[str, lp.Build | lp.Update] = {}
        self.here: set[str] = set()
        self.leaves: dict[Expr, Expr] = {}
        self.known: dict[Expr, Expr] = {}
        self.counts: dict[Expr, Expr] = {}
        everything = [*roots, *lp.expressions_in(block)]
        nodes = topological(everything)
        self.loaded = {lp.name_of(e.args[0]) for e in nodes if e.op is lp.LOAD}
        self.used = Counter(lp.name_of(e) for e in everything if e.op is lp.ARRAY)
        self.changed = changed(block)

    # ---------------------------------------------------------------- statements
    def block(self, block: lp.Block) -> lp.Block:
        """The rewritten block; its names become known."""
        outer, self.here, self.known = (self.here, self.known), set(), {}
        result = []
        for s in block:
            s = self.statement(s)
            if isinstance(s, lp.Build | lp.Update):
                self.made[s.name] = s
                self.here.add(s.name)
            result.append(s)
        self.here, self.known = outer
        return tuple(result)

    def statement(self, s: lp.Statement) -> lp.Statement:
        """A statement with its block rewritten first."""
        if isinstance(s, lp.Loop):
            s = self._without_constants(s)
        self.counts.update({i: self.expression(n) for i, n in ranges(s).items()})
        body = self.block(s.body) if isinstance(s, lp.Build | lp.Loop) else ()
        s = lp.mapped(s, self.expression, lambda _: body)
        if isinstance(s, lp.Check):
            self._learn(s.condition)
        return self._merged(s) if isinstance(s, lp.Update) else s

    def _learn(self, condition: Expr) -> None:
        """Give equal sizes one name from now on."""
        if condition.op is ir.EQ and all(a.op in (lp.INDEX, CONST) for a in condition.args):
            a, b = condition.args
            name, other = (a, b) if a.op is lp.INDEX else (b, a)
            if name.op is lp.INDEX:
                self.leaves[name] = other
                self.known = {}

    def _without_constants(self, s: lp.Loop) -> lp.Loop:
        """A loop without carried values that its iterations do not change."""
        varying = []
        for c in s.carried:
            if self._is_constant(c):
                init = self.expression(c.init)
                for name in (c.name, c.result):
                    self.leaves[c.type.leaf(name)] = init
            else:
                varying.append(c)
        return replace(s, carried=tuple(varying))

    def _is_constant(self, c: lp.Carried) -> bool:
        if c.next is not c.leaf:
            return False
        return bool(c.type.shape) or all(e.op is not lp.LOAD for e in topological((c.init,)))

    def _merged(self, s: lp.Update) -> lp.Update:
        """One change of an element in place of two."""
        before = self.made.get(s.source)
        if not isinstance(before, lp.Update) or before.name not in self.here:
            return s
        if before.name in self.loaded or self.used[before.name] > 1 or before.index != s.index:
            return s
        if not s.add:
            return replace(s, source=before.source) if s.guard is TRUE else s
        if before.guard is TRUE:
            value = before.value + ir.where(s.guard, s.value, ZERO)
            return replace(s, source=before.source, value=value, guard=TRUE, add=before.add)
        if before.guard is s.guard:
            return replace(s, source=before.source, value=before.value + s.value, add=before.add)
        return s

    # --------------------------------------------------------------- expressions
    def expression(self, e: Expr) -> Expr:
        """An expression over the current names."""
        for n in topological((e,), self.known):
            new = self.leaves.get(n)
            if new is None:
                new = ir.rebuild(n, tuple(self.known[a] for a in n.args))
            if new.op is lp.LOAD:
                new = self._read(new)
            elif new.op in ir.COMPARISONS:
                new = self._decided(new)
            self.known[n] = new
        return self.known[e]

    def _decided(self, e: Expr) -> Expr:
        """A condition on an index that its range decides."""
        a, b = e.args
        if e.op is LE and a is ZERO and b in self.counts:
            return TRUE
        if e.op is LT and a in self.counts and self.counts[a] is b:
            return TRUE
        return e

    def _read(self, e: Expr) -> Expr:
        """An element, without loading it where possible."""
        made = self.made.get(lp.name_of(e.args[0]))
        place = e.args[1:]
        if isinstance(made, lp.Build) and not made.body and self._seen_through(made):
            return element(made, place)
        if isinstance(made, lp.Update) and made.name in self.here and made.index == place:
            if made.guard is TRUE and not made.add:
                return made.value
        return e

    def _seen_through(self, s: lp.Build) -> bool:
        nodes = topological((s.value,))
        if s.value.op is lp.LOAD:
            return lp.name_of(s.value.args[0]) not in self.changed
        cheap = all(n.op in _CHEAP or n.op.boolean for n in nodes)
        return cheap and len(nodes) <= MAX_THROUGH


_CHEAP = frozenset((ADD, SUB, MUL, NEG, CONST, lp.INDEX, WHERE, ir.VAR))
