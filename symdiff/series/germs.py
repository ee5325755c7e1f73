"""The kinds of the nodes of a DAG at a point: analytic, or why not.

A germ combines the series on both sides of the point, the value that the formula
has at the point itself, and whether the formula is singular there as written.
A function that is defined on one side only is analytic if that side is.

The cancellation of fractional powers, and the agreement of both sides, are tested for all
coefficients up to an order that exceeds the powers in the formula.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq

from symdiff import ir
from symdiff.interpret.balls import Undecided
from symdiff.ir import ADD, DIV, MUL, POW, SUB, WHERE, Expr
from symdiff.series.coefficients import Coefficient, Undefined, applied, is_zero, number, sign
from symdiff.series.expansion import WORK, Expansion, Failure
from symdiff.series.laurent import Ramified, Stream

BASE_ORDER = 16
MAX_ORDER = 80


@dataclass(frozen=True, slots=True)
class Germ:
    """A node at a point.

    kind : "analytic", or another kind (see `Failure`); "outside" if the
        point is outside its domain; "kink" if it is continuous there and has different power
        series on the two sides.
    singular : the formula is undefined, or has an infinite derivative, at the point.
    essential : the node's own operation is the reason, or it cancels the remaining
        singularity of a node below.
    order : of a pole, else 0.
    own : the node's own operation alone is the reason.
    """

    kind: str
    singular: bool
    essential: bool
    order: int = 0
    own: bool = False


class Germs:
    """Germs of nodes that depend on t alone, at t = point.

    Parameters
    ----------
    t : the variable, any node.
    point : the value of t.
    nodes : nodes above t, children first.
    balls : whether constants that are not rational are balls (see `Expansion`).
    """

    def __init__(
        self, t: Expr, point: Fraction, nodes: Sequence[Expr], balls: bool = False
    ) -> None:
        self.t, self.point, self.balls = t, point, balls
        self.order = order_of(nodes)
        self.nodes: dict[Expr, None] = dict.fromkeys(nodes)
        self.right = self._side(1, 1)
        self.left = self._side(-1, self.right.ramification) if self.right.sided else None
        self.at = AtPoint(t, point)
        self.germs: dict[Expr, Germ] = {}
        self._judge(nodes)

    def more(self, nodes: Sequence[Expr]) -> None:
        """The germs of further nodes, children first, of the same order. Germs of nodes below them
        are used again. After an exception this object must not be used."""
        fresh = [n for n in nodes if n not in self.nodes]
        self.nodes.update(dict.fromkeys(fresh))
        for x in self.sides:
            x.budget.left = WORK
        try:
            for x in self.sides:
                self._check(x, fresh)
        except Ramified as more:
            self.right = self._side(1, self.right.ramification * more.degree)
            self.left = None
        if self.left is None and self.right.sided:
            self.left = self._side(-1, self.right.ramification)
        self._judge(fresh)

    def _judge(self, nodes: Iterable[Expr]) -> None:
        for node in nodes:
            if not node.op.boolean:
                self.germs[node] = self._germ(node)

    def _side(self, side: int, ramification: int) -> Expansion:
        while True:
            expansion = Expansion(self.t, self.point, side, ramification, balls=self.balls)
            try:
                self._check(expansion, self.nodes)
            except Ramified as more:
                ramification *= more.degree
                continue
            return expansion

    def _check(self, expansion: Expansion, nodes: Iterable[Expr]) -> None:
        for node in nodes:
            try:
                if not node.op.boolean:
                    expansion.check(node, self.order)
            except Failure as failure:
                expansion.failed[node] = failure

    @property
    def sides(self) -> list[Expansion]:
        return [self.right] if self.left is None else [self.right, self.left]

    def _inside(self, e: Expr) -> list[Expansion]:
        """The sides on which a node is defined."""
        return [x for x in self.sides if e not in x.failed or x.failed[e].kind != "outside"]

    def coefficient(self, e: Expr, k: int, side: int = 0) -> Coefficient:
        """The coefficient of (t - point)**k of an analytic node, or on one side of a kink."""
        inside = self._inside(e)
        return _coefficient(inside[-1 if side < 0 else 0], e, k)

    def one_sided(self, e: Expr) -> int:
        """The only side on which the node is defined, 0 if both."""
        inside = self._inside(e)
        return inside[0].side if self.left is not None and len(inside) == 1 else 0

    # ------------------------------------------------------------- germs
    def _germ(self, e: Expr) -> Germ:
        kind, order = self._kind(e)
        own = self._own(e)
        below = [a for a in self._used(e) if a in self.germs]
        singular = own or any(self.germs[a].singular for a in below)
        if not singular:
            return Germ(kind, False, False)
        guard = e.op is WHERE and self._is_guard(e)
        kinds = {self.germs[a].kind for a in below}
        absorbs = bool(kinds - {"analytic"})
        essential = own or guard or absorbs or (kind == "analytic" and self._cancels(e))
        branch = e.op is WHERE or e.op.kink is not None
        alone = own and not branch and kinds <= {"analytic", "kink"}
        return Germ(kind, True, essential, order, alone)

    def _kind(self, e: Expr) -> tuple[str, int]:
        inside = self._inside(e)
        if not inside:
            return "outside", 0
        for x in inside:
            if e in x.failed:
                return x.failed[e].kind, 0
            kind, order = _shape(x.streams[e], x.ramification, self.order)
            if kind != "analytic":
                return kind, order
        try:
            if len(inside) == 2 and not all(
                is_zero(_coefficient(inside[0], e, k) - _coefficient(inside[1], e, k))
                for k in range(self.order)
            ):
                kind = "kink"
                if not is_zero(self.coefficient(e, 0, 1) - self.coefficient(e, 0, -1)):
                    return "jump", 0
        except Undecided:
            return "undecided", 0
        value = self.at.of(e)
        if value is not None:
            try:
                if not is_zero(value - self.coefficient(e, 0)):
                    return "jump", 0
            except Undecided:
                return "undecided", 0
        return kind, 0

    def _own(self, e: Expr) -> bool:
        """Whether the node's own operation is singular at the point."""
        return any(
            e in x.singular or (e in x.failed and not any(a in x.failed for a in e.args))
            for x in self._inside(e)
        )

    def _used(self, e: Expr) -> set[Expr]:
        """The children in use near the point, and at the point."""
        if e.op is not WHERE:
            return set(e.args)
        c = e.args[0]
        truths = {x.truth[c] for x in self.sides if c in x.truth}
        if truths and (taken := self.at.condition(c)) is not None:
            truths.add(taken)
        return {e.args[1] if t else e.args[2] for t in truths}

    def _is_guard(self, e: Expr) -> bool:
        """Whether a branch is taken at the point that is not taken near it."""
        taken = self.at.condition(e.args[0])
        return taken is not None and any(x.truth.get(e.args[0]) is not taken for x in self.sides)

    def _cancels(self, e: Expr) -> bool:
        """Whether leading terms of the arguments cancel in the value."""
        if e.op in (MUL, DIV, POW, WHERE):
            return False
        x = self._inside(e)[0]
        try:
            got = x.streams[e].valuation()
            orders = [x.streams[a].valuation() for a in e.args if a in x.streams]
        except ArithmeticError:
            return True
        return got > min(orders, default=0) if e.op in (ADD, SUB) else got > 0 in orders


