"""The shared state of the transformations of one program: names, types, dependences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from symdiff import ir
from symdiff.ir import NAN, VAR, WHERE, Expr, topological
from symdiff.ir import loop_program as lp
from symdiff.ir.inductive import made_of


def _by_loops(block: lp.Block) -> set[str]:
    """The names that loops or routines compute."""
    found: set[str] = set()
    for s in lp.walk(block):
        if isinstance(s, lp.Loop | lp.Call) or (isinstance(s, lp.Build) and s.body):
            found |= {n for n, _ in lp.defined(s)}
    return found


class Context:
    """The names of a program, and which of them depend on the inputs of a derivative.

    Attributes
    ----------
    names : generates new names.
    types : of every name, including new ones.
    inputs : of the derivative, by name; builds : the arrays that the program builds from formulas,
        likewise.
    tape_bars : a tape -> the tape of the adjoints of its values.
    """

    def __init__(self, program: lp.LoopProgram, wrt: Iterable[str]) -> None:
        self.types: dict[str, lp.Type] = lp.types(program)
        self.names = lp.names_of(program)
        self.tape_bars: dict[str, str] = {}
        self._heavy = _by_loops(program.block)
        self.inputs = frozenset(wrt)
        self.builds = {
            s.name: s for s in lp.walk(program.block) if isinstance(s, lp.Build) and not s.body
        }
        self._active = set(self.inputs)
        self._known: dict[Expr, bool] = {}
        self._spread(program.block)

    def fresh(self, stem: str, t: lp.Type) -> str:
        """A new name of a type."""
        name = self.names.fresh(stem)
        self.types[name] = t
        return name

    def leaf(self, name: str) -> Expr:
        """The leaf expression of a name."""
        return self.types[name].leaf(name)

    def is_heavy(self, e: Expr) -> bool:
        """Whether an expression uses results of loops or routines."""
        return any(lp.name_of(x) in self._heavy for x in lp.leaves((e,)))

    def adopt(self, mapping: Mapping[Expr, Expr]) -> None:
        """Copy the knowledge about names to their copies."""
        for old, new in mapping.items():
            if (t := self.types.get(lp.name_of(old))) is not None:
                self.types[lp.name_of(new)] = lp.Type(ir.substitute(t.shape, mapping), t.kind)
                if lp.name_of(old) in self._active:
                    self._active.add(lp.name_of(new))

    def refresh(self, block: lp.Block) -> None:
        """Update the types of names after expressions of a block were replaced."""
        for s in lp.walk(block):
            self.types.update(lp.defined(s))
            self.types.update(lp.inner(s))

    def active(self, e: Expr | str) -> bool:
        """Whether the real value of an expression or name depends on the inputs."""
        if isinstance(e, str):
            return e in self._active
        for n in ir.topological((e,), self._known):
            self._known[n] = self._depends(n)
        return self._known[e]

    def _depends(self, n: Expr) -> bool:
        if n.op is VAR or n.op is lp.ARRAY:
            return lp.name_of(n) in self._active
        if n.op.boolean or n.op is lp.INDEX:
            return False
        if n.op is lp.LOAD:
            return self._known[n.args[0]]
        if n.op is WHERE and NAN in n.args:  # where it is nan, it has no slope
            return any(self._known[a] for a in topological(n.args))
        return any(self._known[a] for a in n.args)

    def _spread(self, block: lp.Block) -> None:
        """Find the active names, until there are no more."""
        before, made = -1, made_of(block, calls=True)
        while len(self._active) != before:
            before = len(self._active)
            self._known = {}
            for name, values in made.items():
                self._mark(name, *values)
        self._known = {}
        self._active = {n for n in self._active if n not in self.types or self._real(n)}

    def _mark(self, name: str, *values: Expr) -> None:
        if self._real(name) and any(map(self.active, values)):
            self._active.add(name)

    def _real(self, name: str) -> bool:
        return name not in self.types or self.types[name].kind == "f"
