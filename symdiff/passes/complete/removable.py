"""Completed functions: operations with derivatives of every order, and their text.

Before:  completed''(t), for (1 - cos(t))/t**2 completed at 0
After:   where(abs(t) < 1, -1/12 + t**2*(1/120 - ...), (cos(t) - 4*t*f' - 2*f)/t**2)

A `Removable` keeps the closed form, in a variable of its own, and the expansions
at its points. It is closed under differentiation, so the passes that follow need not
handle singular points. After the last differentiation, `expand_completed` writes the
operations out.

Requires: nodes made by `passes.complete.complete`.
Ensures: at a completed point the value is the limit, rounded once; in a band
around it that of a polynomial (`passes.complete.bands`), elsewhere of the closed form.
"""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Protocol
from weakref import WeakValueDictionary

from flint import arb, ctx, fmpq

from symdiff import ir
from symdiff.interpret import exclusive
from symdiff.interpret.flat import Tape
from symdiff.ir import DIV, Expr, Op
from symdiff.ir.functions import DERIVED, DETACHED, PINNED, ROOT_SLOPE, SLOPES, WITHIN
from symdiff.ir.nodes import MAKERS, Maker
from symdiff.passes.cancel.cancel import cancel
from symdiff.passes.cancel.common_denominator import together
from symdiff.passes.complete.bands import Band, Closed, band
from symdiff.passes.differentiate import pushforward
from symdiff.passes.leibniz import Derivatives
from symdiff.process.locks import Lock
from symdiff.series import Coefficient, Germs
from symdiff.series.coefficients import to_ball, to_expr

PRECISION = 320
"""Bits of the balls that replace constants without a name."""

MAX_DIFFERENTIATED = 100
"""The most nodes of a derivative that is differentiated again; the next one is rewritten first."""

VARIABLE = ir.var("completed variable")
"""The variable of closed forms."""


@dataclass(frozen=True, slots=True)
class Centre:
    """A completed point and the expansion there."""

    point: Fraction
    germs: Germs
    node: Expr

    @property
    def kinked(self) -> bool:
        """Whether the two sides have different series."""
        return self.germs.germs[self.node].kind == "kink"

    @property
    def sides(self) -> tuple[int, ...]:
        """The sides that have a series of their own; 0 is both."""
        return (1, -1) if self.kinked else (self.germs.one_sided(self.node),)

    def coefficient(self, k: int, order: int, side: int = 0) -> Coefficient:
        """The coefficient of h**k in the derivative of an order."""
        c = self.germs.coefficient(self.node, k + order, side)
        return c * fmpq(math.perm(k + order, order))

    def value(self, order: int) -> Coefficient:
        """The derivative of an order at the point; at a kink the mean of both sides."""
        if not self.kinked:
            return self.coefficient(0, order)
        both = self.coefficient(0, order, 1) + self.coefficient(0, order, -1)
        return both * fmpq(1, 2)


