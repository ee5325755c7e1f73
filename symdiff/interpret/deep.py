"""Values where functions are farther from their limits than any precision reaches.

At x = 1e50, (1 - cos(exp(-x*x)))/exp(-2*x*x) is 1/2, but the balls of the formula as it is
written show nothing: the remainder of the difference is 10**100 digits behind the point.
First the formula is written in terms that keep their digits (`identities`). If that is not
enough, what grows or decays without end is evaluated nearer to 0: the arguments of all
exponentials, hyperbolic and error functions that are far out are multiplied by one factor,
so that they are of size 2**-D and 2**-2D. Relations among them, as exp(2*u) = exp(u)**2,
remain. A value counts if it is the same for both, or vanishes: then it is the limit, and
the true value differs from it by less than such a function does from its own limit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from flint import arb

from symdiff import ir
from symdiff.interpret.balls import Value
from symdiff.interpret.flat import Tape
from symdiff.ir import ABS, CONST, DIV, ONE, POW, Expr, Op
from symdiff.ir.functions import COSH, ERF, ERFC, EXP, EXP2, EXPM1, SINH, TANH
from symdiff.ir.identities import Form, rewrite

ORDER: Mapping[Op, int] = {
    EXP: 1, EXP2: 1, EXPM1: 1, SINH: 1, COSH: 1, TANH: 1, ERF: 2, ERFC: 2,
}  # fmt: skip
"""log f(u), or log |f(u) - f(inf)|, is of the order of this power of u."""
KEPT = frozenset({"expm1", "1-exp", "1-cos", "cos-1", "1-erf", "1+erf", "1-erfc", "log1p", "log1m"})
"""The identities in use."""
FAR = 2.0**13
"""What is farther out than this (or its square root) is evaluated nearer to 0."""
SPREAD = 2.0**6
"""All of these arguments must be within this factor."""
NEAREST = 2048
AGREE = 66
VANISHED = 1200


def kept(e: Expr, args: tuple[Expr, ...]) -> Expr:
    """A node in a form that keeps digits."""
    e = ir.rebuild(e, args)
    if e.op is DIV:
        base, n = e.args[1], 1
        if base.op is POW and (m := ir.integer(base.args[1])) is not None:
            base, n = base.args[0], m
        if base.op is COSH:  # it overflows, its reciprocal does not
            small = EXP(-ABS(base.args[0]))
            return e.args[0] * ir.power(2 * small / (ONE + small * small), n)
    found = rewrite(e, Form.STABLE)
    return found[0] if found is not None and found[1].name in KEPT else e


class Deep:
    """A copy of the outputs of a tape, with a factor for each argument of a decaying function.

    Parameters
    ----------
    params : the variables.
    outputs : as for `Tape`.
    """

    def __init__(self, params: Sequence[Expr], outputs: Sequence[Expr]) -> None:
        self.factors: list[tuple[int, Expr]] = []  # the order of a function, its factor
        arguments: list[Expr] = []
        new: dict[Expr, Expr] = {}
        roots = ir.transform(outputs, kept)
        for e in ir.topological(roots):
            r = ir.rebuild(e, tuple(new[a] for a in e.args)) if e.args else e
            if r.op in ORDER and r.args[0].op is not CONST:
                factor = ir.var(f"factor {len(self.factors)}")
                self.factors.append((ORDER[r.op], factor))
                arguments.append(r.args[0])
                r = ir.raw(r.op, (r.args[0] * factor,))
            new[e] = r
        outs = [new[r] for r in roots]
        self.tape = Tape([*params, *(f for _, f in self.factors)], [*outs, *arguments])
        self.roots = self.tape.roots[: len(outs)]
        self.arguments = self.tape.roots[len(outs) :]

    def plain(self, inputs: Sequence[Value], prec: int) -> list[Value]:
        """The outputs, in forms that keep their digits."""
        ones = [arb(1)] * len(self.factors)
        values = self.tape.run([*inputs, *ones], prec)
        return [values[r] for r in self.roots]

    def limits(self, inputs: Sequence[Value], prec: int) -> list[Any]:
        """For each output, the limit as far arguments go farther; None if there is none."""
        none = [None] * len(self.roots)
        ones = [arb(1)] * len(self.factors)
        values = self.tape.run([*inputs, *ones], prec)
        sizes = [
            _size(values[a], n) for a, (n, _) in zip(self.arguments, self.factors, strict=True)
        ]
        if any(math.isnan(s) for s in sizes):
            return none
        far = [s for s in sizes if s > FAR]
        if not far or max(far) > SPREAD * min(far) or math.isinf(max(far)):
            return none
        near = max((s for s in sizes if s <= FAR), default=0.0)
        span = max(map(_span, inputs), default=0)
        depth = 4 * span + 2 * int(near) + NEAREST
        if 4 * depth > min(far):
            return none
        found = []
        for d in (depth, 2 * depth):
            factors = [
                arb(1) if s <= FAR else arb(d / min(far)) if n == 1 else arb(d / min(far)).sqrt()
                for s, (n, _) in zip(sizes, self.factors, strict=True)
            ]
            work = int(4 * d * (max(far) / min(far))) + prec
            values = self.tape.run([*inputs, *factors], work)
            found.append([values[r] for r in self.roots])
        return [_limit(a, b) for a, b in zip(*found, strict=True)]


def _size(u: Value, order: int) -> float:
    """About the least power of e by which a function of u differs from its limit."""
    if not u.is_finite():
        return math.nan
    size = abs(float(u.mid()))
    return size**order if size < 2.0**500 or order == 1 else math.inf


def _span(x: Value) -> int:
    size = float(abs(x.mid()))
    return abs(math.frexp(size)[1]) if size and math.isfinite(size) else 0


def _limit(a: Value, b: Value) -> Any:
    if not (a.is_finite() and b.is_finite()):
        return None
    tiny = arb(2) ** -VANISHED
    if a.abs_upper() < tiny and b.abs_upper() < tiny:
        return arb(0)
    return b if abs(a - b) <= abs(b) * arb(2) ** -AGREE else None
