"""The plain chain rule in double arithmetic, as other tools evaluate it, and its faults.

Before:  a captured program, say exp(x)/x - (exp(x) - 1)/x/x for the slope of (exp(x)-1)/x
After:   what that gives at a point, and the operation where it starts to be wrong

Requires: a scalar program.
Ensures: nothing is cancelled, completed or rewritten; a norm written as a square root
is differentiated as one, w/|w|, which is 0/0 at 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from flint import arb

from symdiff import ir
from symdiff.errors import Location
from symdiff.interpret import exclusive
from symdiff.interpret.flat import Tape
from symdiff.interpret.rationals import Rationals
from symdiff.ir import DIV, POW, WHERE, Expr
from symdiff.ir.functions import UNIT
from symdiff.ir.program import Program
from symdiff.passes.accuracy.error_test import flagged_where
from symdiff.passes.differentiate import gradient, local_partials
from symdiff.runtime.protocols import Plain
from symdiff.runtime.scalar.kernel import Kernel

HALF_THE_DIGITS = 2.0**26
"""Ulps of error from which more than half of a double's digits are lost."""
PRECISION = 4400
"""Bits of the balls that an operation's result is compared with."""
INHERITED = 2.0**-50
"""Relative errors up to this are rounding."""
NO_DIGITS = 2.0**60


class Naive:
    """Value and derivatives of a program by the plain chain rule.

    Parameters
    ----------
    program : as captured.
    wrt : the variables to differentiate by.

    Attributes
    ----------
    outputs : the values, then for each value its derivatives by `wrt`.
    """

    def __init__(self, program: Program, wrt: Sequence[str]) -> None:
        self.program, self.wrt = program, tuple(wrt)
        variables = [ir.var(w) for w in wrt]
        slopes = [d for o in program.outputs for d in gradient(o, variables)]
        self.outputs = ir.transform((*program.outputs, *slopes), _plain)
        self.nodes = [e for e in ir.topological(self.outputs) if not e.op.boolean]
        index = {e: i for i, e in enumerate(self.nodes)}
        self._places = [index[e] for e in self.outputs]
        self._operations = self._compiled("operations", self.nodes)
        self._flagged: Kernel | None = None
        self._blame: _Blame | None = None

    def _compiled(self, name: str, outputs: Sequence[Expr], test: Expr | None = None) -> Kernel:
        plain = Plain(name, self.program.params, tuple(outputs), test)
        return Kernel(plain, accuracy="fast")

    def operations(self, point: Sequence[float]) -> list[float]:
        """The results of all operations at a point, in the order of `nodes`."""
        return [float(v) for v in self._operations.point.evaluate(list(point))[0]]

    def at(self, point: Sequence[float]) -> list[float]:
        """All outputs at a point."""
        values = self.operations(point)
        return [values[i] for i in self._places]

    def flagged(self, points: Any) -> Any:
        """Which points, one a row, may lose half their digits or are not finite."""
        if self._flagged is None:
            self._flagged = self._compiled(
                "flagged", self.outputs, flagged_where(self.outputs, int(HALF_THE_DIGITS))
            )
        with np.errstate(all="ignore"):
            flags = self._flagged.evaluate(list(np.ascontiguousarray(points.T))).flags
        return np.zeros(len(points), bool) if flags is None else flags.astype(bool)

    def blame(self, output: int, point: Sequence[float]) -> tuple[Expr, Location | None]:
        """The operation where an output starts to be wrong at a point, and its place."""
        if self._blame is None:
            self._blame = _Blame(self)
        return self._blame.find(self.outputs[output], point)


def _plain(e: Expr, args: tuple[Expr, ...]) -> Expr:
    if e.op is UNIT and args[1].op is POW:
        return args[0] / args[1]
    return ir.rebuild(e, args)


