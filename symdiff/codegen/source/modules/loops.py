"""Standalone modules of functions with arrays and loops: they import math, numpy and numba.

The text depends on what it computes only: the same functions give the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import indent
from typing import Any, NamedTuple

import numpy as np

from symdiff.codegen.source.index_notation import loop_lines
from symdiff.codegen.source.loops import HELPERS, loop_source
from symdiff.codegen.source.modules.cuda.loops import cuda_array_parts
from symdiff.codegen.source.modules.cuda.scalar import check_targets, cuda_name
from symdiff.codegen.source.modules.face import (
    CHECK_FIXED,
    PLAIN,
    Face,
    all_names,
    def_line,
    documented,
    fixed_checks,
    public_names,
)
from symdiff.codegen.source.modules.helpers import FUSED
from symdiff.codegen.source.python import IMPORTS, docstring
from symdiff.ir import CONST, Expr, rational
from symdiff.ir.loop_program import LoopProgram, Parameter, name_of
from symdiff.ir.program import Tree, tree_text

MAX_LINES = 40
"""A longer program is not repeated in the docstring."""


class ArrayFunction(NamedTuple):
    """One function of a module.

    Attributes
    ----------
    suffix : what is appended to the module's name: "", "grad", "value_and_grad", ...
    program : as people read it.
    summary : first line of its docstring.
    emitted : the program in the form that is emitted; None for the same.
    corrected : the same with its rounding errors, and how many results may not be accurate as one
        more output; None if there is no such form.
    """

    suffix: str
    program: LoopProgram
    summary: str
    emitted: LoopProgram | None = None
    corrected: LoopProgram | None = None


def array_module_source(
    name: str,
    functions: Sequence[ArrayFunction],
    *,
    version: str,
    dtype: str = "float64",
    targets: Sequence[str] = ("cpu",),
    face: Face = PLAIN,
) -> str:
    """The source of a module with the given functions of the same parameters.

    Arguments are converted to arrays of `dtype`; arrays that are such already are neither
    copied nor changed. With "cuda" among the targets, functions with `_cuda` at the end of
    their names compute on a device; "cpu" is always there.

    Raises
    ------
    TargetError : for a target that is not available.
    """
    check_targets(targets)
    names = [f"{name}_{f.suffix}" if f.suffix else name for f in functions]
    kernels: list[str] = []
    needed: set[str] = set()
    for full, f in zip(names, functions, strict=True):
        text, helpers = loop_source(f"_{full}", f.emitted or f.program, dtype=dtype)
        needed.update(helpers)
        if f.corrected:
            more, helpers = loop_source(f"_{full}_corrected", f.corrected, dtype=dtype)
            needed.update(helpers)
            text += "\n\n" + more
        kernels.append(text + "\n\n" + _wrapper(full, f, dtype, face, name))
    on_device = [cuda_name(n) for n in names] if "cuda" in targets else []
    data = {n: v for f in functions for n, v in f.program.data.items()}
    parts = [
        docstring(_facts(name, functions, version, dtype, "cuda" in targets, face)),
        "",
        _imports(kernels, any(f.corrected for f in functions)),
        "__all__ = [" + ", ".join(f'"{n}"' for n in [*names, *on_device]) + "]",
        f'__version__ = "{version}"',
        *(f"{n} = np.array({_literal(v)})" for n, v in sorted(data.items())),
    ]
    used = [HELPERS[h] for h in HELPERS if h in needed]
    if any("_fma(" in k for k in kernels):
        used.append(FUSED)
    if any(f.corrected for f in functions):
        used.append(_BEST)
    used.append(_GIVEN)
    if face.fixed:
        used.append(CHECK_FIXED)
    texts = [*used, *kernels]
    if on_device:
        given = [
            (full, f.emitted or f.program, f.summary, _nested(f.program.tree))
            for full, f in zip(names, functions, strict=True)
        ]
        texts += cuda_array_parts(given, dtype, [*names, *data])
    return "\n".join(parts) + "\n\n\n" + "\n\n".join(texts)


_BEST = '''def _best(name, wrong, corrected, plain):
    """Results with their corrections, where these are finite; and a warning."""
    text = f"{name}: {int(wrong)} results may have lost digits, or are not finite"
    warnings.warn(text, RuntimeWarning, stacklevel=3)
    plain = plain if isinstance(plain, tuple) else (plain,)
    return [
        np.where(np.isfinite(c), c, p) if np.ndim(c) else c if np.isfinite(c) else p
        for c, p in zip(corrected, plain)
    ]
'''


_GIVEN = '''def _check_axes(name, shape, rank):
    """Refuses what has not so many axes."""
    if len(shape) != rank:
        what = ("a number", "a vector")[rank] if rank < 2 else f"an array of {rank} axes"
        raise ValueError(f"{name} is {what} in this module, not an array of shape {shape}")


def _given(name, value, kind, shape):
    """An argument as an array of so many axes, or a number; None stands for any size."""
    found = np.asarray(value, kind)
    _check_axes(name, found.shape, len(shape))
    if any(n is not None and n != m for n, m in zip(shape, found.shape)):
        raise ValueError(f"{name} has the shape {shape} in this module, not {found.shape}")
    if kind is np.int64 and np.any(found != np.asarray(value)):
        raise ValueError(f"{name} takes integers")
    return found if shape else found[()]
'''


def _imports(kernels: Sequence[str], warns: bool) -> str:
    """What the text imports."""
    lines = IMPORTS
    if warns:
        lines = lines.replace("import math\n", "import math\nimport warnings\n")
    if any("_fma(" in k for k in kernels):
        lines = lines.rstrip("\n") + "\nfrom numba.extending import intrinsic\n"
    return lines


def _literal(values: np.ndarray[Any, Any]) -> str:
    return repr(values.tolist())


def _facts(
    name: str,
    functions: Sequence[ArrayFunction],
    version: str,
    dtype: str,
    cuda: bool,
    face: Face,
) -> str:
    program = functions[0].program
    params = ", ".join(p.name for p in program.params)
    lines = [f"{name}({params}) and its derivatives, generated by symdiff {version}.", ""]
    for p in program.params:
        if p.type.shape:
            lines.append(f"{p.name} : array of shape ({_shape(p)})")
    lines += [f"{p} : compiled for {value or 'its default'}" for p, value in face.fixed]
    plain = [f"{name}_{f.suffix}" if f.suffix else name for f in functions if not f.corrected]
    if len(plain) == len(functions):
        lines.append(f"Real numbers are {dtype}, computed without error tests.")
    else:
        lines += [
            f"Real numbers are {dtype}; their rounding errors, to first order, are computed beside",
            "them and added to the results. Where results may not be accurate all the same, or are",
            "not finite, there is a RuntimeWarning: nothing computes them again.",
        ]
        if plain:
            lines.append(f"Without error tests: {', '.join(plain)}.")
    if cuda:
        lines += [
            "Functions with _cuda at the end compute on a CUDA device, without error tests; they need",
            "numba-cuda.",
        ]
    statements, texts = loop_lines(program)
    statements = [*statements, f"{name} = {', '.join(texts)}"]
    if len(statements) <= MAX_LINES:
        lines += ["", "Formula:", *(f"    {line}" for line in statements)]
    return "\n".join(lines)


def _shape(p: Parameter) -> str:
    sizes = [name_of(n) if not n.args and isinstance(n.value, str) else str(n.value) for n in p.type.shape]  # fmt: skip
    return ", ".join(sizes) + ("," if len(sizes) == 1 else "")


def _wrapper(name: str, f: ArrayFunction, dtype: str, face: Face, main: str) -> str:
    """The public function: it converts the arguments and nests the results."""
    params = [p.name for p in f.program.params]
    used = ("np", f"_{name}", f"_{name}_corrected", "_given", "_check_fixed", "_best")
    shown = public_names(all_names(face, params), used)
    local, fixed = shown[: len(params)], shown[len(params) :]
    body = [documented(f.summary, face), *fixed_checks(main, fixed, face)]
    for n, p in zip(local, f.program.params, strict=True):
        kind = f"np.{dtype}" if p.type.kind == "f" else "np.int64"
        shape = tuple(map(_whole, p.type.shape))
        body.append(f'{n} = _given("{main}: {p.name}", {n}, {kind}, {shape})')
    lines = [def_line(name, params, shown, face), indent("\n".join(body), "    ")]
    call = f"_{name}({', '.join(local)})"
    count = len(f.program.outputs)
    if f.corrected:
        found, wrong = (_fresh(n, shown) for n in ("found", "wrong"))
        lines.append(f"    *{found}, {wrong} = _{name}_corrected({', '.join(local)})")
        best = f'_best("{name}", {wrong}, {found}, {call})'
        lines.append(f"    r = {best} if {wrong} else {found}")
        lines.append(f"    return {_nested(f.program.tree)}")
        return "\n".join(lines) + "\n"
    if count == 1 and f.program.tree == 0:
        return "\n".join([*lines, f"    return {call}"]) + "\n"
    lines.append(f"    r = {call}" if count > 1 else f"    r = ({call},)")
    lines.append(f"    return {_nested(f.program.tree)}")
    return "\n".join(lines) + "\n"


def _whole(n: Expr) -> int | None:
    """A size that is known."""
    q = rational(n) if n.op is CONST else None
    return None if q is None else int(q)


def _fresh(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _nested(tree: Tree) -> str:
    """How results nest, as an expression of the flat tuple `r`."""
    leaf = "r[{}]".format
    return tree_text(tree, leaf, lambda t: f"np.array({tree_text(t.tolist(), leaf, str)})")
