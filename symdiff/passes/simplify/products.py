"""Products: what they are as formulas, and about how long they get.

Before:  1/2, {x: 2}, [(x + 1, -1)]
After:   x**2/(2*(x + 1))
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from symdiff import ir
from symdiff.ir import ZERO, Expr
from symdiff.ir.formula_text import terms
from symdiff.ir.functions import EXP
from symdiff.passes.cancel.rational import Factored, fraction
from symdiff.passes.simplify.costs import Budget, Costs
from symdiff.passes.simplify.directions import gathered, times
from symdiff.passes.simplify.frame import Frame
from symdiff.passes.simplify.pieces import is_number, joined, multiplied, negated, roots_of_numbers

Around = tuple[int, int, int]
"""Operations of some factors, how many are above the line, how many below."""
NOTHING: Around = (0, 0, 0)
Rows = list[tuple[dict[int, int], Fraction]]
"""The terms of a polynomial: the powers of its symbols, and their coefficients."""

_ONE, _TWO = ir.ONE.value, Fraction(2)


class Products:
    """Writes products of numbers, powers of the symbols of a frame, and formulas."""

    def __init__(self, frame: Frame, costs: Costs, budget: Budget, cautious: bool = False) -> None:
        self.cautious = cautious  # nothing is divided that may vanish
        self.frame, self.ring, self.costs, self.budget = frame, frame.ring, costs, budget
        self._literals = costs.formulas.literals
        self._exponents: dict[tuple[Fraction, Expr], Expr] = {}
        self._columns: dict[int, tuple[Expr, Fraction | int]] = {}
        self._sides: dict[tuple[int, int], tuple[int, bool]] = {}
        self._made: dict[Any, Expr] = {}
        self._sums: dict[Expr, Expr] = {}
        self._rough: dict[str, tuple[int, dict[int, int]]] = {}
        self._rows: dict[str, Rows] = {}

    def rows(self, p: Any, key: str | None = None) -> Rows:
        """The terms of a polynomial: powers of symbols, and coefficients."""
        key = str(p) if key is None else key
        found = self._rows.get(key)
        if found is None:
            found = self._rows[key] = [
                ({i: int(n) for i, n in enumerate(m) if n}, fraction(c)) for m, c in p.terms()
            ]
        return found

    def rough(self, value: Factored) -> int:
        """A rough number of operations of a value, without writing it: its sums as they are."""
        count = over = under = 0
        singles: dict[int, int] = {}
        for key, (base, n) in value.factors.items():
            known = self._rough.get(key)
            if known is None:
                known = self._rough[key] = self._rough_sum(base, key)
            if known[1]:
                for i, k in known[1].items():
                    singles[i] = k * n
                continue
            count += known[0] + (n not in (1, -1))
            over += n > 0
            under += n < 0
        return self.size(value.unit, singles, (count, over, under)) + (value.unit.numerator < 0)

    def _rough_sum(self, base: Any, key: str) -> tuple[int, dict[int, int]]:
        """The operations of a sum as it is; the powers of one term."""
        rows = self.rows(base, key)
        if len(rows) == 1:
            return 0, rows[0][0]
        count = len(rows) - 1
        for powers, c in rows:
            count += self.size(_ONE if c is _ONE or c == -1 else _TWO, powers)
        return count, {}

    def size(self, unit: Fraction, singles: dict[int, int], around: Around = NOTHING) -> int:
        """The operations of a product without its sign, without writing it; powers of one base
        that are different symbols count separately."""
        count, over, under = around
        for i, n in singles.items():
            if n:
                length, below = self._side(i, n)
                count += length
                if below:
                    under += 1
                else:
                    over += 1
        if unit is not _ONE:
            if self._literals:
                top, bottom = self.costs.formulas.quotient(abs(unit))
                over += top != "1"
                under += bottom != "1"
            else:
                over += unit.numerator not in (1, -1)
                under += unit.denominator != 1
        return count + under + (over - 1 if over else 0)

    def around(self, factors: Iterable[tuple[Expr, int]]) -> Around:
        """Formulas to some powers as a part of a product: their operations, how many are above
        the line, and how many below it."""
        count = over = under = 0
        for e, n in factors:
            count += self.costs.length(e) + (n not in (1, -1))
            if n > 0:
                over += 1
            else:
                under += 1
        return count, over, under

    def _side(self, i: int, n: int) -> tuple[int, bool]:
        """The operations of a power of a symbol, and whether it is below the fraction bar."""
        found = self._sides.get((i, n))
        if found is None:
            e = self.assembled(_ONE, {i: n}, [])
            below = e.op is ir.DIV and e.args[0] is ir.ONE
            found = self.costs.length(e.args[1] if below else e), below
            self._sides[i, n] = found
        return found

    def length_of(self, i: int) -> int:
        """The operations of a symbol."""
        return self._side(i, 1)[0]

    def assembled(
        self, unit: Fraction, singles: dict[int, int], others: Sequence[tuple[Expr, Fraction | int]]
    ) -> Expr:
        """The product of a number, powers of symbols and powers of formulas."""
        if others:
            return self._assembled(unit, singles, others)
        key = unit.numerator, unit.denominator, *sorted(singles.items())
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = self._assembled(unit, singles, others)
        return found

    def _assembled(
        self, unit: Fraction, singles: dict[int, int], others: Sequence[tuple[Expr, Fraction | int]]
    ) -> Expr:
        exponents, symbolic, natural = self._collected(singles, others)
        if len(exponents) > 1 and any(is_number(b) for b in exponents):
            unit = roots_of_numbers(exponents, unit)
        over: list[Expr] = []
        under: list[Expr] = []
        for base, known in exponents.items():
            if base in symbolic:
                symbolic[base] = ir.add(symbolic[base], ir.const(known))
            elif base.op is ir.CONST and known.denominator == 1:
                number = ir.rational(base)
                assert number is not None
                unit *= number ** int(known)
            elif known.numerator < 0:
                under.append(base if known == -1 else ir.power(base, ir.const(-known)))
            elif known:
                over.append(base if known == 1 else ir.power(base, ir.const(known)))
        for base, exponent in symbolic.items():
            if base.op is ir.CONST and (n := _whole_part(exponent)):
                unit, more = joined(unit, base, n)
                exponent = ir.add(exponent, ir.const(more - n))
            if self.costs.formulas.starts_with_minus(exponent):
                under.append(ir.power(base, negated(exponent)))
            else:
                over.append(ir.power(base, exponent))
        if natural is not ZERO:
            sums = natural.op in (ir.ADD, ir.SUB)
            over.append(EXP(self._gathered(natural) if sums else natural))
        return _quotient(unit, multiplied(over), multiplied(under))

    def _collected(
        self, singles: dict[int, int], others: Sequence[tuple[Expr, Fraction | int]]
    ) -> tuple[dict[Expr, Fraction | int], dict[Expr, Expr], Expr]:
        """The bases with exponents, those with formulas as exponents, and the exponent of e."""
        exponents: dict[Expr, Fraction | int] = {}
        symbolic: dict[Expr, Expr] = {}
        natural = ZERO
        for i, n in sorted(singles.items()):
            power = self.frame.powers.get(i)
            if power is not None:
                base, m, step = power
                exponent = self._exponent(step * n, m)
                if base is None:
                    natural = ir.add(natural, exponent)
                else:
                    symbolic[base] = ir.add(symbolic.get(base, ZERO), exponent)
                continue
            base, q = self._column(i)
            exponents[base] = exponents.get(base, 0) + n * q
        for e, k in others:
            if e.op is ir.POW and (inner := ir.rational(e.args[1])) is not None:
                e, k = e.args[0], inner * k
            exponents[e] = exponents.get(e, 0) + k
        return exponents, symbolic, natural

    def _gathered(self, u: Expr) -> Expr:
        found = self._sums.get(u)
        if found is None:
            found = self._sums[u] = gathered(u, self.costs.formulas)
        return found

    def _exponent(self, q: Fraction, m: Expr) -> Expr:
        """A multiple of a direction."""
        found = self._exponents.get((q, m))
        if found is None:
            found = self._exponents[q, m] = times(q, m, self.costs.formulas)
        return found

    def _column(self, i: int) -> tuple[Expr, Fraction | int]:
        """A symbol of the ring as a base and its exponent."""
        found = self._columns.get(i)
        if found is None:
            e = self.frame.columns[i]
            assert e is not None
            q = ir.rational(e.args[1]) if e.op is ir.POW else None
            found = self._columns[i] = (e, 1) if q is None else (e.args[0], q)
        return found


def _quotient(unit: Fraction, top: Expr, bottom: Expr) -> Expr:
    """A number times a quotient."""
    if unit is _ONE:
        return ir.div(top, bottom)
    if unit.numerator not in (1, -1):
        top = ir.mul(ir.const(abs(unit.numerator)), top)
    if unit.denominator != 1:
        bottom = ir.mul(ir.const(unit.denominator), bottom)
    made = ir.div(top, bottom)
    return ir.neg(made) if unit.numerator < 0 else made


def _whole_part(exponent: Expr) -> int:
    """The integer that an exponent adds."""
    return sum(sign * (ir.integer(term) or 0) for sign, term in terms(exponent))
