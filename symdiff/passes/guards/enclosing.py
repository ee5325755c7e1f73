"""Drop the branches that an enclosing branch decides.

Before:  where(x == 0, 1, expm1(where(x == 0, 1, x))/where(x == 0, 1, x))
After:   where(x == 0, 1, expm1(x)/x)

Before:  where(x == 0 and m, 1, where(x != 0 and m, expm1(x)/x, y))
After:   where(m, where(x == 0, 1, expm1(x)/x), y)

Requires: any DAG.
Ensures: the same value and the same branch everywhere. A condition that is decided at all values
except one becomes an equality: inside of `x <= 0`, `x < 0` is `x != 0`, which also holds for nan;
so this is done only where the result is nan, then. A node that is shared with other places is
copied for the branch; copies are bounded, and a DAG that would grow is left unchanged.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Container, Iterable

from symdiff import ir
from symdiff.ir import ABS, CONST, WHERE, Expr
from symdiff.ir.functions import EXTREMES, MAXIMA
from symdiff.passes.analysis.bottlenecks import is_small
from symdiff.passes.guards.regions import Known, Set, constraint

MAX_COPIES = 1000
"""The most nodes to rebuild for branches, beyond twice the size of the DAG."""
MAX_CHAIN = 8
"""Largest number of consecutive branches that are judged together."""
MAX_GROWTH = 16
"""A DAG that would grow by more nodes is left unchanged."""


class Contexts:
    """Specialises the two sides of branches.

    Attributes
    ----------
    origin : the original node of each rebuilt node.
    rounded : comparisons of numbers that Python rounds, which decide nothing about what these are made of.
    """

    def __init__(self, rounded: Container[Expr] = frozenset()) -> None:
        self.origin: dict[Expr, Expr] = {}
        self.rounded = rounded
        self.tests: list[tuple[Expr, Expr]] = []  # a node, and the condition that decides it
        self.sets: list[tuple[Expr, Set] | None] = []  # the set of each of them
        self.about: dict[Expr, int] = {}  # the tests of a quantity, as bits
        self.bit: dict[Expr, int] = {}
        self.below: dict[Expr, int] = {}
        self.copies = 0

    def simplify(self, outputs: Iterable[Expr]) -> tuple[Expr, ...]:
        outputs = tuple(outputs)
        order = ir.topological(outputs)
        self.copies = -2 * len(order)
        new: dict[Expr, Expr] = {}
        for e in order:
            r = ir.rebuild(e, tuple(new[a] for a in e.args))
            if r.op is WHERE:
                c, a, b = self._as_one(r).args
                r = ir.where(c, self.inside(a, c, True), self.inside(b, c, False))
            if r is not e:
                self.origin.setdefault(r, e)
            new[e] = r
        simple = tuple(new[o] for o in outputs)
        return simple if len(ir.topological(simple)) <= len(order) + MAX_GROWTH else outputs

    def _as_one(self, e: Expr) -> Expr:
        """Successive branches, on u and v, on u and w, on not u and v, and on not u and w, as those
        on v and w with one on u inside each. These arise from statements on either side of a branch
        that store to elements of masks."""
        chain = [e]
        while chain[-1].args[2].op is WHERE and len(chain) < MAX_CHAIN:
            chain.append(chain[-1].args[2])
        parts = [frozenset(ir.conjuncts(n.args[0])) for n in chain]
        for u in ir.conjuncts(e.args[0]) if len(chain) > 1 else ():
            both: tuple[list[Expr], list[Expr]] = [], []
            rest: tuple[list[frozenset[Expr]], ...] = [], []
            end = 0
            for k, (n, own) in enumerate(zip(chain, parts, strict=True)):
                c = u if u in own else ir.not_(u)
                if c not in own or len(own) == 1:
                    break
                both[c is not u].append(n)
                rest[c is not u].append(own - {c})
                if rest[0] == rest[1]:
                    end = k + 1
            if end:
                joint = chain[end - 1].args[2]
                for one, two in reversed(list(zip(*both, strict=False))[: end // 2]):
                    inner = ir.where(u, one.args[1], two.args[1])
                    self.origin.setdefault(inner, self.origin.get(e, e))
                    others = [c for c in ir.conjuncts(one.args[0]) if c is not u]
                    joint = ir.where(functools.reduce(ir.and_, others), inner, joint)
                return joint if joint.op is WHERE else e
        return e

    def inside(
        self, e: Expr, condition: Expr, truth: bool, bounds: Callable[[Expr], bool] | None = None,
        real: bool = False,
    ) -> Expr:  # fmt: skip
        """A side of a branch, knowing that it is taken; for real numbers, or also for nan.

        Those max(u, c), min(u, c) and abs(u) that `bounds` admits count too, where the
        branch decides them; at a tie, where both sides count, this changes the derivative.
        """
        if self.copies > MAX_COPIES or not (below := self._below(e)):
            return e
        known = Known(condition, truth, real, self._constraint)
        near = 0
        for c in known.truth:
            near |= self._own_bit(c, c)
        for u in known.sets:
            near |= self.about.get(u, 0)
        decided: dict[Expr, Expr] = {}
        near &= below
        bits = 0
        while near:
            low = near & -near
            near ^= low
            place = low.bit_length() - 1
            node, c = self.tests[place]
            if node is not c and (bounds is None or not bounds(node)):
                continue
            size = node.op is ABS  # abs(nan) is nan, whatever is decided
            holds = known.decides(c, self.sets[place], size)
            if holds is None and size:
                holds = known.decides(most := ir.le(*c.args), constraint(most), True) or None
            if holds is None:
                equality = known.narrowed(self.sets[place]) if node is c else None
                if equality is None or equality is c or not _keeps_nan(e, c):
                    continue
                decided[node] = equality
            else:
                decided[node] = ir.boolean(holds) if node is c else _bounded(node, holds)
            bits |= low
        return self._substituted(e, decided, bits) if bits else e

    def joined(self, e: Expr, conditions: Iterable[Expr]) -> Expr:
        """All branches of an expression on a condition as a single one around it, for each of the
        conditions; unchanged if it is too large for that."""
        for c in conditions:
            if not is_small((e,)):
                break
            sides = (self.inside(e, c, True), self.inside(e, c, False))
            joint = ir.where(c, *sides)
            self.origin.setdefault(joint, e)
            e = joint
        return e

    def _below(self, e: Expr) -> int:
        """The tests below a node, as bits."""
        if e not in self.below:
            for n in ir.topological((e,), self.below):
                bits = 0
                if n.op.boolean and n.args:
                    bits = self._own_bit(n, n)
                elif n.op in EXTREMES and any(a.op is CONST for a in n.args):
                    bits = self._own_bit(n, ir.lt(*n.args))
                elif n.op is ABS:
                    bits = self._own_bit(n, ir.lt(n.args[0], 0))
                for a in n.args:
                    bits |= self.below[a]
                self.below[n] = bits
        return self.below[e]

    def _own_bit(self, node: Expr, condition: Expr) -> int:
        if node not in self.bit:
            self.bit[node] = bit = 1 << len(self.tests)
            self.tests.append((node, condition))
            self.sets.append(found := self._constraint(condition))
            if found is not None:
                self.about[found[0]] = self.about.get(found[0], 0) | bit
        return self.bit[node]

    def _constraint(self, condition: Expr) -> tuple[Expr, Set] | None:
        return constraint(condition, self.origin.get(condition, condition) not in self.rounded)

    def _substituted(self, e: Expr, decided: dict[Expr, Expr], bits: int) -> Expr:
        """Replace conditions, visiting only the nodes above them."""
        new = dict(decided)
        stack: list[tuple[Expr, bool]] = [(e, False)]
        while stack:
            n, ready = stack.pop()
            if n in new:
                continue
            if not self._below(n) & bits:
                new[n] = n
            elif not ready:
                stack.append((n, True))
                stack.extend((a, False) for a in n.args)
            else:
                new[n] = r = ir.rebuild(n, tuple(new[a] for a in n.args))
                if r is not n:
                    self.copies += 1
                    self.origin.setdefault(r, self.origin.get(n, n))
        return new[e]


def _keeps_nan(e: Expr, condition: Expr) -> bool:
    """Whether all branches on a condition have a side that is nan where its quantity is."""
    below = frozenset(ir.variables((condition,)))
    for n in ir.topological((e,)):
        if n.op is WHERE and condition in ir.topological((n.args[0],)):
            taken = n.args[1:2] if n.args[0] is condition else n.args[1:]
            if any(below.isdisjoint(ir.variables((side,))) for side in taken):
                return False
    return True


def _bounded(node: Expr, less: bool) -> Expr:
    """max(a, b) or min(a, b), knowing whether a < b; abs(a), knowing whether a < 0."""
    if node.op is ABS:
        return -node.args[0] if less else node.args[0]
    return node.args[1 if less is (node.op in MAXIMA) else 0]
