"""Device functions of functions of numbers, which kernels of Numba-CUDA call.

The text is that of our own kernels for one element, with its tiers: double arithmetic with its
error test, and double-double arithmetic for what is flagged. It is compiled to PTX that rounds
every product, and linked to the kernels that call it.

References: NVIDIA, Numba-CUDA, "Calling foreign functions from Python kernels"
(`cuda.declare_device`).
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from symdiff.errors import TargetError
from symdiff.ir.program import Tree
from symdiff.runtime.cuda import nvrtc
from symdiff.runtime.cuda.kernel import CudaKernel

_templates: WeakKeyDictionary[Any, list[Any]] = WeakKeyDictionary()
"""Of each device function, how it is typed: once, so that equal types are equal."""


def numba_cuda() -> Any:
    """`numba.cuda` of the package numba-cuda.

    Raises
    ------
    TargetError : if it is not installed.
    """
    try:
        from numba import config, cuda

        if not config.ENABLE_CUDASIM:
            from numba.cuda import extending  # noqa: F401  (Numba's own has none)
            from numba.cuda.extending import register_model  # noqa: F401
    except ImportError as error:
        raise TargetError(
            f"device functions need numba-cuda: {error}", hint=nvrtc.INSTALL
        ) from None
    return cuda


def text_of(kernel: CudaKernel) -> tuple[str, str]:
    """The CUDA C++ of a device function, and its name, which no other has."""
    digest = hashlib.blake2b(kernel.device_function("f").encode(), digest_size=12).hexdigest()
    name = f"symdiff_{digest}"
    return kernel.device_function(name), name


def device_function(
    name: str,
    params: Sequence[str],
    tree: Tree,
    kernel: CudaKernel,
    simulated: Callable[..., Any],
) -> Any:
    """What kernels of Numba-CUDA call for the outputs of a kernel, nested as `tree` says.

    Parameters
    ----------
    name, params : what the function and its parameters are called.
    simulated : what computes the same under Numba's simulator.
    """
    cuda = numba_cuda()
    from numba import config

    if config.ENABLE_CUDASIM:
        return cuda.jit(device=True)(simulated)
    from numba.cuda.extending import intrinsic

    text, symbol = text_of(kernel)
    linked = cuda.PTXSource(nvrtc.linkable(text, kernel.cache).encode(), name=f"{symbol}.ptx")
    call = _call(symbol, linked, tree, len(kernel.outputs))
    safe = name if name.isidentifier() else "function"
    given = ", ".join(params)
    inside: dict[str, Any] = {"call": call}
    # The text contains only the names of parameters.
    exec(f"def {safe}(typingctx, {given}): return call([{given}])", inside)
    return intrinsic(inside[safe])


def _call(symbol: str, linked: Any, tree: Tree, count: int) -> Callable[[Sequence[Any]], Any]:
    """How calls of a linked device function are typed and compiled."""
    from llvmlite import ir
    from numba.cuda import cgutils, types
    from numba.cuda.typing import signature

    real, result = types.float64, _type(tree)

    def call(args: Sequence[Any]) -> Any:
        if not all(isinstance(a, (types.Number, types.Boolean)) for a in args):
            return None

        def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            context.active_code_library.add_linking_file(linked)
            double = ir.DoubleType()
            found = cgutils.alloca_once(builder, double, size=max(1, count))
            kind = ir.FunctionType(ir.IntType(32), [found.type, *[double] * len(values)])
            function = cgutils.get_or_insert_function(builder.module, kind, symbol)
            numbers = [
                context.cast(builder, v, a, real)
                for v, a in zip(values, signature.args, strict=True)
            ]
            builder.call(function, [found, *numbers])
            places = [builder.gep(found, [ir.IntType(64)(k)]) for k in range(count)]
            made = [builder.load(p) for p in places]

            def nested(part: Tree, kind: Any) -> Any:
                if isinstance(part, tuple):
                    inner = [nested(t, k) for t, k in zip(part, kind.types, strict=True)]
                    return context.make_tuple(builder, kind, inner)
                return made[int(part)]

            return nested(tree, result)

        return signature(result, *args), codegen

    return call


def _type(tree: Tree) -> Any:
    """The type of results that nest like this."""
    from numba.cuda import types

    if isinstance(tree, tuple):
        return types.Tuple([_type(t) for t in tree])
    if isinstance(tree, int):
        return types.float64
    raise TargetError(
        f"a result that is a {'array' if hasattr(tree, 'shape') else type(tree).__name__}, in a "
        "kernel of Numba-CUDA",
        hint="return numbers or tuples of them",
    )


def type_of(function: Any, derivatives: tuple[str, ...]) -> Any:
    """The type of a symbolic function in what Numba-CUDA compiles.

    Parameters
    ----------
    function : has its device function as `numba_cuda`.
    derivatives : attributes of it that kernels may take.
    """
    return _types(derivatives)(function)


@functools.cache
def _types(derivatives: tuple[str, ...]) -> Any:
    """The class of these types, once Numba-CUDA knows how to handle them."""
    from numba.cuda import types
    from numba.cuda.core.imputils import lower_constant
    from numba.cuda.descriptor import cuda_target
    from numba.cuda.extending import (
        core_models,
        infer_getattr,
        lower_getattr_generic,
        register_model,
    )
    from numba.cuda.typing.templates import AttributeTemplate, make_intrinsic_template

    class SymbolicDeviceType(types.Function):  # type: ignore[misc]
        """The type of one function, as that of its device function."""

        def __init__(self, function: Any) -> None:
            handle, self.function = function.numba_cuda, function
            known = _templates.setdefault(handle, [])
            if not known:
                known.append(make_intrinsic_template(handle, handle._defn, handle._name))
            super().__init__(known[0])

    class Attributes(AttributeTemplate):  # type: ignore[misc]
        key = SymbolicDeviceType

        def generic_resolve(self, kind: Any, name: str) -> Any:
            return SymbolicDeviceType(getattr(kind.function, name)) if name in derivatives else None

    def nothing(context: Any, *_: Any) -> Any:
        """The value of a function is in its type."""
        return context.get_dummy_value()

    register_model(SymbolicDeviceType)(core_models.OpaqueModel)
    lower_constant(SymbolicDeviceType)(nothing)
    infer_getattr(Attributes)
    lower_getattr_generic(SymbolicDeviceType)(nothing)
    cuda_target.typing_context.refresh()  # a kernel is being compiled already
    cuda_target.target_context.refresh()
    return SymbolicDeviceType
