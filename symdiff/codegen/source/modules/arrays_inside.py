"""Public functions of modules with arrays, called inside of functions that Numba compiles.

Before:  the kernel `_f_grad_kernel`
After:   an overload of `f_grad` for arrays of doubles

Requires: results that nest in tuples and lists.
Ensures: nothing is compiled before such a call is.
"""

from __future__ import annotations

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
from symdiff.ir.program import Tree, tree_text

HELPER = '''
_real, _as_integer = float, int  # as parameters may be called


def _must_be(*given):
    """Compiled functions call those of this module with arrays of doubles, or of integers where they take those."""
    for a, rank, kind in given:
        if getattr(a, "ndim", 0) != rank or (rank and str(a.dtype) != kind):
            wanted = f"an array of {kind} with {rank} axes" if rank else "a number"
            raise TypingError(f"{a} is not what this module takes here: {wanted}")
'''.lstrip("\n")

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

_KINDS = {"f": "float64", "i": "int64", "b": "boolean"}


def inside_source(full: str, program: LoopProgram, tree: Tree, face: Face, main: str) -> str:
    """The overload of a public function.

    Parameters
    ----------
    program : of the kernel, with the types of arguments.
    """
    kernel = f"_{full}_kernel"
    used = [kernel, "_must_be", "_real", "_as_integer", "_share"]
    params = [p.name for p in program.params]
    every = public_names(all_names(face, params), used)
    local, fixed = every[: len(params)], every[len(params) :]
    shown = parameters(params, every, face)
    (r,) = fresh(("r",), every)
    count = len(program.outputs)
    given = [
        n if p.type.shape else f"{'_real' if p.type.kind == 'f' else '_as_integer'}({n})"
        for n, p in zip(local, program.params, strict=True)
    ]
    target = tree_text(tree, lambda i: r if count == 1 else f"{r}[{i}]", str)
    lines = []
    for (p, value), given_as in zip(face.fixed, fixed, strict=True):
        differs = f"{given_as} is not None" if value in (None, "None") else f"{given_as} != {value}"
        lines += [f"if {differs}:", f"    raise ValueError({refusal(main, p, value)!r})"]
    named = dict(zip(params, local, strict=True))
    arrays = [p.name for p in program.params if p.type.shape]
    lines += sharing_checks(main, named, arrays, face, "_share")
    lines.append(f"{r} = {kernel}({', '.join(given)})")
    lines.append(f"return {target}")
    wanted = ", ".join(
        f'({n}, {len(p.type.shape)}, "{_KINDS[p.type.kind]}")'
        for n, p in zip(local, program.params, strict=True)
    )
    return (
        f"@overload({full})\ndef _{full}_inside({shown}):\n"
        f"    _must_be({wanted})\n\n"
        f"    def call({shown}):\n" + indent("\n".join(lines), " " * 8) + "\n\n    return call\n"
    )


__all__ = ["HELPER", "SHARE", "inside_source"]
