"""JAX: functions of symdiff under `jit`, `vmap` and reverse mode of any order.

On CPUs a function is a custom call of XLA's (`jax.ffi`) with the address of its kernel, so that no Python
runs; Python is called for what the kernel leaves: elements that need ball arithmetic, arrays so
large that threads pay. Elsewhere all calls go back to the host (`jax.pure_callback`). The reverse pass
(`jax.custom_vjp`) is another such function, of the vector-Jacobian product, and so on.
"""

from __future__ import annotations

import ctypes
import itertools
import secrets
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from symdiff.api.function import SymbolicFunction
from symdiff.api.transforms import symgrad
from symdiff.errors import SymdiffError
from symdiff.interop import derived
from symdiff.ir.program import Program
from symdiff.runtime.custom_calls import Handler, Record, of_elements, of_program

Kind = tuple[tuple[int, ...], Any]
"""The shape and the dtype of an array."""

_targets = itertools.count()
_process = secrets.token_hex(8)
"""Part of the names of custom calls: compiled programs that JAX keeps on disk do not find those of another
process, whose kernels are not here."""
_EXECUTION_FAILED = 13
"""XLA's code for an internal error."""


def function(fun: Callable[..., Any]) -> Callable[..., Any]:
    """A function of JAX arrays that computes `fun`, and its derivatives, with symdiff.

    Parameters
    ----------
    fun : a `SymbolicFunction`, or a function that `symgrad` takes, of numbers and arrays.

    Returns
    -------
    callable
        Takes arrays and numbers for the real parameters of `fun`, by position, and returns an
        array, or a tuple of them. The dtype is that of the arguments, float32 or float64; integers
        have no gradient. Forward mode is refused by JAX: take Hessians as
        `jax.jacrev(jax.grad(f))`.

    Raises
    ------
    SymdiffError : for functions with static parameters, and for results that are nested.

    Examples
    --------
    >>> from symdiff.interop.jax import function  # doctest: +SKIP
    >>> sinc = function(lambda x: np.sin(x) / x)  # doctest: +SKIP
    >>> jax.grad(sinc)(0.0)  # doctest: +SKIP
    Array(0., dtype=float32)
    """
    f: SymbolicFunction = symgrad(fun)
    if f._source.parameters.static:
        raise SymdiffError(
            f"{f.__name__} has static parameters", hint="give them values in a function around it"
        )
    called = _Called(f)

    def call(*args: Any) -> Any:
        results = called(*args)
        return results[0] if called.single else results

    call.__name__, call.__doc__ = f.__name__, f.__doc__
    call.__wrapped__ = f  # type: ignore[attr-defined]
    return call


