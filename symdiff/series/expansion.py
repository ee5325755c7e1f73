"""The series of the nodes of a DAG on one side of a point.

`Expansion` substitutes t = point + side*s**ramification, s > 0 small, and computes the series in s
of every node that depends on t alone. A condition is decided by
the sign of a leading coefficient, so branches, absolute values, steps, max and
min have a series on either side. Where a node has none, `Failure` gives the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from flint import fmpq

from symdiff import ir
from symdiff.errors import SymdiffError
from symdiff.interpret.balls import Undecided
from symdiff.ir import (
    ADD,
    AND,
    BOOL,
    DIV,
    EQ,
    LT,
    MUL,
    NEG,
    NOT,
    ONE,
    OR,
    POW,
    SUB,
    WHERE,
    ZERO,
    Expr,
)
from symdiff.ir.functions import DETACHED, EXP, LOG
from symdiff.ir.functions import domain as domain_of
from symdiff.ir.plain import exactly, is_plain
from symdiff.series.coefficients import (
    NOTHING,
    Coefficient,
    Undefined,
    applied,
    is_zero,
    number,
    to_ball,
    to_fraction,
)
from symdiff.series.laurent import (
    Budget,
    Circular,
    Derivative,
    Negative,
    OutOfBudget,
    Polynomial,
    Power,
    Product,
    Quotient,
    Ramified,
    Regular,
    Scaled,
    Singular,
    Solution,
    Stream,
    Sum,
    Vanishes,
)

MAX_RAMIFICATION = 6
WORK = 400_000
"""The most products of coefficients in one expansion."""
STEP = Fraction(1, 2**200)


class Failure(ArithmeticError):  # noqa: N818
    """A node without a series.

    kind : "outside" (of the domain), "pole", "branch point", "logarithm", "essential",
        "jump", "undecided", "unknown".
    """

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class Expansion:
    """Series in s > 0 at t = point + side*s**ramification.

    Attributes
    ----------
    point : a rational number or a `Number`.
    generic : whether other variables are parameters; else nodes that depend on them fail.
    balls : whether constants that are not rational are balls: series take much less time, and more
        is undecided.
    sided : whether anything depended on the side.
    singular : nodes whose own operation is undefined, or has an infinite
        derivative, at s = 0.
    """

    def __init__(
        self,
        t: Expr,
        point: Coefficient,
        side: int,
        ramification: int = 1,
        generic: bool = False,
        balls: bool = False,
    ) -> None:
        self.t, self.point, self.side, self.ramification = t, point, side, ramification
        self.generic, self.balls = generic, balls
        at = fmpq(point.numerator, point.denominator) if isinstance(point, Fraction) else point
        line = Polynomial([at, *[NOTHING] * (ramification - 1), fmpq(side)])
        self.streams: dict[Expr, Stream] = {t: line}
        self.truth: dict[Expr, bool] = {}
        self.failed: dict[Expr, Failure] = {}
        self.singular: set[Expr] = set()
        self.sided = ramification > 1
        self.budget = Budget(WORK)
        self._inner = 0
        self._growing = False

    def of(self, e: Expr) -> Stream:
        """The series of a node; raises `Failure`."""
        for node in self._missing(e):
            self._expand(node)
        if e in self.failed:
            raise self.failed[e]
        return self.streams[e]

    def _expand(self, node: Expr) -> None:
        try:
            if node.op.boolean:
                self.truth[node] = self._condition(node)
            else:
                self._node(node)
        except Failure as failure:
            self.failed[node] = failure
        except (Vanishes, Undecided, SymdiffError):
            self.failed[node] = Failure("undecided")
        except (Circular, RecursionError):
            self.failed[node] = Failure("unknown")
        except (Negative, Undefined):
            self.failed[node] = Failure("outside")
        except Singular:
            self.failed[node] = Failure("logarithm")
        if node in self.failed:
            self.streams.pop(node, None)

    def check(self, e: Expr, order: int) -> None:
        """Compute the coefficients up to t**order, so that failures show."""
        stream = self.of(e)
        try:
            stream.ensure(order * self.ramification)
        except (Failure, OutOfBudget, Ramified):
            raise
        except (Negative, Undefined):
            raise Failure("outside") from None
        except Singular:
            raise Failure("logarithm") from None
        except ArithmeticError:
            raise Failure("undecided") from None

    def _missing(self, e: Expr) -> Iterator[Expr]:
        """The nodes below e that were not visited, children first."""
        order: list[Expr] = []
        done: set[Expr] = set()
        stack: list[tuple[Expr, bool]] = [(e, False)]
        while stack:
            node, ready = stack.pop()
            if ready:
                order.append(node)
            elif not self._met(node) and node not in done:
                done.add(node)
                stack.append((node, True))
                stack.extend((a, False) for a in reversed(node.args))
        return iter(order)

    def _met(self, e: Expr) -> bool:
        return e in self.streams or e in self.failed or e in self.truth

    def _child(self, e: Expr) -> Stream:
        if e in self.failed:
            raise self.failed[e]
        return self.streams[e]

    # ------------------------------------------------------------- conditions
    def _condition(self, e: Expr) -> bool:
        if e.op is BOOL:
            return bool(e.value)
        if e.op in (NOT, AND, OR):
            parts = [self._truth(a) for a in e.args]
            return not parts[0] if e.op is NOT else all(parts) if e.op is AND else any(parts)
        a, b = (self._child(x) for x in e.args)
        if a is b:
            return e.op is not LT
        sign = self.sign(Sum(a, b, -1))
        return sign == 0 if e.op is EQ else sign < 0 if e.op is LT else sign <= 0

    def _truth(self, e: Expr) -> bool:
        if e in self.failed:
            raise self.failed[e]
        return self.truth[e]

    def sign(self, a: Stream) -> int:
        """The sign of a series for small s > 0."""
        if _constant(a):
            return _sign(a.coefficient(0))
        if a.valuation() % 2:
            self.sided = True
        return a.sign()

    # ------------------------------------------------------------- operations
    def _node(self, e: Expr) -> None:
        if e.op is WHERE:
            self._alias(e, e.args[1] if self._truth(e.args[0]) else e.args[2])
            return
        if is_plain(e):  # near the point it is what it rounds
            self._alias(e, *exactly((e,)))
            return
        if not e.args:
            if e.op is ir.VAR and not self.generic:
                raise Failure("unknown")
            self.streams[e] = Polynomial([self._kept(number(e))])
            return
        args = [self._child(a) for a in e.args]
        if all(_constant(a) for a in args):
            if e.op is DIV and is_zero(args[1].coefficient(0)):
                raise Failure("pole")  # it holds on all of this side
            value = applied(e.op, [a.coefficient(0) for a in args])
            self.streams[e] = Polynomial([self._kept(value)])
        elif e.op is POW:
            self._power(e, *args)
        elif e.op in (ADD, SUB, NEG, MUL, DIV):
            self.streams[e] = self._rational(e, args)
        else:
            self._function(e, args)

    def _alias(self, e: Expr, other: Expr) -> None:
        """Use the series of another expression for e."""
        self.streams[e] = self.of(other)
        if any(n in self.singular for n in ir.topological((other,))):
            self.singular.add(e)

    def _rational(self, e: Expr, args: list[Stream]) -> Stream:
        a, b = args[0], args[-1]
        if e.op is NEG:
            return Scaled(fmpq(-1), a)
        if e.op in (ADD, SUB):
            return Sum(a, b, 1 if e.op is ADD else -1)
        if e.op is MUL:
            if _constant(a):
                return Scaled(a.coefficient(0), b)
            return Scaled(b.coefficient(0), a) if _constant(b) else Product(a, b, self.budget)
        if _constant(b):
            if is_zero(b.coefficient(0)):
                raise Failure("pole")
            return Scaled(1 / b.coefficient(0), a)
        quotient = Quotient(a, b, self.budget)
        if quotient.order > 0:
            self.singular.add(e)
        return quotient

    def _power(self, e: Expr, a: Stream, b: Stream) -> None:
        q = ir.rational(e.args[1])
        if q is None:
            self._alias(e, EXP(e.args[1] * LOG(e.args[0])))
            return
        natural = q.denominator == 1 and q > 0
        if not natural and a.valuation() != 0:
            self.singular.add(e)
        if q.denominator > 1:
            if not self.generic:
                self.sign(a)  # on which side it is defined
            order = a.valuation() * q
            if order.denominator * self.ramification > MAX_RAMIFICATION and not self.generic:
                raise Failure("branch point")
            if order.denominator == 1 and order % 2:  # sqrt(t**2*u) is |t|*sqrt(u)
                self.sided = True
        if natural and q <= 3 and a.low >= 0:
            power = a
            for _ in range(int(q) - 1):
                power = Product(power, a, self.budget)
            self.streams[e] = power
        else:
            self.streams[e] = root = Power(a, q, self.budget)
            root.known[0] = self._kept(root.known[0])

    def _kept(self, c: Coefficient) -> Coefficient:
        """A constant, or its ball."""
        return to_ball(c) if self.balls and not isinstance(c, fmpq) else c

    def _function(self, e: Expr, args: list[Stream]) -> None:
        if e.op is DETACHED:  # its derivatives do not match its values
            raise Failure("undecided")
        for a, u in zip(e.args, args, strict=True):
            if any(not is_zero(u.coefficient(k)) for k in range(u.low, 0)):
                raise Failure("essential")
            if u.low < 0:
                self.streams[a] = Regular(u)
        self._require_domain(e)
        starts = [a.coefficient(0) for a in args]
        if e.op.cut is not None and e.op.pieces is not None and self._on_cut(e):
            self._alias(e, e.op.pieces(*e.args))
            return
        if e.op.kink is not None and self._at_kink(e):
            if self._is_step(e):
                self.streams[e] = self._step(e, args[0])
                return
            if e.op.expand is not None or e.op.arity > 1:
                self._expanded(e)
                return
        elif self._is_step(e):
            self.streams[e] = Polynomial([self._kept(applied(e.op, starts))])
            return
        if e.op.live is not None or e.op.partials is None:
            self._expanded(e)
            return
        before = len(self.streams), len(self.failed), len(self.truth)
        try:
            self.streams[e] = solution = self._solution(e, starts)
            if not self._inner:  # postpone the series that a slope needs
                solution.ensure(1)
        except (Circular, Failure):
            _shorten(self.streams, before[0])
            _shorten(self.failed, before[1])
            _shorten(self.truth, before[2])
            if e.op.expand is None:
                raise
            self._expanded(e)

    def _solution(self, e: Expr, starts: list[Coefficient]) -> Solution:
        """y = op(u) from y' = sum_i partial_i(u) u_i'."""

        def slope() -> Stream:
            total: Stream = Polynomial([NOTHING])
            assert e.op.partials is not None
            for a, partial in zip(e.args, e.op.partials(*e.args), strict=True):
                u = self.streams[a]
                if partial is None or partial is ZERO or _constant(u):
                    continue
                p = self._helper(partial)
                if any(not is_zero(p.coefficient(k)) for k in range(p.low, 0)):
                    self.singular.add(e)
                rate = Derivative(u)
                total = Sum(total, rate if partial is ONE else Product(p, rate, self.budget))
            return total

        try:
            return Solution(self._kept(applied(e.op, starts)), slope)
        except Undefined:
            raise Failure(self._growth(slope)) from None

    def _growth(self, slope: Callable[[], Stream]) -> str:
        """How a function without a finite value tends to infinity. Its derivatives are not queried:
        that recursion may not end."""
        if self._growing:
            return "pole"
        self._growing = True
        try:
            rate = slope()
            return "logarithm" if rate.low < 0 and rate.valuation() == -1 else "pole"
        except (Failure, Vanishes, Undecided, Circular, NotImplementedError):
            return "pole"
        finally:
            self._growing = False

    def _helper(self, partial: Expr) -> Stream:
        self._inner += 1
        try:
            return self.of(partial)
        finally:
            self._inner -= 1

    def _expanded(self, e: Expr) -> None:
        if e.op.expand is None:
            raise Failure("unknown")
        self._alias(e, e.op.expand(*e.args))

    def _require_domain(self, e: Expr) -> None:
        condition = domain_of(e.op, e.args)
        if condition is ir.TRUE:
            return
        for node in self._missing(condition):
            self._expand(node)
        if self.generic and condition in self.failed:
            return  # the formula is assumed to be defined at parameters
        if not self._truth(condition):
            raise Failure("outside")

    def _at_kink(self, e: Expr) -> bool:
        assert e.op.kink is not None
        place = e.op.kink(*e.args)
        if place is e:
            return any(is_zero(self._child(a).coefficient(0)) for a in e.args)
        return is_zero(self.of(place).coefficient(0))

    def _on_cut(self, e: Expr) -> bool:
        """Whether the operation may jump at the point."""
        assert e.op.cut is not None
        return is_zero(self.of(e.op.cut(*e.args)).coefficient(0))

    def _is_step(self, e: Expr) -> bool:
        """Whether the operation is constant between jumps."""
        return e.op.partials is not None and e.op.partials(*e.args) == (ZERO,)

    def _step(self, e: Expr, u: Stream) -> Stream:
        """A step at its jump: the value slightly beyond the point."""
        start = u.coefficient(0)
        assert e.op.fold is not None
        if not isinstance(start, fmpq):
            raise Failure("undecided")
        side = self.sign(Sum(u, Polynomial([start]), -1))
        value = e.op.fold(to_fraction(start) + side * STEP)
        assert value is not None
        return Polynomial([fmpq(value.numerator, value.denominator)])


def _shorten(memo: dict[Expr, Any], length: int) -> None:
    """Remove the last entries of a memo."""
    while len(memo) > length:
        memo.popitem()


def _constant(a: Stream) -> bool:
    return isinstance(a, Polynomial) and a.constant


def _sign(c: Coefficient) -> int:
    return 0 if isinstance(c, fmpq) and c == 0 else Polynomial([c]).sign()
