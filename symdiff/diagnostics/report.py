"""What symdiff did with a function, for people and for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from html import escape
from typing import Any

from symdiff import ir
from symdiff.codegen.sympy.text import formula_lines, short_text
from symdiff.diagnostics.certify import Accuracy
from symdiff.errors import Location, TargetError
from symdiff.ir import ADD, DIV, MUL, NEG, POW, SUB, WHERE, Expr
from symdiff.ir.program import Program
from symdiff.lowering.lower import lower
from symdiff.passes.differentiate import gradient as reverse
from symdiff.passes.differentiate import squares
from symdiff.pipeline import guard_messages
from symdiff.pipeline import readable_formulas as formulas
from symdiff.pipeline import scalar as pipeline
from symdiff.pipeline.scalar import Notes

MAX_DIGITS = 20
"""Characters of a fraction that is printed as one."""

KINDS = ("additions", "multiplications", "divisions", "functions")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found at a place of the source: a cancelled factor, a kink, ..."""

    kind: str
    text: str
    location: Location | None = None

    def to_dict(self) -> dict[str, Any]:
        place = self.location
        return {
            "kind": self.kind,
            "text": self.text,
            "path": place.path if place else None,
            "line": place.line if place else None,
            "column": place.column if place else None,
        }


@dataclass(frozen=True, slots=True)
class Report:
    """The record of one function; `str()` for people, `to_dict()` for programs.

    Attributes
    ----------
    name : the function's name.
    value, gradient : the simplified expressions, as text.
    findings : cancelled factors, kinks, branches, domain conditions, assumptions,
        and what was left out for lack of budget.
    operations : counts of additions, multiplications, divisions and function calls
        of value and gradient, by the plain chain rule ("before") and as compiled.
    accuracy : the measured errors of value and gradient, see `symdiff.diagnostics.certify`.
    page : makes the page of a report; see `html`.
    """

    name: str
    params: tuple[str, ...]
    value: tuple[str, ...]
    gradient: tuple[str, ...]
    findings: tuple[Finding, ...] = ()
    operations: dict[str, dict[str, int]] = field(default_factory=dict)
    accuracy: Accuracy | None = None
    page: Callable[[Report], str] | None = field(default=None, repr=False, compare=False)

    def html(self) -> str:
        """The report as a page that needs nothing else: formulas before and after, errors beside
        singular points, the graph of the computation, the generated code. It needs Jinja2 and
        Pygments."""
        if self.page is None:
            raise TargetError(f"the report of {self.name} has no function to draw")
        return self.page(self)

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "params": list(self.params),
            "value": list(self.value),
            "gradient": list(self.gradient),
            "findings": [f.to_dict() for f in self.findings],
            "operations": {k: dict(v) for k, v in self.operations.items()},
            "accuracy": self.accuracy.to_dict() if self.accuracy else None,
        }

    def _repr_html_(self) -> str:
        """What a notebook shows: the text as tables; the page of `html` measures and draws more."""
        signature = f"{self.name}({', '.join(self.params)})"
        formulas = [("value", v) for v in self.value] + [("gradient", v) for v in self.gradient]
        found = [
            (f.kind, f.text, f"{f.location.path}:{f.location.line}" if f.location else "")
            for f in self.findings
        ]
        counts = [(name, *(c[k] for k in KINDS)) for name, c in self.operations.items()]
        errors = [
            (k["kind"], k["points"], _ulp(k["mean_ulp"]), _ulp(k["worst_ulp"]), k["nonfinite"])
            for k in (self.accuracy.to_dict()["kinds"] if self.accuracy else ())
        ]
        return "".join([
            f"<p><b><code>{escape(signature)}</code></b></p>",
            _table((), formulas, code=1),
            _table(("found", "", "where"), found),
            _table(("operations", *KINDS), counts),
            _table(("error in ulp", "points", "mean", "worst", "not finite"), errors),
        ])  # fmt: skip

    def __str__(self) -> str:
        lines = [f"{self.name}({', '.join(self.params)})"]
        lines += [f"  value     {text}" for text in self.value]
        lines += [f"  gradient  {text}" for text in self.gradient]
        for f in self.findings:
            place = f" at {f.location.path}:{f.location.line}" if f.location else ""
            lines.append(f"  {f.kind}: {f.text}{place}")
        if self.operations:
            lines.append("  operations" + "".join(f"{k:>17}" for k in KINDS))
        for name, counts in self.operations.items():
            lines.append(
                f"    {name:<17}" + "".join(f"{counts[k]:>8}{'':9}" for k in KINDS).rstrip()
            )
        lines += [f"  {line}" for line in self.accuracy.lines()] if self.accuracy else []
        return "\n".join(lines)


def _table(head: Sequence[str], rows: Sequence[Sequence[Any]], code: int | None = None) -> str:
    """A table of HTML, of texts that are escaped; nothing for no rows."""
    if not rows:
        return ""

    def cell(k: int, value: Any) -> str:
        text = escape(str(value))
        if k == code:
            text = f'<code style="white-space:pre-wrap">{text}</code>'
        return f'<td style="text-align:left">{text}</td>'

    top = "".join(f"<th>{escape(h)}</th>" for h in head)
    body = "".join(
        f"<tr>{''.join(cell(k, v) for k, v in enumerate(row))}</tr>" for row in rows
    )  # fmt: skip
    return f"<table>{f'<thead><tr>{top}</tr></thead>' if head else ''}<tbody>{body}</tbody></table>"


def _ulp(value: Any) -> str:
    return "" if value is None else f"{value:.3g}"


