"""Readable Numba Python from programs with arrays and loops, for generated modules and
`.source`.

Before : a `LoopProgram` program in the form that is emitted.
After  : one function of NumPy arrays and numbers, in plain loops, that Numba compiles.
Ensures: the text depends on the program only; arguments are never written; an array that
         is not used any more is changed in place.
"""

from __future__ import annotations

import itertools
import keyword
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

from symdiff import ir
from symdiff.codegen.common.liveness import Point, last_uses, shares
from symdiff.codegen.common.temporaries import Text, Writer, statements
from symdiff.codegen.source.helpers_of_loops import HELPERS
from symdiff.codegen.source.python import PythonWriter, docstring
from symdiff.errors import UnsupportedError
from symdiff.ir import TRUE, Expr, topological, var
from symdiff.ir.integers import in_range, nonnegative
from symdiff.ir.linalg.routines import ROUTINES
from symdiff.ir.loop_program import (
    ARRAY,
    FLOORDIV,
    INDEX,
    LEAVES,
    LOAD,
    MOD,
    REAL_OF,
    Block,
    Build,
    Call,
    Check,
    Loop,
    LoopProgram,
    Statement,
    Type,
    Update,
    defined,
    exchanged,
    expressions,
    expressions_in,
    index,
    inner,
    kind_of,
    leaves,
    name_of,
    names_in,
    types,
    walk,
)
from symdiff.ir.program import Tree, tree_text
from symdiff.lowering.lower import lower

_TAKEN = {"math", "np", "njit", "max", "min", "abs", "range", "int", "float", *HELPERS}
ERRORS = {"index": "IndexError", "value": "ValueError", "overflow": "OverflowError",
           "domain": "ValueError"}  # fmt: skip
_SIGNS = {ir.ADD: "+", ir.SUB: "-", ir.MUL: "*", FLOORDIV: "//", MOD: "%"}


def loop_source(
    name: str,
    program: LoopProgram,
    *,
    dtype: str = "float64",
    doc: str = "",
    decorator: str = '@njit(error_model="numpy", cache=True)',
    tree: Tree | None = None,
) -> tuple[str, tuple[str, ...]]:
    """The source of one function, and the names of the helpers that it calls.

    Parameters
    ----------
    name : the function's name.
    program : in the form that is emitted; see `symdiff.pipeline.loops`.
    dtype : "float64" or "float32"; of the real numbers it computes with.
    tree : how its results nest; in one tuple if None.
    """
    printer = Printer(program, dtype)
    printer.tree = tree
    body = printer.function()
    lines = [decorator] if decorator else []
    lines.append(f"def {name}({', '.join(printer.parameters)}):")
    lines += [f"    {line}" for line in docstring(doc).splitlines()] if doc else []
    lines += [f"    {line}" if line else "" for line in body]
    text = "\n".join(lines) + "\n"
    return text, tuple(h for h in HELPERS if f"{h}(" in text)


