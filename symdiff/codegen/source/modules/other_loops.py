"""Programs with arrays and loops over numbers that are no doubles.

Before:  s += x[i]*y[i]
After:   s = _add(s, _mul(_row(x[i]), _row(y[i])))      double-double arithmetic, Numba Python
         s = s + x[i]*y[i]                              balls, plain Python

Requires: a program in closed forms without routines and checks (`pipeline.lowered.loops`).
Ensures: conditions that rounding may have decided, and on which hangs what is done next, raise an
error.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Sequence
from textwrap import indent

from symdiff import ir
from symdiff.codegen.common.liveness import Point
from symdiff.codegen.common.temporaries import Text, Writer
from symdiff.codegen.source.loops import Printer
from symdiff.codegen.source.modules.helpers import CACHED, definitions
from symdiff.codegen.source.modules.second_tier import LARGEST_POWER, WideWriter, direct
from symdiff.codegen.source.modules.third_tier import BallWriter, NoBalls, has_balls
from symdiff.ir import Expr, Op, rational
from symdiff.ir.loop_program import (
    ARRAY,
    REAL_OF,
    Build,
    Loop,
    LoopProgram,
    Statement,
    Type,
    exchanged,
    kind_of,
    name_of,
)
from symdiff.lowering.lower import in_calls, numbered


class _OtherNumbers(Printer):
    """Real numbers are numbers of a writer's."""

    writer: Writer

    def reserved(self) -> Collection[str]:
        return {*definitions(), "flint", "decide"}

    @abstractmethod
    def exact(self, text: str) -> str:
        """A double or an integer as a number."""

    @abstractmethod
    def truth(self, text: str) -> str:
        """A condition as a truth value of Python's."""

    @abstractmethod
    def integer_in(self, text: str) -> str:
        """A number that is an integer as one of Python's."""

    @abstractmethod
    def exact_array(self, text: str) -> str:
        """An array of doubles as one of numbers."""

    # ------------------------------------------------------------------- statements
    def begin(self) -> None:
        for p in self.program.params:
            if p.type.kind == "f":
                name = self.name(p.name)
                made = self.exact_array(name) if p.type.shape else self.exact(name)
                self.line(f"{name} = {made}")
        for data in sorted(self.program.data):
            if self.types[data].kind == "f":
                of = self.name(data)
                self.names.pop(data)
                self.line(f"{self.name(data)} = {self.exact_array(of)}")

    # ------------------------------------------------------------------ expressions
    def texts(self, roots: Sequence[Expr], kinds: Sequence[str] = ()) -> list[str]:
        result: dict[int, str] = {}
        rest: dict[int, Expr] = {}
        for k, e in enumerate(roots):
            kind = kinds[k] if kinds else "" if e.op is ARRAY else kind_of(e)
            if e.op is ARRAY:
                result[k] = self.name(name_of(e))
            elif (kind == "i" or e.op.boolean) and (text := self.whole(e)) is not None:
                result[k] = text
            else:
                rest[k] = e
        given = list(rest.values())
        texts = self.written(self.lowered(exchanged(given, self.leaves(given))))
        for k, text in zip(rest, texts, strict=True):
            kind = kinds[k] if kinds else ""
            if rest[k].op.boolean:
                result[k] = self.truth(text)
            else:
                result[k] = self.integer_in(text) if kind == "i" else text
        for k, e in enumerate(roots):
            if kinds and kinds[k] == "f" and e.op.boolean:
                result[k] = self.exact(f"float({result[k]})")
        return [result[k] for k in range(len(roots))]

    def real_of(self, e: Expr) -> str:
        of = e.args[0] if e.op is REAL_OF else e
        return self.exact(f"float({self.integer(of)})")


