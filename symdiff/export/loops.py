"""Functions with arrays and loops for people: formulas, sources, modules and reports."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from symdiff.codegen.source.helpers_of_loops import HELPERS
from symdiff.codegen.source.index_notation import formula_lines, loop_lines
from symdiff.codegen.source.loops import loop_source
from symdiff.codegen.source.modules.face import PLAIN, Face, check_targets
from symdiff.codegen.source.modules.loops import ArrayFunction, array_module_source
from symdiff.codegen.source.python import IMPORTS
from symdiff.codegen.sympy.loops import loops_to_sympy, with_symbols
from symdiff.codegen.sympy.text import format_latex
from symdiff.diagnostics.report import Finding, Report
from symdiff.errors import TargetError
from symdiff.ir import Expr, format_expr, substitute, var
from symdiff.ir.functions import BUILTIN, MARKS
from symdiff.ir.loop_program import (
    ARRAY,
    LEAVES,
    Call,
    Check,
    Loop,
    LoopProgram,
    kind_of,
    mapped_block,
    walk,
)
from symdiff.ir.program import map_objects
from symdiff.loops.simplify.guarded_points import guarded_points, met
from symdiff.lowering.loops.twins import without_twins
from symdiff.passes.complete.removable import meaning
from symdiff.pipeline import loops as loop_pipeline
from symdiff.pipeline.readable_formulas import closed_for_people, readable_forms


def readable(program: LoopProgram) -> LoopProgram:
    """The program with completed functions as closed formulas, as people read them."""

    def one(e: Expr) -> Expr:
        if kind_of(e) != "f":
            return closed_for_people((e,))[0]
        leaves = dict.fromkeys(_leaves(e))
        stand_ins = {n: var(f"leaf {k}") for k, n in enumerate(leaves)}
        (made,) = readable_forms(substitute((e,), stand_ins))
        return substitute((made,), {v: n for n, v in stand_ins.items()})[0]

    program = without_twins(loop_pipeline.undifferentiated(program))
    return replace(
        program, block=mapped_block(program.block, one), outputs=tuple(map(one, program.outputs))
    )


def _leaves(e: Expr) -> Iterator[Expr]:
    """The topmost elements of arrays, indices and the like: variables of a formula."""
    stack = [e]
    while stack:
        n = stack.pop()
        if n.op in LEAVES or (n.op not in BUILTIN and meaning(n.op) is None and n.op not in MARKS):
            yield n
        else:
            stack.extend(n.args)


def expression(program: LoopProgram, symbols: Mapping[str, Any]) -> Any:
    """The outputs as SymPy expressions of these symbols, by name, or plain ones; nested as the
    result is."""
    made = [with_symbols(e, symbols) for e in loops_to_sympy(readable(program))]
    return map_objects(made.__getitem__, program.tree)


def latex(program: LoopProgram) -> str:
    """The outputs in LaTeX."""
    texts = [format_latex(e) for e in loops_to_sympy(readable(program))]
    return texts[0] if len(texts) == 1 else r"\left(" + r",\ ".join(texts) + r"\right)"


def source(name: str, program: LoopProgram, dtype: str = "float64") -> str:
    """Readable Numba Python of an emitted program."""
    text, helpers = loop_source(name, without_twins(program), dtype=dtype)
    return "\n\n".join([IMPORTS, *(HELPERS[h] for h in helpers), text])


def printed(
    program: LoopProgram,
    name: str,
    style: str,
    dtype: str = "float64",
    labels: Sequence[str] | None = None,
) -> str:
    """An emitted program in one of the formats of the command line; `labels` say what its outputs
    are."""
    if style == "python":
        return source(name, loop_pipeline.final(program), dtype)
    if style == "latex":
        return latex(program) + "\n"
    if style == "c":
        raise TargetError("functions with arrays are not printed as C", hint="use --format python")
    if labels is not None and len(labels) == len(program.outputs):
        statements, results = formula_lines(
            readable(program), labels, lambda e: readable_forms((e,))[0]
        )
    else:
        statements, results = loop_lines(readable(program))
    if style == "json":
        document = {
            "name": name,
            "params": [p.name for p in program.params],
            "definitions": statements,
            "results": [{"text": text} for text in results],
        }
        return json.dumps(document, indent=2) + "\n"
    return "\n".join([*statements, *results]) + "\n"


def program_text(program: LoopProgram) -> str:
    """A program without rewriting, in index notation."""
    params = [
        f"{p.name}[{', '.join(map(format_expr, p.type.shape))}]" if p.type.shape else p.name
        for p in program.params
    ]
    lines, texts = loop_lines(program)
    lines = [f"{program.name}({', '.join(params)})", *(f"  {line}" for line in lines)]
    return "\n".join([*lines, *(f"  [{i}] = {text}" for i, text in enumerate(texts))])


def array_module(
    program: LoopProgram,
    wrt: Sequence[str],
    *,
    hessian: bool = False,
    dtype: Any = None,
    targets: Sequence[str] = ("cpu",),
    face: Face = PLAIN,
) -> str:
    """The source of a standalone module of a captured program, in double arithmetic.

    Raises
    ------
    TargetError : for CUDA: what the host does between kernels is not printed.
    """
    from symdiff.export.measured import measured_arrays
    from symdiff.version import __version__

    check_targets(targets)
    if "cuda" in targets:
        raise TargetError(
            f"{program.name} has arrays or loops: its module computes on the CPU alone",
            hint='use --target cpu, or target="cuda" of symgrad for devices',
        )
    wrt, name = loop_pipeline.real_names(program, wrt), program.name
    by, value = ", ".join(wrt), loop_pipeline.value(program)
    made = [("", value, f"The value of {name}.")]
    if isinstance(program.tree, int) and program.outputs[0].op is not ARRAY:
        slopes = loop_pipeline.gradient(program, wrt)
        both = loop_pipeline.value_and_gradient(program, wrt)
        made += [
            ("grad", slopes, f"The gradient of {name} by {by}."),
            ("value_and_grad", both, f"(value, gradient by {by}) of {name}."),
        ]
        if hessian:
            second = loop_pipeline.hessian(program, wrt)
            made.append(("hessian", second, f"The second derivatives of {name} by {by}."))
    else:
        slopes = loop_pipeline.jacobian(program, wrt)
        made.append(("jacobian", slopes, f"The derivatives of {name} by {by}."))
    real = np.dtype(dtype or np.float64).name
    parts = [_array_function(p, suffix, said, value, wrt) for suffix, p, said in made]
    said = ["Computed without error tests."]

    def text(face: Face, lines: Sequence[str]) -> str:
        return array_module_source(
            name, parts, version=__version__, dtype=real, face=face, accuracy=lines
        )

    if real == "float64":
        named = [
            (f"{name}_{f.suffix}" if f.suffix else name, f.program)
            for f in parts
            if f.suffix != "value_and_grad"  # these are of both
        ]
        said += measured_arrays(text(PLAIN, said), named)
    return text(face, said)


def _array_function(
    program: LoopProgram,
    suffix: str,
    summary: str,
    value: LoopProgram,
    wrt: Sequence[str],
) -> ArrayFunction:
    emitted = without_twins(loop_pipeline.final(program))
    points = guarded_points(program, value, wrt) if suffix else None
    apart = loop_pipeline.final(met(program, points)) if points and any(points) else None
    return ArrayFunction(suffix, readable(program), summary, emitted, apart)


def array_report(program: LoopProgram, wrt: Sequence[str]) -> Report:
    """What became of a captured program: its loops, what its gradient keeps, its checks."""
    value = loop_pipeline.value(program)
    slopes = loop_pipeline.undifferentiated(loop_pipeline.of_order(program, wrt, 1))
    findings = []
    for s in walk(slopes.block):
        if isinstance(s, Loop):
            for v in s.saves:
                what = "an array" if v.type.shape else "a number"
                text = f"{what} in each iteration of the loop over {s.index}"
                findings.append(Finding("kept for the gradient", text))
        elif isinstance(s, Call):
            findings.append(Finding("routine", s.routine))
    for s in walk(value.block):
        if isinstance(s, Check):
            findings.append(Finding("checked when run", s.message, s.location))
    lines, texts = loop_lines(readable(value))
    more, slope_texts = loop_lines(readable(slopes))
    return Report(
        program.name,
        tuple(p.name for p in program.params),
        (*lines, *texts),
        (*more, *slope_texts),
        tuple(dict.fromkeys(findings)),
    )