class Removable:
    """A completed function of one variable, with its derivatives of every order.

    Attributes
    ----------
    closed : the formula in `VARIABLE`, undefined at the points of `centres`.
    centres : the completed points.
    """

    _known: ClassVar[WeakValueDictionary[str, Removable]] = WeakValueDictionary()
    _making: ClassVar[Lock] = Lock()
    variables = (VARIABLE,)

    def __init__(self, name: str, closed: Expr, centres: Sequence[Centre]) -> None:
        self.name, self.closed, self.centres = name, closed, tuple(centres)
        self.kinked = any(c.kinked for c in self.centres)
        self._closed = [closed]  # in terms of `_lower`: nothing here may hold its own operations
        self._plain = [closed]
        self._readable = [closed]
        self._whole = _Slopes(closed)
        fraction = together(closed)
        self._parts = None if fraction is None else (_Slopes(fraction[0]), _Slopes(fraction[1]))
        self._bands: dict[tuple[int, int], list[Band]] = {}
        self._written: dict[tuple[int, int], Expr] = {}
        self._tapes: dict[int, Tape] = {}
        self.spelled: dict[tuple[str, Any], tuple[Expr, ...]] = {}
        self._last: dict[int, tuple[Any, int, Any]] = {}

    @classmethod
    def of(cls, closed: Expr, centres: Sequence[Centre]) -> Removable:
        """The function, shared by all calls with the same formula and points."""
        text = repr((ir.encode((closed,)), [str(c.point) for c in centres]))
        name = "completed_" + hashlib.sha256(text.encode()).hexdigest()[:16]
        with cls._making:
            found = cls._known.get(name)
            if found is None:
                found = cls._known[name] = cls(name, closed, centres)
        return found

    @classmethod
    def again(cls, closed: Expr, points: Sequence[Fraction], order: int) -> Op:
        """A derivative of the function, for a process other than the one that found it."""
        (whole,) = closed_forms((closed,))
        nodes = [e for e in ir.topological((whole,)) if e is VARIABLE or ir.variables((e,))]
        with exclusive(PRECISION):
            centres = [Centre(p, Germs(VARIABLE, p, nodes), whole) for p in points]
        return cls.of(closed, centres).operation(order)

    def operation(self, order: int) -> Op:
        """The derivative of an order, as an operation."""
        name = f"{self.name}_{order}"
        points = tuple(c.point for c in self.centres)
        return ir.made(
            name,
            lambda: Op(
                name,
                1,
                partials=lambda x: (self.operation(order + 1)(x),),
                ball=lambda x: self._ball(order, x),
                means=(self, order),
                remake=(Removable.again, (self.closed, points, order)),
            ),
        )

    def closed_form(self, order: int) -> Expr:
        """A derivative in closed form, for a quotient in terms of the lower ones:
        f*d = n gives f'*d = n' - f*d', and so on. Where those are accurate this is
        far better conditioned than the quotient rule, and shorter."""
        while len(self._closed) <= order:
            self._closed.append(self._next())
        if self._parts is None:
            return self._closed[order]
        lower = {_lower(j): self.operation(j)(VARIABLE) for j in range(order)}
        return ir.substitute((self._closed[order],), lower)[0]

    def _next(self) -> Expr:
        k = len(self._closed)
        if self._parts is None:
            return self._whole.of(k)
        numerator, denominator = self._parts
        total = numerator.of(k)
        for j in reversed(range(k)):
            total = total - ir.const(math.comb(k, j)) * (denominator.of(k - j) * _lower(j))
        return total / denominator.of(0)

    def plain_form(self, order: int) -> Expr:
        """A derivative in closed form, without terms in lower ones."""
        while len(self._plain) <= order:
            k = len(self._plain)
            lower = {self.operation(j)(VARIABLE): self._plain[j] for j in range(k)}
            self._plain += ir.substitute((self.closed_form(k),), lower)
        return self._plain[order]

    def pinned(self, order: int, t: Expr, plain: Expr) -> Expr:
        """A derivative at t, in closed form except at the points themselves: where t has a
        kink, as `minimum(x, 1)` at x = 1, or the function has one, as `sqrt(1 - cos(t))`,
        the closed form has no limit there."""
        for c in self.centres:
            coefficient = c.value(order)
            if not isinstance(coefficient, arb):
                plain = PINNED(t - ir.const(c.point), to_expr(coefficient), plain)
        return plain

    def readable_form(self, order: int) -> Expr:
        """A derivative in closed form, as a person would write it: for a quotient n/d, the
        sum of the products of the derivatives of n and of 1/d."""
        while len(self._readable) <= order:
            k = len(self._readable)
            if self.closed.op is not DIV:
                self._readable.append(_derivative(self._readable[-1]))
                continue
            factors = [_derivatives(self.closed.args[0], k)]
            factors.append(_derivatives(ir.ONE / self.closed.args[1], k))
            terms = [
                ir.const(math.comb(k, j)) * (factors[0][k - j] * factors[1][j])
                for j in range(k + 1)
            ]
            self._readable += cancel((functools.reduce(ir.add, terms),))
        return self._readable[order]

    def branches(self, order: int, form: Expr) -> Expr:
        """A form of a derivative with a branch for its value at each point."""
        for c in reversed(self.centres):
            form = ir.where(ir.eq(VARIABLE, ir.const(c.point)), to_expr(c.value(order)), form)
        return form

    def bands(self, order: int, bits: int) -> list[Band]:
        """The bands around the points, for arithmetic with that many bits."""
        key = order, bits
        if key not in self._bands:
            with exclusive(PRECISION):
                self._bands[key] = [self._band(c, order, bits) for c in self.centres]
        return self._bands[key]

    def _band(self, centre: Centre, order: int, bits: int) -> Band:
        right, *left = (self._series(centre, side, order, bits) for side in centre.sides)
        if not left:
            return right
        radius = min(right.radius, left[0].radius)
        return replace(right, radius=radius, left=left[0])

    def _series(self, centre: Centre, side: int, order: int, bits: int) -> Band:
        plain = self.plain_form(order)
        (whole,) = closed_forms((plain,))
        closed = Closed(self.closed_form(order), plain, whole, VARIABLE, centre.point, side)
        return band(lambda k: centre.coefficient(k, order, side), closed, bits)

    def written(self, order: int, args: Sequence[Expr], bits: int) -> Expr:
        """A derivative at a point: polynomials near the centres, else the closed form."""
        key = order, bits
        if key not in self._written:
            for lower in range(order):  # so that the recursion below stays shallow
                self.written(lower, self.variables, bits)
            (result,) = expand_completed((self.closed_form(order),), bits)
            for b in self.bands(order, bits):
                result = b.around(VARIABLE, result)
            for c in self.centres if self.kinked else ():
                at = ir.eq(VARIABLE, ir.const(c.point))
                result = ir.where(at, to_expr(c.value(order)), result)
            self._written[key] = result
        return _at(self._written[key], self, args)

    def _ball(self, order: int, x: Any) -> Any:
        """A rigorous enclosure: exact at a point, the closed form away from it."""
        known = self._last.get(order)  # the functions inside meet the same point often
        if known is None or known[0] is not x or known[1] != ctx.prec:
            known = self._last[order] = x, ctx.prec, self._ball_anew(order, x)
        return known[2]

    def _ball_anew(self, order: int, x: Any) -> Any:
        for c in self.centres:
            p = arb(fmpq(c.point.numerator, c.point.denominator))
            if x.is_exact() and x == p:
                return to_ball(c.value(order))
            if x.overlaps(p):
                return arb("nan")
        if order not in self._tapes:
            self._tapes[order] = Tape([VARIABLE], [self.plain_form(order)])
        tape = self._tapes[order]
        return tape.run([x], ctx.prec)[tape.roots[0]]


