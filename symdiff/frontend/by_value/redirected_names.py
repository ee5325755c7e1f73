"""What math, NumPy and SciPy are called in the user's modules during a run.

Functions of these libraries take doubles. In the globals that a function reads, their names are bound to wrappers
that take scalars as well, and bound back afterwards. Attributes of the libraries themselves are never replaced, as
compiled code calls them. In other threads the wrappers are the original functions.
"""

from __future__ import annotations

import builtins
import datetime
import functools
import itertools
import math
import sys
import types
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from symdiff.frontend.by_value import (
    array_functions,
    composed_functions,
    fast_transforms,
    jacobi_rotations,
    matrices,
    newton_steps,
    roots_and_integrals,
    ties,
)
from symdiff.frontend.by_value.arrays import (
    ComplexArray,
    RealArray,
    floats,
    lifted,
    objects,
    of_numpy,
    on_ufunc,
    plain,
    true_kind,
)
from symdiff.frontend.by_value.complex_scalars import PAIRS, Complex
from symdiff.frontend.by_value.elementary import FUNCTIONS, entry, library
from symdiff.frontend.by_value.reachable import Reached, State, reachable
from symdiff.frontend.by_value.reals import RECORD, Real, refuse, value_of
from symdiff.frontend.library.primitives import stop_gradient

TABLES = (array_functions, jacobi_rotations, matrices, fast_transforms, newton_steps)
"""Modules that fill `FUNCTIONS`."""

_KEPT = frozenset((
    "errstate", "ndindex", "ndenumerate", "frompyfunc", "issubdtype", "seterr", "dtype", "shape", "ndim", "size",
    "vectorize", "geterr", "finfo", "iinfo", "result_type", "may_share_memory", "shares_memory", "array_equal",
    "isscalar", "iterable", "printoptions", "set_printoptions", "apply_along_axis", "apply_over_axes",
))  # fmt: skip
"""Functions of NumPy that are theirs for scalars, too."""

_EFFECTS = ("print", "input", "open", "exec", "eval", "breakpoint")
"""Builtins with effects outside of a function."""


class _NumberKind(type):
    python: type

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, cls.python)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, cls.python)

    def __eq__(cls, other: Any) -> bool:
        return other is cls or other is cls.python

    def __hash__(cls) -> int:
        return hash(cls.python)


class Float(metaclass=_NumberKind):
    """`float` in the user's modules: scalars stay scalars."""

    python: type = float
    dtype = np.dtype(float)
    fromhex = float.fromhex
    __name__ = "float"

    def __new__(cls, x: Any = 0.0) -> Any:
        if type(x) is Real:
            return x
        if type(x) is RealArray and x.size == 1:
            return plain(x).reshape(-1)[0]
        return float(x)


class Float64(Float):
    """`np.float64` in the user's modules."""

    python = np.float64
    __name__ = "float64"

    def __new__(cls, x: Any = 0.0) -> Any:
        found = Float(x)
        return of_numpy(found, (x,)) if type(found) is Real else np.float64(found)


class ComplexType(metaclass=_NumberKind):
    """`complex` and `np.complex128` in the user's modules."""

    python = complex
    dtype = np.dtype(complex)
    __name__ = "complex"

    def __new__(cls, *parts: Any, **named: Any) -> Any:
        given = (*parts, *named.values())
        if not any(type(x) in (Real, Complex) for x in given):
            return complex(*parts, **named)
        real = parts[0] if parts else named.get("real", 0.0)
        imag = parts[1] if len(parts) > 1 else named.get("imag", 0.0)
        if any(type(x) in PAIRS for x in (real, imag)):
            return real + 1j * imag
        return Complex(*(x if type(x) is Real else float(x) for x in (real, imag)))


class Duration(metaclass=_NumberKind):
    """`timedelta` in the user's modules, which rounds to microseconds."""

    python = datetime.timedelta
    min, max, resolution = python.min, python.max, python.resolution
    __name__ = "timedelta"

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        def taken(x: Any) -> Any:
            if type(x) is Real:
                RECORD.rounded.append(x)
            return value_of(x)

        return datetime.timedelta(*map(taken, args), **{k: taken(x) for k, x in kwargs.items()})


class _TypeKind(type):
    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, type)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, type)


class Type(metaclass=_TypeKind):
    """`type` in the user's modules."""

    def __new__(cls, *args: Any) -> Any:
        if len(args) > 1:
            return type(*args)
        kind = type(args[0])
        return _TYPES.get(type(args[0].v) if kind is Real else kind, kind)


_TYPES = {
    float: Float, np.float64: Float64, Complex: ComplexType, complex: ComplexType, RealArray: np.ndarray,
    ComplexArray: np.ndarray, type: Type,
}  # fmt: skip


