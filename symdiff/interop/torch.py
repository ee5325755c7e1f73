"""PyTorch: functions of symdiff as operators on tensors, with derivatives of any order.

Each function is an operator of PyTorch's library (`torch.library.custom_op`), which `torch.compile`
leaves whole, in a `torch.autograd.Function`. Its derivatives are operators made in the same way: of
the vector-Jacobian product for the backward pass, of the Jacobian-vector product for forward mode,
and so on. Tensors on the CPU are read where they lie.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from symdiff.api.function import SymbolicFunction
from symdiff.api.transforms import symgrad
from symdiff.errors import MissingExtraError, SymdiffError
from symdiff.interop import derived

try:
    import torch
except ImportError:
    raise MissingExtraError.of("symdiff.interop.torch needs PyTorch", "torch") from None

_numbers = itertools.count()


def function(fun: Callable[..., Any]) -> Callable[..., Any]:
    """A function of tensors that computes `fun`, and its derivatives, with symdiff.

    Parameters
    ----------
    fun : a `SymbolicFunction`, or a function that `symgrad` takes, of numbers and arrays.

    Returns
    -------
    callable
        Takes tensors (and numbers, which are constants) for the real parameters of `fun`, by
        position, and returns tensors: one, or a tuple. Numbers are tensors of no dimension. The
        dtype is that of the arguments, float64 or float32; integer tensors have no gradient.

    Raises
    ------
    SymdiffError : for functions with static parameters, and for results that are nested.

    Examples
    --------
    >>> import torch  # doctest: +SKIP
    >>> from symdiff.interop.torch import function
    >>> @function  # doctest: +SKIP
    ... def sinc(x):
    ...     return np.sin(x) / x
    >>> x = torch.zeros(3, dtype=torch.float64, requires_grad=True)  # doctest: +SKIP
    >>> sinc(x).sum().backward(); x.grad  # doctest: +SKIP
    tensor([0., 0., 0.], dtype=torch.float64)
    """
    f = symgrad(fun)
    if f._source.parameters.static:
        raise SymdiffError(
            f"{f.__name__} has static parameters", hint="give them values in a function around it"
        )
    operator = _Operator(f)
    _ = operator.broadcasts, operator.registered

    def call(*args: Any) -> Any:
        dtype = _dtype(args)
        given = [a if isinstance(a, torch.Tensor) else torch.tensor(a, dtype=dtype) for a in args]
        results = operator(given)
        return results[0] if operator.single else tuple(results)

    call.__name__, call.__doc__ = f.__name__, f.__doc__
    call.__wrapped__ = f  # type: ignore[attr-defined]
    return call


class _Operator:
    """One function as an operator: a list of tensors to a list of tensors.

    Attributes
    ----------
    f : what is computed.
    single : whether it returns one result and no tuple, known after the first call.
    axes : for each argument whether its leading axis is mapped over; None if none is.
    """

    def __init__(self, f: SymbolicFunction, axes: tuple[int | None, ...] | None = None) -> None:
        self.f, self.axes = f, axes
        self.single = True
        self._mapped: dict[tuple[int | None, ...], _Operator] = {}
        self._made: dict[str, _Operator] = {}

    def __call__(self, tensors: Sequence[Any]) -> list[Any]:
        tensors = list(tensors)
        if self.axes is None and self.broadcasts(
            tuple((tuple(t.shape), t.dtype.is_floating_point) for t in tensors)
        ):
            tensors = list(torch.broadcast_tensors(*tensors))
        if torch.compiler.is_compiling():
            return list(self.registered(tensors))
        return list(Differentiable.apply(self, *tensors))

    @cached_property
    def registered(self) -> Any:
        """The operator in PyTorch's library, with a backward pass."""
        name = f"symdiff::f{next(_numbers)}"
        schema = "(Tensor[] tensors) -> Tensor[]"
        op = torch.library.custom_op(name, self.compute, mutates_args=(), schema=schema)
        op.register_fake(self.fake)
        op.register_autograd(self._backward, setup_context=self._setup)
        return op

    def _setup(self, ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs[0])

    def _backward(self, ctx: Any, bars: Sequence[Any]) -> list[Any]:
        return self.slopes(ctx.saved_tensors, bars)

    def compute(self, tensors: Sequence[Any]) -> list[Any]:
        dtype = _dtype(tensors)
        found = self._evaluate([_array(t) for t in tensors])
        return [_tensor(v, dtype) for v in found]

    def fake(self, tensors: Sequence[Any]) -> list[Any]:
        """Tensors without values, of the shapes of the results."""
        dtype, first = _dtype(tensors), next(iter(tensors), torch.empty(()))
        points = [
            np.full(tuple(map(int, t.shape)), 0.5 if t.dtype.is_floating_point else 1)
            for t in tensors
        ]
        points = [
            p.astype(str(t.dtype).removeprefix("torch."))
            for p, t in zip(points, tensors, strict=True)
        ]
        found = self._evaluate([p if p.shape else p.item() for p in points])
        return [first.new_empty(np.shape(v), dtype=dtype) for v in found]

    def _evaluate(self, arguments: Sequence[Any]) -> list[Any]:
        derived.must_be_real(self.f, "argument", arguments)
        if self.axes is None:
            found = self.f(*arguments)
        else:
            found = self.f.map(*arguments, axes=self.axes)
        self.single = not isinstance(found, (tuple, list))
        return derived.results_of(self.f, found)

    @cached_property
    def broadcasts(self) -> Callable[[tuple[tuple[tuple[int, ...], bool], ...]], bool]:
        """Whether arguments of these shapes, real or integers, broadcast: some differ, and results
        are elementwise."""
        f = self.f

        def broadcasts(kinds: tuple[tuple[tuple[int, ...], bool], ...]) -> bool:
            if len({shape for shape, _ in kinds}) < 2:
                return False
            values = [np.zeros(s, float if real else int) for s, real in kinds]
            return derived.is_elementwise(f, values)

        return torch.compiler.assume_constant_result(broadcasts)  # type: ignore[no-any-return]

    # ------------------------------------------------------------------ derivatives
    def gradient(self) -> _Operator:
        """The operator of the gradient, of a function that returns a number."""
        if "grad" not in self._made:
            self._made["grad"] = _Operator(self.f.grad)
        found = self._made["grad"]
        return found if self.axes is None else found.mapped(self.axes)

    def pullback(self, results: int) -> _Operator:
        """The operator that takes the arguments, and a cotangent for each result."""
        if "vjp" not in self._made:
            self._made["vjp"] = _Operator(derived.pullback(self.f, results, self.single))
        found = self._made["vjp"]
        return found if self.axes is None else found.mapped((*self.axes, *(0,) * results))

    def pushforward(self) -> _Operator:
        """The operator that takes the arguments, and a tangent for each."""
        if "jvp" not in self._made:
            self._made["jvp"] = _Operator(derived.pushforward(self.f))
        found = self._made["jvp"]
        return found if self.axes is None else found.mapped((*self.axes, *self.axes))

    def slopes(self, tensors: Sequence[Any], bars: Sequence[Any]) -> list[Any]:
        """The cotangents of the arguments; None for integers."""
        real = [k for k, t in enumerate(tensors) if t.dtype.is_floating_point]
        if self.single and bars[0].ndim == (self.axes is not None):
            found = [_scaled(bars[0], slope) for slope in self.gradient()(tensors)]
        else:
            found = self.pullback(len(bars))([*tensors, *(b.contiguous() for b in bars)])
        slopes: list[Any] = [None] * len(tensors)
        for k, slope in zip(real, found, strict=True):
            shared = self.axes is not None and self.axes[k] is None
            slopes[k] = slope.sum(0) if shared else slope
        return slopes

    def mapped(self, axes: tuple[int | None, ...]) -> _Operator:
        """The operator over the leading axes of some arguments."""
        if axes not in self._mapped:
            made = self._mapped[axes] = _Operator(self.f, axes)
            made.single, made._made = self.single, self._made
        return self._mapped[axes]