class Printer:
    """Prints one program; `lines` are those of the function's body so far."""

    def __init__(self, program: LoopProgram, dtype: str) -> None:
        self.program, self.dtype = program, dtype
        self.real = "np.float32" if dtype == "float32" else "np.float64"
        self.writer: Writer = PythonWriter(dtype)
        self.types = types(program)
        self.lines: list[str] = []
        self.depth = 0
        self.taken = {*_TAKEN, *keyword.kwlist, *self.reserved()}
        self.names: dict[str, str] = {}
        self.parameters = [self.name(p.name) for p in program.params]
        for n in self.types:
            self.name(n)
        self.ranges: dict[Expr, Expr] = {}
        self.sizes: set[Expr] = set()
        self.owned: set[str] = set()
        self.kept: dict[Expr, str] = {}
        self.shared: dict[Expr, str] = {}
        self.tree: Tree | None = None

    # -------------------------------------------------------------------- names
    def reserved(self) -> Collection[str]:
        """More names that no name of the program may have."""
        return ()

    def name(self, name: str) -> str:
        """The Python name of a name of the program."""
        found = self.names.get(name)
        if found is None:
            own = name.removesuffix("_plain")  # of a number that is carried once
            found = re.sub(r"\W", "_", name if own in self.types else own)
            while found in self.taken:
                found += "_"
            self.taken.add(found)
            self.names[name] = found
        return found

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    @contextmanager
    def indented(self) -> Iterator[None]:
        self.depth += 1
        yield
        self.depth -= 1

    # ----------------------------------------------------------------- function
    def function(self) -> list[str]:
        program = self.program
        known: dict[Expr, str] = {}
        for p in program.params:
            for axis, n in enumerate(p.type.shape):
                size = f"{self.name(p.name)}.shape[{axis}]"
                expected = str(n.value) if n.op is ir.CONST else known.get(n)
                if expected is None:
                    known[n] = self.name(name_of(n))
                    self.sizes.add(n)
                    self.line(f"{known[n]} = {size}")
                    continue
                self.line(f"if {size} != {expected}:")
                with self.indented():
                    self.line(f'raise ValueError("axis {axis} of {p.name} has another size")')
        self.begin()
        self.block(program.block, program.outputs)
        self.end()
        return self.lines

    def begin(self) -> None:
        """What stands between the sizes of arguments and the statements."""
        for tape, t in sorted(self.tapes().items()):
            kind = self.element(t.kind)
            if t.shape:
                self.line(f"{self.name(tape)} = np.empty(64, {kind})")
                self.line(f"{self.name(tape + '_end')} = 0")
            else:
                self.line(f"{self.name(tape)} = [{kind}(0) for _ in range(0)]")

    def end(self) -> None:
        """The results."""
        program = self.program
        inputs = {p.name for p in program.params} | set(program.data)
        results = []
        for text, e in zip(self.texts(program.outputs), program.outputs, strict=True):
            copied = e.op is ARRAY and name_of(e) in inputs
            results.append(f"{text}.copy()" if copied else text)
        if self.tree is None:
            self.line("return " + ", ".join(results))
        else:
            text = tree_text(self.tree, results.__getitem__, str)
            self.line("return " + (text if isinstance(self.tree, int) else text[1:-1]))

    def tapes(self) -> Mapping[str, Type]:
        loops = [s for s in walk(self.program.block) if isinstance(s, Loop)]
        return {v.tape: v.type for s in loops for v in s.saves}

    def element(self, kind: str) -> str:
        return self.real if kind == "f" else "np.int64"

    # -------------------------------------------------------------------- blocks
    def block(self, block: Block, after: Sequence[Expr]) -> None:
        """Statements; `after` are the expressions that follow them."""
        outer, self.owned = self.owned, set(self.owned)
        last = last_uses(block, after)
        self.shared, end = {}, 0
        for k, s in enumerate(block):
            if k >= end:
                self.shared = {}
                end = self.share(block, k, after) if isinstance(s, Update) else k + 1
            self.statement(s, Point(block, k, tuple(after), last))
            self.owned |= {n for n, t in defined(s) if t.shape}
        self.owned = outer

    def share(self, block: Block, start: int, after: Sequence[Expr]) -> int:
        """Name what several updates in a row, and the expressions after them, compute from arrays that they do not
        change; the position behind these updates."""
        rest = range(start, len(block))
        end = next((k for k in rest if not isinstance(block[k], Update)), len(block))
        run = [s for s in block[start:end] if isinstance(s, Update)]
        groups = [tuple(expressions(s)) for s in run] + [tuple(after)] * (end == len(block))
        uses = Counter(n for group in groups for n in topological(group))
        changed = {n for s in run for n in (s.name, s.source)}
        parts: set[Expr] = set()
        clean: dict[Expr, bool] = {}
        above: set[Expr] = {e for group in groups for e in group}
        order = topological([e for group in groups for e in group])
        for e in order:
            kept = e.op is not ARRAY or name_of(e) not in changed
            clean[e] = kept and all(clean[a] for a in e.args) and self.is_in_range(e)
            number = e.args and e.op not in LEAVES and kind_of(e) == "f"
            if number and clean[e] and uses[e] > 1 and not self.writer.stays(e, Text("", 0)):
                parts.add(e)
        for e in order:
            above.update(a for a in e.args if e not in parts)
        named = [e for e in order if e in parts and e in above]
        for e, text in zip(named, self.texts(named), strict=True) if named else ():
            if not text.isidentifier():
                name = next(n for k in itertools.count() if (n := f"t{k}") not in self.taken)
                self.taken.add(name)
                self.line(f"{name} = {text}")
                text = name
            self.shared[e] = text
        return end

    def is_in_range(self, e: Expr) -> bool:
        """Whether an element is read without a test of its index, so that it may be read before a condition."""
        if e.op is not LOAD:
            return True
        shape = self.types[name_of(e.args[0])].shape
        pairs = zip(e.args[1:], shape, strict=True)
        return all(in_range(i, n, self.ranges, self.sizes) for i, n in pairs)

    def dies(self, name: str, point: Point) -> bool:
        """Whether an array may be changed after a statement: it was made in this block, and what
        is needed of it later has been read."""
        if name not in self.owned:
            return False
        if point.ends(name):
            return True
        reads = point.later(name)
        ahead = {
            n for s in walk(point.block[point.position :]) for n, _ in (*defined(s), *inner(s))
        }
        if reads is None or any(ahead & {name_of(n) for n in leaves(e.args[1:])} for e in reads):
            return False
        for e in reads:
            if e not in self.kept:
                kept = self.name(f"{name} before {len(self.kept)}")
                self.line(f"{kept} = {self.element_of(e)}")
                self.kept[e] = kept
        return True

    def statement(self, s: Statement, point: Point) -> None:
        match s:
            case Build():
                self.build(s)
            case Update():
                self.update(s, point)
            case Loop():
                self.loop(s, point)
            case Check():
                (condition,) = self.texts((s.condition,))
                self.line(f"if not ({condition}):")
                with self.indented():
                    self.line(f"raise {ERRORS[s.error]}({s.message!r})")
            case Call():
                text = ROUTINES[s.routine].python
                if not text:
                    raise UnsupportedError(f"'{s.routine}' cannot be written as Numba Python")
                left = ", ".join(self.name(n) for n, _ in s.results)
                self.line(f"{left} = {text.format(*self.texts(s.args))}")

    def build(self, s: Build) -> None:
        self.line(f"{self.name(s.name)} = {self.allocated(s.type)}")
        depth, ranges = self.depth, dict(self.ranges)
        for i, n in zip(s.indices, s.type.shape, strict=True):
            self.line(f"for {self.name(i)} in range({self.integer(n)}):")
            self.ranges[index(i)] = n
            self.depth += 1
        self.block(s.body, (s.value,))
        at = ", ".join(self.name(i) for i in s.indices)
        (text,) = self.texts((s.value,), (s.type.kind,))
        self.store(f"{self.name(s.name)}[{at}]", text, s.type.kind)
        self.depth, self.ranges, self.shared = depth, ranges, {}

    def allocated(self, t: Type) -> str:
        """A new array."""
        sizes = [self.size(n) for n in t.shape]
        shape = sizes[0] if len(sizes) == 1 else f"({', '.join(sizes)})"
        return f"np.empty({shape}, {self.element(t.kind)})"

    def store(self, place: str, text: str, kind: str, add: bool = False) -> None:
        """Put a value into an element of an array."""
        self.line(f"{place} {'+=' if add else '='} {text}")

    def size(self, n: Expr) -> str:
        """The size of an axis, 0 where it is negative."""
        text = self.integer(n)
        return text if nonnegative(n, {}, self.sizes) else f"max(0, {text})"

    def update(self, s: Update, point: Point) -> None:
        source, name = self.name(s.source), self.name(s.name)
        if self.dies(s.source, point):
            self.names[s.name] = name = source
        else:
            self.line(f"{name} = {source}.copy()")
        kinds = (*("i" for _ in s.index), s.type.kind)
        *at, value = self.texts((*s.index, s.value), kinds)
        place = f"{name}[{', '.join(at)}]"
        if s.guard is not TRUE:
            (guard,) = self.texts((s.guard,))
            self.line(f"if {guard}:")
            with self.indented():
                self.store(place, value, s.type.kind, s.add)
            return
        self.store(place, value, s.type.kind, s.add)

    # --------------------------------------------------------------------- loops
    def loop(self, s: Loop, point: Point) -> None:
        for which in range(len(s.carried)):
            self.start(s, which, point)
        needed = not point.ends(s.trips)
        counted = needed and (s.count is None or s.condition is not TRUE)
        trips, i = self.name(s.trips), self.name(s.index)
        indexed = s.count is not None or s.index in names_in(
            *expressions(s), *expressions_in(s.body)
        )
        if counted:
            self.line(f"{trips} = 0")
        ranges = dict(self.ranges)
        if s.count is not None:
            self.line(f"for {i} in range({self.bounds(s.count, s.reverse)}):")
            self.ranges[index(s.index)] = s.count
        elif indexed:
            self.line(f"{i} = -1")
        head = len(self.lines)
        with self.indented():
            condition = self.texts((s.condition,))[0] if s.condition is not TRUE else "True"
        if s.count is None:
            alone = len(self.lines) == head
            self.lines.insert(head, "    " * self.depth + f"while {condition if alone else True}:")
        with self.indented():
            if s.condition is not TRUE and not (s.count is None and alone):
                self.line(f"if not ({condition}):")
                with self.indented():
                    self.line("break")
            if s.count is None and indexed:
                self.line(f"{i} += 1")
            if counted:
                self.line(f"{trips} += 1")
            self.body(s)
        self.ranges = ranges
        for c in s.carried:
            self.names[c.result] = self.name(c.name)
        if needed and not counted:
            assert s.count is not None
            self.line(f"{trips} = {self.size(s.count)}")

    def bounds(self, count: Expr, reverse: bool) -> str:
        """The arguments of `range` for a loop of so many iterations."""
        n = self.integer(count)
        return f"{n} - 1, -1, -1" if reverse else n

    def start(self, s: Loop, which: int, point: Point) -> None:
        """Give a carried value what it has before the first iteration."""
        c = s.carried[which]
        changed = c.type.shape and _is_changed(s.body, c.name)
        copied = changed and not (shares(s, which) and self.dies(name_of(c.init), point))
        (text,) = self.texts((c.init,), (c.type.kind,))
        if copied:
            text += ".copy()"
        if not c.type.shape and c.type.kind == "f" and c.init.op is ir.CONST:
            text = f"{self.real}({text})" if self.dtype == "float32" else text
        self.line(f"{self.name(c.name)} = {text}")

    def body(self, s: Loop) -> None:
        for r in s.restores:
            self.restore(r.name, r.tape, r.type)
        outer, self.owned = self.owned, {c.name for c in s.carried if c.type.shape}
        nexts = [c.next for c in s.carried]
        self.block(s.body, [*nexts, *(v.value for v in s.saves)])
        kinds = [t.kind for t in (*(v.type for v in s.saves), *(c.type for c in s.carried))]
        texts = self.texts([*(v.value for v in s.saves), *nexts], kinds)
        for v, text in zip(s.saves, texts, strict=False):
            self.save(v.tape, v.type, text)
        mine = self.owned | {n for b in s.body for n, _ in defined(b)}
        pairs = []
        for c, text in zip(s.carried, texts[len(s.saves) :], strict=True):
            alone = name_of(c.next) in mine and nexts.count(c.next) == 1 if c.type.shape else True
            if not alone and _is_changed(s.body, c.name):
                text += ".copy()"
            if text != self.name(c.name):
                pairs.append((self.name(c.name), text))
        self.owned, self.shared = outer, {}
        if pairs:
            left, right = zip(*pairs, strict=True)
            self.line(f"{', '.join(left)} = {', '.join(right)}")

    def save(self, tape: str, t: Type, text: str) -> None:
        name = self.name(tape)
        if not t.shape:
            single = t.kind == "f" and self.dtype == "float32"
            self.line(f"{name}.append({f'{self.real}({text})' if single else text})")
            return
        end = self.name(tape + "_end")
        self.line(f"{name} = _room({name}, {end} + {text}.size)")
        self.line(f"{name}[{end}:{end} + {text}.size] = {text}.ravel()")
        self.line(f"{end} += {text}.size")

    def restore(self, name: str, tape: str, t: Type) -> None:
        kept = self.name(tape)
        if not t.shape:
            self.line(f"{self.name(name)} = {kept}.pop()")
            return
        end = self.name(tape + "_end")
        sizes = [self.size(n) for n in t.shape]
        count = "*".join(f"({n})" if " " in n else n for n in sizes)
        shape = sizes[0] if len(sizes) == 1 else f"({', '.join(sizes)})"
        self.line(f"{end} -= {count}")
        self.line(f"{self.name(name)} = {kept}[{end}:{end} + {count}].copy().reshape({shape})")

    # --------------------------------------------------------------- expressions
    def texts(self, roots: Sequence[Expr], kinds: Sequence[str] = ()) -> list[str]:
        """Expressions as texts, after assignments of what they share; an expression is
        an integer where its kind says so."""
        result: dict[int, str] = {}
        rest: dict[int, Expr] = {}
        for k, e in enumerate(roots):
            kind = kinds[k] if kinds else kind_of(e) if e.op is not ARRAY else ""
            if e.op is ARRAY:
                result[k] = self.name(name_of(e))
            elif (kind == "i" or e.op.boolean) and (text := self.whole(e)) is not None:
                result[k] = text
            else:
                rest[k] = e
        names = self.leaves(list(rest.values()))
        texts = self.written(self.lowered(exchanged(list(rest.values()), names)))
        for k, text in zip(rest, texts, strict=True):
            result[k] = f"int({text})" if kinds and kinds[k] == "i" else text
        return [result[k] for k in range(len(roots))]

    def written(self, plain: Sequence[Expr]) -> list[str]:
        """Formulas as texts, after assignments of what they share."""
        assignments, texts = statements(plain, self.writer, self.taken)
        for a in assignments:
            self.taken.add(a.name)
            self.line(f"{a.name} = {a.text}")
        return texts

    def lowered(self, roots: Sequence[Expr]) -> Sequence[Expr]:
        """Expressions in the operations that the language has."""
        return lower(roots)

    def leaves(self, roots: Sequence[Expr]) -> dict[Expr, Expr]:
        """Elements of arrays and integers, as variables that are named by their text."""
        found: dict[Expr, Expr] = {}
        seen: set[Expr] = set()
        stack = list(roots)
        while stack:
            e = stack.pop()
            if e in seen:
                continue
            seen.add(e)
            if e in self.shared:
                found[e] = var(self.shared[e])
            elif not (text := self.leaf(e)):
                stack.extend(e.args)
            elif e.op is not ir.VAR or text != e.value:
                found[e] = var(text)
        return found

    def leaf(self, e: Expr) -> str:
        """The text of a variable, an element of an array or an integer; "" of what has operands."""
        if e.op is ir.VAR:
            return self.name(e.value)
        if e.op is LOAD and e.args[0].value[1] == "f":
            return self.element_of(e)
        return self.real_of(e) if e.op in (REAL_OF, INDEX, LOAD, FLOORDIV, MOD) else ""

    def real_of(self, e: Expr) -> str:
        """An integer as a real number."""
        if e.op is REAL_OF:
            return f"float({self.integer(e.args[0])})"
        text = self.integer(e)
        if self.dtype == "float32":
            return f"{self.real}({text})"
        return f"({text})" if e.op in (FLOORDIV, MOD) else text

    def element_of(self, e: Expr) -> str:
        """An element of an array, at an index that is in range."""
        if e in self.kept:
            return self.kept[e]
        name = name_of(e.args[0])
        at = []
        for axis, (i, n) in enumerate(zip(e.args[1:], self.types[name].shape, strict=True)):
            text = self.integer(i)
            if not in_range(i, n, self.ranges, self.sizes):
                text = f"_at({text}, {self.name(name)}.shape[{axis}])"
            at.append(text)
        return f"{self.name(name)}[{', '.join(at)}]"

    def integer(self, e: Expr) -> str:
        """An integer as text."""
        text = self.whole(e)
        if text is None and e.op in (FLOORDIV, MOD):  # of what a real number decides
            a, b = map(self.integer, e.args)
            return f"({a} {'//' if e.op is FLOORDIV else '%'} {b})"
        if text is None:
            (text,) = self.texts((e,), ("i",))
        return text

    def whole(self, e: Expr) -> str | None:
        """An integer computed from integers only, as text; None if a real number decides."""
        text: dict[Expr, str] = {}
        for n in topological((e,), _below_loads(e)):
            args = [text.get(a, "") for a in n.args]
            if n.op is ir.CONST and ir.integer(n) is not None:
                text[n] = str(ir.integer(n))
            elif n.op is INDEX:
                text[n] = self.name(name_of(n))
            elif n.op is LOAD and n.args[0].value[1] != "f":
                text[n] = self.element_of(n)
            elif n.op in _SIGNS and all(args):
                product = n.op is not ir.ADD and n.op is not ir.SUB
                left = _wrapped(n.args[0], args[0], product)
                right = _wrapped(n.args[1], args[1], n.op is not ir.ADD, product)
                negative = n.op is ir.ADD and _is_negated(n.args[1]) and right.startswith("-")
                text[n] = f"{left} - {right[1:]}" if negative else f"{left} {_SIGNS[n.op]} {right}"
            elif n.op is ir.NEG and all(args):
                text[n] = f"-{_wrapped(n.args[0], args[0], True, True)}"
            elif n.op is ir.WHERE and all(args):
                text[n] = f"({args[1]} if {args[0]} else {args[2]})"
            elif n.op in _RELATIONS and all(args):
                text[n] = f"{args[0]} {_RELATIONS[n.op]} {args[1]}"
            elif n.op in (ir.AND, ir.OR) and all(args):
                text[n] = f"({args[0]} {n.op.name} {args[1]})"
            elif n.op is ir.NOT and all(args):
                text[n] = f"not ({args[0]})"
            elif n.op is not ARRAY:
                return None
        return text[e]