def total(items: Any, /, start: Any = 0) -> Any:
    """`sum` in the order of Python; that of floats carries its rounding errors since Python 3.12."""
    listed = list(items)
    found = builtins.sum(listed, start)
    if type(found) is Real and all(type(x) in (Real, float, int) for x in listed):
        found.v = type(found.v)(
            builtins.sum([x.v if type(x) is Real else x for x in listed], start)
        )
    return found


_BUILTINS: dict[str, Any] = {
    "float": Float, "complex": ComplexType, "type": Type, "max": ties.maximum, "min": ties.minimum,
}  # fmt: skip


def _holds(x: Any) -> bool:
    """Whether an argument is or contains scalars."""
    return type(x) in (Real, RealArray, Complex, ComplexArray) or (
        isinstance(x, (list, tuple)) and any(map(_holds, x))
    )


def _of_python(x: Any) -> Any:
    """An argument as the libraries know it."""
    return (
        list(x)
        if isinstance(x, deque)
        else float
        if x is Float or x is Float64
        else complex
        if x is ComplexType
        else x
    )


def _wrapped(name: str, function: Callable[..., Any]) -> Any:
    """A function of a library that takes scalars."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if not RECORD.here():
            return function(*args, **kwargs)
        if function in _OF_ITEMS:
            return FUNCTIONS[function](*args, **kwargs)
        if function is np.fromiter:
            return _of_items(*args, **kwargs)
        args = tuple(map(_of_python, args))
        kwargs = {k: _of_python(v) for k, v in kwargs.items()}
        if not _holds(args) and not _holds(tuple(kwargs.values())):
            return _created(name, function(*args, **kwargs))
        if function in FUNCTIONS:
            of_lists = [_listed(a) if isinstance(a, (list, tuple)) else a for a in args]
            if isinstance(function, np.ufunc):
                return on_ufunc(function, "__call__", of_lists, kwargs)
            return lifted(FUNCTIONS[function](*of_lists, **kwargs))
        if isinstance(function, np.ufunc):
            return on_ufunc(function, "__call__", args, kwargs)
        if name in _MAKERS:
            return _array_of(function, *args, **kwargs)
        if name.endswith("_like"):
            return _like(name, function, *args, **kwargs)
        if not hasattr(function, "_implementation"):
            raise refuse(f"{name} of numbers that have a derivative, in a function run by values")
        return lifted(function(*args, **kwargs))

    if isinstance(function, np.ufunc):
        return _Ufunc(function, call)
    return functools.wraps(function)(call)


_OF_ITEMS = frozenset((math.fsum, math.prod, math.dist))
"""Functions that read what they take element by element, which may be a generator."""
_MAKERS = ("array", "asarray", "asanyarray", "ascontiguousarray", "copy", "full")


def _created(name: str, found: Any) -> Any:
    """New arrays of doubles may get scalars later."""
    if name == "empty" and isinstance(found, np.ndarray) and found.dtype.kind in "fc":
        found[...] = 0.0
    return lifted(found)


def _listed(a: Any) -> Any:
    """A list of scalars as an array, if it is one."""
    try:
        found = lifted(objects(a)) if _holds(a) else a
    except ValueError:  # lists of several lengths
        return a
    return found if isinstance(found, RealArray) else a


class _Columns:
    """`np.c_`."""

    def __getitem__(self, key: Any) -> Any:
        items = key if isinstance(key, tuple) else (key,)
        if not RECORD.here() or not any(map(_holds, items)):
            return np.c_[key]
        arrays = [objects(a) for a in items]
        return lifted(np.concatenate([a if a.ndim > 1 else a.reshape(-1, 1) for a in arrays], -1))


_COLUMNS = _Columns()


def _of_items(items: Any, dtype: Any, count: int = -1) -> Any:
    """`np.fromiter`."""
    listed = list(items) if count < 0 else list(itertools.islice(items, count))
    return _array_of(np.array, listed, dtype) if _holds(listed) else lifted(np.array(listed, dtype))


def _array_of(function: Any, *args: Any, **kwargs: Any) -> Any:
    """`np.array` and its like of scalars, whose dtype may be given."""
    if function is np.full:
        shape, value = args[:2]
        found = np.empty(shape, object)
        found[...] = value
        return lifted(found)
    dtype = args[1] if len(args) > 1 else kwargs.pop("dtype", None)
    given = args[0]
    made = objects(given)
    if function in (np.array, np.copy) and kwargs.get("copy", True):
        made = made.copy()
    if kwargs.get("ndmin", 0) > made.ndim:
        made = made.reshape((1,) * (kwargs["ndmin"] - made.ndim) + made.shape)
    if function is np.asarray and isinstance(given, RealArray) and dtype in (None, given.dtype):
        return given
    found = lifted(made)
    if dtype is None or np.dtype(dtype).kind in "fO":
        if made.dtype.kind == "O" and not made.ndim:
            return of_numpy(made[()], (given,))
        return floats(found) if isinstance(found, np.ndarray) and true_kind(found) != "O" else found
    return found.astype(dtype)


def _like(name: str, function: Any, a: Any, *args: Any, **kwargs: Any) -> Any:
    """`np.zeros_like` and its like."""
    shape = np.shape(objects(a))
    if name == "full_like":
        found = np.empty(shape, object)
        found[...] = args[0] if args else kwargs["fill_value"]
        return lifted(found)
    kind = kwargs.get("dtype") or (
        args[0] if args else complex if type(a) is ComplexArray else float
    )
    value = 1 if name == "ones_like" else 0
    return lifted(np.full(shape, value, kind))


class _Ufunc:
    """A ufunc, and its methods."""

    def __init__(self, ufunc: np.ufunc, call: Callable[..., Any]) -> None:
        self._ufunc, self._call = ufunc, call
        self.__name__ = ufunc.__name__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._ufunc, name)
        if name not in ("reduce", "accumulate", "outer", "at", "reduceat"):
            return method

        def call(*args: Any, **kwargs: Any) -> Any:
            if RECORD.here() and _holds(args):
                return on_ufunc(self._ufunc, name, args, kwargs)
            return method(*args, **kwargs)

        return call


_BY_TABLE = frozenset(("math", "cmath", "statistics", "scipy.integrate", "scipy.optimize"))
"""Modules of which only the functions of the table are replaced, whatever their arguments."""


def _replaced(module: Any) -> dict[str, Any]:
    """The functions of a module that are wrapped, by their names."""
    found = {}
    for name in dir(module):
        if name.startswith("_") or name in _KEPT:
            continue
        function = getattr(module, name)
        if not callable(function) or isinstance(function, type):
            continue
        if module.__name__ in _BY_TABLE and function not in FUNCTIONS:
            continue
        found[name] = function
    return found


_FUNCTIONS: dict[int, tuple[Any, Any]] = {}
"""Each original function and its wrapper, by the identity of the original."""


def _add(module: Any) -> None:
    """Wrap the functions of a module."""
    by_table = module.__name__ in _BY_TABLE
    for name, function in _replaced(module).items():
        if id(function) not in _FUNCTIONS:
            direct = by_table and function not in _OF_ITEMS and not hasattr(function, "types")
            wrapper = FUNCTIONS[function] if direct else _wrapped(name, function)
            _FUNCTIONS[id(function)] = function, wrapper
    _NAMESAKES[id(module)] = module, Namesake(module)


def _add_loaded() -> None:
    """Parts of SciPy that take long to import are added when something else has imported them."""
    for name in ("scipy.integrate", "scipy.optimize"):
        module = sys.modules.get(name)
        whole = module is not None and not getattr(module.__spec__, "_initializing", False)
        if whole and id(module) not in _NAMESAKES:
            roots_and_integrals.add_to_table(module)
            _add(module)


class Namesake(types.ModuleType):
    """What a module is called in the user's globals."""

    def __init__(self, module: Any) -> None:
        super().__init__(module.__name__)
        self.__dict__["_module"] = module

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.__dict__["_module"], name)
        _add_loaded()
        value = replaced(found)
        self.__dict__[name] = value
        return value