def _lower(order: int) -> Expr:
    """The operation of a lower derivative."""
    return ir.var(f"completed derivative {order}")


def _derivative(e: Expr) -> Expr:
    (result,) = cancel(pushforward((e,), {VARIABLE: ir.ONE}))
    return result


class _Slopes:
    """The derivatives of a formula in `VARIABLE`."""

    def __init__(self, e: Expr) -> None:
        self._found = [e]
        self._leibniz = Derivatives(VARIABLE)

    def of(self, order: int) -> Expr:
        """The derivative of an order, from the one before while that is short."""
        while len(self._found) <= order:
            last = self._found[-1]
            if len(ir.topological((last,))) <= MAX_DIFFERENTIATED:
                self._found.append(_derivative(last))
            else:
                self._found.append(self._leibniz.of(self._found[0], len(self._found)))
        return self._found[order]


def _derivatives(e: Expr, order: int) -> list[Expr]:
    """All derivatives up to an order."""
    found = [e]
    for _ in range(order):
        found.append(_derivative(found[-1]))
    return found


MAKERS["completed"] = Maker(Removable.again, (Expr, tuple[Fraction, ...], int))


class Completed(Protocol):
    """A completed function: a derivative of some order is an operation on as many
    arguments as it has variables.

    Attributes
    ----------
    variables : of its closed forms.
    spelled : the closed forms without completed functions, by form and order.
    """

    spelled: dict[tuple[str, Any], tuple[Expr, ...]]

    @property
    def variables(self) -> Sequence[Expr]: ...

    def written(self, order: Any, args: Sequence[Expr], bits: int) -> Expr: ...

    def plain_form(self, order: Any) -> Expr: ...

    def readable_form(self, order: Any) -> Expr: ...

    def branches(self, order: Any, form: Expr) -> Expr: ...


def meaning(op: Op) -> tuple[Completed, Any] | None:
    """The completed function of an operation and the order of its derivative, if it has one."""
    found: tuple[Completed, Any] | None = op.means
    return found


def expand_completed(outputs: Iterable[Expr], bits: int = 53) -> tuple[Expr, ...]:
    """Write completed functions out, for arithmetic with that many bits."""
    return _replaced(outputs, lambda function, order, args: function.written(order, args, bits))


