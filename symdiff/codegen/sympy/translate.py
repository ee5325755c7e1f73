"""Translate the DAG to SymPy, for `.expr`, LaTeX and printing.

SymPy evaluates what it builds (`x + x` becomes `2*x`) by walking trees, which
takes exponential time on a DAG with shared nodes and recurses on its depth.
So only subexpressions that are small as trees are evaluated; larger ones are
built as they stand.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any
from weakref import WeakKeyDictionary

from symdiff import ir
from symdiff.ir import Expr, Op
from symdiff.ir.formula_text import tree_sizes
from symdiff.ir.plain import exactly

SMALL_TREE = 1000
"""Trees with more operations than this are not evaluated by SymPy."""
SMALL_DEPTH = 60
"""Nor are deeper ones: SymPy's assumptions recurse. Nor what holds branches within branches of
plain symbols: SymPy folds them, and cannot always."""
LARGE_NUMBER = 1000
"""Functions of numbers beyond this are not evaluated, such as 9**9**9."""

_large_made: dict[tuple[bool, bool], WeakKeyDictionary[Expr, Any]] = {
    (named, real): WeakKeyDictionary() for named in (False, True) for real in (False, True)
}
"""What large nodes became: built twice, they would be equal, but comparing them takes
SymPy exponential time."""

_SUM = (ir.ADD, ir.SUB, ir.NEG)
_PRODUCT = (ir.MUL, ir.DIV)


def to_sympy(
    outputs: Sequence[Expr],
    *,
    named: bool = False,
    symbols: Mapping[str, Any] | None = None,
    exact: bool = False,
) -> list[Any]:
    """The outputs as SymPy expressions.

    Parameters
    ----------
    outputs : nodes of the DAG.
    named : keep functions that SymPy knows only as formulas (expm1, hypot, cbrt,
        ...) as functions of that name; for printing.
    symbols : what variables become, by name, and plain symbols where it does not say; real
        symbols if it is None, which SymPy simplifies more.
    exact : keep rationals of up to 40 digits that `number` would round.

    Returns
    -------
    list of sympy.Expr
        Branches are `Piecewise`. Constants are real: nan, `oo` or `-oo` where SymPy
        has a complex number or `zoo`. Doubles that are no simple rational are `Float`s
        of the same value. Shared nodes are the same object.
    """
    import sympy

    outputs = exactly(outputs)
    builder = _Builder(sympy, outputs, named, symbols, exact)
    order = ir.topological(outputs)
    for e in order:
        if e not in builder.large:
            builder.build(e)
    if builder.large:
        with sympy.evaluate(False):
            for e in order:
                if e in builder.large:
                    builder.build(e)
    return [builder.made[e] for e in outputs]


def shared(
    outputs: Sequence[Expr], symbols: Mapping[str, Any]
) -> tuple[list[tuple[Any, Any]], list[Any]]:
    """The outputs as SymPy expressions in terms of shared subexpressions, as `sympy.cse` gives
    them: pairs of a symbol and its definition, and the outputs."""
    import sympy

    outputs = exactly(outputs)
    order = ir.topological(outputs)
    uses = Counter(a for e in order for a in e.args)
    uses.update(outputs)
    taken = {str(e.value) for e in order if e.op is ir.VAR}
    names = (n for n in (f"x{k}" for k in itertools.count()) if n not in taken)
    stand_ins: dict[Expr, Expr] = {}
    definitions: list[tuple[Any, Any]] = []
    for e in order:
        if uses[e] < 2 or not e.args or e.op.boolean or e.op is ir.NEG:
            continue
        (text,) = to_sympy(ir.substitute((e,), stand_ins), symbols=symbols)
        if text.is_Atom or (text.is_Mul and len(text.args) == 2 and text.args[0].is_Number):
            continue
        name = next(names)
        stand_ins[e] = ir.var(name)
        definitions.append((sympy.Symbol(name), text))
    return definitions, to_sympy(ir.substitute(outputs, stand_ins), symbols=symbols)


def number(sympy: Any, q: Fraction) -> Any:
    """A rational constant as a person would read it, of the same value.

    The one exception: a rational that is neither simple nor a double is given
    to 17 digits.
    """
    if q.denominator <= 1000 or _is_short_decimal(q):
        return sympy.Rational(q.numerator, q.denominator)
    double = _double(q)
    if Fraction(double) == q:
        return sympy.Float(double)
    if q.denominator < 10**6 or not math.isfinite(double):
        return sympy.Rational(q.numerator, q.denominator)
    return sympy.Float(sympy.Rational(q.numerator, q.denominator), 17)


def _is_short_decimal(q: Fraction) -> bool:
    return q.denominator <= 10**12 and 10**12 % q.denominator == 0 and q.denominator % 5 == 0


def _double(q: Fraction) -> float:
    """The nearest double; 0.0 if there is none, as it equals no such q."""
    try:
        return float(q)
    except OverflowError:
        return math.inf if q > 0 else -math.inf


class _Builder:
    """Builds each node once, children first."""

    def __init__(
        self,
        sympy: Any,
        outputs: Sequence[Expr],
        named: bool,
        symbols: Mapping[str, Any] | None = None,
        exact: bool = False,
    ) -> None:
        self.sympy, self.named, self.symbols, self.exact = sympy, named, symbols, exact
        self.kept: Any = {} if symbols or exact else _large_made[named, symbols is None]
        self.made: dict[Expr, Any] = {}
        order = ir.topological(outputs)
        self.uses = Counter(a for e in order for a in e.args)
        self.uses.update(outputs)
        self.inlined = {  # members of longer sums and products
            a
            for e in order
            for family in (_SUM, _PRODUCT)
            if e.op in family
            for a in e.args
            if a.op in family and self.uses[a] == 1
        }
        self.large = self._large(order)
        self.closed: set[Expr] = set()

    def _large(self, order: list[Expr]) -> set[Expr]:
        size, depth = tree_sizes(order), dict.fromkeys(order, 0)
        branches = dict.fromkeys(order, 0)
        large: set[Expr] = set()
        for e in order:
            branches[e] = max((branches[a] for a in e.args), default=0)
            if e.op is ir.WHERE:
                branches[e] = max(1 + max(branches[a] for a in e.args[:2]), branches[e.args[2]], 1)
            depth[e] = max((depth[a] + (a not in self.inlined) for a in e.args), default=0)
            if (
                size[e] > SMALL_TREE
                or depth[e] > SMALL_DEPTH
                or (self.symbols is not None and branches[e] > 1)
                or any(a in large for a in e.args)
                or self._overflows(e)
            ):
                large.add(e)
        return large

    def _overflows(self, e: Expr) -> bool:
        """Whether SymPy would compute a huge number."""
        if e.op in (ir.ADD, ir.SUB, ir.MUL, ir.DIV, ir.NEG) or not e.args or e.op.boolean:
            return False
        values = [ir.rational(a) for a in e.args]
        known = [abs(q) for q in values if q is not None]
        return len(known) == len(values) and max(known) > LARGE_NUMBER

    def build(self, e: Expr) -> None:
        if e in self.inlined:
            return
        known = self.kept
        self.made[e] = known[e] if e in known else self._translate(e)
        if e.op is not ir.VAR and all(a in self.closed or a in self.inlined for a in e.args):
            self._close(e)
        if e in self.large:
            known[e] = self.made[e]

    def _close(self, e: Expr) -> None:
        """Keep a node without variables real."""
        made = self.made[e]
        if e in self.large or e.op.boolean or made.free_symbols:
            return
        self.closed.add(e)
        if made is self.sympy.zoo:
            self.made[e] = self._pole(e)
        elif made.is_extended_real is False or isinstance(made, self.sympy.AccumBounds):
            self.made[e] = self.sympy.nan

    def _pole(self, e: Expr) -> Any:
        """inf or -inf if the function tends to it where it is defined, else nan."""
        from flint import arb

        q = ir.rational(e.args[0]) if e.op.arity == 1 else None
        if q is None or e.op.ball is None:
            return self.sympy.nan
        point, step = arb(q.numerator) / q.denominator, arb(2) ** -40
        near = [e.op.ball(point + s) for s in (step, -step)]
        signs = {bool(b > 0) for b in near if b.is_finite() and not b.contains(0)}
        if len(signs) != 1:
            return self.sympy.nan
        return self.sympy.oo if signs == {True} else -self.sympy.oo

    def _translate(self, e: Expr) -> Any:
        sympy, op = self.sympy, e.op
        if op is ir.CONST:
            if isinstance(e.value, Fraction):
                if self.exact and max(abs(e.value.numerator), e.value.denominator) < 10**40:
                    return sympy.Rational(e.value.numerator, e.value.denominator)
                return number(sympy, e.value)
            return sympy.nan if math.isnan(e.value) else sympy.oo if e.value > 0 else -sympy.oo
        if op is ir.VAR:
            if self.symbols is None:
                return sympy.Symbol(e.value, real=True)
            return self.symbols.get(e.value) or sympy.Symbol(e.value)
        if op is ir.BOOL:
            return sympy.true if e.value else sympy.false
        if op in _SUM:
            terms = [sympy.Mul(-1, t) if s < 0 else t for t, s in self._members(e, _SUM, ir.SUB)]
            return terms[0] if len(terms) == 1 else sympy.Add(*terms)
        if op in _PRODUCT:
            members = self._members(e, _PRODUCT, ir.DIV)
            factors = [self._inverse(f) if s < 0 else f for f, s in members if f != 1]
            return factors[0] if len(factors) == 1 else sympy.Mul(*factors)
        args = [self.made[a] for a in e.args]
        if op is ir.POW:
            return sympy.Pow(*args)
        if op in (ir.LT, ir.LE, ir.EQ):
            return self._relation(op, args)
        if op is ir.NOT:
            return self._negation(e.args[0])
        if op is ir.WHERE:
            return self._piecewise(e)
        if op in (ir.AND, ir.OR):
            return self._junction(e, sympy.And if op is ir.AND else sympy.Or)
        return self._function(op, args)

    def _members(self, e: Expr, family: tuple[Op, ...], inverse: Op) -> list[tuple[Any, int]]:
        """The terms (factors) of a sum (product) and the sign of each (of its exponent)."""
        members: list[tuple[Any, int]] = []
        stack = [(e, 1)]
        while stack:
            node, sign = stack.pop()
            if node is not e and node not in self.inlined:
                members.append((self.made[node], sign))
                continue
            first = -sign if node.op is ir.NEG else sign
            if len(node.args) == 2:
                stack.append((node.args[1], -sign if node.op is inverse else sign))
            stack.append((node.args[0], first))
        return members

    def _inverse(self, factor: Any) -> Any:
        return self.sympy.oo if factor == 0 else self.sympy.Pow(factor, -1)

    def _relation(self, op: Op, args: list[Any]) -> Any:
        """`0 < x` reads better as `x > 0`."""
        sympy = self.sympy
        left, right = args
        swap = left.is_Number and not right.is_Number
        if op is ir.EQ:
            return sympy.Eq(*((right, left) if swap else args), evaluate=False)
        if swap:
            return (sympy.Gt if op is ir.LT else sympy.Ge)(right, left, evaluate=False)
        return (sympy.Lt if op is ir.LT else sympy.Le)(left, right, evaluate=False)

    def _negation(self, e: Expr) -> Any:
        sympy, made = self.sympy, self.made[e]
        opposite = {
            sympy.Eq: sympy.Ne, sympy.Lt: sympy.Ge, sympy.Le: sympy.Gt,
            sympy.Gt: sympy.Le, sympy.Ge: sympy.Lt,
        }.get(made.func)  # fmt: skip
        if opposite is not None:
            return opposite(*made.args, evaluate=False)
        return sympy.Not(made)

    def _junction(self, e: Expr, cls: Any) -> Any:
        args = [self.made[a] for a in e.args]
        if e not in self.large:
            return cls(*args)
        made = self.sympy.Basic.__new__(cls, *args)
        made._argset = frozenset(args)
        return made

    def _piecewise(self, e: Expr) -> Any:
        """`where(c, a, where(d, b, ...))` is one `Piecewise`; not evaluated, which is slow."""
        from sympy.functions.elementary.piecewise import ExprCondPair

        sympy, pairs, node = self.sympy, [], e
        while True:
            condition, value, rest = node.args
            pairs.append((self.made[value], self.made[condition]))
            node = rest
            if node.op is not ir.WHERE:
                break
        pairs.append((self.made[node], sympy.true))
        return sympy.Basic.__new__(
            sympy.Piecewise, *(sympy.Tuple.__new__(ExprCondPair, a, c) for a, c in pairs)
        )

    def _function(self, op: Op, args: list[Any]) -> Any:
        sympy = self.sympy
        if op.sympy is None or (self.named and op.names and not _is_native(sympy, op)):
            return sympy.Function(op.name, real=True)(*args)
        return op.sympy(sympy, *args)


def _is_native(sympy: Any, op: Op) -> bool:
    """Whether SymPy has this very function, rather than a formula for it."""
    symbols = [sympy.Dummy(real=True) for _ in range(op.arity)]
    made = op.sympy(sympy, *symbols) if op.sympy else None
    return isinstance(made, sympy.core.function.Application) and set(made.args) == set(symbols)