_NAMESAKES: dict[int, tuple[Any, Namesake]] = {}
for _name in (
    "math",
    "cmath",
    "statistics",
    "numpy",
    "numpy.linalg",
    "numpy.fft",
    "scipy.fft",
    "scipy.special",
    "scipy.linalg",
):
    if _module := library(_name):
        _add(_module)
composed_functions.fill(_NAMESAKES[id(np)][1])
for _name in ("datetime", "scipy", "symdiff"):
    if _module := library(_name):
        _NAMESAKES[id(_module)] = _module, Namesake(_module)


def _refusing(name: str) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        raise refuse(f"{name} in a function that is run by values")

    return call


_MAKERS_OF_FUNCTIONS = "symdiff.api.transforms"


def _is_of_symdiff(value: Any) -> bool:
    """Whether a value is a function of symdiff that has a meaning of its own in traces, such as a rule."""
    if (
        isinstance(value, (type, types.ModuleType))
        or not callable(value)
        or hasattr(value, "_source")
    ):
        return False
    module = value.__module__ if isinstance(value, types.FunctionType) else type(value).__module__
    traced = hasattr(type(value), "__symdiff_trace__")
    here = __name__.rpartition(".")[0]
    of_symdiff = (module or "").startswith("symdiff.") and module != _MAKERS_OF_FUNCTIONS
    return traced or (of_symdiff and not module.startswith(here))


