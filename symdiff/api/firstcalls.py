"""The first call with each kind of arguments: is it what Python, and the captured program, make
of them? See `symdiff.pipeline.validation`."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from traceback import extract_tb
from typing import Any

import numpy as np

from symdiff.errors import DomainError, Location, SymdiffError, users
from symdiff.frontend import Shapes, pytrees
from symdiff.ir.loop_program import ARRAY, Call, LoopProgram, name_of, names_in, walk
from symdiff.ir.program import OptimizedProgram, Program
from symdiff.pipeline.by_definition import ByDefinition
from symdiff.pipeline.kernels.scalar import tiered, unsound
from symdiff.pipeline.shared_memory import each_once
from symdiff.pipeline.validation.settings import mode
from symdiff.runtime import cache
from symdiff.runtime.loops.call import ComputationError, ElementError
from symdiff.runtime.scalar.elementwise import ArgumentError
from symdiff.runtime.scalar.fallback import Tiered

STEPS = 1_000_000
"""Lines of plain Python that are run to see what it raises."""
Function = Any
"""A `SymbolicFunction`, which imports this."""


def compare_kernel(
    self: Function, real: tuple[Any, ...], static: Mapping[str, Any], key: Any
) -> None:
    """Compare the kernel of a program with arrays or loops with the captured program, at the
    first call with each kind of arguments."""
    from symdiff.pipeline.validation.kinds import kind, mark

    kinds = key, tuple(map(kind, real)), self._options.accuracy, self._source.path
    if kinds in self._compared or mode() == "off" or None in kinds[1]:
        return
    self._compared.add(kinds)
    source, fun = self._source, unwrapped(self)
    shapes = source.shapes(static, real)
    raw = source.raw(static, shapes)
    if not isinstance(raw, LoopProgram) or self._options.target == "cuda":
        return
    name = mark(fun, ("loops", mode(), kinds)) if fun and self._options.cache else None
    if name is not None and cache.load(name) is not None:
        return
    from symdiff.pipeline.validation.loops import compare

    if any(np.ndim(v) != len(p.type.shape) for p, v in zip(raw.params, real, strict=True)):
        return  # by elements or rows
    kernel = self._arrays.compiled(raw, static, shapes)[1]
    derived = source.shown(static, shapes)
    with nullcontext() if kernel.points is None else kernel.points.untried():
        compare(self.__name__, raw, source.path, real, kernel, derived, mode() == "full")
    if name is not None:
        cache.store(name, b"", ())


def must_be_of_python(self: Function, real: Sequence[Any]) -> None:
    """Refuse numbers of NumPy's, of a function that is right for Python's only."""
    for name, v in zip(self._source.parameters.real, real, strict=False):  # vectors follow
        if isinstance(v, np.generic) or (isinstance(v, np.ndarray) and not v.ndim):
            raise ArgumentError(
                f"{name} is a number of NumPy's; {self.__name__} adds or returns truth values that are "
                "integers of Python's numbers only",
                hint=f"pass float({name})",
            )


def unwrapped(function: Function) -> Callable[..., Any] | None:
    """The plain Python function of a `SymbolicFunction`; None if there is none."""
    found: Any = function
    while hasattr(found, "_source"):
        found = getattr(found, "__wrapped__", None)
    return found if callable(found) else None


def in_python(self: Function, real: Sequence[Any], static: Mapping[str, Any]) -> Any:
    """What the plain function returns for these real and static values."""
    fun, parameters = unwrapped(self), self._source.parameters
    if fun is None:
        raise TypeError(f"{self.__name__} is no Python function")
    given = dict(zip(parameters.real, real, strict=True))
    if self._nested is not None:
        parameters, nodes = self._nested
        parts = iter(real)
        trees = [pytrees.unflatten(node, parts) for node in nodes]
        given = dict(zip(parameters.real, trees, strict=True))
    args, kwargs = parameters.arguments({**static, **given})
    return fun(*args, **kwargs)


def run(self: Function, real: tuple[Any, ...], static: Mapping[str, Any], out: Any) -> Any:
    """A call; what a `raise` of the function raises, it raises."""
    try:
        return self._run_here(real, static, out)
    except (DomainError, ComputationError, ElementError) as error:
        _raise_as_python(self, real, static, error)
        raise
    except np.linalg.LinAlgError as error:
        if self._source.path and not _is_raised_by_python(self, real, static):
            raise DomainError(
                f"{self.__name__} at this matrix: {error}",
                _routines(self._source.raw(static, self._source.shapes(static, real))),
                "the formula of this derivative has an inverse, which the value needs not",
            ) from None
        raise


def _is_raised_by_python(self: Function, real: Sequence[Any], static: Mapping[str, Any]) -> bool:
    """Whether the plain function cannot take these matrices either."""
    primals = each_once(real[: len(self._source.parameters.real)], copy.deepcopy)
    try:
        with np.errstate(all="ignore"):
            in_python(self, primals, static)
    except np.linalg.LinAlgError:
        return True
    except Exception:
        return False
    return False


def _routines(program: Program | LoopProgram) -> Location | None:
    """The place of the first routine of linear algebra in a captured program."""
    if not isinstance(program, LoopProgram):
        return None
    known = program.locations
    for s in walk(program.block):
        if isinstance(s, Call):
            found = {name_of(e) for e in s.args if e.op is ARRAY} | {n for n, _ in s.results}
            places = [p for e, p in known.items() if found & names_in(e)]
            if places:
                return places[-1]
    return next(reversed(list(known.values())), None)


def _raise_as_python(
    self: Function, real: Sequence[Any], static: Mapping[str, Any], error: SymdiffError
) -> None:
    """Raise what the plain function raises for these values, if an error stands at a `raise` of it;
    of a function that takes elements of arrays only, for the first of these."""
    at = error.location
    if at is None or not at.text[at.column - 1 :].startswith("raise"):
        return
    from symdiff.pipeline.validation.broken_off import TooLong, limited

    primals = real[: len(self._source.parameters.real)]  # of products, tangents follow
    given = each_once(primals, copy.deepcopy)
    points: Iterable[Sequence[Any]] = [given]
    shapes = self._source.shapes(static, real)
    if self._source.how(static, shapes).startswith("elements"):
        points = zip(*(a.flat for a in np.broadcast_arrays(*given)), strict=True)
    try:
        with np.errstate(all="ignore"):
            limited(lambda: [in_python(self, point, static) for point in points], STEPS)
    except TooLong:
        return
    except Exception as raised:
        if any(
            (f.filename, f.lineno) == (at.path, at.line) for f in extract_tb(raised.__traceback__)
        ):
            raise raised.with_traceback(users(raised.__traceback__)) from None


def computed(
    self: Function, real: Sequence[Any], static: Mapping[str, Any], shapes: Shapes | None
) -> tuple[Sequence[Any], OptimizedProgram, Tiered]:
    """The results of a function of numbers by code that has been compared, and that code."""
    optimized, kernel = self._compiled(static, shapes)
    values = kernel(real)
    while replaced(self, static, shapes, kernel):
        optimized, kernel = self._compiled(static, shapes)
        values = kernel(real)
    return values, optimized, kernel


def replaced(
    self: Function, static: Mapping[str, Any], shapes: Shapes | None, kernel: Tiered
) -> bool:
    """Whether code that this call has compiled is wrong; then the kernel has been replaced
    by one that leaves out more, at last all compiled code."""
    if kernel.kernel.made == kernel.validated or mode() == "off":
        return False
    with self._lock:
        made = kernel.kernel.made
        key = next((k for k, found in self._emitted.items() if found[1] is kernel), None)
        if key is None:  # another thread has replaced it
            return True
        optimized = self._emitted[key][0]
        wrong = unsound(
            self.__name__, kernel, lambda: self._source.oracle(static, shapes, optimized)
        )
        if wrong is None:
            kernel.validated = made
            return False
        raw = self._source.scalar(static, shapes)
        self._emitted[key] = optimized, tiers(self, raw, optimized, wrong)
        return True


def tiers(self: Function, raw: Program, optimized: OptimizedProgram, wrong: str = "") -> Tiered:
    """The tiers of run time of a program that was captured, without what was found wrong."""
    by_definition = ByDefinition(raw, self._source.path, optimized.special)
    options = self._options.with_own_errors(raw.outputs)
    made = tiered(optimized, options, wrong, self._demands(raw), by_definition)
    made.without, made.by_definition = wrong, by_definition
    return made
