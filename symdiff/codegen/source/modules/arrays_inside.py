"""Public functions of modules with arrays, called inside of functions that Numba compiles.

Before:  the kernel `_f_grad_corrected`, and `f_grad`, which computes again what lost digits
After:   an overload of `f_grad` for arrays of doubles: the kernel, and `f_grad` itself where results may not be
         accurate

Requires: results that nest in tuples and lists.
Ensures: nothing is compiled before such a call is.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import indent

from symdiff.codegen.source.modules.face import (
    Face,
    all_names,
    public_names,
    refusal,
    sharing_checks,
)
from symdiff.codegen.source.modules.helpers import stem
from symdiff.codegen.source.modules.inside import fresh, parameters
from symdiff.ir.loop_program import ARRAY, LoopProgram, kind_of, name_of, types
from symdiff.ir.program import Tree, tree_text

IMPORTS = "from numba import njit, objmode\nfrom numba.core.errors import TypingError\n"
HELPER = '''
_real, _as_integer, _absolute = float, int, abs  # as parameters may be called


def _must_be(*given):
    """Compiled functions call those of this module with arrays of doubles, or of integers where they take those."""
    for a, rank, kind in given:
        if getattr(a, "ndim", 0) != rank or (rank and str(a.dtype) != kind):
            wanted = f"an array of {kind} with {rank} axes" if rank else "a number"
            raise TypingError(f"{a} is not what this module takes here: {wanted}")
'''.lstrip("\n")

TINY = '''
@njit(error_model="numpy")
def _any_tiny(a):
    """Whether an element is so small that products of few such may underflow."""
    return np.any((np.abs(a) < _TINY) & (a != 0.0))
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


def inside_source(
    full: str,
    program: LoopProgram,
    tree: Tree,
    corrected: bool,
    guarded: bool,
    face: Face,
    main: str,
) -> str:
    """The overload of a public function.

    Parameters
    ----------
    program : of the kernel, with the types of arguments and results.
    corrected : whether there is a kernel with rounding errors, which says whether results may be wrong.
    guarded : whether points are treated apart: then the public function is called in any case.
    """
    kernel = f"_{stem(full)}" + ("_corrected" if corrected else "")
    used = [kernel, "_must_be", "_real", "_as_integer", "_absolute", "_TINY", "_any_tiny", "_share",
            "objmode", "np", "math"]  # fmt: skip
    params = [p.name for p in program.params]
    every = public_names(all_names(face, params), used)
    local, fixed = every[: len(params)], every[len(params) :]
    shown = parameters(params, every, face)
    r, wrong, python = fresh(("r", "wrong", "python"), every)
    known = types(program)
    made = [known[name_of(e)] if e.op is ARRAY else None for e in program.outputs]
    names = [f"{r}{k}" for k in range(len(made))]
    declared = []
    for n, t, e in zip(names, made, program.outputs, strict=True):
        axes = f"[{', '.join([':'] * (len(t.shape) - 1) + ['::1'])}]" if t is not None else ""
        kind = _KINDS[t.kind if t is not None else kind_of(e)]
        declared.append((n, f"{kind}{axes}"))
    given = [
        n if p.type.shape else f"{'_real' if p.type.kind == 'f' else '_as_integer'}({n})"
        for n, p in zip(local, program.params, strict=True)
    ]
    target = tree_text(tree, names.__getitem__, str)
    again = [
        f"with objmode({', '.join(f'{n}={kind!r}' for n, kind in declared)}):",
        f"    {target} = {python}({', '.join(local)})",
    ]
    lines = []
    for (p, value), given_as in zip(face.fixed, fixed, strict=True):
        differs = f"{given_as} is not None" if value in (None, "None") else f"{given_as} != {value}"
        lines += [f"if {differs}:", f"    raise ValueError({refusal(main, p, value)!r})"]
    named = dict(zip(params, local, strict=True))
    arrays = [p.name for p in program.params if p.type.shape]
    lines += sharing_checks(main, named, arrays, face, "_share")
    if guarded:
        lines += again
    else:
        results = [*names, wrong] if corrected else names
        lines.append(f"{', '.join(results)} = {kernel}({', '.join(given)})")
        if corrected:
            lost = [wrong, *_tiny(program, local)]
            lines += [*_condition(lost), *("    " + line for line in again)]
    lines.append(f"return {target}")
    wanted = ", ".join(
        f'({n}, {len(p.type.shape)}, "{_KINDS[p.type.kind]}")'
        for n, p in zip(local, program.params, strict=True)
    )
    return (
        f"@overload({full})\ndef _{stem(full)}_inside({shown}):\n"
        f"    _must_be({wanted})\n    {python} = {full}\n\n"
        f"    def call({shown}):\n" + indent("\n".join(lines), " " * 8) + "\n\n    return call\n"
    )


def _condition(any_of: Sequence[str]) -> list[str]:
    """The lines that ask whether any of these holds."""
    line = f"if {' or '.join(any_of)}:"
    if len(line) <= 80:
        return [line]
    return ["if (", f"    {any_of[0]}", *(f"    or {text}" for text in any_of[1:]), "):"]


def _tiny(program: LoopProgram, local: Sequence[str]) -> list[str]:
    """When real arguments are so small that products of few may underflow."""
    conditions = []
    for n, p in zip(local, program.params, strict=True):
        if p.type.kind != "f":
            continue
        if p.type.shape:
            conditions.append(f"_any_tiny({n})")
        else:
            conditions.append(f"0.0 < _absolute({n}) < _TINY")
    return conditions


__all__ = ["HELPER", "IMPORTS", "SHARE", "TINY", "inside_source"]
