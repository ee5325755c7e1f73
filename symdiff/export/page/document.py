"""The contents of the page of a report."""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from symdiff.codegen.sympy.text import short_text
from symdiff.diagnostics.certify import (
    answers_of,
    defaults_of,
    derivatives,
    output_labels,
    reference,
)
from symdiff.diagnostics.naive import Naive
from symdiff.diagnostics.report import KINDS, Report
from symdiff.errors import MissingExtraError, SymdiffError
from symdiff.export.page.pictures import Series, errors, graph
from symdiff.interpret import Certified, ulp_error
from symdiff.ir import Expr, topological, var
from symdiff.ir.loop_program import LoopProgram
from symdiff.ir.program import Program
from symdiff.passes.complete.complete import closed_forms
from symdiff.passes.differentiate import gradient as reverse
from symdiff.pipeline import readable_formulas as formulas
from symdiff.pipeline import scalar as pipeline
from symdiff.pipeline.samples import Lines, bases, breaks, inside
from symdiff.pipeline.scalar import Notes
from symdiff.version import __version__

MOST_MATHS = 80
"""Operations of formulas that are set as mathematics; longer ones are text."""
MOST_PLACES = 3
FAR = 1e6
"""Points beyond this are not drawn."""
SMALLEST, LARGEST, PER_DECADE = 1e-16, 1.0, 4
POINT_WORK = 400_000


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula as people read it.

    Attributes
    ----------
    label : what it is.
    maths : MathML; None of long ones.
    text : the same as text.
    """

    label: str
    maths: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture, and what is seen on it."""

    caption: str
    svg: str


def page(function: Any, report: Report) -> str:
    """The page of a function's report.

    Parameters
    ----------
    function : a `SymbolicFunction`.
    report : its report.

    Raises
    ------
    MissingExtraError : without Jinja2 and Pygments.
    """
    try:
        from jinja2 import Environment
        from pygments import highlight
        from pygments.formatters import HtmlFormatter
        from pygments.lexers import PythonLexer
    except ImportError:
        raise MissingExtraError.of(
            "a report as a page needs Jinja2 and Pygments", "report"
        ) from None

    def code(text: str) -> str:
        shown: str = highlight(text, PythonLexer(), HtmlFormatter(cssclass="code"))
        return shown

    def style(name: str) -> str:
        rules: str = HtmlFormatter(style=name, cssclass="code").get_style_defs(".code")
        return rules

    static = function._default_static()
    raw = function._source.raw(static)
    before: list[Formula] = []
    after: list[Formula] = []
    pictures: list[Picture] = []
    drawn: str | None = None
    if isinstance(raw, LoopProgram):
        before = []
        after = [Formula("value", None, "\n".join(report.value)),
                 Formula("gradient", None, "\n".join(report.gradient))]  # fmt: skip
    else:
        program = function.raw_program
        before, after = _formulas(program, function._wrt())
        pictures = _error_pictures(function, program)
        labels = output_labels(program, function._wrt())
        slopes = formulas.readable_forms(_simplified(program, function._wrt()))
        drawn = graph(slopes, labels) if len(slopes) == len(labels) else None
    template = Path(__file__).with_name("report.html").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    result: str = environment.from_string(template).render(
        report=report, kinds=KINDS, version=__version__, doc=inspect.cleandoc(vars(function).get("__doc__") or ""),
        before=before, after=after, pictures=pictures, graph=drawn,
        own=_own_source(function, code), generated=code(_generated(function)),
        light=style("default"), dark=style("github-dark"),
    )  # fmt: skip
    return result


def _own_source(function: Any, code: Any) -> str | None:
    """The user's text, highlighted, if there is one."""
    plain = getattr(function, "__wrapped__", None)
    try:
        return (
            None if plain is None else str(code(inspect.cleandoc("\n" + inspect.getsource(plain))))
        )
    except (OSError, TypeError):
        return None


def _generated(function: Any) -> str:
    """The readable source of value and derivatives, as far as there is one."""
    texts = []
    for f in (function, function.grad):
        try:
            texts.append(f.source())
        except SymdiffError as error:
            texts.append(f"# {error.args[0] if error.args else error}\n")
    return "\n\n".join(texts)


# --------------------------------------------------------------------------- formulas
def _simplified(program: Program, wrt: Sequence[str]) -> tuple[Expr, ...]:
    scalar = isinstance(program.tree, int)
    derive = pipeline.gradient if scalar else pipeline.jacobian
    return (*pipeline.value(program).outputs, *derive(program, wrt).outputs)


