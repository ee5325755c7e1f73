"""How accurate a compiled function is: measured against proven values.

`measure` compares a callable with ball arithmetic on points of three kinds:
`bit-uniform` (any finite float), `ordinary` (magnitudes people compute with), and
`near-singular` (at and near the zeros of denominators, branch points, kinks).
`accuracy` does so for value and first derivatives of a `SymbolicFunction`; the
report shows it. Points, and so results, depend on the function only; a time limit
merely cuts off functions that are very slow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from symdiff import ir
from symdiff.interpret import Certified, ulp_error, work
from symdiff.ir import Expr
from symdiff.ir.program import OptimizedProgram, Program
from symdiff.passes.complete.complete import closed_forms
from symdiff.passes.differentiate import gradient
from symdiff.passes.guards.guards import guards
from symdiff.passes.guards.notes import GuardNotes
from symdiff.pipeline.samples import (
    Array,
    Point,
    bases,
    bit_uniform,
    box,
    inside,
    near_singular,
    ordinary,
)

KINDS = ("bit-uniform", "ordinary", "near-singular")
WORK = 6_000_000
"""Operations after which measuring stops, whatever is left; see `symdiff.interpret.work`."""
SAMPLES = 64
"""Points of each kind, for small functions."""
EFFORT = 40_000
"""Operations, over all points of a kind, from which there are fewer points."""
MANY = 2**17
POINT_WORK = 400_000
MAX_OUTPUTS = 40

Answers = Callable[[Sequence[float]], Sequence[float]]
"""All outputs at a point, as floats."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The errors on one kind of points, where the true value is finite.

    Attributes
    ----------
    kind : "bit-uniform", "ordinary" or "near-singular".
    points : how many points counted.
    mean, worst : errors in ulps over all outputs that came out finite; the mean
        counts an error of more than 2**53 ulps as that.
    point, output : where the worst error is: the arguments by name, and "f" or
        "df/dx".
    nonfinite : outputs that came out inf or nan.
    """

    kind: str
    points: int
    mean: float
    worst: float
    point: Mapping[str, float] | None
    output: str | None
    nonfinite: int

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "points": self.points,
            "mean_ulp": self.mean,
            "worst_ulp": self.worst,
            "worst_point": None if self.point is None else dict(self.point),
            "worst_output": self.output,
            "nonfinite": self.nonfinite,
        }


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The measured accuracy of a function and its derivatives.

    Attributes
    ----------
    kinds : one entry per kind of points.
    complete : whether all points were used; False if time ran out.
    """

    kinds: tuple[Measured, ...]
    complete: bool = True

    def to_dict(self) -> dict[str, Any]:
        return {"kinds": [k.to_dict() for k in self.kinds], "complete": self.complete}

    def lines(self) -> list[str]:
        """The table, for people."""
        lines = [f"{'accuracy (ulp)':<18}{'points':>8}{'mean':>11}{'worst':>11}{'not finite':>12}"]
        for k in self.kinds:
            at = ""
            if k.point is not None and k.worst > 1:
                where = ", ".join(f"{n} = {x!r}" for n, x in k.point.items())
                at = f"  worst: {k.output} at {where}"
            errors = f"{k.mean:>11.3g}{k.worst:>11.3g}" if k.points else f"{'-':>11}{'-':>11}"
            lines.append(f"{'  ' + k.kind:<18}{k.points:>8}{errors}{k.nonfinite:>12}{at}")
        if not self.complete:
            lines.append("  (out of time: not all points were measured)")
        return lines


class Measurable(Protocol):
    """What `accuracy` needs of a `SymbolicFunction`."""

    @property
    def raw_program(self) -> Program: ...
    @property
    def jacobian(self) -> Any: ...
    @property
    def _options(self) -> Any: ...
    def _wrt(self) -> tuple[str, ...]: ...
    def _default_static(self) -> dict[str, Any]: ...
    def _compiled(self, static: Mapping[str, Any]) -> tuple[OptimizedProgram, Any]: ...


def accuracy(function: Measurable, budget: int = WORK) -> Accuracy:
    """The measured accuracy of a function's value and first derivatives.

    Parameters
    ----------
    function : a `SymbolicFunction`.
    budget : operations (`symdiff.interpret.work`) after which to stop.
    """
    raw, wrt = function.raw_program, function._wrt()
    program = replace(raw, outputs=closed_forms(raw.outputs))
    truth = derivatives(reference(program), wrt)
    answers, dtype = answers_of(function)
    labels = output_labels(program, wrt)
    return measure(
        program, truth, answers, labels, budget=budget, dtype=dtype,
        defaults=defaults_of(function),
    )  # fmt: skip


def answers_of(function: Measurable) -> tuple[Answers, str]:
    """What a function returns for values and derivatives, flat, and its dtype."""
    static = function._default_static()
    kernels = [f._compiled(static)[1] for f in (function, function.jacobian)]
    dtype = np.dtype(function._options.dtype or np.float64).name

    def answers(point: Sequence[float]) -> list[float]:
        with np.errstate(all="ignore"):
            return [float(v) for kernel in kernels for v in kernel([float(x) for x in point])]

    return answers, dtype


