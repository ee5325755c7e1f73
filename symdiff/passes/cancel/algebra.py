"""Nodes as rational functions of algebraically independent generators.

Before:  (exp(2*x) - 1)/(exp(x) - 1)
After:   (E**2 - 1)/(E - 1) with the generator E = exp(x)

`Generators.represent` writes one node in terms of its children, in whatever
algebra it is given: `passes.analysis.fingerprint` counts degrees modulo a prime, and
`passes.cancel.rational` computes exactly. Exponentials of related arguments become
powers of one generator, sines and cosines functions of one angle, roots of
one radicand powers of one root; every other function is opaque.

Requires: nothing. Ensures: generators of one `Generators` are independent as
far as these relations go; a relation that is missed hides a cancellation but
never makes a wrong one.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

from symdiff import ir
from symdiff.ir import ADD, CONST, DIV, MUL, NEG, ONE, POW, SUB, VAR, Expr, Op
from symdiff.ir.functions import COS, COSH, EXP, EXPM1, LOG, LOG1P, SIN, SINH, TAN, TANH

MAX_TERMS = 24
"""Longest argument of an exponential or angle that is split into its terms."""
MAX_MULTIPLE = 12
"""Largest power of one exponential or multiple of one angle that is expanded."""

RATIONAL_OPS: tuple[Op, ...] = (ADD, SUB, NEG, MUL, DIV)
_ONE = Fraction(1)
EXPONENTIALS: tuple[Op, ...] = (EXP, EXPM1, SINH, COSH, TANH)
ANGLES: tuple[Op, ...] = (SIN, COS, TAN)


@dataclass(frozen=True, slots=True)
class Generator:
    """An independent quantity.

    kind "node": the value of `of`. "exp": `of**(unit*m)` for the base `of`, or
    exp(unit*m) if `of` is None. "angle": the angle unit*m. "root": the radicand
    `of` to the power `unit`.
    """

    kind: str
    of: Expr | None
    m: Expr | None = None
    unit: Fraction = Fraction(1)


class Algebra(Protocol):
    """What `represent` needs of the values that represent nodes."""

    def const(self, q: Fraction) -> Any: ...
    def gen(self, g: Generator) -> Any: ...
    def angle(self, g: Generator) -> tuple[Any, Any]: ...
    def add(self, a: Any, b: Any) -> Any: ...
    def neg(self, a: Any) -> Any: ...
    def mul(self, a: Any, b: Any) -> Any: ...
    def div(self, a: Any, b: Any) -> Any: ...
    def pow(self, a: Any, n: int) -> Any: ...


def linear(u: Expr) -> dict[Expr, Fraction] | None:
    """u as a rational combination of terms (the constant's term is 1)."""
    if u.op is not CONST and u.op not in RATIONAL_OPS:
        return {u: _ONE}
    total: dict[Expr, Fraction] = {}
    stack: list[tuple[Expr, Fraction]] = [(u, _ONE)]
    while stack:
        e, c = stack.pop()
        if (q := ir.rational(e)) is not None:
            total[ONE] = total.get(ONE, Fraction(0)) + c * q
        elif e.op is ADD or e.op is SUB:
            stack += [(e.args[1], c if e.op is ADD else -c), (e.args[0], c)]
        elif e.op is NEG:
            stack.append((e.args[0], -c))
        elif e.op is MUL and (q := ir.rational(e.args[0])) is not None:
            stack.append((e.args[1], c * q))
        elif e.op is DIV and (q := ir.rational(e.args[1])) is not None and q != 0:
            stack.append((e.args[0], c / q))
        else:
            total[e] = total.get(e, Fraction(0)) + c
        if len(stack) + len(total) > MAX_TERMS:
            return None
    return {m: c for m, c in total.items() if c != 0}


def common_measure(values: Iterable[Fraction]) -> Fraction:
    """The largest positive rational that divides all the values."""
    values = list(values)
    numerator = math.gcd(*(v.numerator for v in values))
    return Fraction(numerator, math.lcm(*(v.denominator for v in values)))


def common_unit(values: Iterable[Fraction]) -> Fraction:
    """The same; negative if they all are, so that exp(-x) alone is not turned into 1/exp(x)."""
    values = list(values)
    size = common_measure(values)
    return size if any(v > 0 for v in values) else -size


def exponential(e: Expr, ops: Container[Op] = EXPONENTIALS) -> tuple[Expr | None, Expr] | None:
    """(base, exponent) of an exponential, which is one of `ops`; base None is e."""
    if e.op in ops:
        return None, e.args[0]
    if e.op is POW and ir.rational(e.args[1]) is None:
        return e.args[0], e.args[1]
    return None


@dataclass(slots=True)
class Generators:
    """The generators of a DAG, and the relations between its nodes.

    Built by `scan`. `solved` maps a variable to (coefficient, rest, root): it is
    eliminated in favour of the root of `coefficient*variable + rest`.
    """

    units: dict[tuple[str, Expr | None, Expr], Fraction] = field(default_factory=dict)
    roots: dict[Expr, int] = field(default_factory=dict)
    solved: dict[Expr, tuple[Fraction, dict[Expr, Fraction], Generator]] = field(
        default_factory=dict
    )

    def scan(self, nodes: Iterable[Expr]) -> Generators:
        """Learn the units of exponents and angles, and the roots, of these nodes."""
        found: dict[tuple[str, Expr | None, Expr], set[Fraction]] = {}
        for e in nodes:
            split = exponential(e)
            if split is not None and (terms := linear(split[1])) is not None:
                for m, c in terms.items():
                    found.setdefault(("exp", split[0], m), set()).add(c)
            elif e.op in ANGLES and (terms := linear(e.args[0])) is not None:
                for m, c in terms.items():
                    found.setdefault(("angle", None, m), set()).add(c)
            elif e.op is POW and (q := ir.rational(e.args[1])) is not None and q.denominator > 1:
                known = self.roots.get(e.args[0], 1)
                self.roots[e.args[0]] = math.lcm(known, q.denominator)
        self.units = {key: common_unit(values) for key, values in found.items()}
        for radicand, n in self.roots.items():
            self._solve(radicand, n)
        return self

    def _solve(self, radicand: Expr, n: int) -> None:
        terms = linear(radicand)
        if terms is None or n > MAX_MULTIPLE:
            return
        for v, c in terms.items():
            if (
                v.op is not VAR
                or v in self.solved
                or any(v in t for _, t, _ in self.solved.values())
            ):
                continue
            rest = {m: q for m, q in terms.items() if m is not v}
            if all(m.op is VAR or m is ONE for m in rest) and not any(
                m in self.solved for m in rest
            ):
                root = Generator("root", radicand, None, Fraction(1, n))
                self.solved[v] = (c, rest, root)
                return

    def represent(self, e: Expr, args: Mapping[Expr, Any], algebra: Algebra) -> Any:
        """The value of a node, given those of its children (for rational operations)."""
        op = e.op
        if (q := ir.rational(e)) is not None:
            return algebra.const(q)
        if op is ADD:
            return algebra.add(args[e.args[0]], args[e.args[1]])
        if op is SUB:
            return algebra.add(args[e.args[0]], algebra.neg(args[e.args[1]]))
        if op is NEG:
            return algebra.neg(args[e.args[0]])
        if op is MUL:
            return algebra.mul(args[e.args[0]], args[e.args[1]])
        if op is DIV:
            return algebra.div(args[e.args[0]], args[e.args[1]])
        if op is POW and (q := ir.rational(e.args[1])) is not None:
            return self._power(e, q, args, algebra)
        if op in ANGLES:
            return self._angle(e, algebra)
        if op is VAR and e in self.solved:
            c, rest, root = self.solved[e]
            value = algebra.pow(algebra.gen(root), root.unit.denominator)
            for m, q in rest.items():
                term = algebra.const(q) if m is ONE else self._scale(q, m, algebra)
                value = algebra.add(value, algebra.neg(term))
            return algebra.mul(algebra.const(1 / c), value)
        if op is LOG1P:
            return algebra.gen(Generator("node", LOG(ONE + e.args[0])))
        if (split := exponential(e)) is not None:
            return self._exp(e, split, algebra)
        return algebra.gen(Generator("node", e))

    def _scale(self, q: Fraction, m: Expr, algebra: Algebra) -> Any:
        return algebra.mul(algebra.const(q), algebra.gen(Generator("node", m)))

    def _power(self, e: Expr, q: Fraction, args: Mapping[Expr, Any], algebra: Algebra) -> Any:
        base = e.args[0]
        if q.denominator == 1:
            if abs(q) > 64:
                return algebra.gen(Generator("node", e))
            return algebra.pow(args[base], int(q))
        n = self.roots.get(base, q.denominator)
        k = q * n
        if k.denominator != 1 or abs(k) > 64:
            return algebra.gen(Generator("node", e))
        return algebra.pow(algebra.gen(Generator("root", base, None, Fraction(1, n))), int(k))

    def _multiples(
        self, kind: str, base: Expr | None, u: Expr
    ) -> list[tuple[Generator, int]] | None:
        terms = linear(u)
        if terms is None:
            return None
        parts = []
        for m, c in terms.items():
            unit = self.units.get((kind, base, m), Fraction(1))
            k = c / unit
            if k.denominator != 1 or abs(k) > MAX_MULTIPLE:
                return None
            parts.append((Generator(kind, base, m, unit), int(k)))
        return parts

    def _exp(self, e: Expr, split: tuple[Expr | None, Expr], algebra: Algebra) -> Any:
        parts = self._multiples("exp", *split)
        if parts is None:
            return algebra.gen(Generator("node", e))
        value = algebra.const(Fraction(1))
        for g, k in parts:
            value = algebra.mul(value, algebra.pow(algebra.gen(g), k))
        if e.op is EXPM1:
            return algebra.add(value, algebra.const(Fraction(-1)))
        if e.op in (SINH, COSH, TANH):
            inverse = algebra.pow(value, -1)
            plus = algebra.add(value, inverse)
            minus = algebra.add(value, algebra.neg(inverse))
            if e.op is TANH:
                return algebra.div(minus, plus)
            return algebra.mul(algebra.const(Fraction(1, 2)), plus if e.op is COSH else minus)
        return value

    def _angle(self, e: Expr, algebra: Algebra) -> Any:
        parts = self._multiples("angle", None, e.args[0])
        if parts is None:
            return algebra.gen(Generator("node", e))
        turned: tuple[Any, Any] | None = None
        for g, k in parts:
            cg, sg = algebra.angle(g)
            if k < 0:
                sg = algebra.neg(sg)
            for _ in range(abs(k)):
                if turned is None:
                    turned = cg, sg
                    continue
                c, s = turned
                turned = (
                    algebra.add(algebra.mul(c, cg), algebra.neg(algebra.mul(s, sg))),
                    algebra.add(algebra.mul(s, cg), algebra.mul(c, sg)),
                )
        c, s = turned or (algebra.const(Fraction(1)), algebra.const(Fraction(0)))
        if e.op is TAN:
            return algebra.div(s, c)
        return c if e.op is COS else s


def is_rational(e: Expr) -> bool:
    """Whether a node is a rational operation on its children."""
    if e.op in RATIONAL_OPS:
        return True
    return e.op is POW and (n := ir.integer(e.args[1])) is not None and abs(n) <= 64


def rational_args(e: Expr) -> tuple[Expr, ...]:
    """The arguments of a rational operation; for other nodes none."""
    return e.args if is_rational(e) else ()


__all__ = ["CONST", "Algebra", "Generator", "Generators", "is_rational", "linear", "rational_args"]
