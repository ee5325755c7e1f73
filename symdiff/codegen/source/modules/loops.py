"""Standalone modules of functions with arrays and loops: they import math, numpy and numba.

The text depends on what it computes only: the same functions give the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from symdiff.codegen.source.modules.inside import fresh, nests
from symdiff.codegen.source.modules.support import CALLS
from symdiff.codegen.source.python import docstring
from symdiff.ir import CONST, Expr, rational
from symdiff.ir.loop_program import Build, Call, Loop, LoopProgram, Parameter, name_of, walk
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
    met : which conditions of points hold that are treated apart; None if there are none.
    """

    suffix: str
    program: LoopProgram
    summary: str
    emitted: LoopProgram
    met: LoopProgram | None = None

    @property
    def tree(self) -> Tree | None:
        """How the kernel nests its results; None for all in one tuple."""
        return self.program.tree if _in_tuples(self.program.tree) else None

    def nested(self, r: str) -> str:
        """The results, of the kernel's `r`."""
        if self.tree is None:
            return _nested(self.program.tree, f"({r},)" if len(self.emitted.outputs) == 1 else r)
        return r


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
    calls = {f.suffix: f"_{full}_kernel({{}})" for full, f in zip(names, functions, strict=True)}
    by_suffix = {f.suffix: f for f in functions}
    if _slopes_beside_value(by_suffix):
        calls["grad"] = calls["value_and_grad"] + "[1]"
    kernels: list[str] = []
    for full, f in zip(names, functions, strict=True):
        call = calls[f.suffix]
        kernels.append(_wrapper(full, f, call, face, name))
        if call == f"_{full}_kernel({{}})":
            kernels.append(loop_source(f"_{full}_kernel", f.emitted, dtype=dtype, tree=f.tree)[0])
        if f.met is not None:
            kernels.append(loop_source(f"_{full}_apart", f.met, dtype=dtype)[0])
    data = {n: v for f in functions for n, v in f.emitted.data.items()}
    every = "\n".join(kernels)
    last = [HELPERS[h] for h in HELPERS if f"{h}(" in every]
    last += [FUSED] if "_fma(" in every else []
    last += [CALLS["_check_fixed"][0]] if face.fixed else []
    table = _arguments(functions[0].program, name, dtype)
    last += [
        table,
        _GIVEN + _INTEGERS * ("np.int64" in table) + "    return [a[()] for a in found]\n",
    ]
    inside = [
        arrays_inside.inside_source(full, f.emitted, calls[f.suffix], f.nested, face, name)
        for full, f in zip(names, functions, strict=True)
        if dtype == "float64" and nests(f.program.tree)
    ]
    if inside:
        last.append(arrays_inside.HELPER)
        last += (
            [arrays_inside.ALIASES]
            if any("_real(" in t or "_as_integer(" in t for t in inside)
            else []
        )
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


def _slopes_beside_value(functions: Mapping[str, ArrayFunction]) -> bool:
    """Whether the kernel of the value and the slopes also serves the slopes alone: it has as many loops."""
    alone, both = functions.get("grad"), functions.get("value_and_grad")
    if alone is None or both is None:
        return False
    return _in_tuples(both.program.tree) and _loops(alone.emitted) == _loops(both.emitted)


def _loops(program: LoopProgram) -> int:
    return sum(isinstance(s, (Build, Loop, Call)) for s in walk(program.block))


def _in_tuples(tree: Tree) -> bool:
    """Whether a kernel can return its results as they nest."""
    if isinstance(tree, tuple):
        return bool(tree) and all(map(_in_tuples, tree))
    return isinstance(tree, int)


def _arguments(program: LoopProgram, name: str, dtype: str) -> str:
    """The table of arguments: what each is, its kind, and its axes."""
    rows = []
    for p in program.params:
        kind, shape = dtype if p.type.kind == "f" else "int64", tuple(map(_whole, p.type.shape))
        what = "a number"
        if shape:
            axes = f"with {len(shape)} axes" if {*shape} == {None} else f"of shape ({_shape(p)})"
            what = f"an array of {kind} {axes}"
            what = f"a vector ({what})" if len(shape) == 1 else what
        rows.append(f'    ("{name}: {p.name}", "{what}", np.{kind}, {shape}),\n')
    return f"_ARGUMENTS = (\n{''.join(rows)})\n"


_GIVEN = '''def _given(*values):
    """The arguments, as arrays and numbers of their kinds."""
    found = [np.asarray(v, kind) for v, (_, _, kind, _) in zip(values, _ARGUMENTS)]
    for a, value, (name, what, kind, shape) in zip(found, values, _ARGUMENTS):
        if a.ndim != len(shape) or any(n not in (None, m) for n, m in zip(shape, a.shape)):
            raise ValueError(f"{name} is {what} in this module, not an array of shape {a.shape}")
'''
_INTEGERS = """        if kind is np.int64 and np.any(a != np.asarray(value)):
            raise ValueError(f"{name} takes integers")
"""


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
    lines += [" ".join([f"Real numbers are {dtype}.", *accuracy[:1]]), *accuracy[1:]]
    statements, texts = loop_lines(program)
    statements = [*statements, f"{name} = {', '.join(texts)}"]
    if len(statements) <= MAX_LINES:
        lines += ["", "Formula:", *(f"    {line}" for line in statements)]
    return "\n".join(lines)


def _shape(p: Parameter) -> str:
    sizes = [name_of(n) if not n.args and isinstance(n.value, str) else str(n.value) for n in p.type.shape]  # fmt: skip
    return ", ".join(sizes) + ("," if len(sizes) == 1 else "")


def _wrapper(name: str, f: ArrayFunction, call: str, face: Face, main: str) -> str:
    """The public function: it converts the arguments and nests the results."""
    params = [p.name for p in f.program.params]
    apart = f"_{name}_apart"
    used = (
        call.partition("(")[0],
        apart,
        "np",
        "_given",
        "_check_fixed",
        "warnings",
        "RuntimeWarning",
    )
    shown = public_names(all_names(face, params), used)
    local, fixed = shown[: len(params)], shown[len(params) :]
    body = [documented(f.summary, f.suffix, face), *fixed_checks(main, fixed, face)]
    named = dict(zip(params, local, strict=True))
    arrays = [p.name for p in f.program.params if p.type.shape]
    body += sharing_checks(main, named, arrays, face, "np.may_share_memory")
    given = f"*_given({', '.join(local)})"
    if f.met is not None:
        text = f"{name}: at a point that is treated apart, derivatives are as written there"
        body += [
            f"if np.any({apart}({given})):",
            f"    warnings.warn({text!r}, RuntimeWarning, stacklevel=2)",
        ]
    result = call.format(given)
    (r,) = fresh(("r",), shown)
    if f.tree is None:
        body.append(f"{r} = {result}")
        result = f.nested(r)
    head = def_line(name, params, shown, face)
    return head + "\n" + indent("\n".join([*body, f"return {result}"]), "    ") + "\n"


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
