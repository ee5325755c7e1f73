"""Complete removable singularities, for the value and all derivatives.

Before:  sin(sqrt(s))/sqrt(s) with s = a*a + b*b, which is 0/0 at a = b = 0
After:   completed(s), an operation with the derivative completed'(s), and so on

Requires: any DAG.
Ensures: a replaced formula is a function of one lower node t alone, singular as
written at a rational value of t, and analytic there: its Puiseux series has no
negative and no fractional powers, agrees on both sides of the point (or on the
one where the function is defined) and with a value that the formula gives at
the point itself. Everything else stays unchanged and is named in the notes:
poles, branch points, logarithms, jumps, essential singularities. Functions of
several variables that are removable where one variable is a function of the others
are left to `passes.complete.surfaces`.

t is the lowest bottleneck of the DAG in which the singular point is rational:
s in the example, not sqrt(s), so that the derivatives by a and b are smooth.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from flint import fmpq

from symdiff import ir
from symdiff.interpret import exclusive
from symdiff.interpret.balls import Undecided
from symdiff.ir import Expr
from symdiff.ir.functions import EXTENDED, HYPOT
from symdiff.passes.analysis.dependence import Dependence
from symdiff.passes.analysis.roots import loci, rational_roots
from symdiff.passes.analysis.signs import Signs
from symdiff.passes.complete.regroup import regrouped
from symdiff.passes.complete.removable import (
    VARIABLE,
    Centre,
    Removable,
    closed_forms,
    expand_completed,
    pinned_forms,
    readable_forms,
)
from symdiff.passes.complete.surfaces import Surface, complete_surfaces
from symdiff.series import Coefficient, Germs, OutOfBudget
from symdiff.series.coefficients import is_zero, to_fraction

PRECISION = 320
"""Bits of the balls that replace constants without a name."""
MAX_REGION = 200
"""Largest number of nodes of a formula whose series is computed."""
MAX_FORMULA = 60
"""The most nodes of a formula that is completed as a whole, though a part would be enough."""
MAX_DEPTH = 60
MAX_POINTS = 32
"""Largest number of singular points in one program."""
EVEN_ORDER = 16
"""Odd coefficients up to this order decide whether a function is even."""


@dataclass(frozen=True, slots=True)
class Completed:
    """A singular point of a node.

    Attributes
    ----------
    node : the formula as it was written, or its lowest part that is singular.
    variable : the node through which alone it depends on the inputs.
    point : the value of `variable`.
    kind : "removable", or another kind, such as "pole", "branch point",
        "logarithm", "jump", "essential", "undecided".
    value, derivatives : limit of the formula, and of its first two derivatives by
        `variable`; exact where they are rational.
    order : of a pole.
    """

    node: Expr
    variable: Expr
    point: Fraction
    kind: str
    value: Fraction | None = None
    derivatives: tuple[Fraction, ...] = ()
    order: int = 0


@dataclass(slots=True)
class Completions:
    """The work of the pass, for the report."""

    filled: list[Completed] = field(default_factory=list)
    singular: list[Completed] = field(default_factory=list)
    surfaces: list[Surface] = field(default_factory=list)
    over_budget: list[Expr] = field(default_factory=list)

    def add(self, other: Completions) -> None:
        """Add the notes of another pass."""
        self.filled += other.filled
        self.singular += other.singular
        self.surfaces += other.surfaces
        self.over_budget += other.over_budget


def complete(
    outputs: Iterable[Expr], facts: Iterable[Expr] = (), notes: Completions | None = None
) -> tuple[Expr, ...]:
    """Replace what is singular but analytic by operations that are not singular."""
    outputs, facts = regrouped(outputs), tuple(facts)
    notes = notes if notes is not None else Completions()
    with exclusive(PRECISION):
        found = Completions()
        search = _Search(outputs, Signs(facts), found)
        if not search.places:
            return outputs
        search.run()
        if norms := search.even_norms():
            outputs = _with_roots(outputs, norms)
            found = Completions()
            search = _Search(outputs, Signs(facts), found)
            search.run()
        notes.add(found)
        if search.fills:
            outputs = _filled(outputs, search.fills)
    return complete_surfaces(outputs, facts, notes.surfaces)


def _with_roots(outputs: Sequence[Expr], norms: Iterable[Expr]) -> tuple[Expr, ...]:
    """The outputs with norms as roots of sums of squares; functions of the sums are smooth."""
    norms = set(norms)
    squares: dict[Expr, Expr] = {}

    def square(e: Expr) -> Expr:
        if e.op is not HYPOT:
            return ir.power(e, 2)
        if e not in squares:
            squares[e] = square(e.args[0]) + square(e.args[1])
        return squares[e]

    return ir.substitute(outputs, {e: ir.sqrt(square(e)) for e in norms})


def _is_surely_zero(c: Coefficient) -> bool:
    try:
        return is_zero(c)
    except Undecided:
        return False


# ------------------------------------------------------------------------ search
@dataclass(slots=True)
class _Fill:
    """A node to be replaced: its variable and its expansions at the points."""

    t: Expr
    germs: dict[Fraction, Germs]


class _Search:
    """Singular points of a DAG, and the nodes to fill there."""

    def __init__(self, outputs: Sequence[Expr], signs: Signs, notes: Completions) -> None:
        self.outputs, self.signs, self.notes = outputs, signs, notes
        self.order = ir.topological(outputs)
        self.extended = any(e.op is EXTENDED for e in self.order)
        self.fills: dict[Expr, _Fill] = {}
        self.constants = list(
            dict.fromkeys(
                s * abs(q)
                for e in self.order
                if e.op is ir.CONST and (q := ir.rational(e)) is not None
                for s in (1, -1)
            )
        )
        self.below = Dependence()
        self.places = self._places()
        self.entered: set[Expr] = set()
        self.varying: set[Expr] = set()
        self.parents: dict[Expr, list[Expr]] = {}
        self.dominator: dict[Expr, Expr | None] = {}
        self.depth: dict[Expr, int] = {}
        self.regions: dict[Expr, dict[Expr, frozenset[Expr]]] = {}

    def _places(self) -> dict[Expr, list[Expr]]:
        """A map from vanishing quantities to the operations that are singular there."""
        found: dict[Expr, list[Expr]] = {}
        constant: set[Expr] = set()
        for e in self.order:
            if e.op is not ir.VAR and all(a in constant for a in e.args):
                constant.add(e)
                continue
            for d in loci(e, whole=True):
                known = not self.below.on(d) or self.signs.nonzero(d)
                if not known and e not in found.setdefault(d, []):
                    found[d].append(e)
        return found

    def run(self) -> None:
        self._dominators()
        wanted: dict[tuple[Expr, Fraction], list[Expr]] = {}
        higher: dict[tuple[Expr, Fraction], list[tuple[Expr, Fraction]]] = {}
        for d, operations in self.places.items():
            lowest, above = self._points(d)
            for key in lowest:
                wanted.setdefault(key, []).extend(operations)
                higher.setdefault(key, above)
        for count, ((t, point), operations) in enumerate(wanted.items()):
            if count >= MAX_POINTS:
                self.notes.over_budget.extend(operations)
                continue
            left = self._at(t, point, operations)
            for u, value in higher[t, point] if left else ():
                if not self._at(u, value, operations):
                    left = []
            self.notes.singular.extend(left)

    def even_norms(self) -> list[Expr]:
        """The `hypot` nodes for which only even functions are filled at 0: these are smooth in its
        square, and so in its arguments."""
        even: dict[Expr, bool] = {}
        for e, fill in self.fills.items():
            if fill.t.op is HYPOT and (germs := fill.germs.get(Fraction(0))) is not None:
                odd = (germs.coefficient(e, k) for k in range(1, EVEN_ORDER, 2))
                even[fill.t] = even.get(fill.t, True) and all(map(_is_surely_zero, odd))
        return [t for t, smooth in even.items() if smooth]

    def _dominators(self) -> None:
        """The nearest node through which alone each node depends on the inputs;
        None if there is none (Cooper, Harvey and Kennedy, 2001, on a DAG)."""
        for e in self.order:
            for a in e.args:
                self.parents.setdefault(a, []).append(e)
            self._enter(e)

    def _enter(self, e: Expr) -> None:
        self.entered.add(e)
        if e.op is ir.VAR:
            self._hang(e, None)
        elif children := [a for a in e.args if a in self.varying]:
            lowest: Expr | None = children[0]
            for c in children[1:]:
                lowest = self._common(lowest, c)
            self._hang(e, lowest)

    def _hang(self, e: Expr, below: Expr | None) -> None:
        self.varying.add(e)
        self.dominator[e] = below
        self.depth[e] = 0 if below is None else self.depth[below] + 1

    def _common(self, a: Expr | None, b: Expr | None) -> Expr | None:
        while a is not b:
            if a is None or b is None:
                return None
            if self.depth[a] >= self.depth[b]:
                a = self.dominator[a]
            else:
                b = self.dominator[b]
        return a

    def _points(self, d: Expr) -> tuple[list[tuple[Expr, Fraction]], list[tuple[Expr, Fraction]]]:
        """(t, value of t) where d vanishes, for the lowest t where that is rational; and
        for every t above that which has a kink itself, as the clipped argument of `acos`."""
        for e in ir.topological((d,), self.entered):
            self._enter(e)
        chain: list[Expr] = []
        t: Expr | None = d
        while t is not None:
            chain.append(t)
            t = self.dominator[t]
        lowest: list[tuple[Expr, Fraction]] = []
        above: list[tuple[Expr, Fraction]] = []
        for t in reversed(chain):
            if t.op.boolean or (lowest and t.op.kink is None and t.op is not ir.WHERE):
                continue
            roots = rational_roots(d, t, self.constants, self.below)
            found = [(t, r) for r in roots if self._possible(t, r)]
            if lowest:
                above += found
            else:
                lowest = found
        return lowest, above

    def _possible(self, t: Expr, value: Fraction) -> bool:
        """Whether t can have this value, by its sign."""
        if value == 0:
            return not self.signs.nonzero(t)
        return value > 0 or not self.signs.nonnegative(t)

    # -- one point
    def _at(self, t: Expr, point: Fraction, operations: Sequence[Expr]) -> list[Completed]:
        """Fill the singular nodes at a point; return those that cannot be filled."""
        if t not in self.regions:
            self.regions[t] = self._region(t)
        region = self.regions[t]
        touched = {e for e in operations if e in region}
        if not touched:
            return []
        for e in self.order:
            if e in region and any(a in touched for a in e.args):
                touched.add(e)
        needed = {n for e in touched for n in region[e]}
        nodes = [e for e in self.order if e in needed]
        try:
            germs = Germs(t, point, nodes)
        except (OutOfBudget, RecursionError):
            self.notes.over_budget.extend(e for e in operations if e in touched)
            return []
        left: list[Completed] = []
        seen: set[Expr] = set()
        for e in reversed(nodes):
            outside = e in self.outputs or any(p not in needed for p in self.parents.get(e, ()))
            if outside and not e.op.boolean:
                left += self._descend(e, germs, region, seen)
        return left

    def _region(self, t: Expr) -> dict[Expr, frozenset[Expr]]:
        """The nodes above t that depend on nothing else, with all nodes between."""
        cones: dict[Expr, frozenset[Expr]] = {t: frozenset()}
        height = {t: 0}
        for e in self.order:
            if e is t or e.op is ir.VAR or e not in self.varying:
                continue
            children = [a for a in e.args if a in self.varying]
            if all(a in cones for a in children):
                cone = frozenset((e,)).union(*(cones[a] for a in children))
                height[e] = 1 + max(height[a] for a in children)
                if len(cone) <= MAX_REGION and height[e] <= MAX_DEPTH:
                    cones[e] = cone
        del cones[t]
        return cones

    def _descend(
        self,
        root: Expr,
        germs: Germs,
        region: Mapping[Expr, frozenset[Expr]],
        seen: set[Expr],
    ) -> Iterator[Completed]:
        """Fill the topmost analytic nodes, as the derivatives of their parts may
        cancel each other, but not large formulas around a small singular one; name
        the topmost that cannot be filled. Singular nodes inside a filled node
        are filled too, for its closed form."""
        stack = [(root, False, False)]
        while stack:
            e, inner, named = stack.pop()
            germ = germs.germs.get(e)
            if germ is None or e in seen or not germ.singular:
                continue
            seen.add(e)
            small = not inner and len(region[e]) <= MAX_FORMULA
            if self.extended and any(n.op is EXTENDED for n in region[e]):
                # the value is not that of the germ
                stack.extend((a, inner, named) for a in reversed(e.args))
                continue
            if germ.kind == "analytic" and (germ.essential or small):
                filled = self._fill(e, germs, inner)
            else:
                filled = germ.kind == "kink" and germ.own and self._fill(e, germs, True)
            if filled:
                inner = named = True
            elif germ.kind not in ("analytic", "outside") and germ.essential and not named:
                named = True
                yield Completed(e, germs.t, germs.point, germ.kind, order=germ.order)
            stack.extend((a, inner, named) for a in reversed(e.args))

    def _fill(self, e: Expr, germs: Germs, inner: bool) -> bool:
        """Fill a node and return whether it worked: it fails if constants lost all of their
        digits."""
        fill = self.fills.get(e, _Fill(germs.t, {}))
        limits = [germs.coefficient(e, k) * fmpq(math.factorial(k)) for k in range(3)]
        try:
            value, *slopes = map(to_fraction, limits)
        except Undecided:
            self.notes.over_budget.append(e)
            return False
        if fill.t is germs.t:
            self.fills[e] = fill
            fill.germs[germs.point] = germs
            if not inner:
                self.notes.filled.append(
                    Completed(e, germs.t, germs.point, "removable", value, tuple(slopes))
                )
        return True


# ----------------------------------------------------------------------- filling
def _filled(outputs: Sequence[Expr], fills: Mapping[Expr, _Fill]) -> tuple[Expr, ...]:
    order = ir.topological(outputs)
    removables: dict[Expr, Removable] = {}
    for e in order:
        if e in fills:
            fill = fills[e]
            closed = _closed_form(e, fill.t, removables, fills)
            centres = [Centre(p, fill.germs[p], e) for p in sorted(fill.germs)]
            removables[e] = Removable.of(closed, centres)
    new: dict[Expr, Expr] = {}
    for e in order:
        if e in removables:
            new[e] = removables[e].operation(0)(new[fills[e].t])
        else:
            new[e] = ir.rebuild(e, tuple(new[a] for a in e.args))
    return tuple(new[o] for o in outputs)


def _closed_form(
    e: Expr, t: Expr, removables: Mapping[Expr, Removable], fills: Mapping[Expr, _Fill]
) -> Expr:
    """A node as a function of `VARIABLE` in place of t; completed parts inside it
    stay completed, as they may be singular at other points."""
    new: dict[Expr, Expr] = {t: VARIABLE}
    for n in ir.topological((e,)):
        if n in new or any(a not in new for a in n.args) or n.op is ir.VAR:
            continue
        if n in removables and fills[n].t in new:
            new[n] = removables[n].operation(0)(new[fills[n].t])
        else:
            new[n] = ir.rebuild(n, tuple(new[a] for a in n.args))
    return new[e]


__all__ = [
    "VARIABLE",
    "Completed",
    "Completions",
    "Removable",
    "closed_forms",
    "complete",
    "expand_completed",
    "pinned_forms",
    "readable_forms",
]