def _replaced(
    outputs: Iterable[Expr],
    form: Callable[[Completed, Any, Sequence[Expr]], Expr],
    kept: Container[Op] = (),
) -> tuple[Expr, ...]:
    """`form(function, order, arguments)` in place of each completed function, and what derived
    operations denote in place of these, except for those that are kept."""

    def rule(e: Expr, args: tuple[Expr, ...]) -> Expr:
        if e.op in DERIVED and e.op not in kept:
            assert e.op.expand is not None
            return e.op.expand(*args)
        completed = meaning(e.op)
        return ir.rebuild(e, args) if completed is None else form(*completed, args)

    return ir.transform(outputs, rule)


def _at(form: Expr, function: Completed, args: Sequence[Expr]) -> Expr:
    """A form of a function, with the arguments in place of its variables."""
    if tuple(args) == tuple(function.variables):
        return form
    (result,) = ir.substitute((form,), dict(zip(function.variables, args, strict=True)))
    return result


def _has_kink(t: Expr) -> bool:
    return any(n.op.kink is not None or n.op is ir.WHERE for n in ir.topological((t,)))


def closed_forms(outputs: Iterable[Expr]) -> tuple[Expr, ...]:
    """The closed form in place of each completed function, to be computed where that
    is defined."""
    return _in_closed_form(outputs, "plain_form")


def differentiable_forms(outputs: Iterable[Expr]) -> tuple[Expr, ...]:
    """As `closed_forms`, for differentiation: detached parts stay detached."""
    return _in_closed_form(outputs, "plain_form", detached=True)


def pinned_forms(outputs: Iterable[Expr]) -> tuple[Expr, ...]:
    """The closed form in place of each completed function, with its values at the completed
    points: a limit there would take long with costly functions. What is detached stays so: its error
    does not count. Slopes of norms stay: they jump at 0, and limits are found near it."""
    return _in_closed_form(outputs, "plain_form", pinned=True)


def readable_forms(outputs: Iterable[Expr]) -> tuple[Expr, ...]:
    """The closed form in place of each completed function, for people to read, without conditions
    under which formulas are defined."""

    def plain(e: Expr, args: tuple[Expr, ...]) -> Expr:
        return args[0] if e.op is WITHIN else ir.rebuild(e, args)

    return _in_closed_form(ir.transform(outputs, plain), "readable_form")


def branched_forms(outputs: Iterable[Expr]) -> tuple[Expr, ...]:
    """The closed form in place of each completed function, for people to read, as a branch next to
    those of its completed points."""

    def form(function: Completed, order: Any, args: Sequence[Expr]) -> Expr:
        found = function.branches(order, readable_forms((function.readable_form(order),))[0])
        return _at(found, function, args)

    return _replaced(outputs, form, SLOPES)


def limits_at(output: Expr) -> dict[Expr, Expr]:
    """The points where completed functions in a formula have no closed form, as equations, and the
    formula there, in closed form, for people to read."""
    places: dict[Expr, dict[Expr, Expr]] = {}  # limits by function
    rest = ir.var("closed form")
    for e in ir.topological((output,)):
        if (completed := meaning(e.op)) is None:
            continue
        function, order = completed
        form, args = function.branches(order, rest), readable_forms(e.args)
        while form is not rest:
            there, limit, form = form.args
            places.setdefault(_at(there, function, args), {})[e] = _at(limit, function, args)
    found = {}
    for there, limits in places.items():
        (limited,) = ir.substitute((output,), limits)
        (found[there],) = readable_forms((limited,))
    return found


def _in_closed_form(
    outputs: Iterable[Expr], name: str, pinned: bool = False, detached: bool = False
) -> tuple[Expr, ...]:
    def form(function: Completed, order: Any, args: Sequence[Expr]) -> Expr:
        key = f"{name} pinned" if pinned else name, order
        inner = function.spelled.get(key)
        if inner is None:
            inner = _in_closed_form((getattr(function, name)(order),), name, pinned)
            function.spelled[key] = inner
        result = _at(inner[0], function, args)
        if name == "plain_form" and isinstance(function, Removable):
            if pinned or function.kinked or _has_kink(args[0]):
                return function.pinned(order, args[0], result)
        return result

    if name == "readable_form":
        return _replaced(outputs, form, SLOPES)
    return _replaced(outputs, form, (DETACHED, ROOT_SLOPE) if pinned else (DETACHED,) * detached)
