"""From an elementwise program with arrays and loops to a function of numbers.

Before:  def f(x: n):                           After:  def f(x):
             y[i] = x[i]                                    for k in range(200):
             for k in range(200):                               carry y: x -> cos(y)
                 carry y -> z                               return y
                 z[i] = cos(y[i])
             return y
Requires: a program as captured, whose sizes that must agree have one name
Ensures: each element of a result is the new program's value at the same element of the
arguments, broadcast against each other. Nothing it computes reads a size or an index of an
element, so that the proof is the result: a program of numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from symdiff import ir
from symdiff.ir import ONE, ZERO, Expr, loop_program, prune
from symdiff.ir.loop_program import (
    ARRAY,
    INDEX,
    LOAD,
    REAL,
    Block,
    Build,
    Call,
    Carried,
    Check,
    Loop,
    LoopProgram,
    Parameter,
    Statement,
    Type,
    Update,
)


def scalarise(program: LoopProgram) -> LoopProgram | None:
    """The program of numbers; None if the program is not elementwise."""
    arrays = [p for p in program.params if p.type.shape]
    if not arrays or any(p.type.kind != "f" for p in arrays):
        return None
    if any(p.type.kind != "f" for p in program.params):
        return None
    found = _Elements(program)
    try:
        block = found.block(program.block)
        outputs = tuple(found.output(e) for e in program.outputs)
    except _Mixed:
        return None
    params = tuple(Parameter(p.name, REAL) for p in program.params)
    block = prune.pruned(block, outputs)
    names = loop_program.free(block, outputs)
    if names & found.banned:
        return None
    data = {n: v for n, v in program.data.items() if n in names}
    return replace(program, params=params, block=block, outputs=outputs, data=data)


class _Mixed(Exception):  # noqa: N818
    """An element depends on others, or on its index."""


@dataclass(slots=True)
class _Elements:
    """The variables for the elements of arrays of the arguments' sizes.

    Attributes
    ----------
    known : by the names of arrays, their shape and the number at one element.
    banned : names of sizes, and of the indices of elements.
    """

    program: LoopProgram
    known: dict[str, tuple[tuple[Expr, ...], Expr]] = field(default_factory=dict)
    banned: set[str] = field(default_factory=set)
    axes: tuple[Expr, ...] = ()

    def __post_init__(self) -> None:
        shapes = [p.type.shape for p in self.program.params]
        rank = max(map(len, shapes))
        axes: list[Expr] = [ONE] * rank
        for p in self.program.params:
            if not p.type.shape:
                continue
            for k, n in enumerate(p.type.shape, start=rank - len(p.type.shape)):
                if n is ONE or n is axes[k]:
                    continue
                axes[k] = n if axes[k] is ONE else ZERO  # two sizes: no array has both
            self.known[p.name] = p.type.shape, ir.var(p.name)
        self.axes = tuple(axes)
        sizes = {n for s in shapes for n in s}
        self.banned = {loop_program.name_of(n) for n in sizes if n.op is INDEX}

    def fits(self, shape: Sequence[Expr]) -> bool:
        """Whether an array has the arguments' sizes on its axes, the last ones."""
        offset = len(self.axes) - len(shape)
        if offset < 0:
            return False
        return all(n is ONE or n is self.axes[k + offset] for k, n in enumerate(shape))

    def number(self, e: Expr, indices: Sequence[str] = ()) -> Expr:
        """An expression, with reads of the arrays at one element replaced by numbers."""
        at = [loop_program.index(i) for i in indices]
        reads: dict[Expr, Expr] = {}
        for n in ir.topological((e,)):
            if n.op is LOAD and loop_program.name_of(n.args[0]) in self.known:
                shape, value = self.known[loop_program.name_of(n.args[0])]
                offset = len(at) - len(shape)
                for k, (i, size) in enumerate(zip(n.args[1:], shape, strict=True), offset):
                    if not (size is ONE and i is ZERO) and (k < 0 or i is not at[k]):
                        raise _Mixed
                reads[n] = value
        found = ir.substitute((e,), reads)[0]
        if any(n.op is ARRAY and loop_program.name_of(n) in self.known for n in loop_program.leaves((found,))):  # fmt: skip
            raise _Mixed
        return found

    def output(self, e: Expr) -> Expr:
        """A result, which must have the broadcast shape of all arguments."""
        if e.op is not ARRAY or e.value[1] != "f" or loop_program.name_of(e) not in self.known:
            raise _Mixed
        shape, value = self.known[loop_program.name_of(e)]
        if shape != self.axes or ZERO in shape:
            raise _Mixed
        return value

    def block(self, block: Block, indices: Sequence[str] = ()) -> Block:
        """The statements for one element."""
        made: list[Statement] = []
        for s in block:
            made += self._statement(s, indices)
        return tuple(made)

    def _statement(self, s: Statement, indices: Sequence[str]) -> Iterable[Statement]:
        match s:
            case Build() if s.type.shape and self.fits(s.type.shape) and not indices:
                self.banned |= set(s.indices)
                body = self.block(s.body, s.indices)
                value = self.number(s.value, s.indices)
                self.known[s.name] = s.type.shape, value
                return body
            case Loop():
                return [self._loop(s, indices)]
            case Check() | Build():
                mapped = loop_program.mapped(
                    s, lambda e: self.number(e, indices), lambda b: self.block(b, indices)
                )
                if loop_program.uses(mapped) & self.banned - set(indices):
                    raise _Mixed
                return [mapped]
            case Update() | Call():
                raise _Mixed

    def _loop(self, s: Loop, indices: Sequence[str]) -> Loop:
        if s.saves or s.restores:
            raise _Mixed
        carried = []
        for c in s.carried:
            if not c.type.shape:
                carried.append(replace(c, init=self.number(c.init, indices)))
                continue
            if indices or not self.fits(c.type.shape) or c.type.kind != "f":
                raise _Mixed
            init = self._whole(c.init, c.type)
            carried.append(Carried(c.name, REAL, init, c.next, c.result))
            self.known[c.name] = c.type.shape, ir.var(c.name)
        condition = self.number(s.condition, indices)
        count = None if s.count is None else self.number(s.count, indices)
        body = self.block(s.body, indices)
        for k, (c, old) in enumerate(zip(carried, s.carried, strict=True)):
            if old.type.shape:
                carried[k] = replace(c, next=self._whole(old.next, old.type))
                self.known[c.result] = old.type.shape, ir.var(c.result)
            else:
                carried[k] = replace(c, next=self.number(old.next, indices))
        return replace(s, count=count, condition=condition, carried=tuple(carried), body=body)

    def _whole(self, e: Expr, type: Type) -> Expr:
        """The number at one element of an array."""
        name = loop_program.name_of(e)
        if name not in self.known or self.known[name][0] != type.shape:
            raise _Mixed
        return self.known[name][1]
