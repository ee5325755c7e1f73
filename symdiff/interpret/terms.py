"""The parts of the outputs of a derivation: partial derivatives of the captured outputs.

Before:  a captured program, and a path of derivations, such as a gradient, then a Jacobian
After:   each element of each output as a sum of terms weight * d f_o/(dx_i dx_j)

Requires: the shapes of the captured outputs and of the parameters at one call; numbers have ().
Ensures: the order and the shapes of `pipeline.scalar` and `pipeline.loops`. Weights are elements of
the tangents and cotangents, which are further parameters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Step = tuple[str, tuple[str, ...]]
Shape = tuple[int, ...]
Array = Any
"""An array of lists of terms."""

ORDER = 2
"""The largest order of a term."""


@dataclass(frozen=True, slots=True)
class Term:
    """A partial derivative of one output.

    Attributes
    ----------
    output : the index of an element among those of all outputs.
    by : the indices of elements of parameters.
    weights : the indices of its factors.
    """

    output: int
    by: tuple[int, ...] = ()
    weights: tuple[int, ...] = ()


def terms(
    path: Sequence[Step],
    params: Sequence[tuple[str, Shape]],
    outputs: Sequence[Shape],
    elementwise: bool = False,
) -> list[Array] | None:
    """The terms of each output after all steps of a path; None for more than `ORDER` derivatives.

    Parameters
    ----------
    params, outputs : those of the captured program.
    elementwise : whether gradients and derivatives by arrays are those of each element.
    """
    derivation = _Derivation(params, outputs, elementwise)
    for kind, names in path:
        step: Callable[[Sequence[str]], list[Array]] | None = getattr(derivation, kind, None)
        if step is None:
            return None
        real = [n for n in names if n in derivation.params]
        derivation.outputs = step(real)
    order = max((len(t.by) for a in derivation.outputs for row in a.flat for t in row), default=0)
    return derivation.outputs if order <= ORDER else None


class _Derivation:
    """The terms after some steps; a method for each kind of step."""

    def __init__(
        self,
        params: Sequence[tuple[str, Shape]],
        outputs: Sequence[Shape],
        elementwise: bool,
    ) -> None:
        self.params: dict[str, tuple[int, Shape]] = {}
        self.size, self.elementwise = 0, elementwise
        for name, shape in params:
            self._added(name, shape)
        self.own = self.size
        self.outputs: list[Array] = []
        first = 0
        for shape in outputs:
            count = math.prod(shape)
            self.outputs.append(_array([[Term(first + k)] for k in range(count)], shape))
            first += count

    def _added(self, name: str, shape: Shape) -> Array:
        """The indices of the elements of one more parameter."""
        while name in self.params:
            name += "_"
        self.params[name] = self.size, shape
        self.size += math.prod(shape)
        return self._places(name)

    def _places(self, name: str) -> Array:
        first, shape = self.params[name]
        return first + np.arange(math.prod(shape)).reshape(shape)

    def _slope(self, row: Sequence[Term], by: int) -> list[Term]:
        """The derivative of a sum of terms by an element of a parameter."""
        if by < self.own:
            return [Term(t.output, (*t.by, by), t.weights) for t in row]
        return [
            Term(t.output, t.by, (*t.weights[:k], *t.weights[k + 1 :]))
            for t in row
            for k, w in enumerate(t.weights)
            if w == by
        ]

    def _by(self, output: Array, name: str, elementwise: bool = False) -> Array:
        """The derivatives of an output by a parameter, with the output's shape and then the
        parameter's."""
        places = self._places(name)
        if elementwise and self.elementwise and output.shape == places.shape:
            pairs = zip(output.flat, places.flat, strict=True)
            return _array([self._slope(row, int(p)) for row, p in pairs], output.shape)
        rows = [self._slope(row, int(p)) for row in output.flat for p in places.flat]
        return _array(rows, (*output.shape, *places.shape))

    def _weighted(self, rows: Sequence[tuple[Array, Array]], shape: Shape) -> Array:
        """The sums of products of arrays of terms, flat in their first axis, and of weights."""
        made = []
        for k in range(math.prod(shape)):
            pairs = [(row, int(w)) for a, ws in rows for row, w in zip(a[k], ws.flat, strict=True)]
            made.append([Term(t.output, t.by, (*t.weights, w)) for row, w in pairs for t in row])
        return _array(made, shape)

    def gradient(self, wrt: Sequence[str]) -> list[Array]:
        return [self._by(self.outputs[0], v, True) for v in wrt]

    def value_and_gradient(self, wrt: Sequence[str]) -> list[Array]:
        return [*self.outputs, *self.gradient(wrt)]

    def jacobian(self, wrt: Sequence[str]) -> list[Array]:
        return [self._by(a, v) for a in self.outputs for v in wrt]

    def hessian(self, wrt: Sequence[str]) -> list[Array]:
        first = self.outputs[0]
        return [self._by(self._by(first, v), w) for v in wrt for w in wrt]

    def derivative(self, names: Sequence[str]) -> list[Array]:
        found = self.outputs
        for v in names:
            found = [self._by(a, v, True) for a in found]
        return found

    def jvp(self, wrt: Sequence[str]) -> list[Array]:
        old = list(self.outputs)
        return [*old, *self._pushed(old, wrt)]

    def hvp(self, wrt: Sequence[str]) -> list[Array]:
        return self._pushed(self.gradient(wrt), wrt)

    def _pushed(self, outputs: Sequence[Array], wrt: Sequence[str]) -> list[Array]:
        """The tangents of outputs."""
        slopes = [[self._by(a, v) for v in wrt] for a in outputs]
        dots = [self._added(f"{v}_dot", self.params[v][1]) for v in wrt]
        return [
            self._weighted([(_rows(s, a.size), d) for s, d in zip(row, dots, strict=True)], a.shape)
            for a, row in zip(outputs, slopes, strict=True)
        ]

    def vjp(self, wrt: Sequence[str]) -> list[Array]:
        old = list(self.outputs)
        bars = [self._added(f"cotangent_{k}", a.shape) for k, a in enumerate(old)]
        back = []
        for v in wrt:
            shape = self.params[v][1]
            slopes = [_rows(self._by(a, v), a.size).T for a in old]
            back.append(self._weighted(list(zip(slopes, bars, strict=True)), shape))
        return [*old, *back]


def _array(rows: Sequence[list[Term]], shape: Shape) -> Array:
    made = np.empty(len(rows), object)
    for k, row in enumerate(rows):
        made[k] = row
    return made.reshape(shape)


def _rows(a: Array, count: int) -> Array:
    """An array as a matrix of so many rows."""
    return a.reshape(count, -1)


__all__ = ["ORDER", "Term", "terms"]