_RELATIONS = {ir.LT: "<", ir.LE: "<=", ir.EQ: "=="}


def _below_loads(e: Expr) -> set[Expr]:
    """What stands in indices, which an element writes itself."""
    found: set[Expr] = set()
    stack, seen = [e], {e}
    while stack:
        n = stack.pop()
        if n.op is LOAD:
            found.update(n.args)
            continue
        for a in n.args:
            if a not in seen:
                seen.add(a)
                stack.append(a)
    return found - {e}


def _wrapped(e: Expr, text: str, needed: bool, quotients: bool = False) -> str:
    """An operand in parentheses, where a sum needs them, or a quotient or a remainder."""
    sums = needed and e.op in (ir.ADD, ir.SUB, ir.NEG)
    return f"({text})" if sums or (quotients and e.op in (ir.MUL, FLOORDIV, MOD)) else text


def _is_negated(e: Expr) -> bool:
    """Whether the sign in front of the text of a term is that of the whole term."""
    if e.op is ir.MUL:
        return e.args[0].op in (ir.NEG, ir.CONST)
    return e.op in (ir.NEG, ir.CONST)


def _is_changed(block: Block, name: str) -> bool:
    """Whether an array is changed in place in a block: updated, or carried on by a loop."""
    for s in walk(block):
        if isinstance(s, Update) and s.source == name:
            return True
        if isinstance(s, Loop) and any(c.type.shape and name_of(c.init) == name for c in s.carried):
            return True
    return False
