"""Derivatives of programs with arrays at points that kernels do not know, by the definition.

Where a call is at a point that the program treats apart (`loops.simplify.guarded_points`) or at which its kernel
was found wrong (`interpret.special_points`), where second derivatives meet a tie (`loops.simplify.undefined_ties`), and where a result is nan though
the arguments are finite, the captured program is unrolled at the call's sizes, and its elements
are differentiated along lines (`interpret.along_lines`), each element in a budget of its own.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from symdiff import ir
from symdiff.errors import GuardWarning, Location, SymdiffError
from symdiff.interpret.infinite import beside_infinities, is_infinite
from symdiff.interpret.places import poles
from symdiff.interpret.special_points import EDGES, special_points
from symdiff.interpret.terms import Step, terms
from symdiff.interpret.unrolled import TooLong, unrolled
from symdiff.ir import FALSE, Expr
from symdiff.ir.loop_program import ENDLESS, LARGEST, LoopProgram, array, expressions_in, load
from symdiff.process.recent import Recent, bits
from symdiff.runtime.scalar.fallback import MOVE, UNKNOWN, tell, unproven

MOST = 30_000
"""Operations of the formulas of one call."""
FEW = 16
"""The largest number of infinite elements that are examined."""
SAMPLED = 6
"""Derivatives after which it is asked whether all of them would be found in twice the budget."""
WORK = 40_000_000
"""Operations of ball arithmetic for one call; see `symdiff.interpret.work`."""

ASIDE = 2.0**-16
"""How far from a point, relatively, loops are seen to end in the same way."""
LONGER = 100
"""How many times as many iterations loops may make there."""
TRIED, SIZES = 2_500, 4
"""Operations of formulas at whose special points a kernel is tried, and the most sizes of arguments for which it is
before it was found wrong."""

Kernel = Callable[[Sequence[Any]], list[Any]]


class Asking(Protocol):
    """Makes kernels of conditions, and keeps conditions that were found."""

    def __call__(self, conditions: LoopProgram) -> Kernel: ...

    def kept(
        self, kind: str, outputs: Sequence[Expr], compute: Callable[[], Sequence[Expr]]
    ) -> tuple[Expr, ...]: ...


Shapes = tuple[tuple[int, ...], ...]
Outcome = tuple[list[Any] | None, int, bool, tuple[Sequence[float], float] | None]
"""The results, or None; how many are unknown, whether all are found, and the slope at a jump with its point."""
FLOAT64 = np.dtype(np.float64)
_warned: set[Location] = set()


class Points:
    """What computes the results of one derivation there.

    Parameters
    ----------
    captured : the program of the value, as captured.
    path : how what the kernel computes is derived from it.
    met : the kernel of the conditions under which all derivatives are computed here; None for none.
    places : where those stand in the source.
    written : the kernel without regard to them.
    ties : whether unknown second derivatives at a tie are nan.
    compiled : makes kernels of conditions; None where points are not tried.
    general : the kernel where equalities end loops as they do near the point; None if there are none.
    exit : where the first of those stands.
    """

    def __init__(
        self,
        captured: LoopProgram,
        path: Sequence[Step],
        met: Kernel | None = None,
        places: Sequence[Location | None] = (),
        written: Kernel | None = None,
        ties: bool = False,
        compiled: Asking | None = None,
        general: Callable[..., list[Any]] | None = None,
        exit: Location | None = None,
    ) -> None:
        self.captured, self.path, self.met = captured, tuple(path), met
        self.places, self.written, self.ties = tuple(places), written, ties
        self.compiled, self.general, self.exit = compiled, general, exit
        self._special: dict[Shapes, Kernel | None] = {}
        self._outcomes = Recent[Outcome]()
        self.is_tried = compiled is not None and not captured.of_derivatives and self.has_kinks

    def __reduce__(self) -> tuple[Any, ...]:
        about = self.met, self.places, self.written, self.ties, self.compiled
        return Points, (self.captured, self.path, *about, self.general, self.exit)

    @cached_property
    def has_kinks(self) -> bool:
        """Whether the captured program contains operations that are not smooth."""
        every = expressions_in(self.captured.block)
        return any(
            n.op is ir.WHERE or n.op.kink is not None or n.op in EDGES or any(poles(n))
            for n in ir.topological((*every, *self.captured.outputs))
        )

    def held(self, values: Sequence[Any]) -> list[int]:
        """The places of the conditions that hold; behind them those of loops that an equality ended, at this point
        and not near it; and one for points where the kernel was found wrong."""
        own = len(self.places)
        met = [] if self.met is None else self.met([*values, LARGEST])
        found = [k for k, m in enumerate(met) if m]
        if found and found[0] >= own and self._is_general(values, met[own:]):
            found = []
        return [*found, len(met)] if self.is_special(values) else found

    def _is_general(self, values: Sequence[Any], counts: Sequence[int]) -> bool:
        """Whether loops end in the same way on both sides of the point, in a general direction."""
        assert self.met is not None
        rng = np.random.default_rng(8)
        params = self.captured.params
        real = [k >= len(params) or params[k].type.kind == "f" for k in range(len(values))]
        most = LONGER * (max(counts) + SAMPLED)
        steps = [ASIDE * rng.uniform(0.5, 1.0, np.shape(v)) for v in values]
        for side in (1, -1):
            near = [
                np.where(np.isfinite(v), v + side * d * np.where(v == 0, 1.0, v), v)
                if is_real
                else v
                for v, d, is_real in zip(values, steps, real, strict=True)
            ]
            try:
                if self.met([*near, most])[len(self.places) :] != list(counts):
                    return False
            except SymdiffError as error:
                return ENDLESS in str(error)  # then there are no values near the point
        return True

    def is_special(self, values: Sequence[Any]) -> bool:
        """Whether the kernel was found wrong at such points."""
        if not self._special:
            return False
        asked = self._special.get(tuple(map(np.shape, values)))
        return asked is not None and bool(asked(values[: len(self.captured.params)])[0])

    @contextmanager
    def untried(self) -> Iterator[None]:
        """While this is entered, no kernel is tried: calls are at points that nobody asked for."""
        tried, self.is_tried = self.is_tried, False
        try:
            yield
        finally:
            self.is_tried = tried

    def are_new(self, values: Sequence[Any]) -> bool:
        """Whether kernels were not tried for these sizes, and for few others, unless they were found wrong."""
        tried = self._special
        is_left = len(tried) < SIZES or any(k is not None for k in tried.values())
        return is_left and tuple(map(np.shape, values)) not in tried

    def look(self, values: Sequence[Any], kernel: Kernel) -> bool:
        """Try a kernel at the special points of the formulas for these sizes; whether it was found wrong."""
        shapes = tuple(map(np.shape, values))
        self._special[shapes] = None
        if not all(getattr(v, "dtype", FLOAT64) == FLOAT64 for v in self._reals(values)):
            return False
        try:
            found = self._tried(values, kernel)
        except (TooLong, SymdiffError, ArithmeticError, TypeError, ValueError, KeyError):
            return False
        if found is None or self.compiled is None:
            return False
        self._special[shapes] = self.compiled(found)
        return True

    def _tried(self, values: Sequence[Any], kernel: Kernel) -> LoopProgram | None:
        """The condition under which the kernel is wrong; None for none."""
        program = self.captured
        own, more = values[: len(program.params)], values[len(program.params) :]
        names, outputs = unrolled(program, _sizes(program, own), own, TRIED)
        roots = _elements_of(outputs)
        if not all(isinstance(e, Expr) for e in roots):
            return None
        rows = terms(
            self.path,
            list(_sizes(program, own).items()),
            list(map(np.shape, outputs)),
            program.by_element,
        )
        if rows is None:
            return None
        weights = [f"{k} {j}" for k, v in enumerate(more) for j in range(np.size(v))]

        def formulas(point: Sequence[float]) -> Sequence[float]:
            given, left = [], iter(point)
            for k, v in enumerate(values):
                if k < len(own) and program.params[k].type.kind != "f":
                    given.append(v)
                    continue
                made = np.array([next(left) for _ in range(np.size(v))]).reshape(np.shape(v))
                given.append(made if made.ndim else float(made))
            try:
                return _flat(kernel(given))
            except (SymdiffError, ArithmeticError, ValueError):
                return [math.nan] * sum(r.size for r in rows)

        def sought() -> tuple[Expr]:
            every = [t for r in rows for t in r.flat]
            exact, own_names = _roots(outputs), [*names, *weights]
            found = special_points(own_names, len(names), exact, every, formulas)
            return (found.condition,)

        assert self.compiled is not None
        about = self.path, names, weights, program.by_element, list(map(np.shape, outputs))
        (found,) = self.compiled.kept(f"special points {about}", roots, sought)
        if found is FALSE:
            return None
        met = {e: _finitely(e) for e in ir.topological((found,)) if e.op is ir.EQ}
        condition = ir.substitute(ir.substitute((found,), met), _elements(program, own))
        return replace(program, block=(), outputs=condition, tree=[0])

    def __call__(
        self,
        values: Sequence[Any],
        plain: Sequence[Any],
        compute: Callable[[Any], Sequence[Any]] | None = None,
    ) -> tuple[list[Any], bool]:
        """The results: where a condition holds, all derivatives; else those that are nan, and others as
        far as a part of the budget goes; and whether all are found.

        Parameters
        ----------
        values : the arguments, prepared; plain : what the kernel computed.
        compute : what it computes where conditions hold, by `written` if there is such a kernel.
        """
        held = self.held(values)
        every = bool(held)
        if every:
            with unproven():
                if compute is not None:
                    plain = compute(self.written)
                elif self.written is not None:
                    plain = self.written(values)
        if not every and any(np.isnan(v).any() for v in self._reals(values)):
            return list(plain), False
        question = bits([*values, *plain, every])
        outcome = self._outcomes.get(question)
        if outcome is None:
            outcome = self._outcomes.keep(question, self._searched(values, plain, every))
        found, unknown, all_known, jumps = outcome
        if jumps is not None:
            self._warn(held, *jumps)
        self._tell(unknown, every)
        if found is None:
            return list(plain), False
        return [v.copy() if isinstance(v, np.ndarray) else v for v in found], all_known

    def _searched(self, values: Sequence[Any], plain: Sequence[Any], every: bool) -> Outcome:
        try:
            search = _Search(self, values, plain)
        except (TooLong, SymdiffError, ArithmeticError, TypeError, ValueError, KeyError):
            search = None
        if search is None or not search.fits:
            return None, sum(int(_wanted(p, every).sum()) for p in plain), False, None
        found = search.filled([_wanted(p, every) for p in search.plain])
        return found, search.unknown, search.all_known, search.jumps

    def _reals(self, values: Sequence[Any]) -> list[Any]:
        own = zip(self.captured.params, values, strict=False)
        return [v for p, v in own if p.type.kind == "f"]

    def _tell(self, unknown: int, every: bool) -> None:
        if unknown and every and not self.ties:
            tell(unknown, self.captured.name, f": {UNKNOWN.format(unknown)}", MOVE)
        elif unknown and self.ties:
            tell(
                unknown,
                self.captured.name,
                ": kinks meet here, and second derivatives are not the same on all sides of them: those are nan",
                MOVE,
            )

    def _warn(self, held: Sequence[int], point: Sequence[float], slope: float) -> None:
        """Warn of a jump, once for each line."""
        text = (
            "the value at a guard is not the limit there; derivatives are those of the guard's "
            f"own formula: {slope!r}"
        )
        for k in held:
            place = self.places[k] if k < len(self.places) else self.exit
            if place is not None and place not in _warned:
                _warned.add(place)
                warnings.warn_explicit(text, GuardWarning, place.path, place.line)


def _finitely(e: Expr) -> Expr:
    """An equality of finite numbers: infinite ones, which are constant, do not meet."""
    return ir.and_(e, ir.not_(ir.eq(ir.abs_(e.args[0]), ir.INF)))


def _elements_of(outputs: Sequence[Any]) -> list[Any]:
    return [e for row in outputs for e in np.asarray(row, object).flat]


def _roots(outputs: Sequence[Any]) -> list[Any]:
    """The formulas of the elements, whose literals are those of the kernel."""
    from symdiff.passes.cancel.literals import exact_literals

    roots = _elements_of(outputs)
    if all(isinstance(e, Expr) for e in roots) and ir.has_at_most(TRIED, roots):
        return list(exact_literals(tuple(roots))[0])
    return roots


def _sizes(program: LoopProgram, own: Sequence[Any]) -> dict[str, tuple[int, ...]]:
    pairs = zip(program.params, own, strict=True)
    return {p.name: np.shape(v) for p, v in pairs if p.type.kind == "f"}


def _elements(program: LoopProgram, own: Sequence[Any]) -> dict[Expr, Expr]:
    """For the variables of formulas the elements of arguments."""
    found = {}
    for p, v in zip(program.params, own, strict=True):
        for k, at in enumerate(np.ndindex(*np.shape(v))) if p.type.kind == "f" else ():
            element = load(array(p.name), *map(ir.const, at)) if at else p.leaf
            found[ir.var(f"{p.name} {k}")] = element
    return found


class _Search:
    """The derivatives at the point of one call."""

    def __init__(self, points: Points, values: Sequence[Any], plain: Sequence[Any]) -> None:
        from symdiff.interpret import exclusive
        from symdiff.interpret.along_lines import Derivatives
        from symdiff.interpret.unrolled import FormulasAt, unrolled_with

        program, own = points.captured, values[: len(points.captured.params)]
        params = list(_sizes(program, own).items())
        self.flat = _flat([*points._reals(own), *values[len(own) :]])
        count = sum(math.prod(s) for _, s in params)
        names = [f"{n} {k}" for n, s in params for k in range(math.prod(s))]
        numbers = FormulasAt(MOST, dict(zip(names, self.flat[:count], strict=True)))
        names, outputs = unrolled_with(program, dict(params), own, numbers)
        roots, at = _roots(outputs), self.flat[:count]
        if not all(map(math.isfinite, at)):
            roots = beside_infinities(roots, dict(zip(names, at, strict=True)))
            at = [x if math.isfinite(x) else 0.0 for x in at]
        self.infinite = [is_infinite(e) for e in roots]
        shapes = [np.shape(row) for row in outputs]
        rows = terms(points.path, params, shapes, program.by_element)
        self.rows = [] if rows is None else rows
        self.plain, self.jumps, self.unknown = plain, None, 0
        self.fits = all(isinstance(e, Expr) for e in roots) and [np.shape(p) for p in plain] == [
            a.shape for a in self.rows
        ]
        if self.fits:
            self.plain = [_as_derivative(p, row) for p, row in zip(plain, self.rows, strict=True)]
            with exclusive():
                self.there = Derivatives(names, roots).at(at)

    jumps: tuple[Sequence[float], float] | None
    all_known = False

    def filled(self, wanted: Sequence[Any]) -> list[Any]:
        """The plain results with those that are wanted."""
        from symdiff.interpret import exclusive, work

        found = [np.array(p) for p in self.plain]
        others = [
            ~w & (np.asarray(p).dtype.kind == "f") for p, w in zip(found, wanted, strict=True)
        ]
        with exclusive():
            self.unknown = self._fill(found, wanted, work.spent() + WORK)
            left = self._fill(found, others, work.spent() + WORK // 8)
        self.all_known = not (left or self.unknown)
        kinds = zip(found, self.plain, strict=True)
        return [v if isinstance(p, np.ndarray) else type(p)(v[()]) for v, p in kinds]

    def _fill(self, found: list[Any], wanted: Sequence[Any], until: int) -> int:
        """Put derivatives into what is found, if so much work is enough; how many are not known."""
        from symdiff.interpret import work

        start = work.spent()
        places = [
            (made, k, row.flat[k])
            for made, row, which in zip(found, self.rows, wanted, strict=True)
            for k in np.flatnonzero(which)
            if self._has_derivative(row.flat[k])
        ]
        values: list[tuple[float, bool] | None] = []
        for _, _, terms_of in places:
            if len(values) == SAMPLED and (work.spent() - start) * len(places) > 2 * SAMPLED * (
                until - start
            ):
                return len(places)
            if work.spent() > until:
                break
            values.append(self._sum(terms_of))
        for (made, k, _), answer in zip(places, values, strict=False):
            value, is_none = answer or (math.nan, False)
            if answer and (is_none or not (math.isnan(value) and math.isinf(made.flat[k]))):
                made.flat[k] = value
        return len(places) - sum(v is not None for v in values)

    def _has_derivative(self, row: Sequence[Any]) -> bool:
        """Whether an element is a derivative, and one by the definition: what is infinite at the point has
        none but those of its parts."""
        return any(t.by for t in row) and not any(
            self.infinite[t.output] or self.there.is_pole(t.output) for t in row
        )

    def _sum(self, row: Sequence[Any]) -> tuple[float, bool] | None:
        """A derivative, and whether there is known to be none; None if it is not known."""
        total, is_none = 0.0, False
        for t in row:
            weight = math.prod(self.flat[w] for w in t.weights)
            if weight == 0:
                continue
            slope = self.there.partial(t.output, t.by)
            if not slope.known:
                return None
            if slope.jumps and self.jumps is None:
                self.jumps = self.there.point, slope.value
            total, is_none = total + weight * slope.value, is_none or slope.is_none
        return total, is_none


def _as_derivative(p: Any, row: Any) -> Any:
    """What a kernel computed; constants of derivatives as the real numbers that they are."""
    if np.asarray(p).dtype.kind not in "iu" or not any(t.by for terms in row.flat for t in terms):
        return p
    return p.astype(float) if isinstance(p, np.ndarray) else float(p)


def _flat(values: Sequence[Any]) -> list[float]:
    return [float(x) for v in values for x in np.ravel(v)]


def _wanted(plain: Any, every: bool) -> Any:
    """Which elements of a result are computed: all, or those that are nan, and infinite ones if they are few."""
    a = np.asarray(plain)
    if a.dtype.kind != "f":
        return np.zeros(a.shape, bool)
    infinite = np.isinf(a)
    few = infinite if infinite.sum() <= FEW else np.zeros(a.shape, bool)
    return np.ones(a.shape, bool) if every else np.isnan(a) | few


__all__ = ["Points"]
