"""A window of a formula as a quotient of polynomials in generators.

Before:  a*exp(-x)/(1 + exp(-x))**2
After:   a * E * (E + 1)**-2 with the generator E = exp(-x)

A generator is a variable, a function, an exponential or power of a symbolic exponent, a root, or
the sine and cosine (sinh and cosh) of an angle. Values are `passes.cancel.rational.Factored`: powers are
never expanded. Relations between generators (`sin**2 + cos**2 = 1`, `R**2 = S` for a root) are
not used here but where candidates are made: `angles`, `roots`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from symdiff import ir
from symdiff.ir import ADD, DIV, MUL, NEG, ONE, POW, SUB, VAR, Expr
from symdiff.ir.formula_text import Formulas, factors, terms
from symdiff.ir.functions import (
    COS,
    COSH,
    EXP,
    EXPM1,
    SIN,
    SINH,
    TAN,
    TANH,
)
from symdiff.passes.cancel.algebra import RATIONAL_OPS, Generator, common_unit, exponential, linear
from symdiff.passes.cancel.rational import Factored, OutOfBudgetError, Ring
from symdiff.passes.simplify.directions import Parts, directions, in_phase, times

MAX_NODES = 300
"""A window with more nodes than this is left as it is."""
MAX_GENERATORS = 20
MAX_POWER = 24
MAX_MULTIPLE = 4

CIRCULAR, HYPERBOLIC = 1, -1
"""Kinds of angles, by the sign in cos**2 + sign*sin**2 = 1."""


@dataclass(frozen=True, slots=True)
class Angle:
    """The functions of one angle `of`, each a symbol of the ring.

    `s, c, t` are sine, cosine and tangent of it, `h` is the tangent of its half, `sh` and `ch`
    sine and cosine of that, `s2` and `c2` sine and cosine of its double.
    """

    of: Expr
    kind: int
    s: Any
    c: Any
    t: Any
    h: Any
    sh: Any
    ch: Any
    s2: Any
    c2: Any
    exponential: Any = None


@dataclass(frozen=True, slots=True)
class Root:
    """The symbol that is `of` to the power 1/n, and `of` as a value."""

    of: Expr
    n: int
    symbol: Any
    square: Factored


@lru_cache(maxsize=64)
def _anonymous(count: int) -> list[Generator]:
    """Generators of a ring whose symbols get their meanings later."""
    return [Generator("node", ir.var(f"#{i}")) for i in range(count)]


def window(e: Expr) -> list[Expr]:
    """The nodes of a formula down to its generators, these included, children first."""
    return ir.children_first((e,), lambda n: inside(n)[::-1])


def inside(e: Expr) -> tuple[Expr, ...]:
    """The children of a node that belong to its window."""
    if e.op in RATIONAL_OPS:
        return e.args
    if e.op is POW and (ir.rational(e.args[1]) is not None or _has_integer(e)):
        return e.args[:1]
    return ()


def _has_integer(e: Expr) -> bool:
    """Whether a node is a power of a sum or quotient whose exponent has an integer part: that part
    is a power of the value."""
    if e.args[0].op not in RATIONAL_OPS:
        return False
    constant = (linear(e.args[1]) or {}).get(ONE)
    return constant is not None and constant.denominator == 1


class Frame:
    """The generators of a window, and the values of its nodes."""

    def __init__(self, e: Expr, formulas: Formulas | None = None, *, allocate: bool = True) -> None:
        self.nodes = window(e)
        if len(self.nodes) > MAX_NODES:
            raise OutOfBudgetError("the window is too large")
        self.columns: list[Expr | None] = []
        self.powers: dict[int, tuple[Expr | None, Expr, Fraction]] = {}
        self.roots: dict[Expr, Root] = {}
        self.formulas = formulas or Formulas()
        self.angles: list[Angle] = []
        self.values: dict[Expr, Factored] = {}
        self.forms: dict[tuple[int, Expr], Any] = {}  # of `one_angle`, by angle
        self._known: dict[str, list[Expr]] | None = None
        self.written = {n for n in self.nodes if n.op in (ADD, SUB)}
        self._plan()
        if allocate:
            self.allocate()

    def adopt(self, other: Frame) -> None:
        """The nodes of another window with the same generators as well."""
        known = set(self.nodes)
        self.nodes += [n for n in other.nodes if n not in known]
        self.parts |= other.parts
        if not other.written <= self.written:
            self.written |= other.written
            self._known = None

    # -------------------------------------------------------------- generators
    def _plan(self) -> None:
        """Find the generators."""
        exponents: dict[tuple[Expr | None, Expr], set[Fraction]] = {}
        angles: dict[tuple[int, Expr], set[Fraction]] = {}
        radicands: dict[Expr, int] = {}
        plain: dict[Expr, None] = {}
        self.parts = self._directions()
        for e in self.nodes:
            if e.op in RATIONAL_OPS or e.op is ir.CONST:
                if e.op is ir.CONST and ir.rational(e) is None:
                    raise OutOfBudgetError("not a number")
                continue
            if (split := exponential(e, (EXP, EXPM1))) is not None:
                for m, c in self.parts[split].items():
                    if m is ONE and e.op is POW and _has_integer(e):
                        continue
                    if _is_power(split[0], m, c):
                        plain[split[0]] = None  # type: ignore[index]
                    else:
                        exponents.setdefault((split[0], m), set()).add(c)
            elif (kind := _kind(e)) is not None:
                c, m = self._turn(e.args[0], kind)
                angles.setdefault((kind, m), set()).add(c)
            elif e.op is POW and (q := ir.rational(e.args[1])) is not None:
                if q.denominator > 1:
                    radicands[e.args[0]] = math.lcm(radicands.get(e.args[0], 1), q.denominator)
            elif e.op is not POW:
                plain[e] = None
        shared = {m for base, m in exponents if base is None}
        self.hyperbolic_as_powers = set()
        for (kind, m), found in list(angles.items()):
            if kind == HYPERBOLIC and m in shared:
                exponents[None, m] |= found
                self.hyperbolic_as_powers.add(m)
                del angles[kind, m]
        self.units = {key: common_unit(found) for key, found in exponents.items()}
        self.steps = {key: abs(common_unit(found)) for key, found in angles.items()}
        if len(plain) + len(self.units) + len(angles) + len(radicands) > MAX_GENERATORS:
            raise OutOfBudgetError("too many generators")
        self._plain, self.radicands = tuple(plain), radicands
        self.added = self._added() if any(base is None for base, _ in self.units) else set()
        self.signature = (
            frozenset(plain), frozenset(self.units.items()), frozenset(self.steps.items()),
            frozenset(radicands.items()), frozenset(self.hyperbolic_as_powers),
        )  # fmt: skip

    def _added(self) -> set[Expr]:
        """The directions of exponentials that some terms of a sum have and others have not, or to
        another power: only those have hyperbolic functions."""
        found = set(self.hyperbolic_as_powers)
        for e in self.nodes:
            if e.op is EXPM1:
                found |= set(self.parts[None, e.args[0]])
            if e.op not in (ADD, SUB):
                continue
            rows: list[dict[Expr, Fraction]] = []
            for _, term in terms(e):
                row: dict[Expr, Fraction] = {}
                for base, exponent in factors(term)[1]:
                    if base.op is EXP and (q := ir.rational(exponent)) is not None:
                        for m, c in self.parts.get((None, base.args[0]), {}).items():
                            row[m] = row.get(m, Fraction(0)) + q * c
                rows.append(row)
            for m in {m for row in rows for m in row}:
                if len({row.get(m) for row in rows}) > 1:
                    found.add(m)
        return found

    def allocate(self) -> None:
        """Give each generator a symbol."""
        plain, radicands = self._plain, self.radicands
        added = sum(base is None and m in self.added for base, m in self.units)
        count = len(plain) + len(self.units) + 8 * added + len(self.steps) * 8 + len(radicands)
        self.ring = Ring(_anonymous(max(count, 1)))
        self.gens = self.ring.gens
        self.index = {name: i for i, name in enumerate(self.ring.names)}
        self.plain = {e: self._symbol(e) for e in plain}
        self.exps: dict[tuple[Expr | None, Expr], Any] = {}
        for key, unit in self.units.items():
            symbol = self._symbol(None)
            self.exps[key] = symbol
            self.powers[len(self.columns) - 1] = (*key, unit)
            if key[0] is None and key[1] in self.added:
                self._angle(times(unit, key[1], self.formulas), HYPERBOLIC, symbol)
        self.turns = {
            key: self._angle(times(step, key[1], self.formulas), key[0])
            for key, step in self.steps.items()
        }
        self.substituted: dict[Expr, Any] = {}
        for base, n in radicands.items():
            symbol = self._symbol(ir.raw(POW, (base, ir.const(Fraction(1, n)))))
            if base in self.plain:
                self.substituted[base] = symbol, n
            self.roots[base] = Root(base, n, symbol, self.ring.const(Fraction(0)))

    def _directions(self) -> dict[tuple[Expr | int | None, Expr], Parts]:
        """Exponents, by base, and angles, by kind, as combinations of what they are multiples
        of. Hyperbolic angles are exponents as well."""
        groups: dict[Expr | int | None, dict[Expr, None]] = {}
        for e in self.nodes:
            if (split := exponential(e, (EXP, EXPM1))) is not None:
                groups.setdefault(split[0], {})[split[1]] = None
            elif (kind := _kind(e)) is not None:
                groups.setdefault(None if kind == HYPERBOLIC else kind, {})[e.args[0]] = None
        return {
            (group, u): found
            for group, arguments in groups.items()
            for u, found in directions(arguments, _values).items()
        }

    def _turn(self, u: Expr, kind: int) -> tuple[Fraction, Expr]:
        """An angle as a multiple of another one."""
        found = self.parts[None if kind == HYPERBOLIC else kind, u]
        if len(found) == 1 and ONE not in found:
            ((m, c),) = found.items()
            return c, m
        return _multiple(u)

    def _symbol(self, e: Expr | None) -> Any:
        self.columns.append(e)
        return self.gens[len(self.columns) - 1]

    def _angle(self, of: Expr, kind: int, exponential: Any = None) -> Angle:
        sine, cosine, tangent = (SIN, COS, TAN) if kind == CIRCULAR else (SINH, COSH, TANH)
        half, double = (times(q, of, self.formulas) for q in (Fraction(1, 2), Fraction(2)))
        made = [
            sine(of), cosine(of), tangent(of), tangent(half), sine(half), cosine(half),
            sine(double), cosine(double),
        ]  # fmt: skip
        s, c, t, h, sh, ch, s2, c2 = (self._symbol(in_phase(e)) for e in made)
        angle = Angle(of, kind, s, c, t, h, sh, ch, s2, c2, exponential)
        self.angles.append(angle)
        return angle

    # ------------------------------------------------------------------- values
    def value(self, e: Expr) -> Factored:
        """A node of the window as a quotient of polynomials."""
        for node in window(e):
            if node not in self.values:
                self.values[node] = self._value(node)
        return self.values[e]

    def _value(self, e: Expr) -> Factored:
        ring, op = self.ring, e.op
        if (q := ir.rational(e)) is not None:
            return ring.const(q)
        args = [self.values[a] for a in inside(e)]
        if op is ADD:
            return ring.add(*args)
        if op is SUB:
            return ring.add(args[0], ring.neg(args[1]))
        if op is NEG:
            return ring.neg(args[0])
        if op is MUL:
            return ring.mul(*args)
        if op is DIV:
            return ring.div(*args)
        if op is POW and (q := ir.rational(e.args[1])) is not None:
            return self._power(e.args[0], q, args[0])
        if (split := exponential(e, (EXP, EXPM1))) is not None:
            return self._exponential(e, split)
        if (kind := _kind(e)) is not None:
            return self._turned(e, kind)
        if e in self.substituted:
            symbol, n = self.substituted[e]
            return ring.pow(ring.of(symbol), n)
        return ring.of(self.plain[e])

    def _power(self, base: Expr, q: Fraction, value: Factored) -> Factored:
        if abs(q) > MAX_POWER:
            raise OutOfBudgetError("the power is too high")
        if q.denominator == 1:
            return self.ring.pow(value, int(q))
        root = self.roots[base]
        if root.square.unit == 0:
            self.roots[base] = Root(base, root.n, root.symbol, value)
        return self.ring.pow(self.ring.of(root.symbol), int(q * root.n))

    def _exponential(self, e: Expr, split: tuple[Expr | None, Expr]) -> Factored:
        ring = self.ring
        value = ring.const(Fraction(1))
        for m, c in self.parts[split].items():
            if m is ONE and e.op is POW and _has_integer(e):
                value = ring.mul(value, ring.pow(self.values[e.args[0]], int(c)))
                continue
            if _is_power(split[0], m, c):
                base = split[0]
                assert base is not None
                if base in self.substituted:
                    symbol, n = self.substituted[base]
                    factor = ring.pow(ring.of(symbol), n * int(c))
                else:
                    factor = ring.pow(ring.of(self.plain[base]), int(c))
                value = ring.mul(value, factor)
                continue
            k = c / self.units[split[0], m]
            if k.denominator != 1 or abs(k) > MAX_POWER:
                raise OutOfBudgetError("the power is too high")
            value = ring.mul(value, ring.pow(ring.of(self.exps[split[0], m]), int(k)))
        return ring.add(value, ring.const(Fraction(-1))) if e.op is EXPM1 else value

    def _turned(self, e: Expr, kind: int) -> Factored:
        ring = self.ring
        c, m = self._turn(e.args[0], kind)
        if kind == HYPERBOLIC and m in self.hyperbolic_as_powers:
            return self._in_powers(e, c, m)
        angle = self.turns[kind, m]
        k = c / self.steps[kind, m]
        if k.denominator != 1 or abs(k) > MAX_MULTIPLE:
            raise OutOfBudgetError("the angle is too large")
        if e.op in (TAN, TANH) and k == 1:
            return ring.div(ring.of(angle.s), ring.of(angle.c))
        cosine, sine = self.ring.const(Fraction(1)), self.ring.const(Fraction(0))
        one = ring.of(angle.c), ring.of(angle.s)
        for _ in range(abs(int(k))):
            lost = ring.mul(sine, one[1])
            cosine, sine = (
                ring.add(ring.mul(cosine, one[0]), lost if kind < 0 else ring.neg(lost)),
                ring.add(ring.mul(sine, one[0]), ring.mul(cosine, one[1])),
            )
        if k < 0:
            sine = ring.neg(sine)
        if e.op in (TAN, TANH):
            return ring.div(sine, cosine)
        return sine if e.op in (SIN, SINH) else cosine

    def _in_powers(self, e: Expr, c: Fraction, m: Expr) -> Factored:
        ring, k = self.ring, c / self.units[None, m]
        if k.denominator != 1 or abs(k) > MAX_POWER:
            raise OutOfBudgetError("the power is too high")
        up = ring.pow(ring.of(self.exps[None, m]), int(k))
        down = ring.pow(up, -1)
        plus, minus = ring.add(up, down), ring.add(up, ring.neg(down))
        if e.op is TANH:
            return ring.div(minus, plus)
        return ring.mul(ring.const(Fraction(1, 2)), plus if e.op is COSH else minus)

    # ----------------------------------------------------------- what is known
    def known(self) -> dict[str, list[Expr]]:
        """The sums of the window as they are written, by their polynomials."""
        if self._known is None:
            self._known = {}
            for e in self.nodes:
                if e.op in (ADD, SUB) and (value := self.values.get(e)) is not None:
                    if len(value.factors) == 1:
                        ((key, (base, n)),) = value.factors.items()
                        if n == 1 and len(base) > 1:
                            self._known.setdefault(key, []).append(e)
        return self._known


# ---------------------------------------------------------------------- reading
def _values(arguments: list[Expr]) -> tuple[Ring, list[Factored]]:
    """Some formulas as quotients of polynomials in one ring."""
    whole = arguments[0]
    for u in arguments[1:]:
        whole = ir.raw(ADD, (whole, u))
    frame = Frame(whole)
    return frame.ring, [frame.value(u) for u in arguments]


def _is_power(base: Expr | None, m: Expr, c: Fraction) -> bool:
    """Whether a part of an exponent is an integer, and the base a symbol."""
    return m is ONE and c.denominator == 1 and base is not None and base.op is VAR


def _kind(e: Expr) -> int | None:
    if e.op in (SIN, COS, TAN):
        return CIRCULAR
    return HYPERBOLIC if e.op in (SINH, COSH, TANH) else None


def _multiple(u: Expr) -> tuple[Fraction, Expr]:
    """An angle as a rational multiple of what has the factor 1."""
    q, rest = ir.scaled(u)
    if rest.op is DIV:
        top, below = ir.scaled(rest.args[0])
        under, bottom = ir.scaled(rest.args[1])
        if under != 0:
            q, rest = q * top / under, ir.div(below, bottom)
            if rest.op is MUL and (r := ir.rational(rest.args[0])) is not None:
                q, rest = q * r, rest.args[1]
    if rest.op is DIV and (n := ir.rational(rest.args[0])) is not None and n != 1:
        q, rest = q * n, ir.div(ONE, rest.args[1])
    return q, rest


__all__ = ["CIRCULAR", "HYPERBOLIC", "VAR", "Angle", "Frame", "Root", "window"]