def report(program: Program, wrt: Sequence[str]) -> Report:
    """The report of a captured program and its gradient."""
    notes = Notes()
    value = pipeline.value(program, notes)
    scalar = isinstance(program.tree, int)
    derivative = pipeline.gradient if scalar else pipeline.jacobian
    slopes = derivative(program, wrt, notes)
    plain = [d for o in program.outputs for d in reverse(o, [ir.var(w) for w in wrt])]
    findings = [
        *_cancelled(notes, program),
        *_completed(notes, program),
        *_guards(notes, program),
        *_kinks(program),
        *_branches(program),
        *(Finding("domain", short_text(c), program.place(c)) for c in program.domain),
        *(Finding("assumed", short_text(c), program.place(c)) for c in program.assumptions),
        *(
            Finding("not searched (budget)", short_text(e), program.place(e))
            for e in notes.cancel.over_budget
        ),
    ]
    return Report(
        program.name,
        program.params,
        _formulas(formulas.readable_forms(value.outputs)),
        _formulas(formulas.readable_forms(slopes.outputs)),
        tuple(findings),
        {
            "value before": count(program.outputs),
            "value": count(pipeline.optimized(value).outputs),
            "gradient before": count(plain),
            "gradient": count(pipeline.optimized(slopes).outputs),
        },
    )


def count(outputs: Iterable[Expr]) -> dict[str, int]:
    """Operations of the kernel that computes the outputs, each shared node once."""
    seen: Counter[str] = Counter(dict.fromkeys(KINDS, 0))
    for e in ir.topological(lower(tuple(outputs))):
        if e.op in (ADD, SUB):
            seen["additions"] += 1
        elif e.op is MUL:
            seen["multiplications"] += 1
        elif e.op is DIV:
            seen["divisions"] += 1
        elif e.args and not e.op.boolean and e.op not in (NEG, WHERE):
            seen["functions"] += 1
    return dict(seen)


def _cancelled(notes: Notes, program: Program) -> list[Finding]:
    found: dict[tuple[str, str], Finding] = {}
    for c in notes.cancel.cancelled:
        for factor in c.factors:
            text = f"{short_text(factor)} in {short_text(c.before)}"
            found.setdefault(
                ("cancelled", text), Finding("cancelled", text, program.place(c.before))
            )
        before, after = short_text(c.before), short_text(c.after)
        if not c.factors and before != after:
            text = f"{before} is {after}"
            found.setdefault(
                ("simplified", text), Finding("simplified", text, program.place(c.before))
            )
    return list(found.values())


def _number(q: Fraction) -> str:
    """A fraction as such if it is short, else its nearest double."""
    return str(q) if len(str(q)) <= MAX_DIGITS else repr(float(q))


def _completed(notes: Notes, program: Program) -> list[Finding]:
    """The points that were filled, and the singular points that stay."""
    found = []
    for c in notes.complete.filled:
        at = f"{short_text(c.variable)} = {c.point}"
        known = () if c.value is None else (c.value, *c.derivatives)
        values = f" with {', '.join(map(_number, known))}" if known else ""
        text = f"{at} in {short_text(c.node)}{values}"
        found.append(Finding("filled", text, program.place(c.node)))
    for s in notes.complete.surfaces:
        at = f"{short_text(s.variable)} = {short_text(s.root)}"
        text = f"{at} in {short_text(s.node)} with {short_text(s.limit)}"
        found.append(Finding("filled", text, program.place(s.node)))
    for c in notes.complete.singular:
        text = f"{short_text(c.variable)} = {c.point} in {short_text(c.node)}"
        found.append(Finding(c.kind, text, program.place(c.node)))
    for e in notes.complete.over_budget:
        found.append(Finding("not completed (budget)", short_text(e), program.place(e)))
    return list(dict.fromkeys(found))  # value and gradient may have been simplified apart


def _guards(notes: Notes, program: Program) -> list[Finding]:
    """Guards that were repaired, guards whose value is wrong, and repaired literals."""
    found = []
    for g in notes.guards.guards:
        kind = "guard repaired" if g.kind == "repaired" else "warning"
        found.append(Finding(kind, guard_messages.message(g), program.place(g.node)))
    for r in notes.guards.literals:
        found.append(Finding("literals repaired", r.message, program.place(r.node)))
    for e in notes.guards.over_budget:
        found.append(Finding("guard not examined (budget)", short_text(e), program.place(e)))
    return list(dict.fromkeys(found))


def _kinks(program: Program) -> list[Finding]:
    found = []
    for e in ir.topological(program.outputs):
        if e.op.kink is not None:
            where = f"{short_text(e.op.kink(*e.args))} = 0 in {short_text(e)}: {e.op.kink_rule}"
            found.append(Finding("kink", where, program.place(e)))
        elif e.op is POW and e.args[1] is ir.HALF and squares(e.args[0]) is not None:
            text = f"{short_text(e.args[0])} = 0 in {short_text(e)}: the derivative of a norm at 0 is 0"
            found.append(Finding("kink", text, program.place(e)))
    return found


def _branches(program: Program) -> list[Finding]:
    conditions: dict[Expr, Expr] = {}
    for e in ir.topological(program.outputs):
        if e.op is WHERE:
            conditions.setdefault(e.args[0], e)
    return [Finding("branch", short_text(c), program.place(c) or program.place(e))
            for c, e in conditions.items()]  # fmt: skip


def _formulas(outputs: Sequence[Expr]) -> tuple[str, ...]:
    """The outputs as people write them, after the definitions they share."""
    definitions, texts = formula_lines(outputs)
    return (*definitions, *texts)