def _plain(program: Program, wrt: Sequence[str]) -> tuple[Expr, ...]:
    """Values and derivatives by the chain rule, as captured."""
    variables = [var(w) for w in wrt]
    return (*program.outputs, *(d for o in program.outputs for d in reverse(o, variables)))


def _formulas(program: Program, wrt: Sequence[str]) -> tuple[list[Formula], list[Formula]]:
    """The value and its derivatives as the chain rule gives them, and simplified."""
    plain = _plain(program, wrt)
    simple = formulas.readable_forms(_simplified(program, wrt))
    labels = output_labels(program, wrt)
    return (
        [_formula(n, e) for n, e in zip(labels, plain, strict=False)],
        [_formula(n, e) for n, e in zip(labels, simple, strict=False)],
    )


def _formula(label: str, e: Expr) -> Formula:
    if len(topological((e,))) > MOST_MATHS:
        return Formula(label, None, short_text(e))
    from symdiff.codegen.sympy.translate import to_sympy
    from symdiff.export.page.mathml import mathml

    return Formula(label, mathml(to_sympy((e,))[0]), short_text(e))


# --------------------------------------------------------------------------- pictures
def _error_pictures(function: Any, program: Program) -> list[Picture]:
    """Errors near the points that were filled, along the variable that was; if none was, near
    those where something vanishes."""
    found = []
    for axis, point in _centers(function, program):
        try:
            found.append(_picture(function, program, axis, point))
        except SymdiffError:
            continue
    return found


def _centers(function: Any, program: Program) -> list[tuple[int, tuple[float, ...]]]:
    notes = Notes()
    pipeline.value(program, notes)
    held = inside(program.params, (*program.domain, *program.assumptions))
    through = bases(program.params, held, defaults_of(function))
    base = [float(x) for x in through[0]] if through else [1.0] * len(program.params)
    chosen: dict[tuple[int, tuple[float, ...]], None] = {}
    for c in notes.complete.filled:
        name = short_text(c.variable)
        if name in program.params:
            axis = program.params.index(name)
            point = list(base)
            point[axis] = float(c.point)
            if math.isfinite(point[axis]):
                chosen[axis, tuple(point)] = None
    if not chosen:
        lines = Lines(program.params, list(breaks(_plain(program, function._wrt()))))
        for axis in range(len(program.params)):
            for root in lines.roots(tuple(base), axis):
                if abs(root) <= FAR:
                    chosen[axis, (*base[:axis], root, *base[axis + 1 :])] = None
    if not chosen and program.params:
        chosen[0, (0.0, *base[1:])] = None
    return list(chosen)[:MOST_PLACES]


def _picture(function: Any, program: Program, axis: int, point: tuple[float, ...]) -> Picture:
    wrt = function._wrt()
    truth = derivatives(reference(replace(program, outputs=closed_forms(program.outputs))), wrt)
    proven = Certified(program.params, truth, truth[: len(program.outputs)], POINT_WORK)
    answers, dtype = answers_of(function)
    naive = Naive(program, wrt)
    name = program.params[axis]
    count = len(program.outputs)
    chosen = [0, *([count + wrt.index(name)] if name in wrt else [])]
    decades = round(math.log10(LARGEST / SMALLEST))
    sizes = [SMALLEST * 10 ** (k / PER_DECADE) for k in range(decades * PER_DECADE + 1)]
    offsets = [*(-s for s in reversed(sizes)), 0.0, *sizes]
    table: dict[tuple[str, int], list[float]] = {
        (w, i): [] for w in ("naive", "ours") for i in chosen
    }
    for offset in offsets:
        x = list(point)
        x[axis] += offset
        exact = proven.at_with_status(x, dtype)
        for who, got in (("naive", naive.at(x)), ("ours", answers(x))):
            for i in chosen:
                a = exact[i]
                known = a.status in ("exact", "limit") and math.isfinite(a.value)
                table[who, i].append(
                    math.nan if not known
                    else ulp_error(got[i], a.ball, dtype) if math.isfinite(got[i])
                    else math.inf
                )  # fmt: skip
    series = [
        Series(f"{who} {what}", f"{who} {what}", offsets, table[who, i])
        for i, what in zip(chosen, ("value", "slope"), strict=False)
        for who in ("naive", "ours")
    ]
    center = point[axis]
    beside = name if center == 0 else f"{name} {'−' if center > 0 else '+'} {abs(center):g}"
    others = [f"{n} = {v:g}" for n, v in zip(program.params, point, strict=True) if n != name]
    caption = ", ".join([f"near {name} = {center:g}", *others])
    return Picture(caption, errors(series, beside, SMALLEST, LARGEST))


__all__ = ["Formula", "Picture", "page"]
