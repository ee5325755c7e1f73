"""Public functions of modules with arrays, called inside of functions that Numba compiles.

Before:  the kernel `_f_grad_kernel`
After:   an overload of `f_grad` for arrays of doubles

Requires: results that nest in tuples and lists.
Ensures: nothing is compiled before such a call is.
"""

from __future__ import annotations

from collections.abc import Callable
from textwrap import indent

from symdiff.codegen.source.modules.face import (
    Face,
    all_names,
    public_names,
    refusal,
    sharing_checks,
)
from symdiff.codegen.source.modules.inside import fresh, parameters
from symdiff.ir.loop_program import LoopProgram

HELPER = '''def _must_be(*given):
    """Functions that Numba compiles call those of this module with arrays of exactly these kinds."""
    for a, (name, what, kind, shape) in zip(given, _ARGUMENTS):
        if getattr(a, "ndim", 0) != len(shape) or (shape and str(a.dtype) != kind.__name__):
            raise TypingError(f"{name} is {what} in this module, not {a}")
'''

ALIASES = "_real, _as_integer = float, int  # as parameters may be called\n"

SHARE = '''
@njit
def _ends(a):
    """The stretch of memory in which an array lies."""
    low, high = a.ctypes.data, a.ctypes.data
    for n, step in zip(a.shape, a.strides):
        low += min(0, (n - 1) * step)
        high += max(0, (n - 1) * step)
    return low, high + a.itemsize


@njit
def _share(a, b):
    """Whether two arrays may share memory."""
    if a.size == 0 or b.size == 0:
        return False
    (low, high), (first, last) = _ends(a), _ends(b)
    return low < last and first < high
'''.lstrip("\n")


def inside_source(
    full: str, program: LoopProgram, call: str, nested: Callable[[str], str], face: Face, main: str
) -> str:
    """The overload of a public function.

    Parameters
    ----------
    program : of the kernel, with the types of arguments.
    call : of the kernel, with `{}` for the arguments; nested : what nests its results.
    """
    used = [call.partition("(")[0], "_must_be", "_real", "_as_integer", "_share"]
    params = [p.name for p in program.params]
    every = public_names(all_names(face, params), used)
    hidden = not {"float", "int"}.isdisjoint(every)
    real, whole = ("_real", "_as_integer") if hidden else ("float", "int")
    local, fixed = every[: len(params)], every[len(params) :]
    shown = parameters(params, every, face)
    given = [
        n if p.type.shape else f"{real if p.type.kind == 'f' else whole}({n})"
        for n, p in zip(local, program.params, strict=True)
    ]
    lines = []
    for (p, value), given_as in zip(face.fixed, fixed, strict=True):
        differs = f"{given_as} is not None" if value in (None, "None") else f"{given_as} != {value}"
        lines += [f"if {differs}:", f"    raise ValueError({refusal(main, p, value)!r})"]
    named = dict(zip(params, local, strict=True))
    arrays = [p.name for p in program.params if p.type.shape]
    lines += sharing_checks(main, named, arrays, face, "_share")
    result = call.format(", ".join(given))
    (r,) = fresh(("r",), every)
    if nested(r) != r:
        lines.append(f"{r} = {result}")
        result = nested(r)
    head = f"@overload({full})\ndef _{full}_inside({shown}):\n    _must_be({', '.join(local)})\n"
    if not lines:
        return f"{head}    return lambda {shown}: {result}\n"
    body = indent("\n".join([*lines, f"return {result}"]), " " * 8)
    return f"{head}\n    def call({shown}):\n{body}\n\n    return call\n"


__all__ = ["ALIASES", "HELPER", "SHARE", "inside_source"]
