"""The steps of a program on a device as lines for people."""

from __future__ import annotations

from collections.abc import Sequence

from symdiff.codegen.cuda.loops.steps import (
    WARP,
    Forget,
    Keep,
    Launch,
    Let,
    Repeat,
    Routine,
    Step,
    Test,
    View,
    Word,
)
from symdiff.ir import Expr, format_expr


def written(steps: Sequence[Step]) -> list[str]:
    """One line for each step, the steps of loops further in."""
    return [line for step in steps for line in _lines(step)]


def _lines(step: Step) -> list[str]:
    match step:
        case Launch():
            return [_launch(step)]
        case Repeat():
            count = "while it holds" if step.count is None else f"in range({_text(step.count)})"
            back = ", backwards" if step.reverse else ""
            head = f"for {step.index} {count}{back}:"
            test = written(step.test)
            if step.condition is not None:
                test.append("stop unless it holds")
            carried = [f"{name} = {following}" for name, _, following, _, _ in step.arrays
                       if name != following]  # fmt: skip
            start = [f"{name} = {init}" for name, init, _, _, _ in step.arrays]
            end = [f"{result} = {name}" for name, _, _, result, _ in step.arrays]
            inside = [*test, *written(step.body), *carried]
            return [*start, head, *(f"    {line}" for line in inside), *end]
        case Test():
            return [f"require {_text(step.condition)}"]
        case Let():
            return [f"{step.name} = {_text(step.value)}"]
        case Routine():
            made, given = (
                ", ".join(f"word {v.slot}" if isinstance(v, Word) else v[0] for v in values)
                for values in (step.makes, step.args)
            )
            return [f"{made}: {step.routine}({given}), on the host"]
        case Keep():
            return [f"push {step.name} on {step.tape}"]
        case View():
            return [f"{step.name} = pop {step.tape}"]
        case Forget():
            return []


def _launch(step: Launch) -> str:
    made = [name for name, _ in step.makes]
    made += [result if result == source else f"{result} from {source}"
             for result, source, _, _ in step.changes]  # fmt: skip
    what = f"{', '.join(made)}: " if made else ""
    if step.space is None:
        return f"{what}{step.kernel.name}, one thread"
    size = " x ".join(map(_text, step.space))
    more = "" if step.final is None else f", then {step.final.name}"
    if step.rows is not None:
        more += f"; {step.rows[0].name} if {_text(step.rows[1])} is {WARP} or more"
    return f"{what}{step.kernel.name}, {size} threads{more}"


def _text(e: Expr) -> str:
    return format_expr(e)


__all__ = ["written"]
