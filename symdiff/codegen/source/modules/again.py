"""What computes flagged elements again: the part of a module with its second and third tiers.

Before:  functions with their flags and closed forms
After:   `_f_wide` and `_f_balls` for the values of several functions at once, `_f_again` with
         both, and copies of the helpers that they use

Requires: nothing. Ensures: functions whose closed forms another one has too share its tiers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from textwrap import indent

from symdiff import ir
from symdiff.codegen.source.modules.first_tier import corrected_helper, tested_source
from symdiff.codegen.source.modules.helpers import CACHED, FUSED, HELPER, copies, definitions, stem
from symdiff.codegen.source.modules.second_tier import function_helper, wide_source
from symdiff.codegen.source.modules.third_tier import balls_source
from symdiff.codegen.source.python import PythonWriter, function_body, local_names, rename
from symdiff.ir import FALSE, Expr
from symdiff.lowering.lower import lower


@dataclass(frozen=True, slots=True)
class Checks:
    """What a function that is computed in tiers needs beside its outputs.

    Attributes
    ----------
    flagged : where double arithmetic may be wrong.
    corrected : the outputs with the errors of all operations, if there is such a form.
    still : where that may be wrong.
    closed : the outputs in closed form, as double-double arithmetic takes them.
    reference : the same as ball arithmetic takes them.
    written : the same as they were written, which is asked where they are nan; nothing if that
        tells nothing else.
    own : how many of them, the first ones, are values of the function.
    everywhere : whether values at infinite arguments are those written.
    branches : whether the function has branches; if not, only infinite arguments are asked about.
    value : the function as it was written, where that says whether derivatives are asked about.
    plain : the outputs for devices, in double arithmetic alone; nothing for the same.
    """

    flagged: Expr = FALSE
    corrected: tuple[Expr, ...] = ()
    still: Expr = FALSE
    closed: tuple[Expr, ...] = ()
    reference: tuple[Expr, ...] = ()
    written: tuple[Expr, ...] = ()
    own: int = 0
    everywhere: bool = False
    branches: bool = False
    value: Expr | None = None
    plain: tuple[Expr, ...] = ()

    def columns(self) -> list[tuple[Expr | bool | None, ...]]:
        """What each output is to balls."""
        written = self.written or [None] * len(self.reference)
        pairs = zip(self.reference, written, strict=True)
        return [(*pair, bool(self.written) and k < self.own) for k, pair in enumerate(pairs)]


Demands = Sequence[tuple[Expr, str]]
"""Conditions on the arguments, and what is said where they do not hold."""


@dataclass(slots=True)
class Group:
    """Functions that share their second and third tier.

    Attributes
    ----------
    name : of the largest one of them.
    columns : for each function, which values of the largest one it returns.
    balls, written : whether there is a function of balls, and one of what the user wrote; known
        once its text is made.
    """

    name: str
    checks: Checks
    columns: dict[str, tuple[int, ...]] = field(default_factory=dict)
    balls: bool = False
    written: bool = False


@dataclass(slots=True)
class Used:
    """What the functions of the first tier use."""

    helpers: set[str] = field(default_factory=set)
    corrected: dict[tuple[ir.Op, bool], None] = field(default_factory=dict)


def groups(functions: Sequence[tuple[str, Checks]]) -> dict[str, Group]:
    """For the name of each function that is ever flagged, what computes it again."""
    found: list[Group] = []
    ordered = sorted(functions, key=lambda item: -len(item[1].reference))
    of: dict[str, Group] = {}
    for name, checks in ordered:
        if checks.flagged is FALSE:
            continue
        for group in found:
            if set(checks.columns()) <= set(group.checks.columns()):
                break
        else:
            group = Group(name, checks)
            found.append(group)
        group.columns[name] = tuple(map(group.checks.columns().index, checks.columns()))
        of[name] = group
    return of


def again_parts(
    found: Sequence[Group],
    params: Sequence[str],
    demands: Demands,
    main: str,
    first: Used,
    dtype: str,
) -> list[str]:
    """The texts of all groups with the helpers that they use."""
    used = {"_at", "_repair"} | first.helpers
    parts: list[str] = []
    functions: dict[ir.Op, None] = {}
    local = local_names(
        params, {*definitions(), "flint", "decide", "results", "divisors", "flagged"}
    )
    broken = "None"
    if demands:
        broken = f"_{main}_demand"
        parts.append(_demand_source(main, params, demands))
    for group in found:
        name, checks = f"_{stem(group.name)}", group.checks
        if not checks.closed:
            continue
        wide, writer = wide_source(f"{name}_wide", params, local, checks.closed)
        balls, names = balls_source(f"{name}_balls", params, local, checks.reference)
        group.balls = bool(balls)
        used |= writer.used | names | ({"_settled"} if balls else set())
        functions |= writer.functions
        if checks.corrected:
            text, first_writer = tested_source(
                f"{name}_compensated", params, local, checks.corrected, checks.still, dtype
            )
            first.corrected |= first_writer.functions
            used |= first_writer.used
            parts += [text, _compensated_loop(name, params, len(checks.closed))]
        parts += [wide, _wide_loop(name, params, len(checks.closed)), *([balls] if balls else [])]
        if balls and checks.written:
            every = checks.written + (() if checks.value is None else (checks.value,))
            text, names = balls_source(f"{name}_written_balls", params, local, every)
            group.written = bool(text)
            used |= names
            parts += [text] if text else []
    parts += [_tiers_source(group, found, main, broken) for group in found]
    tables = []
    for op, light in first.corrected:
        text, names = corrected_helper(op, light)
        tables.append(text)
        used |= names
    for op in functions:
        text, names = function_helper(op)
        tables.append(text)
        used |= names
    helpers = copies(used, ["_PARALLEL"])
    title = "What is flagged is computed again: double-double arithmetic, then balls"
    head = f"# {'-' * max(3, 97 - len(title))} {title}\n"
    return [head, *parts, FUSED, HELPER, helpers, *tables]


def _tiers_source(group: Group, found: Sequence[Group], main: str, broken: str) -> str:
    """The tuple of what computes flagged elements of a group again."""
    name, checks = f"_{stem(group.name)}", group.checks
    if not checks.closed:
        return f"{name}_again = None, None, None, None, 0, {broken}, None\n"
    text, written = "", "None"
    if group.written:
        smooth, count = "None", len(checks.reference)
        whole = next((g for g in found if main in g.columns and g.balls), None)
        if checks.value is not None and whole is not None:
            smooth = f"(_{stem(whole.name)}_balls, {whole.columns[main][0]})"
        written = f"{name}_written"
        text = (
            f"{written} = (\n    {written}_balls, {checks.own}, {checks.everywhere}, "
            f"{checks.branches}, {count}, {smooth},\n)\n"
        )
    compensated = f"{name}_compensated_loops" if checks.corrected else "None"
    ball = f"{name}_balls" if group.balls else "None"
    return (
        f"{text}{name}_again = (\n    {compensated}, {name}_wide, {name}_wide_loops,\n"
        f"    {ball}, {len(checks.closed)}, {broken}, {written},\n)\n"
    )


def _wide_loop(name: str, params: Sequence[str], count: int) -> str:
    """The loop of double-double arithmetic over flagged elements."""
    return _loops(
        f"{name}_wide", params, "sure",
        ["values, flags = @", *(f"found[{k}, i], sure[{k}, i] = values[{k}], flags[{k}]" for k in range(count))],
    )  # fmt: skip


def _compensated_loop(name: str, params: Sequence[str], count: int) -> str:
    """The loop of arithmetic with errors over flagged elements."""
    targets = ", ".join(f"found[{k}, i]" for k in range(count))
    return _loops(f"{name}_compensated", params, "flagged", [f"{targets}, flagged[i] = @"])


def _loops(kernel: str, params: Sequence[str], flags: str, body: Sequence[str]) -> str:
    """A loop over elements, for one core and for all; `@` is the call of the kernel."""
    local = local_names(params, {"found", flags, "i", "values", "flags", kernel})
    call = f"{kernel}({', '.join(f'{p}[i]' for p in local)})"
    return (
        f"def {kernel}_loop({', '.join([*local, 'found', flags])}):\n"
        f"    for i in prange({local[0]}.size):\n"
        + indent("\n".join(body).replace("@", call), " " * 8)
        + f"\n\n\n{kernel}_loops = (\n"
        f"    {CACHED[1:]}({kernel}_loop),\n"
        f"    {CACHED[1:-1]}, parallel=True)({kernel}_loop),\n"
        ")\n"
    )


def _demand_source(main: str, params: Sequence[str], demands: Demands) -> str:
    """The function that says which demand arguments break, and the texts."""
    local = local_names(params)
    conditions = [c for c, _ in demands]
    body, results = function_body(local, lower(rename(params, local, conditions)), PythonWriter())
    lines = list(body)
    for k, result in enumerate(results, 1):
        lines += [f"if not ({result}):", f"    return {k}"]
    lines.append("return 0")
    names = ", ".join(f'"{p}"' for p in params) + ("," if len(params) == 1 else "")
    texts = "".join(f"    {text!r},\n" for _, text in demands)
    return (
        f"{CACHED}\ndef _{main}_broken({', '.join(local)}):\n"
        f'    """Which demand the arguments do not meet: its number, or 0."""\n'
        + indent("\n".join(lines), "    ")
        + f"\n\n\n_{main}_demand = _{main}_broken, (\n{texts}), ({names})\n"
    )


__all__ = ["Checks", "Demands", "again_parts", "groups"]