class _Wide(_OtherNumbers):
    """Double-double numbers with error bounds; arrays have one more axis for their parts."""

    def __init__(self, program: LoopProgram) -> None:
        super().__init__(program, "float64")
        self.wide = WideWriter()
        self.writer = self.wide

    def call(self, name: str, *args: str) -> str:
        return self.wide.call(name, args).text

    def exact(self, text: str) -> str:
        return self.call("_number", text)

    def truth(self, text: str) -> str:
        return self.call("_certain", text)

    def integer_in(self, text: str) -> str:
        return self.call("_certain_integer", text)

    def exact_array(self, text: str) -> str:
        return self.call("_numbers", text)

    def lowered(self, roots: Sequence[Expr]) -> Sequence[Expr]:
        return numbered(in_calls(roots, direct), LARGEST_POWER)

    def element_of(self, e: Expr) -> str:
        text = super().element_of(e)
        real = e.args[0].value[1] == "f" and e not in self.kept
        return self.call("_row", text) if real else text

    def allocated(self, t: Type) -> str:
        if t.kind != "f":
            return super().allocated(t)
        return f"np.empty(({', '.join(map(self.size, t.shape))}, 4))"

    def store(self, place: str, text: str, kind: str, add: bool = False) -> None:
        if kind != "f":
            return super().store(place, text, kind, add)
        if add:
            text = self.call("_add", self.call("_row", place), text)
        return self.line(self.call("_put", place, text))

    def begin(self) -> None:
        super().begin()
        for tape, t in sorted(self.tapes().items()):
            empty = "np.empty((64, 4))" if t.kind == "f" else "np.empty(64, np.int64)"
            self.line(f"{self.name(tape)} = {empty}")
            self.line(f"{self.name(tape + '_end')} = 0")

    def save(self, tape: str, t: Type, text: str) -> None:
        if t.kind != "f":
            return super().save(tape, t, text)
        name, end = self.name(tape), self.name(tape + "_end")
        count = f"{text}.size//4" if t.shape else "1"
        self.line(f"{name} = {self.call('_wide_room', name, f'{end} + {count}')}")
        if t.shape:
            self.line(f"{name}[{end}:{end} + {count}] = {text}.copy().reshape(({count}, 4))")
        else:
            self.line(self.call("_put", f"{name}[{end}]", text))
        return self.line(f"{end} += {count}")

    def restore(self, name: str, tape: str, t: Type) -> None:
        if t.kind != "f":
            return super().restore(name, tape, t)
        kept, end = self.name(tape), self.name(tape + "_end")
        if not t.shape:
            self.line(f"{end} -= 1")
            return self.line(f"{self.name(name)} = {self.call('_row', f'{kept}[{end}]')}")
        sizes = [self.size(n) for n in t.shape]
        count = "*".join(f"({n})" if " " in n else n for n in sizes)
        self.line(f"{end} -= {count}")
        part = f"{kept}[{end}:{end} + {count}].copy()"
        return self.line(f"{self.name(name)} = {part}.reshape(({', '.join(sizes)}, 4))")

    def end(self) -> None:
        values, sure = [], []
        outputs = self.program.outputs
        for k, (text, e) in enumerate(zip(self.texts(outputs), outputs, strict=True)):
            real = (self.types[name_of(e)].kind if e.op is ARRAY else kind_of(e)) == "f"
            if not real:
                values.append(f"{text}.copy()" if e.op is ARRAY else text)
                sure.append("True")
                continue
            value, known = self.name(f"value{k}"), self.name(f"sure{k}")
            self.line(f"{value} = {text}")
            if e.op is ARRAY:
                self.line(f"{value}, {known} = {self.call('_doubles', value)}")
                values.append(value)
                sure.append(known)
            else:
                values.append(self.call("_double", value))
                sure.append(self.call("_decided", value))
        one = [f"({', '.join(items)},)" for items in (values, sure)]
        self.line(f"return {', '.join(one)}")


