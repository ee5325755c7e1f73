"""The functions that symdiff knows, as objects: the tables of elementary functions,
and the traced versions of Python's, math's and NumPy's own."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

import numpy as np

from symdiff.frontend.arrays import selecting
from symdiff.frontend.arrays import small as arrays
from symdiff.frontend.library import builtin_functions as python_names
from symdiff.frontend.library import (
    composed,
    doors,
    methods,
    ordering,
    output,
    primitives,
    record_copies,
    windows,
)
from symdiff.frontend.library import standard as library_names
from symdiff.frontend.library.complex_numbers import complex_calls, fourier, holomorphic
from symdiff.frontend.library.numpy import elementwise, keywords, truth_values
from symdiff.frontend.library.numpy import names as array_names
from symdiff.frontend.library.primitives import no_keywords, shorthand
from symdiff.frontend.loops import sequences
from symdiff.frontend.trace import scalars
from symdiff.frontend.trace.counted_truth import of_truth
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import (
    Refused,
    as_float,
    is_number,
    is_single,
    of_whole_kind,
)
from symdiff.ir import Op, functions

Implementation = Callable[..., Any]
"""Called with the tracer, then with the arguments of the user's call."""

METHOD_OWNERS = (list, dict, set, frozenset, str, tuple, range)


def find(function: Any) -> Implementation | None:
    """The traced version of a known function."""
    libraries = doors.opened()
    table = _table(tuple(m for m in _modules(libraries) if m in sys.modules), libraries)
    found = table.get(id(function))
    return found[1] if found is not None and found[0] is function else None


def _composed(fun: FunctionType, arrays: int, whole: int | None = None) -> Implementation:
    """A function in terms of others, with so many arrays first; `whole` is the position of an
    argument that is an array of integers."""

    def implementation(t: Tracer, /, *args: Any, **kwargs: Any) -> Any:
        array_names.numbers_as_arrays(t, fun.__name__, args[:arrays])
        if whole is not None and whole < len(args):
            selecting.as_integers(t, args[whole])
        return t.inline(fun, args, kwargs)

    return implementation


def _extended(name: str, usual: Implementation) -> Implementation:
    """The function, with the calls that are written in terms of others."""
    if name not in composed.EXTENDED:
        return usual
    fun, applies, *whole = composed.EXTENDED[name]
    other = _composed(fun, 1, *whole)

    def implementation(t: Tracer, /, *args: Any, **kwargs: Any) -> Any:
        return (other if applies(*args, **kwargs) else usual)(t, *args, **kwargs)

    return implementation


def _own(name: str, usual: Implementation) -> Implementation:
    """A function of ours, called with the arguments that it takes; numbers that are passed to a
    function of arrays are traced as arrays if they are arrays in the call."""
    of_arrays = name in array_names.TABLE

    def implementation(t: Tracer, /, *args: Any, **kwargs: Any) -> Any:
        if of_arrays and not sequences.involved((*args, *kwargs.values())):
            array_names.numbers_as_arrays(t, name, args)
        keywords.check(name, usual, args, kwargs)
        return usual(t, *args, **kwargs)

    return implementation


_OF_LISTS = ("fsum", "prod", "dist", "sumprod")
"""Functions of math that take iterables."""


_FLOATS = ("math.pow", "math.fabs", "math.fmod", "math.copysign", "math.remainder", "math.ldexp")
"""Functions of math that are exact on integers, and return floats."""


def _numbers(name: str, usual: Implementation) -> Implementation:
    """A function of math, which takes no arrays."""

    def implementation(t: Tracer, /, *args: Any, **kwargs: Any) -> Any:
        if t.took_single and any(map(is_single, args)):  # Python raises an error: by elements
            return arrays.elementwise(lambda *numbers: usual(t, *numbers, **kwargs), *args)
        plain = [v if is_number(v) else python_names.number_of(v, f"{name}()") for v in args]
        found = usual(t, *map(of_truth, plain), **kwargs)
        return as_float(found) if name in _FLOATS and is_number(found) else found

    return implementation


Libraries = tuple[doors.Library, ...]


def names(libraries: Libraries) -> dict[str, None]:
    """The dotted names of known functions."""
    return dict.fromkeys((*entries(), *written(libraries), *aliases(libraries)))


@functools.cache
def _modules(libraries: Libraries) -> tuple[str, ...]:
    """Modules with known functions, which are known once something has imported the module."""
    return tuple(dict.fromkeys(name.rpartition(".")[0] for name in names(libraries)))


