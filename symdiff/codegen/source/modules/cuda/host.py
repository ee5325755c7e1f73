"""What the host does between kernels, as Python of generated modules.

Before : a `Plan` with kernels in Numba-CUDA Python.
After  : one function that takes the arguments, launches the kernels and returns the results.
Ensures: an array is changed in place only if nothing else is it; otherwise a copy is.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping, Sequence

from symdiff.codegen.cuda.loops.steps import (
    Argument,
    Forget,
    Keep,
    Kernel,
    Launch,
    Let,
    Plan,
    Repeat,
    Routine,
    Step,
    TapeUse,
    Test,
    View,
    Word,
)
from symdiff.codegen.source.loops import ERRORS
from symdiff.codegen.source.modules.cuda.kernels import NumbaPython
from symdiff.codegen.source.python import docstring, local_names
from symdiff.codegen.source.readable import wrapped
from symdiff.errors import UnsupportedError
from symdiff.ir import AND, CONST, EQ, LE, LT, NOT, OR, WHERE, ZERO, Expr, integer, lt, topological
from symdiff.ir.integers import nonnegative
from symdiff.ir.linalg.routines import ROUTINES
from symdiff.ir.loop_program import INDEX, REAL_OF, LoopProgram, Type, kind_of, name_of, types

LONG = 40
"""Longer integers have names."""
_TRUTH = {LT: "{0} < {1}", LE: "{0} <= {1}", EQ: "{0} == {1}", NOT: "not {0}"}
TAKEN = ("cuda", "libdevice", "config", "device", "stream", "blocks", "int", "max", "range")
"""Names that the functions need themselves."""


class Host:
    """Prints one function.

    Parameters
    ----------
    program, plan : what is planned, and its plan.
    language : of the kernels.
    taken : further names that are not to be used.
    """

    def __init__(
        self,
        program: LoopProgram,
        plan: Plan,
        language: NumbaPython,
        taken: Sequence[str] = (),
    ) -> None:
        self.program, self.plan, self.language = program, plan, language
        self.lines: list[str] = []
        self.taken = {*TAKEN, *taken}
        params = [p.name for p in program.params]
        self.parameters = local_names(params, self.taken)
        self.names: dict[str, str] = dict(zip(params, self.parameters, strict=True))
        self.taken.update(self.parameters)
        self.types: Mapping[str, Type] = types(program)
        self.sizes: set[Expr] = set()
        self.buffers: dict[str, int] = {}
        self.own: set[int] = set()
        self.numbers: set[str] = set()
        self.known: dict[Expr, str] = {}
        self.count = self.loops = self.made_up = 0

    # -------------------------------------------------------------------- names
    def name(self, name: str) -> str:
        """The Python name of a name of the program."""
        if name not in self.names:
            self.names[name] = self.language.name(name, self.taken)
            self.taken.add(self.names[name])
        return self.names[name]

    def line(self, text: str) -> None:
        self.lines.append("    " * (1 + self.loops) + text)

    def integer(self, e: Expr) -> str:
        """An integer, or a condition on integers, as text."""
        text: dict[Expr, str] = dict(self.known)
        order = topological((e,), text)
        uses = Counter(a for n in order for a in n.args)
        for n in order:
            args = [text[a] for a in n.args]
            if n.op is CONST:
                text[n] = self.language.whole(int(n.value))
            elif n.op is INDEX:
                text[n] = self.named(name_of(n))
            elif n.op is REAL_OF:
                text[n] = args[0]
            elif n.op in _TRUTH:
                text[n] = f"({_TRUTH[n.op].format(*args)})"
            elif n.op in (AND, OR):
                text[n] = f"({f' {n.op.name} '.join(args)})"
            elif not n.args:
                text[n] = str(n.value)
            elif n.op is WHERE and n.args[:2] == (lt(n.args[2], ZERO), ZERO):
                text[n] = f"max(0, {args[2]})"
            else:
                text[n] = f"({self.language.integer(n.op, args)})"
            if n.args and (uses[n] > 1 or n is e) and len(text[n]) > LONG:
                self.made_up += 1
                name = self.name(f"size of {self.made_up}")
                self.line(f"{name} = {text[n]}")
                self.known[n] = text[n] = name
        return text[e]

    def named(self, name: str) -> str:
        found = self.plan.words.get(name)
        return self.name(name) if found is None else f"device.count({found.slot})"

    def axis(self, n: Expr) -> str:
        """The size of an axis, 0 where it is negative."""
        if (k := integer(n)) is not None:
            return str(max(0, k))
        text = self.integer(n)
        sure = text.startswith("max(0, ") or nonnegative(n, {}, self.sizes)
        return text if sure else f"max(0, {text})"

    def length(self, shape: Sequence[Expr]) -> str:
        """How many elements there are."""
        return " * ".join(map(self.axis, shape)) or "1"

    def shape(self, shape: Sequence[Expr]) -> str:
        return "(" + "".join(f"{self.axis(n)}, " for n in shape) + ")"

    # ------------------------------------------------------------------ buffers
    def made(self, name: str, own: bool = True) -> None:
        """A name is a new array."""
        self.count += 1
        self.buffers[name] = self.count
        if own:
            self.own.add(self.count)

    def alone(self, name: str) -> bool:
        """Whether an array may be changed in place, if it is not used under this name."""
        buffer = self.buffers[name]
        return buffer in self.own and list(self.buffers.values()).count(buffer) == 1

    def moved(self, name: str, source: str) -> None:
        """A name takes the place of another that is not used any more."""
        self.buffers[name] = self.buffers.pop(source)
        self.names[name] = self.name(source)

    # ----------------------------------------------------------------- function
    def function(self, full: str, summary: str, results: str) -> str:
        """The text; `results` nests the flat list `r`."""
        program, plan = self.program, self.plan
        real = self.language.real
        made = [f"({ERRORS[c.error]}, {c.message!r})" for c in plan.checks] if plan.checked else []
        given = ", ".join(["stream", real, str(plan.slots), self.shapeless(made), *self.parameters])
        self.line(f"device = _Device({given})")
        for p in program.params:
            self.parameter(p.name, p.type)
        for name, data in program.data.items():
            kind = "i" if data.dtype.kind in "iu" else "f"
            self.line(f"{self.name(name)}, _ = device.given({name!r}, {name}, {self.language.type(kind)}, {data.ndim})")  # fmt: skip
            self.made(name, own=False)
        for tape, kind in sorted(tapes(plan.steps).items()):
            self.line(f"{self.name(tape)} = _Tape(device, {self.language.type(kind)})")
        self.steps(plan.steps)
        if plan.checked:
            self.line("device.check()")
        outputs = []
        for e, word in zip(program.outputs, plan.outputs, strict=True):
            outputs.append(self.output(e, word))
        self.line(f"r = [{', '.join(outputs)}]")
        self.line(f"return {results}")
        head = f"def {full}({', '.join([*self.parameters, '*', 'stream=0'])}):"
        doc = docstring(f"{summary[:-1]}, on a CUDA device.")
        tree = ast.parse("\n".join([head, f"    {doc}", *self.lines]))
        used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and _is_read(n)}
        return wrapped(ast.unparse(_Unused(self.numbers - used).visit(tree)) + "\n")

    def shapeless(self, parts: Sequence[str]) -> str:
        return "(" + "".join(f"{p}, " for p in parts) + ")"

    def parameter(self, name: str, t: Type) -> None:
        local = self.name(name)
        if not t.shape:
            self.line(f"{local} = {self.language.cast(t.kind, local)}")
            return
        shape = local + "_shape"
        while shape in self.taken:
            shape += "_"
        self.taken.add(shape)
        self.line(f"{local}, {shape} = device.given({name!r}, {local}, {self.language.type(t.kind)}, {len(t.shape)})")  # fmt: skip
        self.made(name, own=False)
        for axis, n in enumerate(t.shape):
            size = f"{shape}[{axis}]"
            if n.op is INDEX and n not in self.sizes:
                self.sizes.add(n)
                self.numbers.add(self.name(name_of(n)))
                self.line(f"{self.name(name_of(n))} = {size}")
                continue
            self.line(f"if {size} != {self.axis(n)}:")
            self.line(f"    raise ValueError('axis {axis} of {name} has another size')")

    def output(self, e: Expr, word: Word | None) -> str:
        if word is not None:
            kind = "number" if word.kind == "f" else "count"
            text = f"device.{kind}({word.slot})"
            return f"bool({text})" if kind_of(e) == "b" else text
        name = name_of(e)
        t = self.types[name]
        kept = name in self.buffers and self.buffers[name] in self.own
        array = self.name(name) if kept else f"device.copy({self.name(name)})"
        truth = ", np.bool_" if t.kind == "b" else ""
        return f"device.result({array}, {self.shape(t.shape)}{truth})"

    # -------------------------------------------------------------------- steps
    def steps(self, steps: Sequence[Step]) -> None:
        for step in steps:
            self.step(step)

    def step(self, step: Step) -> None:
        self.known.clear()
        match step:
            case Launch():
                self.launch(step)
            case Repeat():
                self.repeat(step)
            case Test():
                check = self.plan.checks[step.number]
                self.line(f"if not {self.integer(step.condition)}:")
                if self.plan.checked:
                    self.line("    device.check()")
                self.line(f"    raise {ERRORS[check.error]}({check.message!r})")
            case Let():
                self.numbers.add(self.name(step.name))
                self.line(f"{self.name(step.name)} = {self.integer(step.value)}")
            case Routine():
                self.routine(step)
            case Keep():
                size = self.length(step.type.shape)
                self.line(f"{self.name(step.tape)}.push({self.name(step.name)}, {size})")
            case View():
                size = self.length(step.type.shape)
                self.line(f"{self.name(step.name)} = {self.name(step.tape)}.pop({size})")
                self.made(step.name, own=False)
            case Forget():
                gone = [n for n in step.names if n in self.buffers]
                last = [n for n in gone if not self.loops and self.alone(n)]
                for n in gone:
                    del self.buffers[n]
                if last:
                    self.line(f"del {', '.join(map(self.name, last))}")

    def new(self, name: str, t: Type) -> None:
        of = self.language.type(t.kind)
        self.line(f"{self.name(name)} = device.empty({self.length(t.shape)}, {of})")
        self.made(name)

    def routine(self, step: Routine) -> None:
        """A routine of a library, computed on the host."""
        text = ROUTINES[step.routine].python
        if not text:
            raise UnsupportedError(f"'{step.routine}' cannot be written as Numba Python")
        if self.plan.checked:
            self.line("device.check()")
        args = []
        for a in step.args:
            if isinstance(a, Word):
                args.append(f"device.{'number' if a.kind == 'f' else 'count'}({a.slot})")
            else:
                args.append(f"device.host({self.name(a[0])}, {self.shape(a[1].shape)})")
        call = text.format(*args)
        single = len(step.makes) == 1
        if not single:
            self.line(f"found = {call}")
        for k, place in enumerate(step.makes):
            value = call if single else f"found[{k}]"
            if isinstance(place, Word):
                words = "numbers" if place.kind == "f" else "counts"
                self.line(f"device.store(device.{words}, {place.slot}, {value})")
                continue
            name, t = place
            self.line(f"{self.name(name)} = device.put({value}, {self.language.type(t.kind)})")
            self.made(name)

    def launch(self, step: Launch) -> None:
        growing = [t for t in step.tapes if t.saves and t.elements is None]
        for t in step.tapes:
            if t.saves:
                more = "1024" if t.elements is None else self.axis(t.elements)
                self.line(f"{self.name(t.tape)}.reserve({more})")
        for name, made in step.makes:
            self.new(name, made)
        if growing:
            self.line("while True:")
            self.loops += 1
        for name, source, _, dies in step.changes:
            if dies and not growing and self.alone(source):
                self.moved(name, source)
                continue
            self.line(f"{self.name(name)} = device.copy({self.name(source)})")
            self.made(name)
        self.start(step)
        if growing:
            self.line("if not device.is_full():")
            self.line("    break")
            for t in growing:
                self.line(f"{self.name(t.tape)}.reserve({self.name(t.tape)}.room + 1)")
            self.loops -= 1
        for t in step.tapes:
            self.used(t)

    def used(self, t: TapeUse) -> None:
        """How much there is on a tape after a launch."""
        tape = self.name(t.tape)
        if t.elements is None:
            self.line(f"{tape}.used = device.count({t.word})")
        else:
            self.line(f"{tape}.used {'+=' if t.saves else '-='} {self.axis(t.elements)}")

    def start(self, step: Launch) -> None:
        total = "1" if step.space is None else self.length(step.space)
        parts = {a.name: a for a in step.kernel.arguments if a.role == "part"}
        for a in step.final.arguments if step.final is not None else ():
            if a.role == "part":
                parts.setdefault(a.name, a)
        for a in parts.values():
            self.line(f"part_{a.name} = device.empty(1024, {self.language.type(a.kind)})")
        how = "single" if step.space is None else "launch" if step.final is None else "collect"
        call = f"device.{how}({self.call(step.kernel, () if how == 'single' else (total,))})"
        self.line(f"blocks = {call}" if step.final is not None else call)
        if step.final is not None:
            self.line(f"device.total({self.call(step.final, ())})")

    def call(self, kernel: Kernel, first: Sequence[str]) -> str:
        return ", ".join([kernel.name, *first, *map(self.argument, kernel.arguments)])

    def argument(self, a: Argument) -> str:
        """An argument of a kernel."""
        match a.role:
            case "array" | "changed":
                return self.name(a.name)
            case "integer" | "real":
                return self.name(a.name)
            case "words":
                return "device.numbers" if a.kind == "f" else "device.counts"
            case "scratch":
                return f"({self.length(a.size)}, {self.language.type(a.kind)})"
            case "room":
                return self.length(a.size)
            case "tape":
                return f"{self.name(a.name)}.data"
            case "end":
                return f"{self.name(a.name)}.used"
            case "capacity":
                return f"{self.name(a.name)}.room"
            case "part":
                return f"part_{a.name}"
            case _:
                assert a.role == "parts"
                return "blocks"

    # -------------------------------------------------------------------- loops
    def repeat(self, step: Repeat) -> None:
        changed = _changed(step.body)
        for name, init, _, _, dies in step.arrays:
            if name not in changed:
                self.own.discard(self.buffers[init])
                self.line(f"{self.name(name)} = {self.name(init)}")
                self.made(name, own=False)
            elif dies and self.alone(init):
                self.moved(name, init)
            else:
                self.line(f"{self.name(name)} = device.copy({self.name(init)})")
                self.made(name)
        counts = step.count is None or step.condition is not None
        trips, i = self.name(step.trips), self.name(step.index)
        count = "" if step.count is None else self.axis(step.count)
        if counts:
            self.line(f"{trips} = 0")
            test = "True" if step.count is None else f"{trips} < {count}"
            self.line(f"while {test}:")
        else:
            backwards = f"reversed(range({count}))" if step.reverse else f"range({count})"
            self.line(f"for {i} in {backwards}:")
        outer = dict(self.buffers)
        self.loops += 1
        self.steps(step.test)
        if step.condition is not None:
            self.line(f"if not device.count({step.condition}):")
            self.line("    break")
        if counts:
            back = f"{count} - 1 - {trips}" if step.reverse else trips
            self.line(f"{i} = {back}")
        start = len(self.lines)
        self.steps(step.body)
        pairs = [(name, following) for name, _, following, _, _ in step.arrays]
        held = [self.buffers[following] for _, following in pairs]
        carried = {name for name, _ in pairs}
        outside = {b for n, b in outer.items() if n not in carried}
        texts = []
        for (name, following), buffer in zip(pairs, held, strict=True):
            fresh = buffer in self.own and held.count(buffer) == 1 and buffer not in outside
            text = self.name(following)
            texts.append(text if fresh or name not in changed else f"device.copy({text})")
        moves = [
            (self.name(n), t) for (n, _), t in zip(pairs, texts, strict=True) if self.name(n) != t
        ]
        if moves:
            left, right = zip(*moves, strict=True)
            self.line(f"{', '.join(left)} = {', '.join(right)}")
        if counts:
            self.line(f"{trips} += 1")
        if len(self.lines) == start:
            self.line("pass")
        self.loops -= 1
        self.buffers = outer
        if not counts:
            self.numbers.add(trips)
            self.line(f"{trips} = {count}")
        for name, _, _, result, _ in step.arrays:
            self.moved(result, name)


def _is_read(n: ast.Name) -> bool:
    return isinstance(n.ctx, ast.Load)


class _Unused(ast.NodeTransformer):
    """Drops numbers that are not used."""

    def __init__(self, names: set[str]) -> None:
        self.names = names

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        target = node.targets[0]
        return None if isinstance(target, ast.Name) and target.id in self.names else node


def _changed(steps: Sequence[Step]) -> set[str]:
    """The arrays that some steps would change in place."""
    found: set[str] = set()
    for step in steps:
        if isinstance(step, Launch):
            found |= {source for _, source, _, _ in step.changes}
        elif isinstance(step, Repeat):
            found |= {init for _, init, _, _, _ in step.arrays} | _changed(step.body)
    return found


def tapes(steps: Sequence[Step]) -> dict[str, str]:
    """The tapes that some steps use, and the kinds of their elements."""
    found: dict[str, str] = {}
    for step in steps:
        if isinstance(step, Launch):
            found |= {t.tape: t.kind for t in step.tapes}
        elif isinstance(step, Repeat):
            found |= tapes((*step.test, *step.body))
        elif isinstance(step, (Keep, View)):
            found[step.tape] = step.type.kind
    return found


__all__ = ["Host", "tapes"]
