"""An expression DAG as a flat list of operations on balls.

Everything is evaluated, even branches that are not taken: an undefined value, or one that is
unknown at this precision, is the ball `nan` (for a condition: None). It propagates only to nodes
that really use it, because `where` drops the side that is not taken. So a finite ball is a proof;
for a nan, `Tape.trouble` returns the reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Literal

from flint import arb, ctx

from symdiff import ir
from symdiff.errors import UnsupportedError
from symdiff.interpret import work
from symdiff.interpret.balls import (
    CORE,
    UNKNOWN,
    Value,
    as_doubles,
    ball_of,
    constant_ball,
    constant_power,
)
from symdiff.ir import Expr
from symdiff.ir.functions import EXTREMES, domain

Trouble = Literal["undecided", "domain", "singular"]
Reasons = dict[int, Trouble | None]
"""Why a value is nan: the precision is too low; outside of the domain; on its
edge or at a pole, where a limit may exist."""


_REASONS: tuple[Trouble | None, ...] = ("undecided", "domain", "singular", None)
"""The first one that applies is reported."""


def _has_rule(e: Expr) -> bool:
    """Whether this operation has no balls, but a formula."""
    op = e.op
    return op.ball is None and op.expand is not None and op.arity != 0 and op not in CORE


def _with_rules(e: Expr, args: tuple[Expr, ...]) -> Expr:
    """Replace an operation that has no balls by its formula."""
    if e.op.expand is not None and _has_rule(e):
        return e.op.expand(*args)
    return ir.rebuild(e, args)


# ------------------------------------------------------------------------- tape
class Tape:
    """The nodes below `outputs`, children first, with one instruction each.

    Attributes
    ----------
    nodes : all nodes; a value list has one entry per node.
    roots : for each output, its index in that list.
    conditions : the indices of the comparisons.
    """

    def __init__(self, params: Sequence[Expr], outputs: Sequence[Expr]) -> None:
        expanded = tuple(outputs)
        self.nodes = ir.topological(expanded)
        if any(_has_rule(e) for e in self.nodes):
            expanded = ir.transform(outputs, _with_rules)
            self.nodes = ir.topological(expanded)
        self.index = {e: i for i, e in enumerate(self.nodes)}
        self.roots = tuple(self.index[e] for e in expanded)
        self.conditions = [i for i, e in enumerate(self.nodes) if e.op in ir.COMPARISONS]
        place = {p: k for k, p in enumerate(params)}
        self.slots: list[tuple[int, int]] = []  # (node, parameter)
        self._constants: list[tuple[int, Expr]] = []
        self._code: list[tuple[int, Callable[..., Value], int, int, int, int]] = []
        self._templates: dict[int, list[Value]] = {}
        self._counts = work.counts(e for e in self.nodes if e.args)
        for i, e in enumerate(self.nodes):
            if e.op is ir.VAR:
                if e not in place:
                    raise ValueError(f"{e} is not a parameter")
                self.slots.append((i, place[e]))
            elif not e.args:
                self._constants.append((i, e))
            else:
                self._code.append((i, *self._instruction(e)))

    def _instruction(self, e: Expr) -> tuple[Callable[..., Value], int, int, int, int]:
        if e.op in ir.COMPARISONS and any(ir.is_infinite(a) for a in e.args):
            a, b = (self.index[x] for x in e.args)
            return as_doubles(e.op), a, b, -1, -1
        if (q := self._exponent(e)) is not None:
            return constant_power(q), self.index[e.args[0]], -1, -1, -1
        if len(e.args) > 4:
            raise UnsupportedError(f"{e.op.name} has more than four arguments")
        a, b, c, d = ([self.index[x] for x in e.args] + [-1, -1, -1])[:4]
        return ball_of(e.op), a, b, c, d

    @staticmethod
    def _exponent(e: Expr) -> Fraction | None:
        return ir.rational(e.args[1]) if e.op is ir.POW else None

    def _template(self, prec: int) -> list[Value]:
        """A value list with the constants filled in, for one precision."""
        found = self._templates.get(prec)
        if found is None:
            found = [UNKNOWN] * len(self.nodes)
            for i, e in self._constants:
                if e.op is ir.BOOL:
                    found[i] = e.value
                else:
                    found[i] = constant_ball(e.value) if e.op is ir.CONST else ball_of(e.op)()
            if len(self._templates) < 16:
                self._templates[prec] = found
        return found.copy()

    def run(
        self,
        inputs: Sequence[Value],
        prec: int,
        fixed: Mapping[int, Value] | None = None,
        amend: Callable[[int, Value], Value] | None = None,
    ) -> list[Value]:
        """Evaluate every node at a precision; the caller holds `exclusive`. Comparisons of
        undefined values are false.

        Parameters
        ----------
        inputs : one ball per parameter.
        prec : bits.
        fixed : values of nodes that are known otherwise (a `Fraction` or a bool).
        amend : `(node, value) -> value` that replaces it, for constants too.
        """
        v = self._evaluated(inputs, prec, fixed, amend)
        while undefined := self.undefined(v):
            fixed = {**(fixed or {}), **dict.fromkeys(undefined, False)}
            v = self._evaluated(inputs, prec, fixed, amend)
        return v

    def _evaluated(
        self,
        inputs: Sequence[Value],
        prec: int,
        fixed: Mapping[int, Value] | None,
        amend: Callable[[int, Value], Value] | None,
    ) -> list[Value]:
        ctx.prec = prec
        work.spend(work.cost(self._counts, prec))
        v = self._template(prec)
        for i, k in self.slots:
            v[i] = inputs[k]
        if not fixed and amend is None:
            for i, f, a, b, c, d in self._code:
                if b < 0:
                    v[i] = f(v[a])
                elif c < 0:
                    v[i] = f(v[a], v[b])
                else:
                    v[i] = f(v[a], v[b], v[c]) if d < 0 else f(v[a], v[b], v[c], v[d])
            return v
        known = fixed or {}
        if amend is not None:
            for i, _ in self._constants:
                v[i] = amend(i, v[i])
        for i, f, *places in self._code:
            q = known.get(i)
            if q or q is False:
                v[i] = q if isinstance(q, bool) else constant_ball(q)
                continue
            x = f(*[v[k] for k in places if k >= 0])
            if q is not None:  # an exact zero, whose sign plain operations may need
                v[i] = x if x.is_zero() else arb(0)
            else:
                v[i] = x if amend is None else amend(i, x)
        return v

    def operations(self) -> Iterator[tuple[int, Callable[..., Value], list[int]]]:
        """The operations, children first: index, function and the indices of its arguments."""
        for i, function, *places in self._code:
            yield i, function, [k for k in places if k >= 0]

    def apply(self, i: int, v: Sequence[Value]) -> Value:
        """Repeat one operation on the current values of its arguments."""
        function, *places = self._instruction(self.nodes[i])
        return function(*(v[k] for k in places if k >= 0))

    def parameters_below(self, root: int) -> list[int]:
        """The positions of the parameters that a node depends on."""
        below = set(ir.variables((self.nodes[root],)))
        return sorted(k for i, k in self.slots if self.nodes[i] in below)

    def first_lost(self, v: Sequence[Value]) -> int:
        """The place of the first number without a known bit; the end, if there is none."""
        for i, value in enumerate(v):
            if isinstance(value, arb) and (not value.is_finite() or value.rel_accuracy_bits() < 0):
                return i
        return len(v)

    def undefined(self, v: Sequence[Value]) -> list[int]:
        """The comparisons of undefined values, which are not decided yet."""
        known: Reasons = {}
        return [
            i
            for i in self.conditions
            if v[i] is None
            and any(self.trouble(self.index[a], v, known) == "domain" for a in self.nodes[i].args)
        ]

    # -- reasons
    def trouble(
        self, root: int, v: Sequence[Value], known: Reasons | None = None
    ) -> Trouble | None:
        """Why the value of a node is not finite; None if it is. `known` caches the reasons of nodes
        between queries."""
        known = known if known is not None else {}
        stack = [root]
        while stack:
            i = stack[-1]
            if i in known:
                stack.pop()
                continue
            if _is_known(v[i]):
                known[i] = None
                continue
            causes = self._causes(i, v)
            waiting = [j for j in causes if j not in known]
            if waiting:
                stack.extend(waiting)
            elif causes:
                known[i] = min((known[j] for j in causes), key=_REASONS.index)
            else:
                known[i] = self._culprit(self.nodes[i], v[i], v)
        return known[root]

    def _causes(self, i: int, v: Sequence[Value]) -> list[int]:
        """The arguments that make a value unknown."""
        e = self.nodes[i]
        if e.op is ir.WHERE:
            c = self.index[e.args[0]]
            return [c if v[c] is None else self.index[e.args[1 if v[c] else 2]]]
        return [j for a in e.args if not _is_known(v[j := self.index[a]])]

    def _culprit(self, e: Expr, value: Value, v: Sequence[Value]) -> Trouble:
        """Why an operation on known values has no value."""
        if e.op.boolean or (e.args and not value.is_nan()):
            return "undecided"  # not nan but unbounded: an overflow of flint's exponents
        if not e.args:
            undefined = e.value != e.value if e.op is ir.CONST else value.is_nan()
            return "domain" if undefined else "singular"  # a constant may have been rounded
        inside = self._condition(domain(e.op, e.args), v)
        if inside is None:
            return "undecided"
        if not inside:
            return "domain"
        args = [v[self.index[a]] for a in e.args]
        if args[1].is_zero() if e.op is ir.DIV else all(a.is_exact() for a in args):
            return "singular"
        return "undecided"

    def _condition(self, condition: Expr, v: Sequence[Value]) -> bool | None:
        """A condition on nodes of the tape, from their values."""
        values: dict[Expr, Value] = {}
        for e in ir.topological((condition,)):
            if e in self.index and not e.op.boolean:  # decisions may come from elsewhere
                values[e] = v[self.index[e]]
            elif e.op is ir.BOOL:
                values[e] = e.value
            elif e.op is ir.CONST:
                values[e] = constant_ball(e.value)
            else:
                values[e] = ball_of(e.op)(*(values[a] for a in e.args))
        result: bool | None = values[condition]
        return result


def _is_known(value: Value) -> bool:
    return isinstance(value, bool) or (value is not None and value.is_finite())


def span(tape: Tape, point: Sequence[float]) -> int:
    """How far the exponents of the point and the constants reach beyond 2**±64."""
    return max(0, exponent(tape, point) - 64)


def exponent(tape: Tape, point: Sequence[float]) -> int:
    """The largest exponent of the point and the constants, of either sign; except constants that
    are only compared, such as the initial value of a maximum."""
    exponents = [abs(math.frexp(x)[1]) for x in point if x]
    compared = (*ir.COMPARISONS, *EXTREMES)
    read = {
        *(tape.nodes[r] for r in tape.roots),
        *(a for e in tape.nodes if e.op not in compared for a in e.args),
    }
    for e in tape.nodes:
        if e.op is ir.CONST and isinstance(e.value, Fraction) and e.value and e in read:
            q = e.value
            exponents.append(abs(abs(q.numerator).bit_length() - q.denominator.bit_length()))
    return max(exponents, default=0)