class _Blame:
    """All operations of the plain chain rule, in doubles and in balls."""

    def __init__(self, naive: Naive) -> None:
        self.naive, self.program, params = naive, naive.program, naive.program.params
        with exclusive():
            self.tape = Tape([ir.var(p) for p in params], naive.outputs)
        self.origin = _origins(naive.program)
        self.last: tuple[list[float], list[Any], dict[Expr, float]] = ([], [], {})

    def find(self, output: Expr, point: Sequence[float]) -> tuple[Expr, Location | None]:
        if self.last[0] != list(point):
            self.last = (list(point), *self._errors(point))
        _, balls, errors = self.last
        path = [output]
        while below := self._used(path[-1], balls):
            worst = max(below, key=errors.__getitem__)
            if errors[worst] <= INHERITED:
                break
            path.append(worst)
        culprit = _first_fault([(e, errors[e]) for e in path])
        return culprit, self._place(culprit)

    def _errors(self, point: Sequence[float]) -> tuple[list[Any], dict[Expr, float]]:
        """The balls of all nodes at a point, and the errors of the doubles."""
        floats = self.naive.operations(point)
        with exclusive(PRECISION):
            inputs = [arb(x) for x in point]
            balls = self.tape.run(inputs, PRECISION, Rationals(self.tape, point).everything())
            index = self.tape.index
            errors = {
                e: _relative_error(x, balls[index[e]] if e in index else None)
                for e, x in zip(self.naive.nodes, floats, strict=True)
            }
        return balls, errors

    def _used(self, e: Expr, balls: Sequence[Any]) -> list[Expr]:
        """The arguments that count at the point: of a branch, the side taken."""
        if e.op is WHERE:
            place = self.tape.index.get(e.args[0])
            taken = None if place is None else balls[place]
            if taken is not None:
                return [e.args[1] if taken else e.args[2]]
        return [a for a in e.args if not a.op.boolean]

    def _place(self, e: Expr) -> Location | None:
        """The source location of an operation, or of what it is the derivative of."""
        if (found := self._own_place(e)) is not None:
            return found[1]
        if e.op is DIV and (found := self._own_place(e.args[1])) is not None:
            return found[1]
        below = [p for n in ir.topological((e,)) if (p := self._own_place(n)) is not None]
        if below:
            return max(below, key=lambda p: p[0])[1]
        places = self.program.locations
        return next((places[o] for o in self.program.outputs if o in places), None)

    def _own_place(self, e: Expr) -> tuple[int, Location] | None:
        if e in self.origin:
            return self.origin[e]
        place = self.program.locations.get(e)
        return None if place is None else (-1, place)


def _origins(program: Program) -> dict[Expr, tuple[int, Location]]:
    """For the nodes of partial derivatives, the operation that they belong to: how far
    up it is, and its place."""
    primal = ir.topological(program.outputs)
    known = set(primal)
    found: dict[Expr, tuple[int, Location]] = {}
    for rank, e in enumerate(primal):
        place = program.locations.get(e)
        if place is None or e.op.boolean or not e.args:
            continue
        found.setdefault(e, (rank, place))
        partials = [d for _, d, _ in local_partials(e)]
        for node in ir.topological(ir.transform(partials, _plain)):
            if node not in known and node.args:
                found.setdefault(node, (rank, place))
    return found


def _relative_error(x: float, truth: Any) -> float:
    if not math.isfinite(x):
        return math.inf
    if truth is None or not truth.is_finite():
        return 0.0
    if truth.contains(0):
        return 0.0 if x == 0 else NO_DIGITS
    return float(min(abs(arb(x) - truth) / abs(truth), arb(NO_DIGITS)).mid())


def _first_fault(path: Sequence[tuple[Expr, float]]) -> Expr:
    """The deepest node without a finite value, or else the one that adds most error."""
    infinite = [e for e, error in path if math.isinf(error)]
    if infinite:
        return infinite[-1]
    below = [error for _, error in path[1:]] + [0.0]
    growth = [error / max(b, 2.0**-53) for (_, error), b in zip(path, below, strict=True)]
    return path[growth.index(max(growth))][0]
