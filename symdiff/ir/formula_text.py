"""Formulas as a person writes them, straight from nodes, and how long they are.

Before:  add(mul(-1, y), x), div(mul(2, x), y)
After:   x - y, 2*x/y

Requires: any DAG.
Ensures: the text is in the grammar of the command line and has the value of the node: only sums,
products and signs are put in the order in which a person writes them. `length` counts the
operations of the text: binary operations, signs and calls.

The order is that of polynomials: terms by falling powers of the first symbol, then of the
next; in products numbers, symbols, sums, functions.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from symdiff import ir
from symdiff.ir import (
    ADD,
    AND,
    BOOL,
    CONST,
    DIV,
    EQ,
    HALF,
    LE,
    LT,
    MUL,
    NEG,
    NOT,
    ONE,
    OR,
    POW,
    SUB,
    VAR,
    WHERE,
    Expr,
)
from symdiff.ir.functions import EXTREMES, LN2, LN10, MAXIMA, PI, POLYGAMMA, UNIT

SUM, PRODUCT, POWER, ATOM = range(4)
"""How tightly a text binds."""

NAMES: dict[str, str] = {op.name: "max" if op in MAXIMA else "min" for op in EXTREMES}
"""Functions whose name in the grammar differs from that of their operation."""

_RELATIONS = {LT: ("<", ">", ">="), LE: ("<=", ">=", ">"), EQ: ("==", "==", "!=")}
"""A comparison, the same with its sides exchanged, and its opposite."""

FEW, DECIMALS = 10, 10**9
"""Quotients with a denominator above the first that divides the second are written as decimals:
only decimals have denominators such as 20 or 500."""
DEEP = 100
"""Formulas that are nested deeper are measured without recursion."""
HALVES = (2, 4, 8)
"""Quotients with these denominators are decimals where such a decimal was given: 1.5."""
LONG = 14
"""Longer decimals are written as quotients of shorter ones, if those were given."""
FRACTION = 12
"""Digits of a quotient that is written as a quotient and is not a double."""
SHORT = 1000
"""Quotients with larger denominators are written as doubles, if they are doubles."""


class Form(NamedTuple):
    """The text of a node without its sign, how tightly that binds, its operations without the
    sign, and whether the sign is a minus."""

    text: str
    level: int
    size: int
    negative: bool = False

    @property
    def signed(self) -> str:
        """The text with its sign."""
        return "-" + self.text if self.negative else self.text

    @property
    def length(self) -> int:
        """The operations of the text with its sign."""
        return self.size + self.negative

    def at(self, level: int) -> str:
        """The text as an operand that must bind at least this tightly."""
        bare = self.level >= level and not self.negative
        return self.text if bare else f"({self.signed})"


Size = tuple[int, bool, bool]
"""Operations without the sign, whether the sign is a minus, and whether a sum begins with one."""
Factors = list[tuple[Expr, Expr]]
"""Bases and exponents."""
_UNIT: Fraction = ONE.value
_MINUS = ir.const(-1)


def terms(e: Expr) -> list[tuple[int, Expr]]:
    """The terms of a sum, each with its sign."""
    found: list[tuple[int, Expr]] = []
    stack = [(1, e)]
    while stack:
        sign, node = stack.pop()
        if node.op is ADD or node.op is SUB:
            stack.append((-sign if node.op is SUB else sign, node.args[1]))
            stack.append((sign, node.args[0]))
        elif node.op is NEG:
            stack.append((-sign, node.args[0]))
        else:
            found.append((sign, node))
    return found


def factors(e: Expr) -> tuple[Fraction, Factors]:
    """A product as a number, and bases with their exponents, in the order they are written."""
    unit, found = _UNIT, Factors()
    stack = [(1, e)]
    while stack:
        side, node = stack.pop()
        if node.op is MUL or node.op is DIV:
            stack.append((-side if node.op is DIV else side, node.args[1]))
            stack.append((side, node.args[0]))
        elif node.op is NEG:
            unit = -unit
            stack.append((side, node.args[0]))
        elif (q := ir.rational(node)) is not None and (q or side > 0):
            unit = unit * q if side > 0 else unit / q
        else:
            base, exponent = node.args if node.op is POW else (node, ONE)
            if side < 0:
                exponent = _MINUS if exponent is ONE else ir.neg(exponent)
            found.append((base, exponent))
    return unit, found


def of_terms(found: Iterable[tuple[int, Expr]]) -> Expr:
    """The sum of terms with their signs."""
    total: Expr = ir.ZERO
    for sign, term in found:
        total = ir.add(total, term) if sign > 0 else ir.sub(total, term)
    return total


def of_factors(unit: Fraction, found: Iterable[tuple[Expr, Expr]]) -> Expr:
    """The product of a number, and of bases with their exponents."""
    return ir.product([ir.const(unit), *(ir.power(base, exponent) for base, exponent in found)])


def tree_sizes(outputs: Iterable[Expr]) -> dict[Expr, int]:
    """The number of operations of each node, written out as a tree; it is capped at 10**9."""
    size: dict[Expr, int] = {}
    for e in ir.topological(outputs):
        size[e] = min(sum(size[a] for a in e.args) + (1 if e.args else 0), 10**9)
    return size


class Formulas:
    """The texts of nodes, each made once. A text is as long as the node as a tree, which may
    be exponential in the number of nodes: call `tree_sizes` first if the size is unknown."""

    def __init__(self, literals: Sequence[Fraction] = ()) -> None:
        self.literals = literals  # decimals: with any, numbers are written as decimals
        self._halves = any(q.denominator in HALVES for q in literals)
        self.known: dict[Expr, Form] = {}
        self._keys: dict[Expr, tuple[Any, ...]] = {}
        self._sizes: dict[Expr, Size] = {}
        self._depth = 0

    def text(self, e: Expr) -> str:
        """The text of a node."""
        return self.of(e).signed

    def length(self, e: Expr) -> int:
        """How many operations its text has, computed without the text."""
        found = self._sizes.get(e)
        if found is None:
            found = self._measured(e)
        return found[0] + found[1]

    def size(self, e: Expr) -> int:
        """How many operations its text has, without a sign in front of a product."""
        found = self._sizes.get(e)
        return (self._measured(e) if found is None else found)[0]

    def negative(self, e: Expr) -> bool:
        """Whether the text has a sign in front of a product."""
        found = self._sizes.get(e)
        return (self._measured(e) if found is None else found)[1]

    def starts_with_minus(self, e: Expr) -> bool:
        """Whether the first character of the text is a minus."""
        found = self._sizes.get(e) or self._measured(e)
        return found[1] or found[2]

    def of(self, e: Expr) -> Form:
        """The text of a node, and what its use in other texts needs."""
        found = self.known.get(e)
        if found is None:
            if self._depth >= DEEP:  # made from below, not by recursion
                for node in ir.topological((e,), self.known):
                    if node not in self.known:
                        self.known[node] = self._form(node)
                return self.known[e]
            self._depth += 1
            try:
                found = self.known[e] = self._form(e)
            finally:
                self._depth -= 1
        return found

    def _form(self, e: Expr) -> Form:
        op = e.op
        if op is VAR:
            return Form(str(e.value), ATOM, 0)
        if op is CONST:
            return self._number(e)
        if op is BOOL:
            return Form(str(e.value), ATOM, 0)
        if op in (ADD, SUB):
            return self._sum(e)
        if op in (MUL, DIV, NEG, POW):
            return self._product(e)
        if op.boolean:
            return self._condition(e)
        return self._function(e)

    # ------------------------------------------------------------------ numbers
    def _number(self, e: Expr) -> Form:
        if not isinstance(e.value, Fraction):
            return Form("nan" if math.isnan(e.value) else "inf", ATOM, 0, e.value < 0)
        over, under = self.quotient(abs(e.value))
        negative = e.value < 0
        if under == "1":
            return Form(over, ATOM, 0, negative)
        return Form(f"{over}/{under}", PRODUCT, 1, negative)

    # --------------------------------------------------------------------- sums
    def _sum(self, e: Expr) -> Form:
        members = [(sign, node, self.of(node)) for sign, node in terms(e)]
        if len(members) > 1:
            keys = self._monomials([node for _, node, _ in members])
            members = [m for _, m in sorted(zip(keys, members, strict=True), key=lambda k: k[0])]
        signs = [(sign < 0) is not form.negative for sign, _, form in members]
        if signs[0] and not all(signs):  # a positive term first, if there is one
            first = signs.index(False)
            members.insert(0, members.pop(first))
            signs.insert(0, signs.pop(first))
        count = sum(form.size for _, _, form in members) + len(members) - 1
        text = ""
        for minus, (_, _, form) in zip(signs, members, strict=True):
            shown = form.text if form.level > SUM else f"({form.text})"
            text += (" - " if minus else " + ") + shown
        text = "-" + text[3:] if signs[0] else text[3:]
        return Form(text, SUM, count + signs[0])

    def _monomials(self, nodes: list[Expr]) -> list[Any]:
        """Keys that put the terms of a sum in order."""
        rows: list[dict[Expr, Fraction | int]] = []
        for node in nodes:
            row: dict[Expr, Fraction | int] = {}
            for base, exponent in factors(node)[1]:
                q: Fraction | int | None = 1 if exponent is ONE else ir.rational(exponent)
                if q is None:
                    base, q = ir.power(base, exponent), 1
                elif q.denominator == 1:
                    q = q.numerator
                row[base] = row.get(base, 0) + q
            rows.append(row)
        gens = sorted({b for row in rows for b in row}, key=self._rank)
        return [
            (*(-row.get(g, 0) for g in gens), self.of(node).text)
            for row, node in zip(rows, nodes, strict=True)
        ]

    def _rank(self, e: Expr) -> tuple[Any, ...]:
        """Symbols, then sums, then functions."""
        key = self._keys.get(e)
        if key is None:
            base, exponent = e.args if e.op is POW else (e, ONE)
            kind = 0 if not base.args else 1 if base.op in (ADD, SUB) else 2
            if not base.args and base.op is not VAR:
                kind = -1  # numbers, pi
            key = kind, self.of(base).text, self.of(exponent).text
            self._keys[e] = key
        return key

    # ----------------------------------------------------------------- products
    def _product(self, e: Expr) -> Form:
        unit, found = factors(e)
        found = _gathered(found)
        if not found:
            return self._number(ir.const(unit))
        found.sort(key=lambda f: (self._rank(f[0]), self.of(f[1]).text))
        over: list[Form] = []
        under: list[Form] = []
        negative = unit < 0
        for base, exponent in found:
            inverse = self._inverse(exponent)
            if inverse is None:
                made = self._power(base, exponent)
                over.append(made)
            else:
                made = self._power(base, inverse)
                under.append(made)
            negative ^= made.negative
        top, bottom = self.quotient(abs(unit))
        if top != "1":
            over.insert(0, Form(top, ATOM, 0))
        if bottom != "1":
            under.insert(0, Form(bottom, ATOM, 0))
        if not under and len(over) == 1:
            (only,) = over
            if negative and only.level == SUM:
                return Form(f"({only.text})", ATOM, only.size, True)
            return only._replace(negative=negative)
        count = sum(f.size for f in (*over, *under)) + max(len(over) - 1, 0)
        text = "*".join(f.text if f.level >= PRODUCT else f"({f.text})" for f in over) or "1"
        if under:
            count += len(under)
            below = "*".join(f.text if f.level > PRODUCT else f"({f.text})" for f in under)
            text += f"/({below})" if len(under) > 1 else f"/{below}"
        return Form(text, PRODUCT, count, negative)

    def quotient(self, q: Fraction) -> tuple[str, str]:
        """Numerator and denominator of a number: `96485/8.314` rather than 48242500/4157, and
        `2.1` for 21/10 where there are decimals."""
        if self.literals and (
            (q.denominator % 5 == 0 and DECIMALS % q.denominator == 0)
            or (self._halves and q.denominator in HALVES)
        ):
            return f"{Decimal(q.numerator) / q.denominator:f}", "1"
        over, under = _quotient(q)
        if self.literals and q.denominator > FEW and (under != "1" or len(over) > LONG):
            for literal in self.literals:
                top, rest = _quotient(q * literal)
                bottom = _quotient(literal)
                if rest == bottom[1] == "1" and len(top) + len(bottom[0]) < len(over) + len(under):
                    return top, bottom[0]
        return over, under

    def _inverse(self, exponent: Expr) -> Expr | None:
        """The exponent of a factor in the denominator; None if it belongs to the numerator."""
        if exponent is ONE:
            return None
        if exponent is _MINUS:
            return ONE
        if exponent.op is CONST:
            q = ir.rational(exponent)
            return ir.const(-q) if q is not None and q.numerator < 0 else None
        if exponent.op is NEG:
            return exponent.args[0]
        return None

    def _power(self, base: Expr, exponent: Expr) -> Form:
        b = self.of(base)
        if exponent is ONE:
            return b
        if exponent is HALF:
            return Form(f"sqrt({b.signed})", ATOM, b.length + 1)
        x = self.of(exponent)
        shown = b.text if b.level == ATOM and not b.negative else f"({b.signed})"
        power = x.text if x.level == ATOM and not x.negative else f"({x.signed})"
        return Form(f"{shown}**{power}", POWER, b.length + x.length + 1)

    # ---------------------------------------------------------------- lengths
    def _measured(self, e: Expr) -> Size:
        """The lengths that `_form` gives, without texts and their order."""
        if self._depth >= DEEP:  # measured from below, not by recursion
            for node in ir.topological((e,), self._sizes):
                if node not in self._sizes:
                    self._sizes[node] = self._size(node)
            return self._sizes[e]
        self._depth += 1
        try:
            found = self._sizes[e] = self._size(e)
        finally:
            self._depth -= 1
        return found

    def _size(self, e: Expr) -> Size:
        op = e.op
        if op is VAR or op is BOOL:
            return 0, False, False
        if op in (ADD, SUB):
            return self._size_of_sum(e)
        if op in (MUL, DIV, NEG, POW):
            return self._size_of_product(e)
        if not op.boolean and op is not CONST and e.args and op not in (POLYGAMMA, UNIT):
            count = 1
            for a in _arguments(e):
                size, negative, _ = self._sizes[a] if a in self._sizes else self._measured(a)
                count += size + negative
            return count, False, False
        form = self.of(e)
        return form.size, form.negative, form.level == SUM and form.text.startswith("-")

    def _size_of_sum(self, e: Expr) -> Size:
        count, least = -1, True
        for sign, node in terms(e):
            size, negative, _ = self._sizes[node] if node in self._sizes else self._measured(node)
            count += size + 1
            if (sign < 0) is negative:
                least = False
        return count + least, False, least

    def _size_of_product(self, e: Expr) -> Size:
        unit, found = factors(e)
        found = _gathered(found)
        count, over, under, negative = 0, 0, 0, unit.numerator < 0
        for base, exponent in found:
            inverse = self._inverse(exponent)
            size, minus, begins = self._sizes[base] if base in self._sizes else self._measured(base)
            x = exponent if inverse is None else inverse
            if x is not ONE:
                below, sign, _ = self._sizes[x] if x in self._sizes else self._measured(x)
                size += minus + 1 + (0 if x is HALF else below + sign)
                minus = begins = False
            negative ^= minus
            count += size
            if inverse is None:
                over += 1
            else:
                under += 1
        if not found:
            form = self._number(ir.const(unit))
            return form.size, form.negative, False
        if unit.denominator == 1:
            over += unit.numerator not in (1, -1)
        else:
            top, bottom = self.quotient(abs(unit))
            over += top != "1"
            under += bottom != "1"
        if not under and over == 1:
            return count, negative, begins and not negative
        return count + max(over - 1, 0) + under, negative, False

    # ---------------------------------------------------- functions, conditions
    def _function(self, e: Expr) -> Form:
        op, args = e.op, [self.of(a) for a in _arguments(e)]
        if op is WHERE:
            return self._call("where", args)
        if op is PI:
            return Form("pi", ATOM, 0)
        if op is LN2 or op is LN10:
            return Form("log(2)" if op is LN2 else "log(10)", ATOM, 1)
        if op is POLYGAMMA and e.args[0] is ir.ZERO:
            return self._call("digamma", args[1:])
        if op is UNIT:
            return self._product(ir.raw(DIV, e.args))
        return self._call(NAMES.get(op.name, op.name), args)

    def _call(self, name: str, args: list[Form]) -> Form:
        text = f"{name}({', '.join(a.signed for a in args)})"
        return Form(text, ATOM, sum(a.length for a in args) + 1)

    def _condition(self, e: Expr) -> Form:
        args = [self.of(a) for a in e.args]
        count = sum(a.length for a in args) + 1
        if e.op in _RELATIONS:
            return Form(self._relation(e, False), SUM, count)
        if e.op is NOT:
            inner = e.args[0]
            if inner.op in _RELATIONS:
                return Form(self._relation(inner, True), SUM, count - 1)
            return Form(f"not ({args[0].text})", SUM, count)
        if e.op in (AND, OR):
            word = " and " if e.op is AND else " or "
            parts = [
                a.text if n.op in (*_RELATIONS, e.op) or _is_opposite(n) else f"({a.text})"
                for n, a in zip(e.args, args, strict=True)
            ]
            return Form(word.join(parts), SUM, count)
        return self._call(e.op.name, args)

    def _relation(self, e: Expr, opposite: bool) -> str:
        same, turned, other = _RELATIONS[e.op]
        left, right = e.args
        if left.op is CONST and right.op is not CONST:  # `x > 0` rather than `0 < x`
            sign = turned if not opposite else {"<": "<=", "<=": "<", "==": "!="}[same]
            left, right = right, left
        else:
            sign = other if opposite else same
        return f"{self.text(left)} {sign} {self.text(right)}"


def _arguments(e: Expr) -> Sequence[Expr]:
    """The arguments of a function as written: `max(x, y, z)` is `max(max(x, y), z)`."""
    if e.op not in EXTREMES or e.args[0].op is not e.op:
        return e.args
    found: list[Expr] = []
    while e.op is (first := e.args[0]).op:
        found.append(e.args[1])
        e = first
    return *e.args, *reversed(found)


def _gathered(found: Factors) -> Factors:
    """With the integer powers of a base in the numerator, or in the denominator, as one factor."""
    if len({base for base, _ in found}) == len(found):
        return found
    integers: dict[tuple[Expr, bool], int] = {}
    rest = Factors()
    for base, exponent in found:
        n = ir.integer(exponent)
        if n is None:
            rest.append((base, exponent))
        else:
            key = base, n > 0
            integers[key] = integers.get(key, 0) + n
    return [(base, ir.const(n)) for (base, _), n in integers.items()] + rest


def _is_opposite(e: Expr) -> bool:
    return e.op is NOT and e.args[0].op in _RELATIONS


def _quotient(q: Fraction) -> tuple[str, str]:
    """Numerator and denominator of a number that is not negative, as texts."""
    if q.denominator > FEW and q.denominator % 5 == 0 and DECIMALS % q.denominator == 0:
        if 1 < q.numerator < 10**15:
            return f"{Decimal(q.numerator) / q.denominator:f}", "1"
    if q.denominator <= SHORT or (10**12 % q.denominator == 0 and q.denominator % 5 == 0):
        return str(q.numerator), str(q.denominator)
    try:
        double = float(q)
    except OverflowError:
        double = math.inf
    if Fraction(double) == q if math.isfinite(double) else False:
        return repr(double), "1"
    over, under = str(q.numerator), str(q.denominator)
    if len(over) + len(under) <= FRACTION or not math.isfinite(double):
        return over, under
    return f"{double!r}", "1"


def text_of(e: Expr) -> str:
    """The text of one node."""
    return Formulas().text(e)


def assignments(outputs: Sequence[Expr]) -> tuple[list[tuple[str, str]], list[str]]:
    """Names and texts of shared subexpressions, in order, and the texts of the outputs."""
    order = ir.topological(outputs)
    used = Counter(a for e in order for a in e.args)
    used.update(outputs)
    taken = {str(v.value) for v in ir.variables(outputs)}
    free = (name for k in itertools.count() if (name := f"t{k}") not in taken)
    formulas, new = Formulas(), dict[Expr, Expr]()
    named: list[tuple[str, str]] = []
    for e in order:
        new[e] = ir.raw(e.op, tuple(new[a] for a in e.args), e.value) if e.args else e
        if e.args and used[e] > 1:
            name = next(free)
            named.append((name, formulas.text(new[e])))
            new[e] = ir.var(name)
    return named, [formulas.text(new[e]) for e in outputs]


__all__ = [
    "Form", "Formulas", "assignments", "factors", "of_factors", "of_terms", "terms", "text_of",
    "tree_sizes",
]  # fmt: skip