@functools.lru_cache(maxsize=16)
def _table(
    loaded: tuple[str, ...], libraries: Libraries
) -> Mapping[int, tuple[Any, Implementation]]:
    """Implementations by the identity of the functions. The elementary functions come first: where
    a traced version exists too, it wins."""
    own, others = entries(), aliases(libraries)
    whole = {name: _composed(*entry) for name, entry in written(libraries).items()}
    table: dict[int, tuple[Any, Implementation]] = {}
    for name in names(libraries):
        module, _, attribute = name.rpartition(".")
        if module not in loaded:
            continue
        function = getattr(sys.modules[module], attribute, None)
        known = others.get(name, name)
        if function is not None and (name in own or id(function) not in table):
            usual = whole[known] if known in whole else _own(known, own[known])
            if module == "math" and attribute not in _OF_LISTS:
                usual = _numbers(name, usual)
            if attribute in ("power", "pow") and module == "numpy":
                usual = _power(usual)
            for library in libraries:
                usual = library.adapted(name, usual)
            if truth_values.concerned(function):
                usual = truth_values.of(function, usual)
            table[id(function)] = function, _extended(known, usual)
    table |= {id(fun): (fun, traced) for fun, traced in primitives.TABLE.items()}
    return table


def entries() -> dict[str, Implementation]:
    """Traced versions of functions of numbers and of arrays whose elements are traced one by one."""
    found: dict[str, Implementation] = {}
    for op in functions.TABLE:
        found |= {name: _elementary(op) for name in op.names}
    found |= {name: shorthand(f) for name, f in functions.COMPOSITES.items()}
    of_complex = holomorphic.CMATH | fourier.TRANSFORMS | holomorphic.SCIPY
    found |= {name: _composed(f, 0) for name, f in of_complex.items()}
    found |= (
        complex_calls.NAMES
        | python_names.TABLE
        | library_names.TABLE
        | ordering.TABLE
        | output.TABLE
    )
    return found | elementwise.TABLE | array_names.TABLE | record_copies.TABLE


def written(libraries: Libraries) -> dict[str, Any]:
    """Functions that are written in terms of others, with the number of arrays that come first."""
    found = composed.TABLE | windows.TABLE
    for library in libraries:
        found |= library.functions
    return found


def aliases(libraries: Libraries) -> dict[str, str]:
    """Functions that are equal to other, known functions."""
    found = dict(composed.ALIASES)
    for library in libraries:
        found |= library.aliases
    return found


def _elementary(op: Op) -> Implementation:
    def implementation(t: Tracer, /, *args: Any, **kwargs: Any) -> Any:
        no_keywords(kwargs)
        if len(args) == 1 and is_number(args[0]):
            return scalars.apply(op, args[0])
        return arrays.elementwise(lambda *v: scalars.apply(op, *v), *args)

    return implementation


def _power(usual: Implementation) -> Implementation:
    """A power; only Python decides whether a negative power of integers is an error."""

    def implementation(t: Tracer, /, *args: Any, **kwargs: Any) -> Any:
        t.integer_powers |= all(map(of_whole_kind, args))
        return usual(t, *args, **kwargs)

    return implementation


def method(t: Tracer, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of a method of a Python container or string."""
    owner, name = function.__self__, function.__name__
    implementation = methods.find(owner, name)
    if implementation is None:
        raise Refused(f"method '{name}' of a {type(owner).__name__} is not supported")
    return implementation(t, owner, *args, **kwargs)


_FROZEN = "its value would be frozen when traced; pass it as an argument"
_RANDOM = "random numbers would be frozen when traced; pass them as arguments"
_REAL = "a traced function computes with real numbers; leave the conversion out"
_OPAQUE = "symdiff cannot see through it; write it in plain Python, or see symdiff.custom_rule"

_TRANSFORM = (
    "fft, ifft, rfft, irfft, fft2, fftn, rfftn and their frequencies are supported; write others as a sum, such "
    "as np.exp(-1j * w[:, None] * t) @ x"
)

_ROOTS = (
    "which of its results are real differs from point to point: find one by scipy.optimize.brentq or by "
    "Newton steps, or use np.linalg.eigh of a symmetric matrix"
)

_HINTS: tuple[tuple[Any, str], ...] = (
    (input, "pass the value as an argument"),
    (open, "read the file before, and pass its values as arguments"),
    *((function, _ROOTS) for function in (np.roots, np.linalg.eig, np.linalg.eigvals)),
    (np.nditer, "loop over a.flat, or over np.ndindex(a.shape)"),
)
MODULE_HINTS = {
    "time": _FROZEN,
    "datetime": _FROZEN,
    "random": _RANDOM,
    "secrets": _RANDOM,
    "numpy.random": _RANDOM,
    "numpy.fft": _TRANSFORM,
    "scipy.fft": _TRANSFORM,
}


def hint(function: Any) -> str:
    """The replacement for a call of an unknown function."""
    if isinstance(function, type) and issubclass(function, np.generic):
        return _REAL
    for known, text in _HINTS:
        if function is known:
            return text
    owner = type(getattr(function, "__self__", None))
    for module in (getattr(function, "__module__", None), owner.__module__):
        for name, text in MODULE_HINTS.items():
            if module is not None and (module == name or module.startswith(name + ".")):
                return text
    return _OPAQUE