class _Called:
    """One function: arrays to a tuple of arrays.

    Attributes
    ----------
    f : what is computed.
    single : whether it returns one result and no tuple, known after the first call.
    """

    def __init__(self, f: SymbolicFunction) -> None:
        self.f, self.single = f, True
        self._shapes = cache(self._found_shapes)
        self._called: dict[Any, str | None] = {}
        self._pullback: _Called | None = None
        self._gradient: _Called | None = None
        self._call = jax.custom_vjp(self._computed)
        self._call.defvjp(self._forward, self._backward)

    def __call__(self, *args: Any) -> tuple[Any, ...]:
        args = tuple(map(jnp.asarray, args))
        if len({a.shape for a in args}) > 1 and self._is_elementwise(args):
            args = tuple(jnp.broadcast_arrays(*args))
        found: tuple[Any, ...] = self._call(*args)
        return found

    def _computed(self, *args: Any) -> Any:
        kinds = tuple((a.shape, np.dtype(a.dtype)) for a in args)
        shapes = self._shapes(kinds)
        dtype = _dtype(args)
        wanted = tuple(jax.ShapeDtypeStruct(s, dtype) for s in shapes)

        def compute(*values: Any) -> Any:
            found = self._evaluate([np.asarray(v) for v in values])
            return tuple(np.asarray(v, dtype) for v in found)

        called = self._custom_call(kinds, shapes, dtype, compute)
        if called is None:
            return jax.pure_callback(compute, wanted, *args, vmap_method="sequential")
        name, method = called
        return jax.ffi.ffi_call(name, wanted, vmap_method=method)(*args)

    def _custom_call(
        self, kinds: tuple[Kind, ...], results: Sequence[tuple[int, ...]], dtype: Any,
        compute: Callable[..., Any],
    ) -> tuple[str, str] | None:  # fmt: skip
        """The name of a custom call for arguments of these shapes and dtypes, and how to map it; None where
        there is none."""
        if jax.default_backend() != "cpu" or any(d != dtype for _, d in kinds):
            return None
        f = self.f
        f._fresh()
        values = [np.full(s, 0.5, d) if s else 0.5 for s, d in kinds]
        types = f._source.shapes({}, values)
        raw = f._source.raw({}, types)
        elementwise = isinstance(raw, Program)
        kernel = f._compiled({}, types)[1] if elementwise else f._arrays.compiled(raw, {}, types)[1]
        key = id(kernel), dtype, None if elementwise else kinds
        if key not in self._called:
            record = self._record(kinds, types, raw, results, dtype.name)
            name = None
            if record is not None:
                name = f"symdiff_{_process}_{next(_targets)}"
                handler = Handler(record, _callback(compute))
                jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(handler.function), "cpu")
                _registered.append((handler, kernel))
            self._called[key] = name
        found = self._called[key]
        if found is None:
            return None
        return found, "broadcast_all" if elementwise else "sequential"

    def _record(
        self, kinds: tuple[Kind, ...], types: Any, raw: Any, results: Sequence[tuple[int, ...]],
        dtype: str,
    ) -> Record | None:  # fmt: skip
        """How to call the kernel without Python, once all of its code has been checked."""
        f, shapes = self.f, [s for s, _ in kinds]
        if f._options.engine == "numba" or f._options.accuracy == "certified":
            return None
        if f._options.dtype not in (None, dtype):
            return None
        if not isinstance(raw, Program):
            program, kernel = f._arrays.compiled(raw, {}, types)
            return of_program(kernel.code(dtype, first=True), shapes, program.tree, results)
        trial = [np.full(s or (1,), 0.5, dtype) for s in shapes]
        while True:
            optimized, tiered = f._compiled({}, types)
            record = None if tiered.always else of_elements(tiered.kernel, dtype, optimized.tree)
            f(*trial)  # compares code that is new
            if f._compiled({}, types)[1] is tiered:
                return record

    def _evaluate(self, values: Sequence[Any]) -> Sequence[Any]:
        found = self.f(*(v if v.shape else v.item() for v in values))
        self.single = not isinstance(found, (tuple, list))
        return derived.results_of(self.f, found)

    def _found_shapes(self, kinds: tuple[Kind, ...]) -> list[tuple[int, ...]]:
        """The shapes of the results, for arguments of these shapes and dtypes."""
        values = [np.full(s, 0.5 if np.issubdtype(d, np.floating) else 1, d) for s, d in kinds]
        return [np.shape(v) for v in self._evaluate(values)]

    def _is_elementwise(self, args: Sequence[Any]) -> bool:
        return derived.is_elementwise(self.f, [np.zeros(a.shape, a.dtype) for a in args])

    # ------------------------------------------------------------------ derivatives
    def _forward(self, *args: Any) -> Any:
        return self._call(*args), args

    def _backward(self, args: Any, bars: Any) -> tuple[Any, ...]:
        if self.single and not np.shape(bars[0]):
            self._gradient = self._gradient or _Called(self.f.grad)
            found = tuple(bars[0] * slope for slope in self._gradient(*args))
        else:
            if self._pullback is None:
                self._pullback = _Called(derived.pullback(self.f, len(bars), self.single))
            found = self._pullback(*args, *bars)
        slopes = iter(found)
        return tuple(
            next(slopes) if jnp.issubdtype(a.dtype, jnp.floating)
            else np.zeros(a.shape, jax.dtypes.float0)
            for a in args
        )  # fmt: skip


_registered: list[Any] = []
"""What custom calls point to: XLA never forgets one."""


def _callback(compute: Callable[..., Any]) -> Callable[[int], int]:
    """A function of the address of a frame that computes the results in Python, and returns 0 or the address
    of an error of XLA's."""

    def call(frame: int) -> int:
        words = (ctypes.c_int64 * 15).from_address(frame)
        try:
            values = [_array(words[9], k) for k in range(words[7])]
            results = compute(*values)
            for k, result in enumerate(results):
                np.copyto(_array(words[14], k), result)
        except BaseException as error:
            return _error(words[2], f"{type(error).__name__}: {error}")
        return 0

    return call


_DTYPES: dict[int, Any] = {11: np.dtype("float32"), 12: np.dtype("float64")}
"""XLA's numbers of dtypes."""


def _array(table: int, k: int) -> np.ndarray[Any, Any]:
    """The array of a buffer of a frame."""
    buffer = ctypes.c_int64.from_address(table + 8 * k).value
    _, _, kind, data, rank, sizes = (ctypes.c_int64 * 6).from_address(buffer)
    dtype = _DTYPES[kind & 0xFFFFFFFF]
    shape = tuple((ctypes.c_int64 * rank).from_address(sizes)) if rank else ()
    count = int(np.prod(shape, dtype=np.int64))
    memory = (ctypes.c_char * (count * dtype.itemsize)).from_address(data)
    array: np.ndarray[Any, Any] = np.frombuffer(memory, dtype).reshape(shape)
    return array


def _error(api: int, message: str) -> int:
    """The address of a new error of XLA's."""
    text = ctypes.create_string_buffer(message.encode())
    record = (ctypes.c_int64 * 4)(32, 0, ctypes.addressof(text), _EXECUTION_FAILED)
    create = ctypes.c_void_p.from_address(api + 48).value or 0
    made = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(create)(ctypes.addressof(record))
    return int(made or 0)


def _dtype(args: Sequence[Any]) -> Any:
    """The dtype of results: float32 if all real arguments are."""
    real = {np.dtype(a.dtype) for a in args if jnp.issubdtype(a.dtype, jnp.floating)}
    other = real - {np.dtype(np.float32), np.dtype(np.float64)}
    if other:
        raise SymdiffError(f"arrays of {', '.join(map(str, other))}", hint="float64 or float32")
    if real:
        return np.result_type(*real)
    return np.dtype(jnp.zeros(()).dtype)
