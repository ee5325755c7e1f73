"""Values of expressions in LLVM IR, each where it is needed first and as far out as it goes; see
`symdiff.codegen.common.scopes`.

In a scope that is vectorised over an index, a value that depends on the index is a vector of
consecutive ones; the others stay numbers. The number of a node that varies is that of the
first lane.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple

from symdiff import ir
from symdiff.codegen.common import scopes
from symdiff.codegen.llvm.loops.fallback import any_lane, tested_call
from symdiff.codegen.llvm.printer import Lanes, Writer
from symdiff.ir import Expr
from symdiff.ir.functions import CONSTANT_VALUES
from symdiff.ir.loop_program import ARRAY, FLOORDIV, INDEX, LARGEST, LOAD, MOD, REAL_OF, name_of
from symdiff.ir.plain import real_op
from symdiff.lowering.double_double.arithmetic import EXPONENT, POWER_OF_TWO
from symdiff.lowering.target import TESTED

_WHOLE = {ir.ADD: "add", ir.SUB: "sub", ir.MUL: "mul"}
_COMPARISONS = {ir.LT: "slt", ir.LE: "sle", ir.EQ: "eq"}
_VECTORS: Callable[[Scope], dict[Hashable, str]] = attrgetter("vectors")
_ROUNDED = {FLOORDIV: "floordiv", MOD: "floormod"}


@dataclass(slots=True)
class Slot:
    """A place for an array, and the variable that holds its address.

    Attributes
    ----------
    pointer : name of the variable.
    depth : of the scope in which it is allocated.
    """

    pointer: str
    depth: int


@dataclass(frozen=True, slots=True)
class Stored:
    """An array in memory, row by row without gaps.

    Attributes
    ----------
    address : of the first element.
    shape, kind : as of its type.
    slot : the place that it may be changed in; None if it must not be changed.
    """

    address: str
    shape: tuple[Expr, ...]
    kind: str
    slot: Slot | None = None

    @property
    def own(self) -> bool:
        return self.slot is not None


@dataclass(eq=False, slots=True)
class Scope(scopes.Scope[Stored]):
    """The function, or the body of a loop.

    Attributes
    ----------
    vectors : names of vectors by what they are the values of.
    varying : the names that have one value for each lane.
    varies : whether an expression has.
    entry : where variables stand, if this is the outermost scope of a function.
    alike : whether it is one iteration of a loop that is vectorised elsewhere: it computes what a
        lane computes there, bit by bit.
    assumed : indices that are known to be within a size.
    restored : names that came as vectors.
    balls : registers of balls by what they are the values of (`in_balls`).
    truths : whether conditions on balls are proved, and whether they are refuted.
    """

    vectors: dict[Hashable, str] = field(default_factory=dict)
    varying: set[str] = field(default_factory=set)
    varies: dict[Expr, bool] = field(default_factory=dict)
    assumed: set[tuple[Expr, Expr]] = field(default_factory=set)
    restored: set[Expr] = field(default_factory=set)
    balls: dict[Hashable, str] = field(default_factory=dict)
    truths: dict[Expr, tuple[str, str]] = field(default_factory=dict)
    entry: list[str] | None = None
    alike: bool = False
    allocates: bool = False


class Operands(NamedTuple):
    """What prints an operation, on numbers or vectors, and what names its operands: as values of
    their own kind, and as real numbers."""

    writer: Writer
    own: Callable[[Expr], str]
    real: Callable[[Expr], str]


class Expressions(scopes.Scopes[Scope, Stored]):
    """Prints expressions; what a load is, is left to `Memory`.

    Attributes
    ----------
    mask : the lanes that count, where others are as the first one; "" if all do.
    """

    mask: str = ""

    def __init__(self, dtype: str, lanes: Lanes) -> None:
        super().__init__(Scope())
        self.scalars, self.packed = Writer(dtype, Lanes()), Writer(dtype, lanes)
        self.packed.declared = self.scalars.declared
        self.width = lanes.width
        self.real = self.scalars.real
        self.types: dict[str, str] = {}
        self._count = 0

    # ------------------------------------------------------------------- names
    def fresh(self, kind: str) -> str:
        """A new name for a value of an LLVM type."""
        self._count += 1
        name = f"%v{self._count}"
        self.types[name] = kind
        return name

    def label(self) -> str:
        self._count += 1
        return f"b{self._count}"

    def emit(self, kind: str, instruction: str, scope: Scope | None = None) -> str:
        """Print an instruction; returns the name of its value."""
        name = self.fresh(kind)
        (scope or self.scope).lines.append(f"{name} = {instruction}")
        return name

    def varies(self, e: Expr) -> bool:
        """Whether an expression has a value for each lane."""
        known = self.scope.varies
        for n in ir.topological((e,), known):
            if n.op in (ir.VAR, INDEX, ARRAY):
                name = name_of(n)
                known[n] = name in self.find(name)[0].varying
            else:
                known[n] = any(known[a] for a in n.args)
        return known[e]

    # ----------------------------------------------------------------- numbers
    def scalar(self, e: Expr) -> str:
        """The value of an expression, of its own kind; of the first lane if it varies."""
        return self.value(e)

    def literal(self, e: Expr) -> str:
        if e.op is ir.BOOL:
            return "true" if e.value else "false"
        if self.kind(e) == "i":
            return str((int(e.value) + LARGEST + 1) % (2 * LARGEST + 2) - LARGEST - 1)
        return self.scalars.literal(e)

    def operation(self, n: Expr, scope: Scope) -> str:
        return self._operation(n, Operands(self.scalars, self.scalar, self.number), scope)

    def number(self, e: Expr) -> str:
        """The value of an expression as a real number."""
        kind = self.kind(e)
        if e.op is ir.CONST or e.op in CONSTANT_VALUES:
            return self.scalars.literal(e)
        value = self.scalar(e)
        if kind == "f":
            return value
        convert = "sitofp i64" if kind == "i" else "uitofp i1"
        return self.shared(
            ("real", e), (e,),
            lambda at: self.emit(self.real, f"{convert} {value} to {self.real}", at),
        )  # fmt: skip

    def typed(self, e: Expr, kind: str) -> str:
        """The value of an expression as one of a kind; "b" is a byte."""
        if kind == "f":
            return self.number(e)
        value, own = self.scalar(e), self.kind(e)
        if own == "f":  # an integer that is computed with tests, as real numbers are
            value = self.emit("i64", f"fptosi {self.real} {self.number(e)} to i64")
        if own == "b":
            to = "i64" if kind == "i" else "i8"
            return self.emit(to, f"zext i1 {value} to {to}")
        return value if kind == "i" else self.emit("i8", f"trunc i64 {value} to i8")

    # ----------------------------------------------------------------- vectors
    def vector(self, e: Expr) -> str:
        """The values of an expression in all lanes, of its own kind."""
        if not self.varies(e):
            return self.splat(e, self.kind(e))
        if not e.args:
            return self._lanes_of(e)
        for n in self.missing(e, _VECTORS, self._below):
            if not self.varies(n):
                continue
            scope = self.scope_of(n)
            if n.op is LOAD:
                scope.vectors[n] = self.elements(n, scope)
            else:
                lanes = Operands(self.packed, self.vector, self.reals)
                scope.vectors[n] = self._operation(n, lanes, scope)
        return self.scope_of(e).vectors[e]

    def _below(self, n: Expr) -> Sequence[Expr]:
        """What a vector needs as vectors; a load sees to its indices itself."""
        return () if n.op is LOAD or not self.varies(n) else self.needs(n)

    def splat(self, e: Expr, kind: str) -> str:
        """One value in all lanes."""
        element = {"f": self.real, "i": "i64", "b": "i1"}[kind]
        value = self.number(e) if kind == "f" else self.scalar(e)
        if not value.startswith("%"):
            return f"<{', '.join([f'{element} {value}'] * self.width)}>"

        return self.shared(
            ("splat", kind, e), (e,), lambda at: self.spread(element, value, at), _VECTORS
        )

    def _lanes_of(self, e: Expr) -> str:
        """The vector of a name: of an index, consecutive numbers."""
        scope, found = self.find(name_of(e))
        made = scope.vectors.get(e)
        if made is None:
            assert e.op is INDEX and isinstance(found, str)
            whole = self._ints
            steps = f"<{', '.join(f'i64 {k}' for k in range(self.width))}>"
            if self.mask:
                test = f"{self.packed.condition} {self.mask}"
                chosen = f"select {test}, {whole} {steps}, {whole} zeroinitializer"
                steps = self.emit(whole, chosen, scope)
            base = self.spread("i64", found, scope)
            made = scope.vectors[e] = self.emit(whole, f"add {whole} {base}, {steps}", scope)
        return made

    @property
    def _ints(self) -> str:
        return f"<{self.width} x i64>"

    def spread(self, element: str, value: str, scope: Scope) -> str:
        whole = f"<{self.width} x {element}>"
        one = self.emit(whole, f"insertelement {whole} poison, {element} {value}, i64 0", scope)
        zeros = f"<{self.width} x i32> zeroinitializer"
        return self.emit(whole, f"shufflevector {whole} {one}, {whole} poison, {zeros}", scope)

    def reals(self, e: Expr) -> str:
        """The values of an expression in all lanes, as real numbers."""
        if not self.varies(e):
            return self.splat(e, "f")
        value, kind = self.vector(e), self.kind(e)
        if kind == "f":
            return value
        if self._consecutive(e) and not self.scalars.single:  # exact below 2**53
            return self.shared(("real", e), (e,), lambda at: self._ramp(e, at), _VECTORS)
        convert = f"sitofp {self._ints}" if kind == "i" else f"uitofp {self.packed.condition}"
        whole = self.packed.value
        return self.shared(
            ("real", e), (e,),
            lambda at: self.emit(whole, f"{convert} {value} to {whole}", at),
            _VECTORS,
        )  # fmt: skip

    def _consecutive(self, e: Expr) -> bool:
        """Whether this is the index of a vectorised loop; not so an integer off a tape."""
        return not self.mask and e.op is INDEX and e not in self.find(name_of(e))[0].restored

    def _ramp(self, e: Expr, scope: Scope) -> str:
        """Consecutive integers as real numbers."""
        first = self.emit(self.real, f"sitofp i64 {self.scalar(e)} to {self.real}", scope)
        base = self.spread(self.real, first, scope)
        steps = ", ".join(f"{self.real} {float(k)}" for k in range(self.width))
        whole = self.packed.value
        return self.emit(whole, f"fadd {whole} {base}, <{steps}>", scope)

    def packed_as(self, e: Expr, kind: str) -> str:
        """The values in all lanes as ones of a kind; "b" is a byte."""
        if kind == "f":
            return self.reals(e)
        value, own = self.vector(e), self.kind(e)
        to = f"<{self.width} x {'i64' if kind == 'i' else 'i8'}>"
        if own == "b":
            return self.emit(to, f"zext {self.packed.condition} {value} to {to}")
        return value if kind == "i" else self.emit(to, f"trunc {self._ints} {value} to {to}")

    # -------------------------------------------------------------- operations
    def _operation(self, e: Expr, o: Operands, scope: Scope) -> str:
        """Print one operation on numbers or vectors."""
        w, own, real = o
        op, whole = real_op(e.op), w.vector("i64")
        kinds = [self.kind(a) for a in e.args]
        if op in _COMPARISONS and all(k == kinds[0] != "f" for k in kinds):
            a, b = map(own, e.args)
            of = whole if kinds[0] == "i" else w.condition
            return self.emit(w.condition, f"icmp {_COMPARISONS[op]} {of} {a}, {b}", scope)
        if op is ir.WHERE and self.kind(e) == "i":
            c, a, b = map(own, e.args)
            choice = f"select {w.condition} {c}, {whole} {a}, {whole} {b}"
            return self.emit(whole, choice, scope)
        if self.kind(e) == "i":
            return self._integer(e, o, scope)
        if op is REAL_OF:
            return real(e.args[0])
        if op is TESTED:
            return self._tested(e, o, scope)
        args = [own(a) if k == "b" else real(a) for a, k in zip(e.args, kinds, strict=True)]
        kind = w.condition if op.boolean else w.value
        if op is POWER_OF_TWO or op is EXPONENT:
            name = self.fresh(kind)
            written = w.power_of_two if op is POWER_OF_TWO else w.exponent
            scope.lines += written(name, args[0])
            return name
        if op is ir.POW and e.args[1] is ir.HALF:
            return self.emit(kind, w.call(w.intrinsic("llvm.sqrt", 1), args[:1]), scope)
        if w is self.scalars and self._of_lanes(e) and self.alike(scope):
            lanes = [self.spread(self.real, a, scope) for a in args]
            found = self.emit(self.packed.value, self.packed.instruction(e, lanes), scope)
            return self.emit(kind, f"extractelement {self.packed.value} {found}, i64 0", scope)
        return self.emit(kind, w.instruction(e, args), scope)

    def alike(self, scope: Scope | None = None) -> bool:
        """Whether a scope belongs to one iteration of a loop that is vectorised elsewhere."""
        scope = scope or self.scope
        while scope is not None:
            if scope.alike:
                return True
            scope = scope.parent
        return False

    def _of_lanes(self, e: Expr) -> bool:
        """Whether vectors have a function of their own for an operation."""
        op = real_op(e.op)
        if self.width == 1 or op.libm is None or op.intrinsic is not None or not op.vector:
            return False
        name = op.libm + ("f" if self.scalars.single else "")
        return self.packed.lanes.variant(name, op.arity) is not None

    def needs(self, n: Expr) -> Sequence[Expr]:
        if n.op is not TESTED or n.args[2] is n.args[3]:
            return n.args
        return (*n.args[:3], *n.args[4:])

    def _tested(self, e: Expr, o: Operands, scope: Scope) -> str:
        """Print a value that may be flagged; where its screen does not hold nothing else is done."""
        w, own, real = o
        which, value, screen, flagged, *leaves = e.args
        number, names = int(which.value), [real(a) for a in (value, *leaves)]
        if screen is flagged:
            args = [names[0], own(flagged), *names[1:]]
            return self.emit(w.value, tested_call(w, number, args), scope)
        if w is self.packed and self.varies(screen):
            some = self.emit("i1", any_lane(w, own(screen)), scope)
        else:
            some = self.scalar(screen)
        place = self.variable(w.value, scope)
        scope.lines.append(f"store {w.value} {names[0]}, ptr {place}")
        aside = Scope(scope)
        args = [names[0], self._aside(flagged, o, aside), *names[1:]]
        better = self.emit(w.value, tested_call(w, number, args), aside)
        look, end = self.label(), self.label()
        scope.lines += [
            f"br i1 {some}, label %{look}, label %{end}, !prof !2", f"{look}:", *aside.lines,
            f"store {w.value} {better}, ptr {place}", f"br label %{end}", f"{end}:",
        ]  # fmt: skip
        return self.emit(w.value, f"load {w.value}, ptr {place}", scope)

    def _aside(self, e: Expr, o: Operands, scope: Scope) -> str:
        """Print an expression for one use, all but what it loads and tested values, in a
        scope that nothing else is printed in."""
        known: dict[Expr, str] = {}

        def named(outside: Callable[[Expr], str]) -> Callable[[Expr], str]:
            return lambda a: known[a] if a in known else outside(a)

        inside = Operands(o.writer, named(o.own), named(o.real))
        given = {
            n: True for n in ir.topological((e,)) if n.op in (LOAD, TESTED) or self.kind(n) == "i"
        }
        for n in ir.topological((e,), given):
            if n.args:
                known[n] = self._operation(n, inside, scope)
        return known[e]

    def variable(self, kind: str, scope: Scope | None = None) -> str:
        """A place for one value, of the function that a scope is in."""
        raise NotImplementedError

    def _integer(self, e: Expr, o: Operands, scope: Scope) -> str:
        w, own, _ = o
        op, whole = e.op, w.vector("i64")
        if op is ir.POW:
            return self._power(own(e.args[0]), int(e.args[1].value), whole, scope)
        args = [own(a) for a in e.args]
        if op in _WHOLE:
            return self.emit(whole, f"{_WHOLE[op]} {whole} {args[0]}, {args[1]}", scope)
        if op is ir.NEG:
            zero = "0" if w is self.scalars else "zeroinitializer"
            return self.emit(whole, f"sub {whole} {zero}, {args[0]}", scope)
        if op is ir.ABS:
            suffix = "i64" if w is self.scalars else f"v{self.width}i64"
            w.declared["llvm.abs." + suffix] = f"declare {whole} @llvm.abs.{suffix}({whole}, i1)"
            return self.emit(
                whole, f"call {whole} @llvm.abs.{suffix}({whole} {args[0]}, i1 0)", scope
            )
        function = _ROUNDED[op]
        if w is self.scalars:
            return self.emit("i64", f"call i64 @{function}(i64 {args[0]}, i64 {args[1]})", scope)
        return self._lane_by_lane(function, args, scope)

    def _power(self, base: str, exponent: int, whole: str, scope: Scope) -> str:
        """A power of an integer, by squaring."""
        found = ""
        while exponent:
            if exponent & 1:
                found = self.emit(whole, f"mul {whole} {found}, {base}", scope) if found else base
            exponent >>= 1
            base = self.emit(whole, f"mul {whole} {base}, {base}", scope) if exponent else base
        return found or base

    def _lane_by_lane(self, function: str, args: Sequence[str], scope: Scope) -> str:
        last = "poison"
        for k in range(self.width):
            parts = [
                self.emit("i64", f"extractelement {self._ints} {a}, i64 {k}", scope) for a in args
            ]
            one = self.emit("i64", f"call i64 @{function}(i64 {parts[0]}, i64 {parts[1]})", scope)
            last = self.emit(
                self._ints, f"insertelement {self._ints} {last}, i64 {one}, i64 {k}", scope
            )
        return last

    def elements(self, n: Expr, scope: Scope) -> str:
        """Print the load of one element for each lane."""
        raise NotImplementedError
