"""Derivatives of a run by the leaves of its arguments, nested as those of compiled functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symdiff.errors import UnsupportedError
from symdiff.frontend import pytrees
from symdiff.frontend.by_value import outputs
from symdiff.frontend.by_value.arrays import lifted
from symdiff.frontend.by_value.reals import Real
from symdiff.frontend.by_value.sweeps import pulled_back, pushed_forward, reached


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a run.

    Attributes
    ----------
    names : of the parameters.
    nodes : how each nests.
    leaves : the numbers and arrays, in order.
    scalars : those of each leaf; none of integers.
    rounded : as `reals.Record` has them.
    """

    names: tuple[str, ...]
    nodes: tuple[pytrees.Node, ...]
    leaves: tuple[Any, ...]
    scalars: tuple[list[Real], ...]
    rounded: Sequence[Real] = ()

    def places(self, name: str) -> range:
        """The leaves of a parameter."""
        k = self.names.index(name)
        first = sum(map(pytrees.count, self.nodes[:k]))
        return range(first, first + pytrees.count(self.nodes[k]))

    def real_ones(self, by: Sequence[str]) -> list[str]:
        """Those parameters that have derivatives; integers have none."""
        found = []
        for name in by:
            of_reals = [
                bool(self.scalars[k]) or getattr(self.leaves[k], "size", 1) == 0
                for k in self.places(name)
            ]
            if any(of_reals) and not all(of_reals):
                raise UnsupportedError(
                    f"the argument {name} contains integers among what is differentiated by",
                    hint="pass real numbers, or choose with wrt=",
                )
            if of_reals and all(of_reals):
                found.append(name)
        if not found:
            raise UnsupportedError(
                f"there is no derivative by {', '.join(by)}, which holds no real number"
            )
        below = {x.n for x in reached(self.rounded)}
        for name in found:
            if any(x.n in below for k in self.places(name) for x in self.scalars[k]):
                raise UnsupportedError(
                    f"times, which are rounded to microseconds, depend on {name}",
                    hint="choose other parameters with wrt=",
                )
        return found

    def node(self, name: str) -> pytrees.Node:
        return self.nodes[self.names.index(name)]


@dataclass(frozen=True, slots=True)
class Derivation:
    """One step, of the result of the one before it.

    Attributes
    ----------
    arguments : by whose leaves is differentiated.
    record : whether the derivatives are scalars, of which there are derivatives.
    """

    arguments: Arguments
    record: bool

    def _group(self, by: Sequence[str], by_leaf: Callable[[int], Any]) -> Any:
        """Values of leaves, nested as the parameters; of one parameter alone."""
        made = tuple(
            pytrees.unflatten(self.arguments.node(n), map(by_leaf, self.arguments.places(n)))
            for n in by
        )
        return made[0] if len(made) == 1 else made

    def _shaped(self, items: Sequence[Any], shape: tuple[int, ...], is_array: bool) -> Any:
        """A derivative as a number or an array."""
        if not self.record:
            return np.array(items, float).reshape(shape) if is_array else float(items[0])
        if not is_array:
            return items[0]
        found = np.empty(len(items), object)
        found[:] = items
        return lifted(found.reshape(shape))

    def _slopes(self, roots: Any, seeds: Any, by: Sequence[str]) -> dict[int, list[Any]]:
        """The derivatives by the scalars of each leaf."""
        places = [k for n in by for k in self.arguments.places(n)]
        flat = [x for k in places for x in self.arguments.scalars[k]]
        found = iter(pulled_back(roots, seeds, flat, self.record))
        return {k: [next(found) for _ in self.arguments.scalars[k]] for k in places}

    def pullback(self, roots: Any, seeds: Any, by: Sequence[str]) -> Any:
        """The cotangents of parameters."""
        by = self.arguments.real_ones(by)
        slopes = self._slopes(roots, seeds, by)

        def at(k: int) -> Any:
            leaf = self.arguments.leaves[k]
            return self._shaped(slopes[k], np.shape(leaf), isinstance(leaf, np.ndarray))

        return self._group(by, at)

    def gradient(self, result: Any, by: Sequence[str]) -> Any:
        """Of a single number."""
        if any(map(outputs.is_complex, outputs.leaves(result))):
            raise UnsupportedError("the gradient of a complex number", hint="use jacobian")
        roots = [x for leaf in outputs.leaves(result) for x in outputs.elements(leaf)]
        if len(roots) != 1 or isinstance(result, (list, tuple, dict)):
            raise UnsupportedError(
                "the gradient of a function of several numbers", hint="use jacobian"
            )
        return self.pullback(roots, [1.0], by)

    def jacobian(self, result: Any, by: Sequence[str]) -> Any:
        """For each number or array of a result the derivatives by the parameters."""
        by = self.arguments.real_ones(by)

        def of_leaf(leaf: Any) -> Any:
            if outputs.is_complex(leaf):
                return _joined(of_leaf(leaf.real), of_leaf(leaf.imag))
            rows = [self._slopes([x], [1.0], by) for x in outputs.elements(leaf)]
            shape = np.shape(leaf)

            def at(k: int) -> Any:
                argument = self.arguments.leaves[k]
                whole = isinstance(leaf, np.ndarray) or isinstance(argument, np.ndarray)
                items = [p for row in rows for p in row[k]]
                return self._shaped(items, (*shape, *np.shape(argument)), whole)

            return self._group(by, at)

        return outputs.mapped(result, of_leaf)

    def partial(self, result: Any, by: Sequence[str]) -> Any:
        """The mixed derivative by numbers in turn."""
        for k, name in enumerate(by):
            self.arguments.real_ones([name])
            if self.arguments.node(name).kind != "leaf" or np.ndim(
                self.arguments.leaves[self.arguments.places(name)[0]]
            ):
                raise UnsupportedError(f"diff by {name}, which is no number", hint="use jacobian")
            (x,) = self.arguments.scalars[self.arguments.places(name)[0]]
            last = k == len(by) - 1
            step = Derivation(self.arguments, self.record or not last)
            result = step._pushed(result, {x.n: 1.0})
        return result

    def _pushed(self, result: Any, tangents: dict[int, Any]) -> Any:
        """The tangents of a result."""

        def of_leaf(leaf: Any) -> Any:
            if outputs.is_complex(leaf):
                return _joined(of_leaf(leaf.real), of_leaf(leaf.imag))
            items = pushed_forward(outputs.elements(leaf), tangents, self.record)
            return self._shaped(items, np.shape(leaf), isinstance(leaf, np.ndarray))

        return outputs.mapped(result, of_leaf)

    def pushforward(self, result: Any, vector: Any, by: Sequence[str]) -> Any:
        """The tangents of a result along those of the parameters."""
        tangents: dict[int, Any] = {}
        for k, t in self._entries(vector, by):
            argument = self.arguments.leaves[k]
            _must_fit(t, argument, "the vector")
            flat = outputs.elements(_spread(t, np.shape(argument)))
            for x, v in zip(self.arguments.scalars[k], flat, strict=True):
                tangents[x.n] = v
        return self._pushed(result, tangents)

    def _entries(self, vector: Any, by: Sequence[str]) -> list[tuple[int, Any]]:
        """The tangent of each leaf."""
        real = self.arguments.real_ones(by)
        if isinstance(vector, np.ndarray) and vector.ndim == 1 and len(vector) == len(real) > 1:
            vector = tuple(vector)
        single = len(real) == 1 and pytrees.alike(self.arguments.node(real[0]), vector)
        entries = [vector] if single or not isinstance(vector, (tuple, list)) else list(vector)
        if len(entries) == len(by):
            entries = [v for n, v in zip(by, entries, strict=True) if n in real]
        if len(entries) != len(real):
            raise UnsupportedError(f"the vector has {len(entries)} entries, not {len(real)}")
        found: list[tuple[int, Any]] = []
        for name, v in zip(real, entries, strict=True):
            parts = pytrees.leaves_of(self.arguments.node(name), v, f"the vector by {name}")
            found += zip(self.arguments.places(name), parts, strict=True)
        return found

    def cotangents(self, result: Any, vector: Any, by: Sequence[str]) -> Any:
        """The cotangents of the parameters from those of the result."""
        leaves, given = outputs.leaves(result), outputs.leaves(vector)
        if len(leaves) != len(given):
            raise UnsupportedError(f"there are {len(given)} cotangents for {len(leaves)} results")
        if any(map(outputs.is_complex, leaves)):
            raise UnsupportedError(
                "cotangents of complex numbers, of a function that is run by values"
            )
        roots, seeds = [], []
        for leaf, c in zip(leaves, given, strict=True):
            _must_fit(c, leaf, "a cotangent")
            roots += outputs.elements(leaf)
            seeds += outputs.elements(_spread(c, np.shape(leaf)))
        return self.pullback(roots, seeds, by)


