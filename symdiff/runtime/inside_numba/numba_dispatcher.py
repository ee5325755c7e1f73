"""Functions that Numba compiles into its callers: kernels of numbers, and calls of those of arrays.

Programs with arrays and loops are called by their addresses (`by_address`). Of functions of numbers
the IR that is linked is the one that `runtime.scalar.compiled.Point` compiles, under names of its own:
an intrinsic adds it to the code library of the caller, so LLVM inlines it there, and there is no
second compiler's rounding. Elements whose error test fails go to the double-double kernel, by its
address; what that cannot decide goes to ball arithmetic, by a callback, where the thread that
calls holds Python's lock (`PyGILState_Check`): Numba's parallel loops run in threads that do not,
and keep the double-double value.

Numba asks a value that it does not know for its type by the attribute `_numba_type_`, so that
neither package imports the other until both are used.

References: Numba, "Low-level extension API" (`numba.extending.intrinsic`, `overload`).
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from symdiff.codegen.llvm import jit
from symdiff.codegen.llvm.ball_calls import BALLS
from symdiff.errors import DomainError, TargetError, UnsupportedError
from symdiff.ir.loop_program import ARRAY
from symdiff.ir.program import OptimizedProgram, Tree, tree_text
from symdiff.runtime.inside_numba.by_address import (
    Argument,
    ArrayProgram,
    disjoint,
    implementation,
    in_python,
    together,
)
from symdiff.runtime.inside_numba.pending_errors import Pending, tell, wait
from symdiff.runtime.scalar.fallback import Tiered

INLINED = 400
"""Operations up to which a kernel is always inlined into its caller."""

DERIVATIVES = ("grad", "value_and_grad", "jacobian", "hessian")
"""The attributes of a function that compiled code may take."""

_numbers = itertools.count(1)
_DEFINED = re.compile(r"^(?:define [^@]*|)@([\w.$]+)(?: =|\()", re.M)
_DECLARED = re.compile(r"^declare [^@]*@([\w.$]+)\(", re.M)
_alive: list[Any] = []
"""Callbacks and machine code whose addresses are in code of Numba's, which lives as long as the
process."""


class Numbers(NamedTuple):
    """A function of numbers: what it computes, its compiled tiers, and what Python calls."""

    optimized: OptimizedProgram
    tiered: Tiered
    function: Callable[..., Any]
    changes: Sequence[int] = ()
    """The places of arguments that it changes."""


def dispatcher(
    name: str,
    params: Sequence[str],
    program: Callable[[Mapping[str, Any], Sequence[str]], Numbers | ArrayProgram],
    defaults: Mapping[str, Any] | None = None,
) -> Any:
    """A Numba dispatcher that computes the outputs of a function, nested as it says.

    Parameters
    ----------
    name, params : what the function and its parameters are called.
    program : what is computed for arguments of given ranks and kinds, and the structure of each.
    defaults : values of parameters that may be left out; those that are numbers count.

    Returns
    -------
    A dispatcher of `numba.njit`. It takes numbers (computed in double precision) and arrays;
    functions of numbers broadcast.
    """
    import numba
    from numba import types
    from numba.extending import overload

    names = [f"a{k}" for k in range(len(params))]
    given = ", ".join(names)
    scope: dict[str, Any] = {}
    exec(f"def stub({given}): raise NotImplementedError", scope)

    def choose(*args: Any) -> Callable[..., Any] | None:
        taken = [_argument(a, types) for a in args]
        if any(a is None for a in taken):
            return None
        known = [a for a in taken if a is not None]
        shapes = {
            p: (a.rank, a.kind if a.rank else "f") for p, a in zip(params, known, strict=True)
        }
        return _chosen(program(shapes, [a.kind for a in known]), known)

    exec(f"def chosen({given}): return choose({given})", {"choose": choose}, scope)
    overload(scope["stub"])(scope["chosen"])
    usual = {n: v for n, v in (defaults or {}).items() if type(v) in (float, int)}
    called = ", ".join(params)
    taken = ", ".join(f"{p}=usual[{p!r}]" if p in usual else p for p in params)
    outer: dict[str, Any] = {"stub": scope["stub"], "usual": usual}
    safe = name if name.isidentifier() else "function"
    exec(f"def {safe}({taken}): return stub({called})", outer)
    return numba.njit(outer[safe])


def _argument(kind: Any, types: Any) -> Argument | None:
    """An argument of a type of Numba's; None if no function takes such."""
    rank, element = (kind.ndim, kind.dtype) if isinstance(kind, types.Array) else (0, kind)
    if isinstance(element, types.Boolean):
        return Argument(rank, "b", False)
    if isinstance(element, types.Integer):
        return Argument(rank, "i", element == types.int64)
    return (
        Argument(rank, "f", element == types.float64) if isinstance(element, types.Float) else None
    )


