"""Functions completed across a surface: operations with derivatives of every order.

Before:  completed_x(x, y), for (exp(x) - exp(y))/(x - y) completed at x = y
After:   where(h is small, exp(y)*(1/2 + h/3 + ...), its closed form), h = x - y

`Across` keeps the closed form and the power series in h = v - rho(others). It is the counterpart of
`passes.complete.removable` in several variables: derivatives
are operations again, and are written out at the end.

Requires: what `passes.complete.surfaces` has found: a series of the closed form in h.
Ensures: whether h is small enough is decided where it is evaluated, from the last terms
of the series of the requested derivative, which fall, and are below 2**-`MARGIN` of the
first ones; and no kink lies between.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, ClassVar
from weakref import WeakValueDictionary

from flint import arb, ctx

from symdiff import ir
from symdiff.interpret.flat import Tape
from symdiff.ir import ONE, Expr, Op
from symdiff.ir.functions import PINNED
from symdiff.passes.analysis.band_extent import MARGIN
from symdiff.passes.cancel.cancel import cancel
from symdiff.passes.complete.bands import edges
from symdiff.passes.complete.removable import closed_forms, expand_completed
from symdiff.passes.differentiate import pushforward
from symdiff.process.locks import Lock

TESTED = 2
"""The number of nonzero terms after those in the sum that decide whether there are enough."""

Orders = tuple[int, ...]
"""How often a function is differentiated by each of its variables."""


class Across:
    """A function of several variables, completed where one is a function of the others.

    Attributes
    ----------
    closed : the formula in `variables`, undefined where `v` equals `rho`.
    series : count -> the first coefficients of its powers of v - rho; None if that many
        are too long.
    terms : the number of them in the series of the function itself.
    """

    _known: ClassVar[WeakValueDictionary[str, Across]] = WeakValueDictionary()
    _making: ClassVar[Lock] = Lock()

    def __init__(
        self,
        name: str,
        closed: Expr,
        v: Expr,
        rho: Expr,
        terms: int,
        series: Callable[[int], Sequence[Expr] | None],
    ) -> None:
        self.name, self.closed, self.v, self.rho = name, closed, v, rho
        self.terms, self.series = terms, series
        self.variables = tuple(ir.variables((closed,)))
        zeros = (0,) * len(self.variables)
        self._closed: dict[Orders, Expr] = {zeros: closed}
        self._coefficients: dict[tuple[Orders, int], list[Expr]] = {}
        self._near: dict[Orders, tuple[Expr, Expr]] = {}
        self._tapes: dict[Orders, Tape] = {}
        self.spelled: dict[tuple[str, Any], tuple[Expr, ...]] = {}

    @classmethod
    def of(
        cls,
        closed: Expr,
        v: Expr,
        rho: Expr,
        terms: int,
        series: Callable[[int], Sequence[Expr] | None],
    ) -> Across:
        """The function, shared by all calls with the same formula and surface."""
        text = repr((ir.encode((closed, v, rho)), terms))
        name = "across_" + hashlib.sha256(text.encode()).hexdigest()[:16]
        with cls._making:
            found = cls._known.get(name)
            if found is None:
                found = cls._known[name] = cls(name, closed, v, rho, terms, series)
        return found

    @classmethod
    def again(
        cls,
        closed: Expr,
        v: Expr,
        rho: Expr,
        terms: int,
        series: Callable[[int], Sequence[Expr] | None],
        orders: Orders,
    ) -> Op:
        """A derivative of the function, for a process other than the one that found it."""
        return cls.of(closed, v, rho, terms, series).operation(orders)

    def node(self) -> Expr:
        """The function of its own variables."""
        return self.operation((0,) * len(self.variables))(*self.variables)

    def operation(self, orders: Orders) -> Op:
        """A derivative as an operation."""
        name = "_".join((self.name, *map(str, orders)))
        what = self.closed, self.v, self.rho, self.terms, self.series, orders
        return ir.made(
            name,
            lambda: Op(
                name,
                len(self.variables),
                partials=lambda *args: tuple(
                    self.operation(_more(orders, k, 1))(*args) for k in range(len(args))
                ),
                ball=lambda *args: self._ball(orders, args),
                means=(self, orders),
                remake=(Across.again, what),
            ),
        )

    # ------------------------------------------------------------------- formulas
    def readable_form(self, orders: Orders) -> Expr:
        """A derivative in closed form."""
        if orders not in self._closed:
            k = max(i for i, n in enumerate(orders) if n)
            lower = self.readable_form(_more(orders, k, -1))
            (self._closed[orders],) = cancel(pushforward((lower,), {self.variables[k]: ONE}))
        return self._closed[orders]

    def plain_form(self, orders: Orders) -> Expr:
        """A derivative in closed form, with its limit on the surface itself. There is no series:
        its truncation error is small relative to the function, but not relative to the remainder
        where other terms cancel it, and neither double-double arithmetic nor balls would notice."""
        limit = self.coefficients(orders, self.terms + TESTED)[0]
        return PINNED(self.v - self.rho, limit, self.readable_form(orders))

    def branches(self, orders: Orders, form: Expr) -> Expr:
        """A form of a derivative, with its limit on the surface as a branch of its own."""
        limit = self.coefficients(orders, self.terms + TESTED)[0]
        return ir.where(ir.eq(self.v, self.rho), limit, form)

    def written(self, orders: Orders, args: Sequence[Expr], bits: int) -> Expr:
        """A derivative at the arguments, as computed in doubles: a series near the surface."""
        close, total = self.near(orders)
        form = ir.where(close, total, self.readable_form(orders))
        (result,) = expand_completed((form,), bits)
        return ir.substitute((result,), dict(zip(self.variables, args, strict=True)))[0]

    def near(self, orders: Orders) -> tuple[Expr, Expr]:
        """Where the last nonzero terms are negligible, and the sum of those before. Only
        on the surface where a series ends: a polynomial there need not be one farther away."""
        if orders not in self._near:
            found = self.coefficients(orders, self.terms + TESTED)
            h = self.v - self.rho
            there = [k for k, c in enumerate(found) if c is not ir.ZERO]
            steps = [b - a for a, b in itertools.pairwise([*there, len(found)])]
            if len(there) <= TESTED or steps[-1] > max(steps[:-1]):
                self._near[orders] = ir.eq(h, ir.ZERO), found[0]
                return self._near[orders]
            *_, before, last, after = there
            sizes = {k: ir.abs_(found[k]) for k in (before, last, after)}
            size = ir.abs_(found[0]) + ir.abs_(h * found[1])
            close = self._same_side()
            for k in (last, after):
                term = sizes[k] * ir.power(ir.abs_(h), k)
                close = ir.and_(close, ir.le(term, size * Fraction(1, 2**MARGIN)))
            # far beyond where it converges, a series may begin with terms that are all negligible
            rise = 2 * sizes[after] * ir.power(ir.abs_(h), after - before)
            fall = sizes[last] * ir.power(ir.abs_(h), last - before) + sizes[before]
            close = ir.and_(close, ir.or_(ir.eq(h, ir.ZERO), ir.lt(rise, fall)))
            self._near[orders] = close, horner(found[:last], h)
        return self._near[orders]

    def _same_side(self) -> Expr:
        """Whether no kink, jump or change of a branch lies between a point and the surface."""
        same: Expr = ir.TRUE
        for here in dict.fromkeys(edges(*closed_forms((self.closed,)))):
            (there,) = ir.substitute((here,), {self.v: self.rho})
            if there is not here:
                both = ir.and_(ir.lt(0, here), ir.lt(0, there))
                none = ir.and_(ir.lt(here, 0), ir.lt(there, 0))
                same = ir.and_(same, ir.or_(both, none))
        return same

    def coefficients(self, orders: Orders, count: int) -> list[Expr]:
        """The coefficients of the powers of h in a derivative, at most so many: for c*h**k, the
        derivative by v is k*c*h**(k-1), that by another variable the same times -rho', plus
        c'*h**k."""
        key = orders, count
        if key not in self._coefficients:
            if not any(orders):
                found = self.series(count) or self.series(self.terms + TESTED) or ()
                self._coefficients[key] = list(found)
            else:
                k = max(i for i, n in enumerate(orders) if n)
                x = self.variables[k]
                lower = self.coefficients(_more(orders, k, -1), count + 1)
                rises = [c * n for n, c in enumerate(lower)][1:]
                own = pushforward((self.v - self.rho, *lower[:-1]), {x: ONE})
                total = [c + own[0] * r for c, r in zip(own[1:], rises, strict=True)]
                self._coefficients[key] = list(cancel(total))
        return self._coefficients[key]

    # ---------------------------------------------------------------------- balls
    def _ball(self, orders: Orders, args: Sequence[arb]) -> arb:
        """A rigorous enclosure: the limit exactly on the surface, the closed form off it."""
        if orders not in self._tapes:
            limit = self.coefficients(orders, self.terms + TESTED)[0]
            outputs = [self.v - self.rho, limit, self.readable_form(orders)]
            self._tapes[orders] = Tape(list(self.variables), outputs)
        tape = self._tapes[orders]
        values = tape.run(list(args), ctx.prec)
        h, limit, closed = (values[i] for i in tape.roots)
        if h.is_zero():
            return limit
        return arb("nan") if h.overlaps(arb(0)) else closed


def horner(coefficients: Sequence[Expr], h: Expr) -> Expr:
    """The sum of coefficients[k] * h**k."""
    total: Expr = ir.ZERO
    for c in reversed(coefficients):
        total = c + h * total
    return total


def _more(orders: Orders, k: int, by: int) -> Orders:
    return (*orders[:k], orders[k] + by, *orders[k + 1 :])
