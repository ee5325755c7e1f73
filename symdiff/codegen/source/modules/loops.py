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
from symdiff.codegen.source.modules import arrays_inside
from symdiff.codegen.source.modules.cuda.loops import cuda_array_parts
from symdiff.codegen.source.modules.cuda.scalar import check_targets, cuda_name
from symdiff.codegen.source.modules.face import (
    CHECK_FIXED,
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
from symdiff.codegen.source.modules.helpers import FLINT, FUSED, HELPER, copies, stem
from symdiff.codegen.source.modules.inside import nests
from symdiff.codegen.source.modules.other_loops import ball_loops, wide_loops
from symdiff.codegen.source.modules.second_tier import function_helper
from symdiff.codegen.source.python import IMPORTS, docstring
from symdiff.ir import CONST, Expr, Op, rational
from symdiff.ir.loop_program import LoopProgram, Parameter, name_of
from symdiff.ir.program import Tree, tree_text

MAX_LINES = 40
"""A longer program is not repeated in the docstring."""


class Guards(NamedTuple):
    """Points that are treated apart.

    Attributes
    ----------
    met : which of their conditions hold.
    points : of each condition the place of the parameter that it is of, if it is of one, its centre there
        and its radius.
    moved : the places of the parameters by which is differentiated.
    """

    met: LoopProgram
    points: tuple[tuple[int | None, float, float], ...]
    moved: tuple[int, ...]


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
    wide, reference : the same for double-double arithmetic, and for balls; None as above.
    guards : points that are treated apart, of derivatives; None if there are none.
    """

    suffix: str
    program: LoopProgram
    summary: str
    emitted: LoopProgram | None = None
    corrected: LoopProgram | None = None
    wide: LoopProgram | None = None
    reference: LoopProgram | None = None
    guards: Guards | None = None


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
    SymdiffError : if the name cannot be that of a function of a module.
    """
    check_targets(targets)
    check_name(name)
    names = [f"{name}_{f.suffix}" if f.suffix else name for f in functions]
    kernels: list[str] = []
    again = _Again()
    looked_at = [f for f in functions if f.guards and dtype == "float64"]
    for full, f in zip(names, functions, strict=True):
        texts = [loop_source(f"_{stem(full)}", f.emitted or f.program, dtype=dtype)[0]]
        if f.corrected:
            texts.append(loop_source(f"_{stem(full)}_corrected", f.corrected, dtype=dtype)[0])
            again.add(full, f)
        if f.guards:
            texts.append(loop_source(f"_{stem(full)}_apart", f.guards.met, dtype=dtype)[0])
        beside = f in looked_at or (bool(looked_at) and not f.suffix)
        if beside:
            texts.append(_without_guards(full, f))
        if f in looked_at:
            texts.append(_beside(full, name, f))
        kernels.append("\n\n".join([*texts, _wrapper(full, f, dtype, face, name, beside)]))
    on_device = [cuda_name(n) for n in names] if "cuda" in targets else []
    data = {n: v for f in functions for n, v in f.program.data.items()}
    parts = [
        docstring(_facts(name, functions, version, dtype, "cuda" in targets, face)),
        "",
        _imports(
            kernels,
            any(f.corrected for f in functions),
            any(f.guards for f in functions),
            dtype == "float64" and any(nests(f.program.tree) for f in functions),
        ),
        "__all__ = [" + ", ".join(f'"{n}"' for n in [*names, *on_device]) + "]",
        f'__version__ = "{version}"',
        *(f"{n} = np.array({_literal(v)})" for n, v in sorted(data.items())),
    ]
    every = "\n".join([*kernels, *again.texts])
    used = [HELPERS[h] for h in HELPERS if f"{h}(" in every]
    if "_fma(" in every or again.texts:
        used.append(FUSED)
    used.append(_GIVEN)
    if face.fixed:
        used.append(CHECK_FIXED)
    if looked_at:
        again.uses("_at_guard")
    texts = [*used, *kernels, *again.parts()]
    inside = [
        arrays_inside.inside_source(
            full,
            f.emitted or f.program,
            f.program.tree,
            bool(f.corrected),
            bool(f.guards),
            face,
            name,
        )
        for full, f in zip(names, functions, strict=True)
        if dtype == "float64" and nests(f.program.tree)
    ]
    if inside:
        title = "Inside of functions that Numba compiles"
        head = f"# {'-' * (97 - len(title))} {title}\n"
        every = "\n".join(inside)
        texts.append(head + arrays_inside.HELPER)
        texts += [arrays_inside.TINY] if "_any_tiny(" in every else []
        texts += [*([arrays_inside.SHARE] if "_share(" in every else []), *inside]
    if on_device:
        given = [
            (full, f.emitted or f.program, f.summary, _nested(f.program.tree))
            for full, f in zip(names, functions, strict=True)
        ]
        texts += cuda_array_parts(given, dtype, [*names, *data])
    return "\n".join(parts) + "\n\n\n" + "\n\n".join(texts)


class _Again:
    """What computes results that lost digits again.

    Attributes
    ----------
    texts : the functions of double-double arithmetic and of balls.
    """

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._used: set[str] = set()
        self._functions: dict[Op, None] = {}

    def add(self, full: str, f: ArrayFunction) -> None:
        """One function; `_FULL_again` is a tuple of its tiers."""
        tiers = ["None", "None"]
        if f.wide is not None:
            text, used, functions = wide_loops(f"_{stem(full)}_wide", f.wide)
            self._put(text, used)
            self._functions |= functions
            tiers[0] = f"_{stem(full)}_wide"
        if f.reference is not None:
            text, used = ball_loops(f"_{stem(full)}_balls", f.reference)
            if text:
                self._put(text, used)
                tiers[1] = f"_{stem(full)}_balls"
        self.texts.append(f"_{stem(full)}_again = {', '.join(tiers)}\n")
        self._used |= {"_computed_again", "_has_tiny"}

    def _put(self, text: str, used: set[str]) -> None:
        self.texts.append(text)
        self._used |= used

    def uses(self, helper: str) -> None:
        """A helper that the public functions call."""
        self._used.add(helper)

    def parts(self) -> list[str]:
        """All texts with the helpers that they use."""
        if not self.texts:
            return [copies(self._used)] if self._used else []
        tables = []
        for op in self._functions:
            text, names = function_helper(op)
            tables.append(text)
            self._used |= names
        title = "What lost digits is computed again: double-double arithmetic, and balls"
        head = f"# {'-' * max(3, 97 - len(title))} {title}\n"
        return [head, *self.texts, HELPER, copies(self._used), *tables]


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


def _imports(kernels: Sequence[str], again: bool, warns: bool, inside: bool) -> str:
    """What the text imports; `inside`: what functions that Numba compiles may call."""
    lines = IMPORTS
    if again or warns:
        lines = lines.replace("import math\n", "import math\nimport warnings\n")
    extending = ["intrinsic"] if again or any("_fma(" in k for k in kernels) else []
    if inside:
        lines = lines.replace("from numba import njit\n", arrays_inside.IMPORTS)
        extending.append("overload")
    if extending:
        lines = lines.rstrip("\n") + f"\nfrom numba.extending import {', '.join(extending)}\n"
    return lines + FLINT if again else lines


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
            "not finite, they are computed again, in double-double arithmetic and in balls. What",
            "even that leaves unproven keeps the best value, with a RuntimeWarning.",
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


def _wrapper(name: str, f: ArrayFunction, dtype: str, face: Face, main: str, beside: bool) -> str:
    """The public function: it converts the arguments and nests the results. `beside`: whether points
    that are treated apart are looked at."""
    params = [p.name for p in f.program.params]
    used = (
        "np",
        f"_{stem(name)}",
        f"_{stem(name)}_corrected",
        "_given",
        "_check_fixed",
        "_computed_again",
        "_has_tiny",
        f"_{stem(name)}_again",
        f"_{stem(name)}_apart",
        f"_{stem(name)}_found",
        f"_{stem(name)}_guards",
        "_at_guard",
        "warnings",
        "RuntimeWarning",
    )
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
    lines = [def_line(name, params, shown, face), indent("\n".join(body), "    ")]
    given, nested = f"({', '.join(local)},)", f"    return {_nested(f.program.tree)}"
    if beside:
        lines.append(f"    r = _{stem(name)}_found({given})")
        if f.guards:
            lines += [
                f"    if np.any(_{stem(name)}_apart({', '.join(local)})):",
                f'        r = _at_guard("{name}", _{stem(name)}_guards, {given}, r)',
            ]
        return "\n".join([*lines, nested]) + "\n"
    if f.guards:
        text = f"{name}: at a point that is treated apart, derivatives are as written there"
        lines += [
            f"    if np.any(_{stem(name)}_apart({', '.join(local)})):",
            f"        warnings.warn({text!r}, RuntimeWarning, stacklevel=2)",
        ]
    call = f"_{stem(name)}({', '.join(local)})"
    if f.corrected:
        names = [_fresh(n, shown) for n in ("found", "wrong")]
        lines += [
            indent(_tiers(name, names, ", ".join(local)), "    "),
            f"    r = {names[0]}",
            nested,
        ]
        return "\n".join(lines) + "\n"
    count = len(f.program.outputs)
    if count == 1 and f.program.tree == 0:
        return "\n".join([*lines, f"    return {call}"]) + "\n"
    lines.append(f"    r = {call}" if count > 1 else f"    r = ({call},)")
    return "\n".join([*lines, nested]) + "\n"


def _tiers(name: str, names: Sequence[str], given: str) -> str:
    """The lines that compute results with their rounding errors, and again where they lost digits."""
    found, wrong = names
    return (
        f"*{found}, {wrong} = _{stem(name)}_corrected({given})\n"
        f"if {wrong} or _has_tiny(({given},)):\n"
        f'    {found} = _computed_again("{name}", ({given},), {found}, _{stem(name)}, *_{stem(name)}_again)'
    )


def _without_guards(name: str, f: ArrayFunction) -> str:
    """The function that computes all results, whatever guards say, from converted arguments."""
    if f.corrected:
        body = _tiers(name, ("found", "wrong"), "*args").replace("(*args,)", "args")
    else:
        call = f"_{stem(name)}(*args)"
        body = f"found = {call if len(f.program.outputs) > 1 else f'({call},)'}"
    return f"def _{stem(name)}_found(args):\n" + indent(body, "    ") + "\n    return found\n"


def _beside(name: str, main: str, f: ArrayFunction) -> str:
    """What computes derivatives at points that are treated apart."""
    assert f.guards is not None
    functions = [f"_{stem(name)}_found", f"_{stem(main)}_found", f"_{stem(name)}_apart"]
    return (
        f"_{stem(name)}_guards = (\n"
        f"    {', '.join(functions)},\n    {f.guards.points}, {f.guards.moved},\n)\n"
    )


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