def reference(program: Program, notes: GuardNotes | None = None) -> Program:
    """The program that counts as the truth: as captured, but guards whose value is the
    limit denote the smooth extension, and zeros that the rounding of literals alone
    misses are zeros."""
    return replace(program, outputs=guards(program.outputs, program.assumptions, notes))


def derivatives(program: Program, wrt: Sequence[str]) -> tuple[Expr, ...]:
    """The outputs of a program as captured, then each one's derivatives by `wrt`."""
    variables = [ir.var(w) for w in wrt]
    slopes = [d for o in program.outputs for d in gradient(o, variables)]
    return (*program.outputs, *slopes)


def output_labels(program: Program, wrt: Sequence[str]) -> list[str]:
    """Names for values and derivatives: `f`, `df/dx`; `f[0]`, `df[0]/dx`."""
    name, count = program.name, len(program.outputs)
    values = [name] if count == 1 else [f"{name}[{i}]" for i in range(count)]
    return [*values, *(f"d{v}/d{w}" for v in values for w in wrt)]


def defaults_of(function: Any) -> dict[str, float]:
    """The default values of a `SymbolicFunction`'s real parameters."""
    parameters = function._source.parameters
    return {n: float(v) for n, v in parameters.defaults.items() if n in parameters.real}


def measure(
    program: Program,
    truth: Sequence[Expr],
    answers: Answers,
    labels: Sequence[str],
    *,
    budget: int = WORK,
    dtype: str = "float64",
    defaults: Mapping[str, float] | None = None,
    samples: int = SAMPLES,
) -> Accuracy:
    """Compare a callable with the proven values of expressions.

    Parameters
    ----------
    program : says where to measure: parameters, singular points, domain.
    truth : the exact outputs; the first stand for the program's own.
    answers : point -> all outputs, as computed.
    labels : names of the outputs.
    budget : operations (`symdiff.interpret.work`) after which to stop.
    dtype : what `answers` computes in.
    defaults : values of parameters near which to look for singular points.
    samples : points of each kind, at most.
    """
    chosen = points(program, len(ir.topological(truth)), dtype, defaults or {}, samples)
    proven = Certified(program.params, truth, truth[: len(program.outputs)], POINT_WORK)
    until = work.spent() + budget
    tallies = {kind: _Tally(kind, dtype) for kind in chosen}
    complete = True
    for row in range(max(map(len, chosen.values()), default=0)):
        for kind, rows in chosen.items():
            if row >= len(rows):
                continue
            if work.spent() >= until:
                complete = False
                break
            point = tuple(map(float, rows[row]))
            tallies[kind].add(point, proven, answers)
    kinds = tuple(t.measured(program.params, labels) for t in tallies.values())
    return Accuracy(kinds, complete)


def points(
    program: Program,
    size: int,
    dtype: str = "float64",
    defaults: Mapping[str, float] | None = None,
    samples: int = SAMPLES,
) -> dict[str, Array]:
    """Points of each kind in the domain of a program, one a row."""
    n = len(program.params)
    if n == 0:
        return {"ordinary": np.zeros((1, 0))}
    count = max(6, min(samples, EFFORT // max(size, 1)))
    facts = (*program.domain, *program.assumptions)
    test, within = inside(program.params, facts), box(program.params, facts)
    lines = bases(program.params, test, defaults or {})
    near = near_singular(program.params, program.outputs, lines, 4 * count)
    near = near.astype(dtype).astype(np.float64)
    close = near[np.isfinite(near).all(axis=1)]
    kinds = {KINDS[2]: close[test(close)]}
    for kind, draw in zip(KINDS, (bit_uniform, ordinary), strict=False):
        for tries in (64 * count, MANY):  # more where the domain is small
            rows = draw(tries, n, dtype, within)
            kinds[kind] = rows[test(rows)]
            if len(kinds[kind]) >= count:
                break
    return {kind: kinds[kind][:count] for kind in KINDS}


class _Tally:
    """Errors met so far."""

    def __init__(self, kind: str, dtype: str) -> None:
        self.kind, self.dtype = kind, dtype
        self.points = self.nonfinite = 0
        self.errors: list[float] = []
        self.worst: tuple[float, Point, int] | None = None

    def add(self, point: Point, truth: Certified, answers: Answers) -> None:
        proven = truth.at_with_status(point, self.dtype)[:MAX_OUTPUTS]
        scored = [
            i
            for i, a in enumerate(proven)
            if a.status in ("exact", "limit") and math.isfinite(a.value)
        ]
        if not scored:
            return
        got = answers(point)
        self.points += 1
        for i in scored:
            if not math.isfinite(got[i]):
                self.nonfinite += 1
                continue
            error = ulp_error(got[i], proven[i].ball, self.dtype)
            self.errors.append(min(error, 2.0**53))
            if self.worst is None or error > self.worst[0]:
                self.worst = error, point, i

    def measured(self, params: Sequence[str], labels: Sequence[str]) -> Measured:
        mean = math.fsum(self.errors) / len(self.errors) if self.errors else 0.0
        if self.worst is None:
            return Measured(self.kind, self.points, mean, 0.0, None, None, self.nonfinite)
        error, point, output = self.worst
        where = dict(zip(params, point, strict=True))
        return Measured(self.kind, self.points, mean, error, where, labels[output], self.nonfinite)