def _user_rule(op: Any, function: Any) -> Any:
    """A user's own elementary function, with the slopes that its rule gives."""
    of_numbers = entry(op, function)

    def call(*args: Any) -> Any:
        if any(isinstance(a, RealArray) for a in args):
            raise refuse(f"the rule of {function.__name__} for arrays, in a function run by values")
        return of_numbers(*args)

    return call


def _stopped(x: Any) -> Any:
    """`stop_gradient`: a constant."""
    if isinstance(x, np.ndarray):
        return lifted(array_functions.doubles(x))
    return value_of(x)


def replaced(value: Any) -> Any:
    """What a global, cell or default is in a run; itself if nothing changes."""
    found = _FUNCTIONS.get(id(value))
    if found is not None and found[0] is value:
        return found[1]
    if value is np.float64 or value is float:
        return Float if value is float else Float64
    if value is np.c_:
        return _COLUMNS
    if value is np.complex128 or value is complex:
        return ComplexType
    if value is datetime.timedelta:
        return Duration
    if isinstance(value, types.ModuleType):
        module = _NAMESAKES.get(id(value))
        return module[1] if module else value
    if isinstance(value, functools._lru_cache_wrapper):
        fresh = _CACHES.get(id(value))
        if fresh is None:
            fresh = value, functools.lru_cache(maxsize=None)(value.__wrapped__)
            _CACHES[id(value)] = fresh
        return fresh[1]
    if value is stop_gradient:
        return _stopped
    if (op := getattr(value, "__symdiff_op__", None)) is not None:
        return _user_rule(op, value)
    if _is_of_symdiff(value):
        return _refusing(f"{getattr(value, '__name__', type(value).__name__)} of symdiff")
    return value


def of_arguments(static: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments without derivatives, of which some are functions."""
    _add_loaded()
    return {name: replaced(v) for name, v in static.items()}


_CACHES: dict[int, tuple[Any, Any]] = {}
"""Caches of functions, which are those of one run."""


class redirected:  # noqa: N801  (used as a function)
    """A context in which the globals, cells and defaults that a function reads are those of a run.

    Parameters
    ----------
    function : the user's.
    objects : among its arguments, which have methods.
    """

    def __init__(self, function: Any, objects: Sequence[Any] = ()) -> None:
        self.found: Reached = reachable(function, objects)
        self.undo: list[Callable[[], None]] = []

    def __enter__(self) -> None:
        _CACHES.clear()
        _add_loaded()
        self.state = State(self.found)
        for scope in self.found.scopes:
            for name, value in list(scope.items()):
                if (new := replaced(value)) is not value:
                    self._put(scope, name, new)
                elif type(value) is dict and len(value) < 1000 and not name.startswith("__"):
                    for key, item in list(value.items()):
                        if (new := replaced(item)) is not item:
                            self._put(value, key, new)
            for name, new in _BUILTINS.items():
                if name not in scope:
                    self._put(scope, name, new)
            for name in _EFFECTS:
                if name not in scope:
                    self._put(scope, name, _refusing(f"{name}()"))
            if "sum" not in scope:
                self._put(scope, "sum", total)
        for cell in self.found.cells:
            self._put_cell(cell)
        for function in self.found.functions:
            self._put_defaults(function)
        self._importing = builtins.__import__
        builtins.__import__ = self._import

    def __exit__(self, *error: Any) -> None:
        builtins.__import__ = self._importing
        for back in reversed(self.undo):
            back()
        _CACHES.clear()
        if changed := self.state.restored():
            refuse(f"it is not pure: it changes {changed}")

    def _put(self, scope: dict[Any, Any], name: Any, value: Any) -> None:
        missing = name not in scope
        before = scope.get(name)

        def back() -> None:
            if missing:
                scope.pop(name, None)
            elif scope.get(name) is value:  # the function may have assigned it
                scope[name] = before

        self.undo.append(back)
        scope[name] = value

    def _put_cell(self, cell: types.CellType) -> None:
        before = cell.cell_contents
        new = replaced(before)
        if new is not before:
            cell.cell_contents = new
            self.undo.append(lambda: setattr(cell, "cell_contents", before))

    def _put_defaults(self, function: types.FunctionType) -> None:
        before = function.__defaults__
        if before and any(replaced(v) is not v for v in before):
            function.__defaults__ = tuple(map(replaced, before))
            self.undo.append(lambda: setattr(function, "__defaults__", before))

    def _import(
        self, name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
    ) -> Any:  # fmt: skip
        """Imports inside of the function."""
        found = self._importing(name, globals, locals, fromlist, level)
        users = globals is not None and globals.get("float") is Float
        _add_loaded()
        return replaced(found) if users and RECORD.here() else found
