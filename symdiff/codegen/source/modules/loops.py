"""Standalone modules of functions with arrays and loops: they import math, numpy and numba.

The text depends on what it computes only: the same functions give the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import indent
from typing import Any

import numpy as np

from symdiff.codegen.source.helpers_of_loops import HELPERS
from symdiff.codegen.source.index_notation import loop_lines
from symdiff.codegen.source.loops import loop_source
from symdiff.codegen.source.modules import arrays_inside
from symdiff.codegen.source.modules.face import (
    PLAIN,
    Face,
    all_names,
    check_name,
    def_line,
    documented,
    fixed_checks,
    public_names,
    sharing_checks,
)
from symdiff.codegen.source.modules.helpers import FUSED
from symdiff.codegen.source.modules.inside import nests
from symdiff.codegen.source.modules.support import CALLS
from symdiff.codegen.source.python import docstring
from symdiff.ir import CONST, Expr, rational
from symdiff.ir.loop_program import LoopProgram, Parameter, name_of
from symdiff.ir.names import untaken
from symdiff.ir.program import Tree, tree_text

MAX_LINES = 40
"""A longer program is not repeated in the docstring."""


@dataclass(frozen=True, slots=True)
class ArrayFunction:
    """One function of a module.

    Attributes
    ----------
    suffix : what is appended to the module's name: "", "grad", "value_and_grad", ...
    program : as people read it.
    summary : first line of its docstring.
    emitted : the program in the form that is emitted.
    corrected : whether that is the one with its rounding errors, whose last output is how many results
        may not be accurate.
    met : which conditions of points hold that are treated apart; None if there are none.
    """

    suffix: str
    program: LoopProgram
    summary: str
    emitted: LoopProgram
    corrected: bool = False
    met: LoopProgram | None = None


def array_module_source(
    name: str,
    functions: Sequence[ArrayFunction],
    *,
    version: str,
    dtype: str = "float64",
    face: Face = PLAIN,
    accuracy: Sequence[str] = (),
) -> str:
    """The source of a module with the given functions of the same parameters.

    Arguments are converted to arrays of `dtype`; arrays that are such already are neither
    copied nor changed.

    Parameters
    ----------
    accuracy : what the docstring says of it, in lines.

    Raises
    ------
    SymdiffError : if the name cannot be that of a function of a module.
    """
    check_name(name)
    names = [f"{name}_{f.suffix}" if f.suffix else name for f in functions]
    kernels: list[str] = []
    sources = {
        f.suffix: loop_source(f"_{full}_kernel", f.emitted, dtype=dtype)[0]
        for full, f in zip(names, functions, strict=True)
    }
    if "value_and_grad" in sources:
        sources["grad"] = _slopes_alone(sources["grad"], sources["value_and_grad"])
    for full, f in zip(names, functions, strict=True):
        texts = [_wrapper(full, f, dtype, face, name), sources[f.suffix]]
        if f.met is not None:
            texts.append(loop_source(f"_{full}_apart", f.met, dtype=dtype)[0])
        kernels.append("\n\n".join(texts))
    data = {n: v for f in functions for n, v in f.emitted.data.items()}
    every = "\n".join(kernels)
    last = [HELPERS[h] for h in HELPERS if f"{h}(" in every]
    last += [FUSED] if "_fma(" in every else []
    last += [_GIVEN, *([CALLS["_check_fixed"][0]] if face.fixed else [])]
    inside = [
        arrays_inside.inside_source(full, f.emitted, f.program.tree, face, name)
        for full, f in zip(names, functions, strict=True)
        if dtype == "float64" and nests(f.program.tree)
    ]
    if inside:
        last.append(arrays_inside.HELPER)
        last += [arrays_inside.SHARE] if any("_share(" in t for t in inside) else []
        last += inside
    parts = [
        docstring(_facts(name, functions, dtype, version, face, accuracy)),
        "",
        _imports(every, bool(inside)),
        "__all__ = [" + ", ".join(f'"{n}"' for n in names) + "]",
        f'__version__ = "{version}"',
        *(f"{n} = np.array({v.tolist()!r})" for n, v in sorted(data.items())),
    ]
    return "\n".join(parts) + "\n\n\n" + "\n\n".join([*kernels, *last])


def _slopes_alone(slopes: str, both: str) -> str:
    """The kernel of the slopes: that of the value and the slopes without the value, if they have the same
    statements."""
    alone, more = (text.rstrip("\n").split("\n") for text in (slopes, both))
    head = next(k for k, line in enumerate(alone) if line.startswith("def "))
    result, results = (lines[-1].removeprefix("    return ") for lines in (alone, more))
    if alone[head + 1 : -1] != more[head + 1 : -1] or not results.endswith(f", {result}"):
        return slopes
    if results.count(", ") != result.count(", ") + 1:  # the value is no name or number
        return slopes
    call = more[head].removeprefix("def ").rstrip(":")
    last = f"    return {call}[{'1:' if ', ' in result else '1'}]"
    return "\n".join([*alone[: head + 1], last]) + "\n"


_GIVEN = '''def _given(name, value, kind, shape):
    """An argument as an array of so many axes, or a number; None: any size."""
    found = np.asarray(value, kind)
    if found.ndim != len(shape):
        what = ("a number", "a vector")[len(shape)] if len(shape) < 2 else f"an array of {len(shape)} axes"
        raise ValueError(f"{name} is {what} in this module, not an array of shape {found.shape}")
    if any(n is not None and n != m for n, m in zip(shape, found.shape)):
        raise ValueError(f"{name} has the shape {shape} in this module, not {found.shape}")
    if kind is np.int64 and np.any(found != np.asarray(value)):
        raise ValueError(f"{name} takes integers")
    return found if shape else found[()]
'''


def _imports(text: str, inside: bool) -> str:
    """What the text imports; `inside`: what functions that Numba compiles call."""
    lines = ["import math"]
    if "warnings." in text:
        lines.append("import warnings")
    lines += ["", "import numpy as np", "from numba import njit"]
    if inside:
        lines.append("from numba.core.errors import TypingError")
    extending = ["intrinsic"] * ("_fma(" in text) + ["overload"] * inside
    if extending:
        lines.append(f"from numba.extending import {', '.join(extending)}")
    return "\n".join([*lines, ""])


def _facts(
    name: str,
    functions: Sequence[ArrayFunction],
    dtype: str,
    version: str,
    face: Face,
    accuracy: Sequence[str],
) -> str:
    program = functions[0].program
    params = ", ".join(p.name for p in program.params)
    lines = [f"{name}({params}) and its derivatives, generated by symdiff {version}.", ""]
    for p in program.params:
        if p.type.shape:
            lines.append(f"{p.name} : array of shape ({_shape(p)})")
    lines += [f"{p} : compiled for {value or 'its default'}" for p, value in face.fixed]
    lines += [f"Real numbers are {dtype}.", *accuracy]
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
    kernel, apart = f"_{name}_kernel", f"_{name}_apart"
    used = ("np", kernel, apart, "_given", "_check_fixed", "warnings", "RuntimeWarning")
    shown = public_names(all_names(face, params), used)
    local, fixed = shown[: len(params)], shown[len(params) :]
    body = [documented(f.summary, face), *fixed_checks(main, fixed, face)]
    named = dict(zip(params, local, strict=True))
    arrays = [p.name for p in f.program.params if p.type.shape]
    body += sharing_checks(main, named, arrays, face, "np.may_share_memory")
    for n, p in zip(local, f.program.params, strict=True):
        kind = f"np.{dtype}" if p.type.kind == "f" else "np.int64"
        shape = tuple(map(_whole, p.type.shape))
        body.append(f'{n} = _given("{main}: {p.name}", {n}, {kind}, {shape})')
    given = ", ".join(local)
    if f.met is not None:
        text = f"{name}: at a point that is treated apart, derivatives are as written there"
        body += [f"if np.any({apart}({given})):", "    " + _warned(text)]
    count = len(f.program.outputs)
    call = f"{kernel}({given})"
    r, wrong = (untaken(n, shown) for n in ("r", "wrong"))
    if f.corrected:
        text = f"{name}: results may not be accurate"
        body += [f"*{r}, {wrong} = {call}", f"if {wrong}:", "    " + _warned(text)]
        body.append(f"return {_nested(f.program.tree, r)}")
    elif count == 1 and f.program.tree == 0:
        body.append(f"return {call}")
    else:
        body.append(f"{r} = {call}" if count > 1 else f"{r} = ({call},)")
        body.append(f"return {_nested(f.program.tree, r)}")
    head = def_line(name, params, shown, face)
    return head + "\n" + indent("\n".join(body), "    ") + "\n"


def _warned(text: str) -> str:
    return f"warnings.warn({text!r}, RuntimeWarning, stacklevel=2)"


def _whole(n: Expr) -> int | None:
    """A size that is known."""
    q = rational(n) if n.op is CONST else None
    return None if q is None else int(q)


def _nested(tree: Tree, r: str) -> str:
    """How results nest, as an expression of the flat tuple `r`."""

    def leaf(i: int) -> str:
        return f"{r}[{i}]"

    def array(t: np.ndarray[Any, Any]) -> str:
        return f"np.array({tree_text(t.tolist(), leaf, str)})"

    return tree_text(tree, leaf, array)


__all__ = ["ArrayFunction", "array_module_source"]