def _chosen(made: Numbers | ArrayProgram, args: Sequence[Argument]) -> Callable[..., Any]:
    """The function that Numba compiles for such arguments."""
    import numba

    over = any(a.rank for a in args)
    given = [f"a{k}" for k in range(len(args))]
    arrays: Collection[int] = ()
    flat: Any
    if isinstance(made, ArrayProgram):
        tree, count = made.kernel.program.tree, len(made.kinds)
        over = over and made.of_numbers
        single = [Argument(0, "f", True) for _ in args] if over else args
        flat = _flat(numba.njit(implementation(made, single)))
        arrays = [k for k, e in enumerate(made.kernel.program.outputs) if e.op is ARRAY]
    else:
        tree, count = made.optimized.tree, len(made.optimized.outputs)
        own = getattr(made.tiered.kernel, "inside", None)
        try:
            flat = _intrinsic(made) if own is None else _flat(own())
        except UnsupportedError:  # of functions that ball arithmetic alone computes
            alone = in_python(made.optimized.name, made.function, tree, len(args), count)
            flat = _flat(numba.njit(alone))
    scope: dict[str, Any] = {"flat": flat, "np": np, "disjoint": disjoint()}
    several = f"({', '.join(given)},)" if given else "()"
    lines = [f"v = flat({several})"]
    if over:
        lines = [
            f"shape = np.broadcast_shapes({', '.join(f'np.shape({a})' for a in given)})",
            *(
                f"if not disjoint(a{i}, a{k}): raise ValueError('arguments {i} and {k} share memory, and one is changed')"
                for i, k in together(made.changes, args)
            ),
            *(f"b{k} = np.broadcast_to(np.asarray({a}), shape)" for k, a in enumerate(given)),
            *(f"r{k} = np.empty(shape, np.float64)" for k in range(count)),
            "for i in np.ndindex(shape):",
            f"    v = flat(({', '.join(f'b{k}[i]' for k in range(len(given)))},))",
            *(f"    r{k}[i] = v[{k}]" for k in range(count)),
            f"v = ({', '.join(f'r{k}' for k in range(count))},)",
        ]
    text = "\n    ".join([*lines, f"return {_nested(tree, 'v', arrays)}"])
    exec(
        f"def function({', '.join(given)}):\n    {text}", scope
    )  # of numbers and the names above only
    return scope["function"]  # type: ignore[no-any-return]


def type_of(function: Any) -> Any:
    """The Numba type of one symbolic function: that of its dispatcher, with its derivatives as
    attributes.

    Parameters
    ----------
    function : has its dispatcher as `numba`, its device function as `numba_cuda`, and the
        DERIVATIVES.
    """
    try:
        if _asks_for_cuda():
            from symdiff.runtime.cuda import numba_device

            return numba_device.type_of(function, DERIVATIVES)
        return _types()(function)
    except AttributeError as error:  # for Numba it would mean that there is no type
        raise TypeError(f"{function.__name__} has no type: {error}") from error