class _NotingWriter(BallWriter):
    """Balls; what is divided by is noted."""

    def compose(self, e: Expr, args: Sequence[Text]) -> Text:
        if e.op is ir.DIV and e.args[1].op is not ir.CONST:
            args = [args[0], self.call("_noted", [args[1].text])]
        q = rational(e.args[1]) if e.op is ir.POW else None
        if q is not None and q < 0 and e.args[0].op is not ir.CONST:
            args = [self.call("_noted", [args[0].text]), args[1]]
        return super().compose(e, args)


class _Balls(_OtherNumbers):
    """Balls: arrays hold objects, tapes are lists."""

    def __init__(self, program: LoopProgram) -> None:
        super().__init__(program, "float64")
        self.balls = _NotingWriter()
        self.writer = self.balls

    def call(self, name: str, *args: str) -> str:
        return self.balls.call(name, args).text

    def exact(self, text: str) -> str:
        return self.call("_ball", text)

    def truth(self, text: str) -> str:
        return self.call("_certain_ball", text)

    def integer_in(self, text: str) -> str:
        return self.call("_integer_in_ball", text)

    def exact_array(self, text: str) -> str:
        return self.call("_balls_of", text)

    def lowered(self, roots: Sequence[Expr]) -> Sequence[Expr]:
        return in_calls(roots, has_balls)

    def element(self, kind: str) -> str:
        return "object" if kind == "f" else "np.int64"

    def store(self, place: str, text: str, kind: str, add: bool = False) -> None:
        self.line(f"{place} = {place} + ({text})" if add else f"{place} = {text}")

    def begin(self) -> None:
        """Arguments are balls as they are given."""
        for data in sorted(self.program.data):
            if self.types[data].kind == "f":
                of = self.name(data)
                self.names.pop(data)
                self.line(f"{self.name(data)} = {self.exact_array(of)}")
        for tape in sorted(self.tapes()):
            self.line(f"{self.name(tape)} = []")

    def save(self, tape: str, t: Type, text: str) -> None:
        self.line(f"{self.name(tape)}.append({text}{'.copy()' if t.shape else ''})")

    def restore(self, name: str, tape: str, t: Type) -> None:
        self.line(f"{self.name(name)} = {self.name(tape)}.pop()")

    def statement(self, s: Statement, point: Point) -> None:
        """Loops count their operations, a line each."""
        if not isinstance(s, (Loop, Build)):
            return super().statement(s, point)
        before = len(self.lines)
        super().statement(s, point)
        heads = [k for k in range(before, len(self.lines)) if _opens(self.lines[k])]
        at = heads[len(s.indices) - 1 if isinstance(s, Build) else 0]
        depth = len(self.lines[at]) - len(self.lines[at].lstrip()) + 4
        count = self.call("_spend", str(max(1, len(self.lines) - at - 1)))
        self.lines.insert(at + 1, " " * depth + count)

    def end(self) -> None:
        self.line(f"return [{', '.join(self.texts(self.program.outputs))}]")


def _opens(line: str) -> bool:
    return line.lstrip().startswith(("for ", "while "))


def wide_loops(name: str, program: LoopProgram) -> tuple[str, set[str], dict[Op, None]]:
    """The function in double-double arithmetic, and the helpers and functions of the table that it
    uses."""
    printer = _Wide(program)
    body = "\n".join(printer.function())
    head = f"{CACHED}\ndef {name}({', '.join(printer.parameters)}):\n"
    return head + indent(body, "    ") + "\n", printer.wide.used, printer.wide.functions


def ball_loops(name: str, program: LoopProgram) -> tuple[str, set[str]]:
    """The function of balls, and the helpers that it uses; "" if there is none."""
    printer = _Balls(program)
    try:
        body = "\n".join(printer.function())
    except NoBalls:
        return "", set()
    head = f"def {name}({', '.join(['decide', *printer.parameters])}):\n"
    return head + indent(body, "    ") + "\n", printer.balls.used


__all__ = ["ball_loops", "wide_loops"]
