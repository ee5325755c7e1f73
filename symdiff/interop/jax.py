"""JAX: functions of symdiff under `jit`, `vmap` and reverse mode of any order.

A function calls back to the host (`jax.pure_callback`); its reverse pass (`jax.custom_vjp`) is another
such function, of the vector-Jacobian product, and so on.
"""

from __future__ import annotations

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
        shapes = self._shapes(tuple((a.shape, a.dtype) for a in args))
        dtype = _dtype(args)
        wanted = tuple(jax.ShapeDtypeStruct(s, dtype) for s in shapes)

        def compute(*values: Any) -> Any:
            found = self._evaluate([np.asarray(v) for v in values])
            return tuple(np.asarray(v, dtype) for v in found)

        return jax.pure_callback(compute, wanted, *args, vmap_method="sequential")

    def _evaluate(self, values: Sequence[Any]) -> Sequence[Any]:
        found = self.f(*(v if v.shape else v.item() for v in values))
        self.single = not isinstance(found, (tuple, list))
        return derived.results_of(self.f, found)

    def _found_shapes(
        self, kinds: tuple[tuple[tuple[int, ...], Any], ...]
    ) -> list[tuple[int, ...]]:
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


def _dtype(args: Sequence[Any]) -> Any:
    """The dtype of results: float32 if all real arguments are."""
    real = {np.dtype(a.dtype) for a in args if jnp.issubdtype(a.dtype, jnp.floating)}
    other = real - {np.dtype(np.float32), np.dtype(np.float64)}
    if other:
        raise SymdiffError(f"arrays of {', '.join(map(str, other))}", hint="float64 or float32")
    if real:
        return np.result_type(*real)
    return jnp.zeros(()).dtype
