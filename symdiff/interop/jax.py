"""JAX: functions of symdiff under `jit`, `vmap` and reverse mode of any order.

On CPUs a function is a custom call of XLA's (`jax.ffi`) with the address of its kernel, so that no Python
runs; Python is called for what the kernel leaves: elements that need ball arithmetic, arrays so
large that threads pay. Elsewhere all calls go back to the host (`jax.pure_callback`). All calls are of one
primitive of JAX's. Its tangents are those of the Jacobian-vector product, another such function that is
linear in some of its arguments; transposed, that is the vector-Jacobian product, and so on.
"""

from __future__ import annotations

import ctypes
import itertools
import secrets
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from symdiff.api.function import SymbolicFunction
from symdiff.api.leaves import leaves_of
from symdiff.api.transforms import symgrad
from symdiff.errors import MissingExtraError, SymdiffError
from symdiff.frontend.pytrees import is_container, within
from symdiff.interop import derived
from symdiff.ir.program import Program
from symdiff.runtime.custom_calls import Handler, Record, of_elements, of_program

try:
    import jax
    import jax.extend
    import jax.numpy as jnp
    from jax.interpreters import ad, batching, mlir
except ImportError:
    raise MissingExtraError.of("symdiff.interop.jax needs JAX", "jax") from None

Kind = tuple[tuple[int, ...], Any]
"""The shape and the dtype of an array."""
Levels = tuple[tuple[bool, ...], ...]
"""For each `jax.vmap` around a call, the outermost first, which arguments have a leading axis for it."""

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
        Takes arrays, numbers, and dicts, lists and tuples of them, for the real parameters of `fun`, by
        position, and returns an array, or a tuple of them. The dtype is that of the arguments, float32 or float64; integers
        have no gradient. Forward and reverse mode nest in any order.

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
    made: dict[Any, _Called] = {}

    def call(*args: Any) -> Any:
        nodes, leaves = _flattened(f, args)
        called = made.setdefault(nodes, _Called(f if nodes is None else f._twin(nodes)))
        results = called(*leaves)
        return results[0] if called.single else results

    call.__name__, call.__doc__ = f.__name__, f.__doc__
    call.__wrapped__ = f  # type: ignore[attr-defined]
    return call


def _flattened(f: SymbolicFunction, args: Sequence[Any]) -> tuple[Any, Sequence[Any]]:
    """How arguments nest, None if they do not, and the arrays in them. A list of numbers is an array.

    Raises
    ------
    SymdiffError : for arguments that hold anything else.
    """
    if not any(isinstance(a, dict) or (is_container(a) and not _is_array(a)) for a in args):
        return None, args
    real = f._source.parameters.real
    if len(args) != len(real):
        raise SymdiffError(f"{f.__name__} takes {len(real)} arguments, and not {len(args)}")
    nodes, leaves = leaves_of(f, args)
    for name, node in zip(real, nodes, strict=True):
        fixed = next((n for n in within(node) if n.kind == "fixed"), None)
        if fixed is not None:
            raise SymdiffError(
                f"argument {name} holds {fixed.value!r}, which JAX does not compute with",
                hint="give it its value in a function around it",
            )
    return nodes, leaves


def _is_array(value: Any) -> bool:
    """Whether a list is one of numbers, or of lists of them that JAX makes an array of."""
    try:
        jnp.asarray(value)
    except (TypeError, ValueError):
        return False
    return True


class _Called:
    """One function: arrays to a tuple of arrays.

    Parameters
    ----------
    shapes : of the results for arguments of some shapes and dtypes, where they are known without a call.
    single : whether it returns one result and no tuple; without `shapes` this is known after the first call.
    residuals : how many arguments it is not linear in; those after them it is linear in.
    transposed : for a function that is linear: the residuals and a cotangent for each result, to a
        cotangent for each argument that it is linear in.

    Attributes
    ----------
    f : what is computed.
    """

    def __init__(
        self, f: SymbolicFunction, shapes: Callable[[Any], Any] | None = None, single: bool = True,
        residuals: int | None = None, transposed: Callable[..., Any] | None = None,
    ) -> None:  # fmt: skip
        self.f, self.single = f, single
        self.shapes = shapes or cache(self._found_shapes)
        self.residuals, self.transposed = residuals, transposed
        self._called: dict[Any, str | None] = {}
        self._pushforwards: dict[tuple[int, ...], _Called] = {}
        self._pullbacks: dict[tuple[int, ...], _Called] = {}
        self._gradients: dict[tuple[int, ...], _Called] = {}

    def __call__(self, *args: Any) -> tuple[Any, ...]:
        args = tuple(map(jnp.asarray, args))
        derived.must_be_real(self.f, "argument", args)
        if len({a.shape for a in args}) > 1 and self._is_elementwise(args):
            args = tuple(jnp.broadcast_arrays(*args))
        return self.bind(args)

    def bind(self, args: Sequence[Any], levels: Levels = ()) -> tuple[Any, ...]:
        """Call it through the primitive."""
        return tuple(_apply.bind(*args, called=self, levels=levels))

    def _computed(self, *args: Any) -> Any:
        kinds = tuple((a.shape, np.dtype(a.dtype)) for a in args)
        shapes = self.shapes(kinds)
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
            return of_program(kernel.code(dtype), shapes, program.tree, results)
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
    def pushforward(self, by: tuple[int, ...], arguments: int) -> _Called:
        """The function of the arguments, and a tangent for those at `by`, to the results' tangents."""
        if by not in self._pushforwards:
            f = derived.pushforward(self.f, by)

            def shapes(kinds: Any) -> Any:
                return self.shapes(kinds[:arguments])

            def transposed(primals: Sequence[Any], bars: Sequence[Any]) -> Sequence[Any]:
                if self.single and not np.shape(bars[0]):
                    return [bars[0] * slope for slope in self._gradient(by).bind(primals)]
                return self._pullback(by, arguments, len(bars)).bind([*primals, *bars])

            self._pushforwards[by] = _Called(f, shapes, self.single, arguments, transposed)
        return self._pushforwards[by]

    def _pullback(self, by: tuple[int, ...], arguments: int, results: int) -> _Called:
        """The function of the arguments, and a cotangent for each result, to the cotangents of the
        arguments at `by`."""
        if by not in self._pullbacks:
            f = derived.pullback(self.f, results, self.single, by)

            def shapes(kinds: Any) -> Any:
                return [kinds[k][0] for k in by]

            def transposed(primals: Sequence[Any], dots: Sequence[Any]) -> Sequence[Any]:
                return self.pushforward(by, arguments).bind([*primals, *dots])

            self._pullbacks[by] = _Called(f, shapes, len(by) == 1, arguments, transposed)
        return self._pullbacks[by]

    def _gradient(self, by: tuple[int, ...]) -> _Called:
        """The function of the gradient by the arguments at `by`, of a function that returns a number."""
        if by not in self._gradients:
            names = self.f._source.parameters.real
            f = symgrad(self.f, wrt=tuple(names[k] for k in by)).grad
            self._gradients[by] = _Called(f, lambda kinds: [kinds[k][0] for k in by], len(by) == 1)
        return self._gradients[by]


