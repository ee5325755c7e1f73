"""Arrays of scalars: object arrays, whose views and indices are NumPy's own, with the rules of float64 or complex128."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symdiff.frontend.by_value.complex_scalars import PAIRS, Complex, as_pair
from symdiff.frontend.by_value.elementary import BOOLEAN, FUNCTIONS
from symdiff.frontend.by_value.reals import NUMBERS, Real, made, refuse
from symdiff.frontend.by_value.ties import INITIAL
from symdiff.ir import MUL

BY_OPERATORS = frozenset((
    np.add, np.subtract, np.multiply, np.true_divide, np.matmul, np.negative, np.absolute, np.floor_divide,
    np.remainder,
))  # fmt: skip
"""What NumPy computes of objects by their operators."""

_Array: Any = np.ndarray


class RealArray(_Array):  # type: ignore[misc]
    """An array of scalars and of np.float64, which says that it is one of float64."""

    dtype = property(lambda self: np.dtype(float))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return on_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func in FUNCTIONS:
            return FUNCTIONS[func](*args, **kwargs)
        if getattr(func, "__module__", "").startswith(("numpy.linalg", "numpy.fft")):
            raise refuse(f"{func.__module__}.{func.__name__} in a function that is run by values")
        return lifted(func._implementation(*plain(args), **plain(kwargs)))

    def astype(self, dtype: Any, *args: Any, **kwargs: Any) -> Any:
        kind = np.dtype(object if dtype is object else dtype).kind
        if kind in "fO":
            return self.copy()
        if kind == "c":
            return pairs(self)
        cast = bool if kind == "b" else int
        items = [cast(x) for x in plain(self).ravel()]
        return np.array(items, np.dtype(dtype)).reshape(self.shape)

    def __float__(self) -> float:
        raise refuse("compiled code asks for the double of a number that has a derivative")

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, RealArray):
            key = plain(key)
        if isinstance(value, ComplexArray) and not isinstance(self, ComplexArray):
            raise refuse("complex numbers are stored in an array of real ones")
        if isinstance(value, np.ndarray):
            value = plain(floats(value))
        elif isinstance(value, (list, tuple)):
            value = objects(floats(objects(value)))
        else:
            value = _as_float(value)
        np.ndarray.__setitem__(self, key, value)

    def fill(self, value: Any) -> None:
        self[...] = value

    def tolist(self) -> Any:
        return plain(self).tolist()

    def clip(self, min: Any = None, max: Any = None, **kwargs: Any) -> Any:
        found = self if min is None else np.maximum(self, min)
        return found if max is None else np.minimum(found, max)

    def mean(self, axis: Any = None, **kwargs: Any) -> Any:
        return FUNCTIONS[np.mean](self, axis, **kwargs)

    def var(self, axis: Any = None, **kwargs: Any) -> Any:
        return FUNCTIONS[np.var](self, axis, **kwargs)

    def std(self, axis: Any = None, **kwargs: Any) -> Any:
        return FUNCTIONS[np.std](self, axis, **kwargs)

    def round(self, decimals: int = 0, **kwargs: Any) -> Any:
        return lifted(np.frompyfunc(lambda x: round(x, decimals), 1, 1)(plain(self)))

    def dot(self, other: Any, out: Any = None) -> Any:
        return np.dot(self, other)

    def conj(self) -> Any:
        return self

    conjugate = conj
    real = property(lambda self: self)
    imag = property(lambda self: np.zeros(self.shape))


class ComplexArray(RealArray):
    """An array of complex numbers and of np.complex128."""

    dtype = property(lambda self: np.dtype(complex))

    def astype(self, dtype: Any, *args: Any, **kwargs: Any) -> Any:
        if np.dtype(dtype).kind not in "cO":
            raise refuse("complex numbers as real ones, of which NumPy warns")
        return self.copy()

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(value, (np.ndarray, list, tuple)):
            value = plain(pairs(objects(value)))
        else:
            value = as_pair(value)
        np.ndarray.__setitem__(self, plain(key) if isinstance(key, RealArray) else key, value)

    def conj(self) -> Any:
        return np.conjugate(self)

    conjugate = conj

    def _part(self, name: str) -> Any:
        """The real or imaginary parts; what is stored in them is not seen here, and refused as another result."""
        return floats(np.frompyfunc(lambda z: getattr(z, name), 1, 1)(plain(self)))

    def _set_part(self, name: str, value: Any) -> None:
        parts = {"real": self.real, "imag": self.imag}
        parts[name][...] = value
        np.ndarray.__setitem__(self, ..., np.frompyfunc(Complex, 2, 1)(*map(plain, parts.values())))

    real = property(lambda self: self._part("real"), lambda self, v: self._set_part("real", v))
    imag = property(lambda self: self._part("imag"), lambda self, v: self._set_part("imag", v))


def _as_float(x: Any) -> Any:
    return of_numpy(x, (x,)) if type(x) is Real else np.float64(x)


def _is_element(x: Any) -> bool:
    return type(x.v if type(x) is Real else x) is np.float64


_floats = np.frompyfunc(_as_float, 1, 1)


def true_kind(array: np.ndarray) -> str:
    """The kind that NumPy stores, "O" for scalars."""
    return str(_Array.dtype.__get__(array).kind)


def floats(array: Any) -> Any:
    """An array whose elements are scalars or np.float64."""
    if isinstance(array, RealArray) or not isinstance(array, np.ndarray):
        return array
    if not array.ndim:
        found = np.empty((), object)
        found[()] = _as_float(array[()])
        return found
    return _floats(array).view(RealArray)


_pairs = np.frompyfunc(as_pair, 1, 1)


def pairs(array: Any) -> Any:
    """An array whose elements are complex numbers."""
    return _pairs(plain(array)).view(ComplexArray) if np.ndim(array) else as_pair(array[()])


def plain(x: Any) -> Any:
    """Arrays as NumPy has them, in arguments that nest."""
    kind = type(x)
    if kind is RealArray or kind is ComplexArray:
        return x.view(np.ndarray)
    if kind is list or kind is tuple:
        return kind([plain(v) for v in x])
    return {k: plain(v) for k, v in x.items()} if kind is dict else x


def objects(x: Any) -> Any:
    """Something as an object array."""
    if isinstance(x, np.ndarray):
        return plain(x)
    found = np.asarray(plain(x), dtype=object)
    return found.view(np.ndarray)


def lifted(x: Any) -> Any:
    """What NumPy returns, with arrays of scalars as such."""
    kind = type(x)
    if kind is RealArray or kind is ComplexArray:
        return x if x.ndim else x.view(np.ndarray)[()]
    if kind is tuple or kind is list:
        return kind([lifted(v) for v in x])
    if not isinstance(x, np.ndarray):
        return x
    stored = true_kind(x)
    if stored in "fc":
        return (floats if stored == "f" else pairs)(x) if x.ndim else x[()]
    if stored != "O":
        return x
    if not x.ndim:
        return x[()]
    if all(map(_is_element, x.flat)):
        return x.view(RealArray)
    kinds = set(map(type, x.flat))
    if all(kind is int or issubclass(kind, (Real, float, np.floating)) for kind in kinds):
        if not x.flags.writeable:
            return _floats(x).view(RealArray)
        x[...] = _floats(x)  # in place, as other arrays may be views of it
        return x.view(RealArray)
    if not kinds.isdisjoint(PAIRS) and kinds <= _IN_COMPLEX:
        return pairs(x)
    if x.size and all(isinstance(e, (bool, np.bool_)) for e in x.flat):
        return x.astype(bool)
    return x


_IN_COMPLEX = frozenset((*PAIRS, Real, *NUMBERS))


def of_numpy(found: Any, args: Sequence[Any]) -> Any:
    """What a ufunc gives for scalars: numbers and truth values of NumPy's, also for Python's."""
    if type(found) is tuple:
        return tuple([of_numpy(x, args) for x in found])
    if type(found) is bool:
        return np.bool_(found)
    if type(found) is Real and type(found.v) is float:
        if any(found is a for a in args):
            return made(np.float64(found.v), MUL, found, 1.0)
        found.v = np.float64(found.v)
    return found


def boxed(x: Any) -> Any:
    """A scalar as an array without axes, as ufuncs take it."""
    found = np.empty((), object)
    found[()] = x
    return found


def on_ufunc(ufunc: Any, method: str, inputs: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """A ufunc of scalars and arrays of them."""
    kwargs = dict(kwargs)
    out = kwargs.pop("out", None)
    if method == "__call__" and len(inputs) > ufunc.nin:
        out, inputs = inputs[ufunc.nin :], inputs[: ufunc.nin]
    for key in ("dtype", "casting", "order"):
        kwargs.pop(key, None)
    if ufunc.types == [f"{'O' * ufunc.nin}->{'O' * ufunc.nout}"]:  # made of a Python function
        return lifted(getattr(ufunc, method)(*map(plain, inputs), **kwargs))
    if ufunc.signature and ufunc in FUNCTIONS:
        return FUNCTIONS[ufunc](*inputs, **kwargs)
    if ufunc.signature and ufunc is not np.matmul:
        raise refuse(f"np.{ufunc.__name__} in a function that is run by values")
    if ufunc not in FUNCTIONS and ufunc not in BY_OPERATORS:
        raise refuse(f"np.{ufunc.__name__} in a function that is run by values")
    args = [
        plain(a) if isinstance(a, np.ndarray) else objects(a) if isinstance(a, (list, tuple)) else a
        for a in inputs
    ]
    if method == "__call__" and not kwargs and not any(isinstance(a, np.ndarray) for a in args):
        found = of_numpy(FUNCTIONS[ufunc](*args), args)
    else:
        args = [boxed(a) if type(a) is Real or type(a) is Complex else a for a in args]
        if method in ("at", "reduceat"):
            args[1] = plain(inputs[1])
        if method == "at":
            _fold(ufunc).at(*args)
            return None
        found = _of_arrays(ufunc, method, args, kwargs, out)
    if out is None or (isinstance(out, tuple) and out[0] is None):
        return lifted(found)
    place = out[0] if isinstance(out, tuple) else out
    if type(place) is not RealArray and true_kind(place) != "O" and ufunc not in BOOLEAN:
        raise refuse("a number that has a derivative is stored in an array of doubles")
    place[...] = found
    return place


def _fold(ufunc: Any) -> Any:
    """The ufunc of objects with the same reductions."""
    if ufunc in BY_OPERATORS:
        return ufunc
    return np.frompyfunc(FUNCTIONS[ufunc], 2, 1, identity=ufunc.identity)


def _of_arrays(ufunc: Any, method: str, args: list[Any], kwargs: dict[str, Any], out: Any) -> Any:
    if "where" in kwargs:
        kwargs["where"] = np.asarray(plain(kwargs["where"])).astype(bool)
        if method == "__call__":
            return _where(ufunc, args, kwargs.pop("where"), out)
        if kwargs["where"].all():
            del kwargs["where"]
        elif repr(kwargs.get("initial", np._NoValue)) == "<no value>":
            kwargs["initial"] = INITIAL.get(ufunc, 0.0)
    if method == "__call__":
        if ufunc in BY_OPERATORS:
            found = ufunc(*args, **kwargs)
        else:
            found = np.frompyfunc(FUNCTIONS[ufunc], len(args), ufunc.nout)(*args)
        whole = ufunc in BOOLEAN and isinstance(found, np.ndarray)
        return found.astype(bool) if whole else found
    if ufunc in (np.logical_and, np.logical_or):
        args = [np.asarray(args[0]).astype(bool), *args[1:]]
        return getattr(ufunc, method)(*args, **kwargs)
    if repr(kwargs.get("initial")) in ("<no value>", "None"):
        kwargs.pop("initial", None)
    return getattr(_fold(ufunc), method)(*args, **kwargs)


def _of_scalar(self: Real, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    return on_ufunc(ufunc, method, inputs, kwargs)


Real.__array_ufunc__ = Complex.__array_ufunc__ = _of_scalar


def _where(ufunc: Any, args: list[Any], where: Any, out: Any) -> Any:
    """`ufunc(..., where=mask)`; the others are those of `out`, or 0."""
    fun = FUNCTIONS.get(ufunc, ufunc)
    mask, *parts = np.broadcast_arrays(where, *[np.asarray(a, object) for a in args])
    found = np.full(mask.shape, 0.0, object) if not out else plain(out[0]).copy()
    for at in np.ndindex(*mask.shape):
        if mask[at]:
            found[at] = fun(*[p[at] for p in parts])
    return found