def _asks_for_cuda() -> bool:
    """Whether the one who asks is Numba's compiler for CUDA: both ask by the same attribute."""
    if "numba.cuda" not in sys.modules:
        return False
    frame = sys._getframe(2)
    while frame is not None and _module(frame).startswith("symdiff."):
        frame = frame.f_back  # type: ignore[assignment]
    return frame is not None and _module(frame).startswith("numba.cuda.")


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


@functools.cache
def _types() -> Any:
    """The class of these types, once Numba knows how to handle them."""
    from numba.core import types
    from numba.core.imputils import lower_constant
    from numba.core.registry import cpu_target
    from numba.core.typing.templates import AttributeTemplate
    from numba.extending import (
        NativeValue,
        infer_getattr,
        lower_getattr_generic,
        models,
        register_model,
        unbox,
    )

    class SymbolicType(types.Dispatcher):
        """The type of one function: it says which, as that of a dispatcher does."""

        def __init__(self, function: Any) -> None:
            self.function = function
            super().__init__(function.numba)

    class Attributes(AttributeTemplate):  # type: ignore[misc]
        key = SymbolicType

        def generic_resolve(self, kind: Any, name: str) -> Any:
            return SymbolicType(getattr(kind.function, name)) if name in DERIVATIVES else None

    def nothing(context: Any, *_: Any) -> Any:
        """The value of a function is in its type."""
        return context.get_dummy_value()

    register_model(SymbolicType)(models.OpaqueModel)
    lower_constant(SymbolicType)(nothing)
    unbox(SymbolicType)(lambda kind, value, c: NativeValue(nothing(c.context)))
    infer_getattr(Attributes)
    lower_getattr_generic(SymbolicType)(nothing)
    cpu_target.typing_context.refresh()  # Numba may be compiling already
    cpu_target.target_context.refresh()
    return SymbolicType


def _nested(tree: Tree, values: str, arrays: Collection[int] = ()) -> str:
    """The result, from a tuple of outputs, some of which are arrays."""
    if _has_dict(tree):
        raise TargetError(
            "a result that is a dict, in a function that Numba compiles",
            hint="return a tuple",
        )

    def array(t: Any) -> str:
        places = [int(i) for i in t.ravel()]
        items = ", ".join(f"{values}[{i}]" for i in places)
        if places and places[0] in arrays:
            return f"np.stack(({items},)).reshape({t.shape} + {values}[{places[0]}].shape)"
        return f"np.array([{items}]).reshape({t.shape})" if t.size else f"np.zeros({t.shape})"

    return tree_text(tree, lambda i: f"{values}[{i}]", array)


def _has_dict(tree: Tree) -> bool:
    return isinstance(tree, dict) or (isinstance(tree, (tuple, list)) and any(map(_has_dict, tree)))


def _flat(function: Callable[..., Any]) -> Any:
    """A function of a tuple of numbers, of one that compiled code may call with them."""
    import numba

    def flat(args: Any) -> Any:
        return function(*args)

    return numba.njit(flat)


