"""Calls with integers: what is an integer in Python is what Python makes of it.

Kernels compute with real numbers. So where arguments are integers or truth values, the function is
traced once more with those as integers: that says which results are floats for sure, whatever the
values. Those are computed as always; the others are what the plain function returns, integers of any
size among them. Derivatives are real numbers throughout.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from symdiff.api.firstcalls import in_python
from symdiff.api.wrapping_integers import must_fit
from symdiff.frontend import Shapes
from symdiff.ir.loop_program import Check, LoopProgram, walk
from symdiff.ir.program import fields_of, made_object
from symdiff.pipeline.shared_memory import each_once
from symdiff.runtime.scalar.elementwise import ArgumentError

Function = Any
"""A `SymbolicFunction`, which imports this."""


def is_whole(value: Any) -> bool:
    """Whether a number or array is one of integers or truth values."""
    kind = type(value)
    if kind is float or kind is np.float64:
        return False
    if isinstance(value, (int, np.integer, np.bool_)):
        return True
    return isinstance(value, np.ndarray) and value.dtype.kind in "biu"


def involved(self: Function, real: Sequence[Any]) -> bool:
    """Whether results of a call may be integers because arguments are."""
    if self._source.path or self._options.dtype or self._options.target != "cpu":
        return False
    return self._expression is None and any(map(is_whole, real))


def result(
    self: Function, real: tuple[Any, ...], static: Mapping[str, Any], wide: tuple[Any, ...],
    choose: Callable[[Any, Any], Any],
) -> Any:  # fmt: skip
    """What a call with integers returns; NotImplemented if that is made of floats only, which are
    computed. Where there are both, `choose` is given each result of Python beside that of kernels
    for the arguments in float64, `wide`.

    Raises
    ------
    SymdiffError : where the function is refused, or its domain is left.
    """
    source = self._source
    shapes = source.shapes(static, real)
    raw = source.raw(static, shapes)
    kinds = _kinds(self, real, static, shapes)
    if kinds == "floats":
        return NotImplemented
    if self._options.check_domain and has_domain(raw):
        self._run(real, static, None)  # which says where it is left
    plain = _plain(self, source.how(static, shapes), real, static)
    if plain is NotImplemented:
        return NotImplemented
    whole = list(map(is_whole, leaves_of_result(plain)))
    if all(whole) or kinds in ("what Python does", "rounded floats"):
        return plain
    if not any(whole):
        return NotImplemented
    must_fit(self, real, static)
    return matched(choose, plain, self._run(wide, static, None))


def _kinds(self: Function, real: Sequence[Any], static: Mapping[str, Any], shapes: Shapes) -> str:
    """What results are for integers of these kinds; see `Source.of_integers`."""
    marked = _marked(shapes, map(is_whole, real))

    def seen() -> bool:
        """Whether small arguments of these kinds give floats in Python."""
        from symdiff.pipeline.validation.firstcall import sampled

        found = sampled(real, lambda values: in_python(self, values, static))
        return not any(map(is_whole, leaves_of_result(found)))

    return str(self._source.of_integers(static, marked, seen))


def _marked(shapes: Shapes, whole: Iterable[bool]) -> Shapes:
    """The shapes of arguments; whole numbers are traced as integers."""
    return {
        n: (s[0], "t" if s[1] == "b" else "n", *s[2:]) if w else s
        for (n, s), w in zip(shapes.items(), whole, strict=True)
    }


def must_not_round_kinds(
    self: Function, shapes: Shapes, kinds: Sequence[str], static: Mapping[str, Any]
) -> None:
    """The same as `must_not_round`, for arguments of known kinds ("f", "i", "b")."""
    whole = [k != "f" for k in kinds]
    if self._source.path or self._expression is not None or not any(whole):
        return
    marked = _marked(shapes, whole)
    if self._source.of_integers(static, marked, lambda: True) == "rounded floats":
        raise rounds(self, next(n for n, w in zip(shapes, whole, strict=True) if w))


def must_not_round(
    self: Function, real: Sequence[Any], static: Mapping[str, Any], mapped: Sequence[bool] = ()
) -> None:
    """Refuse integers where what is computed with floats throughout would not round those that the
    function stores in arrays of integers.

    Raises
    ------
    ArgumentError : that names an argument.
    """
    if not self._source.path and rounds_floats(self, real, static, mapped):
        names = self._source.parameters.real
        raise rounds(self, next(n for n, v in zip(names, real, strict=True) if is_whole(v)))


def rounds_floats(
    self: Function, real: Sequence[Any], static: Mapping[str, Any], mapped: Sequence[bool] = ()
) -> bool:
    """Whether the function stores floats in arrays of integers, as arguments are integers."""
    if self._expression is not None or not any(map(is_whole, real)):
        return False
    shapes = self._source.shapes(static, real, mapped)
    return _kinds(self, real, static, shapes) == "rounded floats"


def rounds(self: Function, name: str) -> ArgumentError:
    """The refusal of an argument of integers."""
    return ArgumentError(
        f"argument {name} is of integers: {self.__name__} stores floats in an array of integers, which NumPy "
        "rounds or refuses; here integers are computed as floats",
        hint=f"convert it with float({name}) or {name}.astype(float), or call {self.__name__} without out=, dtype= or map",
    )


def always_floats(self: Function, real: Sequence[Any], static: Mapping[str, Any]) -> bool:
    """Whether the results of a call are floats, whichever numbers among the arguments are
    integers: then a compiled entry may take those too."""
    if self._expression is not None:
        return True
    whole = [1 if type(v) in (int, float) else v for v in real]
    if self._source.path:
        return bool(self._source.alike(static, whole, real))
    if not any(type(v) is int for v in real):
        return False  # which costs a trace; there was no need yet
    return _kinds(self, whole, static, self._source.shapes(static, whole)) == "floats"


def floats_of_these(self: Function, real: Sequence[Any], static: Mapping[str, Any]) -> bool:
    """Whether the results of a call are floats, where the same arguments are integers."""
    if not involved(self, real):
        return True
    return _kinds(self, real, static, self._source.shapes(static, real)) == "floats"


def has_domain(raw: Any) -> bool:
    """Whether a captured program has conditions on its arguments."""
    if isinstance(raw, LoopProgram):
        return any(isinstance(s, Check) and s.error == "domain" for s in walk(raw.block))
    return bool(raw.assumptions)


def _plain(self: Function, how: str, real: Sequence[Any], static: Mapping[str, Any]) -> Any:
    """What the plain function returns for copies of the arguments; of a function of numbers
    that is called with arrays, for each of their elements. NotImplemented if it raises."""
    given = each_once(real, copy.deepcopy)
    with np.errstate(all="ignore"):
        try:
            return in_python(self, given, static)
        except ValueError as error:
            if "negative integer powers" in str(error):  # of arrays of integers: not one of domains
                raise
        except TypeError as error:
            if "Cannot cast" in str(error):  # in place, what an array of integers does not hold
                raise
        except (ArithmeticError, AttributeError, LookupError):
            pass
        if not any(np.ndim(v) for v in real) or not how.startswith("elements"):
            return NotImplemented
        try:
            shape = np.broadcast_shapes(*(np.shape(v) for v in real))
            grids = [np.broadcast_to(np.asarray(v), shape).ravel().tolist() for v in real]
            each = [in_python(self, list(point), static) for point in zip(*grids, strict=True)]
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            return NotImplemented
    return _joined(each, shape) if each else NotImplemented


def _joined(each: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """The results for elements as arrays, nested as each of them is."""
    return matched(
        lambda *parts: np.array(parts).reshape(shape), *each
    )  # of objects beyond 64 bits


def leaves_of_result(value: Any) -> Iterator[Any]:
    """The numbers and arrays in a result."""
    keys = keys_of(value)
    if keys is None:
        yield value
    for k in keys or ():
        yield from leaves_of_result(part_of(value, k))


def matched(choose: Callable[..., Any], *results: Any) -> Any:
    """What `choose` makes of the numbers or arrays of results that nest alike, nested as the first."""
    first, keys = results[0], keys_of(results[0])
    if keys is None:
        return choose(*results)
    if isinstance(first, (tuple, list)) and any(len(r) != len(first) for r in results):
        raise ValueError("results that nest otherwise")
    parts = [matched(choose, *(part_of(r, k) for r in results)) for k in keys]
    if isinstance(first, dict):
        return dict(zip(keys, parts, strict=True))
    if isinstance(first, (tuple, list)) and not hasattr(first, "_fields"):
        return type(first)(parts)
    return made_object(type(first), parts)


def keys_of(value: Any) -> Sequence[Any] | None:
    """What the parts of a nested result are called; None of others."""
    if dataclasses.is_dataclass(value):
        return fields_of(type(value))
    if isinstance(value, dict):
        return tuple(value)
    return range(len(value)) if isinstance(value, (tuple, list)) else None


def part_of(value: Any, key: Any) -> Any:
    return getattr(value, key) if dataclasses.is_dataclass(value) else value[key]