def _coefficient(x: Expansion, e: Expr, k: int) -> Coefficient:
    c = x.streams[e].coefficient(k * x.ramification)
    return -c if x.side < 0 and k % 2 else c


def _shape(a: Stream, ramification: int, order: int) -> tuple[str, int]:
    for k in range(a.low, order * ramification):
        if k >= 0 and k % ramification == 0:
            continue
        try:
            if is_zero(a.coefficient(k)):
                continue
        except Undecided:
            return "undecided", 0
        if k % ramification:
            return "branch point", 0
        return "pole", -k // ramification
    return "analytic", 0


def order_of(nodes: Iterable[Expr]) -> int:
    """Up to which order coefficients of nodes are computed, given children first."""
    return min(BASE_ORDER + _degree(nodes), MAX_ORDER)


def _degree(nodes: Iterable[Expr]) -> int:
    """The sum of the constant exponents in a formula; for a sum the largest one of its terms, as
    many terms have no more powers than each of them."""
    degrees: dict[Expr, int] = {}
    exponents: dict[Expr, int] = {}
    for e in nodes:
        if e.op is POW and (q := ir.rational(e.args[1])) is not None:
            exponents[e] = int(abs(q)) + 1
        below = [degrees.get(a, 0) for a in e.args]
        own = exponents.get(e, 0)
        largest = e.op in (ADD, SUB, WHERE) or e.op.boolean
        degrees[e] = min(own + (max(below, default=0) if largest else sum(below)), MAX_ORDER)
    return min(sum(exponents.values()), max(degrees.values(), default=0))


MAX_BITS = 1 << 14
"""A rational value with more bits than this is unknown: iterated squares double them."""


class AtPoint:
    """Values of nodes at the point itself, by the formula as written."""

    def __init__(self, t: Expr, point: Fraction) -> None:
        self.values: dict[Expr, Coefficient | None] = {t: fmpq(point.numerator, point.denominator)}
        self.truth: dict[Expr, bool | None] = {}

    def of(self, e: Expr) -> Coefficient | None:
        """The value; None if there is none, or it is unknown."""
        self._visit(e)
        return self.values[e]

    def condition(self, e: Expr) -> bool | None:
        self._visit(e)
        return self.truth[e]

    def _visit(self, e: Expr) -> None:
        stack: list[tuple[Expr, bool]] = [(e, False)]
        while stack:
            node, ready = stack.pop()
            if node in self.values or node in self.truth:
                continue
            if not ready:
                stack.append((node, True))
                stack.extend((a, False) for a in node.args)
            elif node.op.boolean:
                self.truth[node] = self._decide(node)
            else:
                self.values[node] = self._value(node)

    def _decide(self, e: Expr) -> bool | None:
        if e.op is ir.BOOL:
            return bool(e.value)
        if e.op in (ir.NOT, ir.AND, ir.OR):
            parts = [self.truth[a] for a in e.args]
            if e.op is ir.AND and False in parts:
                return False
            if e.op is ir.OR and True in parts:
                return True
            if None in parts:
                return None
            return not parts[0] if e.op is ir.NOT else e.op is ir.AND
        a, b = (self.values[x] for x in e.args)
        if a is None or b is None:
            return None
        if e.args[0] is e.args[1]:
            return e.op is not ir.LT
        try:
            s = sign(a - b)
        except Undecided:
            return None
        return s == 0 if e.op is ir.EQ else s < 0 if e.op is ir.LT else s <= 0

    def _value(self, e: Expr) -> Coefficient | None:
        try:
            if e.op is WHERE:
                taken = self.truth[e.args[0]]
                return None if taken is None else self.values[e.args[1 if taken else 2]]
            if not e.args:
                return None if e.op is ir.VAR else number(e)
            args = [self.values[a] for a in e.args]
            found = None if None in args else applied(e.op, args)
            too_long = isinstance(found, fmpq) and found.height_bits() > MAX_BITS
            return None if too_long else found
        except (Undefined, Undecided, ArithmeticError, NotImplementedError):
            return None