# ------------------------------------------------------------------------ the primitive
_apply = jax.extend.core.Primitive("symdiff")
_apply.multiple_results = True


def _results(*args: Any, called: _Called, levels: Levels) -> Any:
    return _mapped(called._computed, levels)(*map(jnp.asarray, args))


def _mapped(fun: Callable[..., Any], levels: Levels) -> Callable[..., Any]:
    for flags in reversed(levels):
        fun = jax.vmap(fun, in_axes=tuple(0 if has else None for has in flags))
    return fun


def _abstract(*avals: Any, called: _Called, levels: Levels) -> Any:
    axes, sizes = [0] * len(avals), []
    for flags in levels:
        first = flags.index(True)
        sizes.append(avals[first].shape[axes[first]])
        axes = [n + has for n, has in zip(axes, flags, strict=True)]
    kinds = tuple((a.shape[n:], np.dtype(a.dtype)) for a, n in zip(avals, axes, strict=True))
    dtype = _dtype(avals)
    return [jax.core.ShapedArray((*sizes, *shape), dtype) for shape in called.shapes(kinds)]


def _forward(primals: Any, tangents: Any, *, called: _Called, levels: Levels) -> Any:
    """The results and their tangents."""
    by = tuple(k for k, t in enumerate(tangents) if not _is_zero(t))
    results = called.bind(primals, levels)
    if (
        called.residuals is not None and by[0] >= called.residuals
    ):  # linear in all that have tangents
        fixed, given = called.residuals, zip(primals, tangents, strict=True)
        dots = [
            p if k < fixed else jnp.zeros_like(p) if _is_zero(t) else t
            for k, (p, t) in enumerate(given)
        ]
        return results, called.bind(dots, levels)
    pushed = called.pushforward(by, len(primals))
    flags = tuple((*has, *(has[k] for k in by)) for has in levels)
    return results, pushed.bind([*primals, *(tangents[k] for k in by)], flags)


def _is_zero(tangent: Any) -> bool:
    return isinstance(tangent, ad.Zero) or tangent.dtype == jax.dtypes.float0


def _backward(bars: Any, *args: Any, called: _Called, levels: Levels) -> Any:
    """The cotangents of the arguments that a function is linear in."""
    fixed, transposed = called.residuals, called.transposed
    if fixed is None or transposed is None or any(map(ad.is_undefined_primal, args[:fixed])):
        raise SymdiffError(f"{called.f.__name__} is not linear, and has no transpose")
    full = [ad.instantiate_zeros(bar) for bar in bars]
    flags = tuple((*has[:fixed], *(True,) * len(full)) for has in levels)

    def each(*given: Any) -> Any:
        return tuple(transposed(given[:fixed], given[fixed:]))

    found: list[Any] = [None] * len(args)
    for k, slope in enumerate(_mapped(each, flags)(*args[:fixed], *full), fixed):
        if ad.is_undefined_primal(args[k]):
            shared = tuple(axis for axis, has in enumerate(levels) if not has[k])
            found[k] = jnp.sum(slope, shared).astype(args[k].aval.dtype)
    return found


def _batched(args: Any, dims: Any, *, called: _Called, levels: Levels) -> Any:
    flags = tuple(d is not None for d in dims)
    moved = [a if d is None else jnp.moveaxis(a, d, 0) for a, d in zip(args, dims, strict=True)]
    found = called.bind(moved, (flags, *levels))
    return found, (0,) * len(found)


_apply.def_impl(_results)
_apply.def_abstract_eval(_abstract)
ad.primitive_jvps[_apply] = _forward
ad.primitive_transposes[_apply] = _backward
batching.primitive_batchers[_apply] = _batched
mlir.register_lowering(_apply, mlir.lower_fun(_results, multiple_results=True))


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