def _scaled(bar: Any, slope: Any) -> Any:
    """A gradient times the cotangent of its number, or of each row's."""
    return bar.reshape(bar.shape + (1,) * (slope.ndim - bar.ndim)) * slope


class Differentiable(torch.autograd.Function):
    """Operators with derivatives."""

    @staticmethod
    def forward(operator: _Operator, *tensors: Any) -> Any:
        return tuple(operator.registered(list(tensors)))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.operator, *tensors = inputs
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)
        ctx.results = len(output)

    @staticmethod
    def backward(ctx: Any, *bars: Any) -> Any:
        return None, *ctx.operator.slopes(ctx.saved_tensors, bars)

    @staticmethod
    def jvp(ctx: Any, _: Any, *dots: Any) -> Any:
        tensors = ctx.saved_tensors
        full = [torch.zeros_like(t) if d is None else d for t, d in zip(tensors, dots, strict=True)]
        return tuple(ctx.operator.pushforward()([*tensors, *full]))

    @staticmethod
    def vmap(info: Any, dims: Any, operator: _Operator, *tensors: Any) -> Any:
        _, *dims = dims
        moved = [t if d is None else t.movedim(d, 0) for t, d in zip(tensors, dims, strict=True)]
        if operator.axes is None:
            found = operator.mapped(tuple(None if d is None else 0 for d in dims))(moved)
        else:  # mapped already
            rows = [
                operator([t if d is None else t[k] for t, d in zip(moved, dims, strict=True)])
                for k in range(info.batch_size)
            ]
            found = [torch.stack(column) for column in zip(*rows, strict=True)]
        return tuple(found), (0,) * len(found)


def _dtype(tensors: Sequence[Any]) -> Any:
    """The dtype of results: float32 if all real tensors are."""
    real = {t.dtype for t in tensors if isinstance(t, torch.Tensor) and t.dtype.is_floating_point}
    other = real - {torch.float32, torch.float64}
    if other:
        raise SymdiffError(f"tensors of {', '.join(map(str, other))}", hint="float64 or float32")
    return torch.float32 if real == {torch.float32} else torch.float64


def _array(tensor: Any) -> Any:
    """What symdiff reads of a tensor: a number, the memory of the CPU, or the tensor."""
    tensor = tensor.detach()
    if not tensor.ndim:
        return tensor.item()
    return tensor.resolve_neg().numpy() if tensor.device.type == "cpu" else tensor


def _tensor(value: Any, dtype: Any) -> Any:
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value).to(dtype)
    return torch.as_tensor(value, dtype=dtype)