def _joined(real: Any, imag: Any) -> Any:
    """Derivatives of both parts, nested alike."""
    if isinstance(real, (tuple, list)):
        return type(real)(map(_joined, real, imag))
    if isinstance(real, dict):
        return {k: _joined(v, imag[k]) for k, v in real.items()}
    return real + 1j * imag


def _must_fit(given: Any, whose: Any, what: str) -> None:
    shape, own = np.shape(given), np.shape(whose)
    if len(shape) > len(own) or np.broadcast_shapes(shape, own) != own:
        raise UnsupportedError(f"{what} has the shape {shape}, not {own}")


def _spread(v: Any, shape: tuple[int, ...]) -> Any:
    """A number or array in a shape; doubles as such."""
    if type(v) is Real:
        found = np.empty(shape, object)
        found[...] = v
        return found if shape else v
    return np.broadcast_to(v, shape) if shape else float(v) if np.ndim(v) == 0 else v


def derived(
    arguments: Arguments, result: Any, path: Sequence[tuple[str, tuple[str, ...]]], vector: Any,
    record: bool,
) -> Any:  # fmt: skip
    """The result of a path of steps.

    Parameters
    ----------
    result : of the function, with scalars.
    path : kinds of steps and names of parameters, in order.
    vector : that of a product, which may be the last step.
    record : whether the derivatives of the last step are scalars, too.
    """
    for k, (kind, by) in enumerate(path):
        last = k == len(path) - 1
        if not last and kind in ("jvp", "vjp", "hvp"):
            raise UnsupportedError(f"a derivative of {kind}, of a function that is run by values")
        result = _step(kind, by, arguments, result, vector, record or not last)
    return result if record else outputs.mapped(result, outputs.doubles)


def _step(
    kind: str, by: tuple[str, ...], arguments: Arguments, result: Any, vector: Any, record: bool
) -> Any:  # fmt: skip
    step, recorded = Derivation(arguments, record), Derivation(arguments, True)
    match kind:
        case "gradient":
            return step.gradient(result, by)
        case "value_and_gradient":
            return result, step.gradient(result, by)
        case "jacobian":
            return step.jacobian(result, by)
        case "hessian":
            return step.jacobian(recorded.gradient(result, by), by)
        case "derivative":
            return step.partial(result, by)
        case "jvp":
            return result, step.pushforward(result, vector, by)
        case "vjp":
            return result, step.cotangents(result, vector, by)
        case "hvp":
            return step.pushforward(recorded.gradient(result, by), vector, by)
    raise UnsupportedError(f"{kind} of a function that is run by values")