def _intrinsic(made: Numbers) -> Any:
    """A function of a tuple of numbers, which gives the tuple of all outputs."""
    from llvmlite import binding, ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    optimized, tiered, function, _ = made
    prefix = f"symdiff_{next(_numbers)}_"
    text, entry = _linked(tiered, prefix)
    last = _callback(tiered, function)
    inputs, outputs = len(optimized.params), len(optimized.outputs)
    refusal = f"{optimized.name}: an error in Python"

    @intrinsic  # type: ignore[untyped-decorator]
    def flat(typingctx: Any, args: Any) -> Any:
        double = types.float64
        signature = types.Tuple((double,) * outputs)(args)

        def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            library = context.codegen().create_library(prefix)
            library.add_llvm_module(binding.parse_assembly(text))
            library.finalize()
            context.active_code_library.add_linking_library(library)
            real, pointer = ir.DoubleType(), ir.IntType(8).as_pointer()
            place = cgutils.alloca_once(builder, real, size=max(1, inputs))
            found = cgutils.alloca_once(builder, real, size=max(1, outputs))
            for k, kind in enumerate(args.types if inputs else ()):
                value = context.cast(
                    builder, builder.extract_value(values[0], k), kind, types.float64
                )
                builder.store(value, builder.gep(place, [ir.IntType(64)(k)]))
            point = ir.FunctionType(ir.IntType(8), [pointer, pointer])
            function = cgutils.get_or_insert_function(builder.module, point, entry)
            where = [builder.bitcast(p, pointer) for p in (place, found)]
            flag = builder.call(function, where)
            with builder.if_then(builder.icmp_unsigned("!=", flag, flag.type(0)), likely=False):
                check = cgutils.get_or_insert_function(
                    builder.module, ir.FunctionType(ir.IntType(32), []), "PyGILState_Check"
                )
                held = builder.call(check, [])
                address = context.add_dynamic_addr(builder, last, info="symdiff")
                asked = ir.FunctionType(ir.IntType(8), [pointer, pointer, held.type])
                callback = builder.bitcast(address, asked.as_pointer())
                broken = builder.call(callback, [*where, held])
                with builder.if_then(builder.icmp_unsigned("!=", broken, flag.type(0))):
                    context.call_conv.return_user_exc(builder, Pending, (refusal,))
            made = [builder.load(builder.gep(found, [ir.IntType(64)(k)])) for k in range(outputs)]
            return context.make_tuple(builder, signature.return_type, made)

        return signature, codegen

    return flat


def _linked(tiered: Tiered, prefix: str) -> tuple[str, str]:
    """The IR of a kernel for one element, under names that begin with a prefix, with the addresses
    of ball arithmetic in it; and the name of its function."""
    text = tiered.kernel.point_text()
    names = [name for name in _DECLARED.findall(text) if not name.startswith("llvm.")]
    if found := [name for name in names if name.startswith(BALLS)]:
        function = found[0].removeprefix(BALLS)
        raise UnsupportedError(
            f"{function} cannot be called from code that Numba compiles: ball arithmetic computes it"
        )
    jit.publish(names)
    for name in set(_DEFINED.findall(text)):
        text = re.sub(rf"@{re.escape(name)}\b(?![.\w$])", f"@{prefix}{name}", text)
    tables = tiered.balls_alone() if tiered.kernel.flagged else None
    if tables is not None:
        _alive.append(tables)
        number, _, plan = tables.climbing
        for name, address in (("second", number), ("plan", plan)):
            text = text.replace(
                f"@{prefix}{name} = global ptr null",
                f"@{prefix}{name} = internal constant ptr inttoptr (i64 {address} to ptr)",
            )
    inline = "alwaysinline " if text.count("\n") < INLINED else ""
    return text.replace(" #0 {", f" {inline}#0 {{"), f"{prefix}point"


def _callback(tiered: Tiered, function: Callable[..., Any]) -> int:
    """The address of a C function that writes the proven outputs at a point, or returns 1 where that raises an
    error: then compiled code raises it. In threads that do not hold Python's lock the outputs are nan instead."""
    inputs, outputs = len(tiered.kernel.params), len(tiered.kernel.outputs)

    def prove(place: int, found: int, held: int) -> int:
        point = list((ctypes.c_double * inputs).from_address(place)) if inputs else []
        try:
            values = _proven(tiered, function, point)
        except BaseException as error:
            if held:
                wait(error)
                return 1
            tell(tiered.kernel.name, error)
            values = [float("nan")] * outputs
        (ctypes.c_double * outputs).from_address(found)[:] = values
        return 0

    kind = ctypes.CFUNCTYPE(ctypes.c_int8, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32)
    callback = kind(prove)
    _alive.append(callback)
    address: int = ctypes.cast(callback, ctypes.c_void_p).value or 0
    return address


def _proven(
    tiered: Tiered, function: Callable[..., Any], point: Sequence[float]
) -> list[ctypes.c_double | float]:
    """The outputs at a point; where arguments are not what they must be, the error of the function itself."""
    try:
        tiered.demand(point)
    except DomainError:
        function(*point)
        raise
    return [float(v) for v in tiered.prove(point)]
