"""The standalone module of a program: its functions, and what its docstring says."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from symdiff.codegen.source.modules.face import PLAIN, Face
from symdiff.codegen.source.modules.kernels import Stage
from symdiff.codegen.source.modules.scalar import Function, Kernel, module_source
from symdiff.codegen.sympy.text import formula_lines
from symdiff.diagnostics.report import report
from symdiff.errors import SymdiffError
from symdiff.ir import FALSE, Expr
from symdiff.ir.plain import exactly
from symdiff.ir.program import Program
from symdiff.pipeline import readable_formulas as formulas
from symdiff.pipeline import scalar as pipeline
from symdiff.pipeline.by_definition import (
    ByDefinition,
    made_of,
    with_special_points,
    without_special_points,
)
from symdiff.pipeline.lowered.modules import checked

MAX_FORMULA_LINES = 30
"""Longer formulas are left out of the docstring."""

_HEADINGS = {
    "cancelled": "Cancelled factors",
    "simplified": "Simplified",
    "filled": "Filled points",
    "kink": "Kinks",
    "assumed": "Assumed",
    "domain": "Defined where",
}
"""Findings of the report that a module's docstring states, and under which heading."""


def module_text(
    program: Program,
    wrt: Sequence[str],
    *,
    hessian: bool = False,
    dtype: Any = None,
    targets: Sequence[str] = ("cpu",),
    accuracy: str = "high",
    check_domain: bool = True,
    face: Face = PLAIN,
    companion: str | None = None,
) -> str:
    """The source of a standalone module of a captured program.

    It has the value, the gradient and both together, as `name`, `name_grad` and
    `name_value_and_grad`, and on request `name_hessian`. A function that returns
    several values has `name_jacobian` instead of the gradients. At the level "fast" they are
    double arithmetic alone. What kernels call is imported from the module `companion`, if one is named.
    """
    from symdiff.version import __version__

    name, by = program.name, ", ".join(wrt)
    real = np.dtype(dtype or np.float64).name
    demands = _demands(program) if check_domain else []
    value = pipeline.value(program)
    count = len(value.outputs)

    special: dict[Expr, None] = {}

    def stage(p: Program, kind: str = "", before: Stage | None = None) -> Stage:
        path = [(kind, tuple(wrt))] if kind else []
        if path:
            p = pipeline.masked(p, program, made_of(program, path))
        optimized, _ = with_special_points(pipeline.optimized(p), program, path, [])
        special[optimized.wrong] = None
        optimized = without_special_points(optimized, program, path)
        conditions, origin = [c for c, _ in demands], ByDefinition(program, path)
        return checked(optimized, real, accuracy, conditions, origin, before)

    first = stage(value)

    functions = [Function("", 0, tuple(range(count)), value.tree, f"The value of {name}.")]
    if isinstance(program.tree, int):
        slopes, both = pipeline.gradient(program, wrt), pipeline.value_and_gradient(program, wrt)
        total = tuple(range(1 + len(slopes.outputs)))
        functions += [
            Function("grad", 0, total[1:], slopes.tree, f"The gradient of {name} by {by}."),
            Function(
                "value_and_grad", 0, total, both.tree, f"(value, gradient by {by}) of {name}."
            ),
        ]
        kernels = [Kernel("", (first, stage(slopes, "gradient", first)))]
        if hessian:
            second = pipeline.hessian(program, wrt)
            columns, said = (
                tuple(range(len(second.outputs))),
                f"The second derivatives of {name} by {by}.",
            )
            functions.append(Function("hessian", 1, columns, second.tree, said))
            kernels.append(Kernel("hessian", (stage(second, "hessian"),)))
    elif hessian:
        raise SymdiffError(f"{name} returns several values: it has no Hessian")
    else:
        slopes = pipeline.jacobian(program, wrt)
        columns = tuple(range(count, count + len(slopes.outputs)))
        said = f"The derivative of each value of {name} by {by}."
        functions.append(Function("jacobian", 0, columns, slopes.tree, said))
        kernels = [Kernel("", (first, stage(slopes, "jacobian", first)))]
    facts = {
        "Formula": _formula(value, [name] if len(value.outputs) == 1 else _indexed(name, value)),
        "Derivative": _formula(slopes, _slope_labels(slopes, wrt)),
    }
    facts["Compiled for"] = [f"{p} = {value or 'its default'}" for p, value in face.fixed]
    lines, texts = formula_lines(exactly([c for c in special if c is not FALSE]))
    facts["Derivatives that are nan where"] = [*lines, *texts]
    findings = report(program, wrt).findings
    for kind, heading in _HEADINGS.items():
        facts[heading] = list(dict.fromkeys(f.text for f in findings if f.kind == kind))

    def text(face: Face, targets: Sequence[str], companion: str | None) -> str:
        return module_source(
            name, program.params, kernels, functions, facts=facts, version=__version__, dtype=real,
            targets=targets, demands=demands, face=face, companion=companion,
        )  # fmt: skip

    if accuracy == "fast" and program.params:
        facts["Accuracy"] = ["double arithmetic alone, without error tests"]
    elif real == "float64" and program.params:
        from symdiff.export.measured import measured

        facts["Measured error"] = measured(text(PLAIN, ("cpu",), None), program, wrt)
    return text(face, targets, companion)


def _demands(program: Program) -> list[tuple[Expr, str]]:
    """What the arguments must satisfy, and what is said where they do not."""
    found = []
    for condition in program.assumptions:
        place = program.place(condition)
        where = f"{os.path.basename(place.path)}:{place.line}: " if place else ""
        text = f"{where}{program.name}: this does not hold: {condition}"
        found.append((condition, text))
    return found


def _formula(program: Program, labels: Sequence[str]) -> list[str]:
    lines, texts = formula_lines(formulas.readable_forms(program.outputs))
    lines = [*lines, *(f"{a} = {b}" for a, b in zip(labels, texts, strict=True))]
    if len(lines) > MAX_FORMULA_LINES:
        return [f"too long to state here ({len(lines)} lines)"]
    return lines


def _indexed(name: str, program: Program) -> list[str]:
    return [f"{name}[{i}]" for i in range(len(program.outputs))]


def _slope_labels(program: Program, wrt: Sequence[str]) -> list[str]:
    if len(program.outputs) == len(wrt):
        return [f"d/d{w}" for w in wrt]
    return [f"d/d{wrt[i % len(wrt)]} [{i // len(wrt)}]" for i in range(len(program.outputs))]
