"""Coefficients of series: exact where zeros must be decided.

A coefficient is a rational (`fmpq`), a `Number` (a polynomial over the
rationals in named constants such as pi, exp(1), log(2), sin(2), sqrt(3)), or,
where such a polynomial would grow too long, a ball (`arb`) without a name.

Variables may be among the constants: then a `Number` is a function of these
parameters, which has no ball and no sign, and is zero if it is identically zero.

A `Number` without parameters is zero if its polynomial is, and nonzero if its ball excludes zero;
otherwise `Undecided` is raised and nothing is claimed. Constants are reduced
to independent ones as far as simple identities go: exp(a+b) = exp(a) exp(b),
log(6) = log(2) + log(3), sin**2 = 1 - cos**2, sqrt(8) = 2 sqrt(2). A missing relation
makes a zero undecided, never wrong.

Callers hold `interpret.exclusive`, which fixes the precision of balls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from flint import arb, ctx, fmpq, fmpz

from symdiff import ir
from symdiff.interpret.balls import CORE, Undecided, ball_of, constant_ball
from symdiff.ir import ADD, CONST, DIV, HALF, MUL, NEG, ONE, POW, SUB, VAR, Expr, Op
from symdiff.ir.functions import (
    COS,
    COSH,
    ERF,
    ERFC,
    EXP,
    EXP2,
    EXPM1,
    LN2,
    LN10,
    LOG,
    LOG1P,
    LOG2,
    LOG10,
    PI,
    SIN,
    SINH,
    TAN,
    TANH,
)
from symdiff.ir.loop_program import ARRAY, INDEX

Monomial = frozenset[tuple[Expr, Fraction]]
"""A product of constants to rational powers."""
Coefficient = Any
"""An fmpq, a `Number` or an arb."""

NOTHING = fmpq(0)
MAX_TERMS = 12
"""A longer polynomial is kept as a ball."""
MAX_GENERIC_TERMS = 40
"""A polynomial in parameters has no ball; a longer one is abandoned."""
FAR = 1 << 16
"""The most bits of exponents of constants to write out: exponentials of exponentials may have
any."""
FACTOR_BITS = 96
"""Larger integers under a root or in a logarithm are not factored."""


class Undefined(ArithmeticError):  # noqa: N818
    """The function has no finite real value at this constant."""


class Number:
    """A polynomial in constants that is not a rational; build with arithmetic."""

    __slots__ = ("_ball", "_generic", "terms")

    def __init__(self, terms: Mapping[Monomial, fmpq]) -> None:
        self.terms = terms
        self._ball: arb | None = None
        self._generic: bool | None = None

    @property
    def generic(self) -> bool:
        """Whether it depends on parameters."""
        if self._generic is None:
            self._generic = any(map(_of_parameters, self.terms))
        return self._generic

    @property
    def ball(self) -> arb:
        if self.generic:
            raise Undecided("a function of parameters")
        if self._ball is None:
            terms = (arb(c) * _monomial_ball(m, ctx.prec) for m, c in self.terms.items())
            self._ball = sum(terms, arb(0))
        return self._ball

    def __add__(self, other: Coefficient) -> Coefficient:
        if isinstance(other, arb):
            return self.ball + other
        total = dict(self.terms)
        extra = other.terms if isinstance(other, Number) else {_UNIT: other}
        for m, c in extra.items():
            total[m] = total[m] + c if m in total else c
        return _normal(total)

    __radd__ = __add__

    def __neg__(self) -> Coefficient:
        return Number({m: -c for m, c in self.terms.items()})

    def __sub__(self, other: Coefficient) -> Coefficient:
        return self + (-other)

    def __rsub__(self, other: Coefficient) -> Coefficient:
        return -self + other

    def __mul__(self, other: Coefficient) -> Coefficient:
        if isinstance(other, arb):
            return self.ball * other
        if not isinstance(other, Number):
            return _normal({m: c * other for m, c in self.terms.items()})
        if len(self.terms) * len(other.terms) > MAX_TERMS**2 and not (
            self.generic or other.generic
        ):
            return self.ball * other.ball
        total: dict[Monomial, fmpq] = {}
        for m, c in self.terms.items():
            for n, d in other.terms.items():
                for k, e in _times(m, n).items():
                    total[k] = total.get(k, NOTHING) + c * d * e
        return _normal(total)

    __rmul__ = __mul__

    def __truediv__(self, other: Coefficient) -> Coefficient:
        return self * inverse(other)

    def __rtruediv__(self, other: Coefficient) -> Coefficient:
        return inverse(self) * other

    def __repr__(self) -> str:
        return f"Number({to_expr(self)})"


_UNIT: Monomial = frozenset()


def _normal(terms: dict[Monomial, fmpq]) -> Coefficient:
    terms = {m: c for m, c in terms.items() if c != 0}
    if not terms:
        return NOTHING
    if len(terms) == 1 and _UNIT in terms:
        return terms[_UNIT]
    result = Number(terms)
    if len(terms) <= MAX_TERMS or (result.generic and len(terms) <= MAX_GENERIC_TERMS):
        return result
    return result.ball


@lru_cache(maxsize=1 << 14)
def _times(m: Monomial, n: Monomial) -> Mapping[Monomial, fmpq]:
    """The product of two monomials, reduced: a sum, as sin**2 = 1 - cos**2."""
    powers = dict(m)
    for g, e in n:
        powers[g] = powers.get(g, Fraction(0)) + e
    scale, squares = fmpq(1), []
    for g, e in list(powers.items()):
        if g.op is CONST:  # an integer under a root
            whole = e.numerator // e.denominator
            scale *= fmpq(int(g.value)) ** whole
            powers[g] = e = e - whole
        elif g.op is SIN and e.denominator == 1 and e >= 2:
            powers[g] = e = e - 2
            squares.append(COS(*g.args))
        if e == 0:
            del powers[g]
    result = {frozenset(powers.items()): scale}
    for c in squares:
        minus = {k: -v for k, v in _product(result, frozenset({(c, Fraction(2))})).items()}
        for k, v in minus.items():
            result[k] = result.get(k, NOTHING) + v
    return result


def _product(terms: Mapping[Monomial, fmpq], m: Monomial) -> dict[Monomial, fmpq]:
    total: dict[Monomial, fmpq] = {}
    for k, c in terms.items():
        for n, d in _times(k, m).items():
            total[n] = total.get(n, NOTHING) + c * d
    return total


@lru_cache(maxsize=1 << 12)
def _of_parameters(m: Monomial) -> bool:
    return any(has_variables(g) for g, _ in m)


@lru_cache(maxsize=1 << 12)
def _monomial_ball(m: Monomial, prec: int) -> arb:
    """The ball of a monomial at the current precision, which is `prec`."""
    result = arb(1)
    for g, e in m:
        result *= _power_ball(constant_value(g), e)
    return result


def _power_ball(x: arb, e: Fraction) -> arb:
    if e.denominator == 1:
        return x**e.numerator
    return (x.log() * arb(fmpq(e.numerator, e.denominator))).exp()


def constant_value(e: Expr, known: Mapping[Expr, Any] | None = None) -> arb:
    """The ball of an expression whose only variables are in `known`."""
    values: dict[Expr, Any] = dict(known or {})
    for n in ir.topological((e,), values):
        if n.op is ir.BOOL:
            values[n] = bool(n.value)
        elif n.op is CONST:
            values[n] = constant_ball(n.value)
        elif n.op is POW and (q := ir.rational(n.args[1])) is not None:
            values[n] = _power_ball(values[n.args[0]], q)
        else:
            values[n] = ball_of(n.op)(*(values[a] for a in n.args))
    return values[e]


# -------------------------------------------------------------------- queries
def to_ball(c: Coefficient) -> arb:
    return c.ball if isinstance(c, Number) else arb(c)


def is_zero(c: Coefficient) -> bool:
    """Whether a coefficient is zero; proven, except that functions of parameters are only tested
    for vanishing identically."""
    return not is_generic(c) and sign(c) == 0


def is_generic(c: Coefficient) -> bool:
    """Whether a coefficient depends on parameters."""
    return isinstance(c, Number) and c.generic


def has_variables(e: Expr) -> bool:
    """Whether an expression depends on parameters, on indices of loops or on elements of arrays."""
    return any(n.op in (VAR, INDEX, ARRAY) for n in ir.leaves((e,)))


def _positive(g: Expr) -> bool:
    return not has_variables(g) and bool(constant_value(g) > 0)


def sign(c: Coefficient) -> int:
    """-1, 0 or 1; proven."""
    if isinstance(c, fmpq):
        return int(c > 0) - int(c < 0)
    x = to_ball(c)
    if x > 0:
        return 1
    if x < 0:
        return -1
    if isinstance(c, arb) and c.is_zero():
        return 0
    raise Undecided("a constant that may be zero")


def to_fraction(c: Coefficient) -> Fraction:
    """The exact value, or that of a ball's midpoint; `Undecided` where no bit of it is known."""
    if isinstance(c, fmpq):
        return Fraction(int(c.p), int(c.q))
    x = to_ball(c)
    if not x.is_finite():
        raise Undecided("a constant of which nothing is known")
    mantissa, exponent = x.mid().man_exp()
    if abs(exponent) > FAR:
        raise Undecided("a constant of no useful size")
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def to_expr(c: Coefficient) -> Expr:
    """The constant as an expression."""
    if not isinstance(c, Number):
        return ir.const(to_fraction(c))
    terms = [_term(m, q) for m, q in c.terms.items()]
    total: Expr = ir.ZERO
    for term in sorted(terms, key=ir.format_expr):
        total = total + term
    return total


def _term(m: Monomial, q: fmpq) -> Expr:
    term = ir.const(to_fraction(q))
    for g, e in sorted(m, key=lambda pair: ir.format_expr(pair[0])):
        term = term * ir.power(g, ir.const(e))
    return term


# --------------------------------------------------------------------- functions
def generator(g: Expr) -> Number:
    """A constant that is not taken apart."""
    return Number({frozenset({(g, Fraction(1))}): fmpq(1)})


def inverse(c: Coefficient) -> Coefficient:
    """1/c for c != 0."""
    if not isinstance(c, Number):
        return 1 / c
    if len(c.terms) > 1:
        return generator(ir.div(ONE, to_expr(c))) if len(c.terms) <= MAX_TERMS // 2 else 1 / c.ball
    ((m, q),) = c.terms.items()
    return _normal(_product({_UNIT: 1 / q}, frozenset((g, -e) for g, e in m)))


def root(c: Coefficient, q: Fraction) -> Coefficient:
    """c**q for c > 0 and a rational q."""
    if isinstance(c, arb):
        return _power_ball(c, q)
    if isinstance(c, fmpq):
        powers: dict[Expr, Fraction] = {}
        scale = fmpq(1)
        for p, k in _primes(c):
            whole, rest = divmod(k * q, 1)
            scale *= fmpq(p) ** whole
            if rest:
                powers[ir.const(p)] = rest
        return _normal({frozenset(powers.items()): scale})
    if len(c.terms) == 1:
        ((m, s),) = c.terms.items()
        if s > 0 and all(_positive(g) for g, _ in m):
            return root(s, q) * Number({frozenset((g, e * q) for g, e in m): fmpq(1)})
    return generator(ir.power(to_expr(c), ir.const(q)))


def _primes(c: fmpq) -> list[tuple[int, int]]:
    """c > 0 as a product of powers; large factors stay whole."""
    result: list[tuple[int, int]] = []
    for n, s in ((int(c.p), 1), (int(c.q), -1)):
        if n.bit_length() > FACTOR_BITS:
            result.append((n, s))
        elif n > 1:
            result += [(int(p), int(k) * s) for p, k in fmpz(n).factor()]
    return result


_IDENTITIES: dict[Op, Callable[..., Expr]] = {
    EXPM1: lambda x: EXP(x) - ONE,
    EXP2: lambda x: EXP(x * LN2()),
    LOG1P: lambda x: LOG(ONE + x),
    LOG2: lambda x: LOG(x) / LN2(),
    LOG10: lambda x: LOG(x) / LN10(),
    LN2: lambda: LOG(ir.const(2)),
    LN10: lambda: LOG(ir.const(10)),
    SINH: lambda x: (EXP(x) - EXP(-x)) * HALF,
    COSH: lambda x: (EXP(x) + EXP(-x)) * HALF,
    TANH: lambda x: (EXP(x) - EXP(-x)) / (EXP(x) + EXP(-x)),
    TAN: lambda x: SIN(x) / COS(x),
    ERFC: lambda x: ONE - ERF(x),
}
"""Constants in terms of fewer ones."""


def applied(op: Op, args: Sequence[Coefficient]) -> Coefficient:
    """op at constants; raises `Undefined` where that is not a finite real number."""
    if op in (ADD, SUB, MUL):
        a, b = args
        return a + b if op is ADD else a - b if op is SUB else a * b
    if op is NEG:
        return -args[0]
    if op is DIV:
        if is_zero(args[1]):
            raise Undefined("division by zero")
        return args[0] / args[1]
    if op is POW:
        return _power(*args)
    if any(isinstance(a, arb) for a in args):
        return _finite(ball_of(op)(*(to_ball(a) for a in args)))
    if op.fold is not None and all(isinstance(a, fmpq) for a in args):
        q = op.fold(*(to_fraction(a) for a in args))
        if q is not None:
            return fmpq(q.numerator, q.denominator)
    if op is EXP:
        return _exponential(args[0])
    if op is LOG:
        return _logarithm(args[0])
    if op in (SIN, COS) and (turns := _half_turns(args[0])) is not None:
        exact = _sine(turns if op is SIN else turns + Fraction(1, 2))
        if exact is not None:
            return exact
    if op in _IDENTITIES:
        return number(_IDENTITIES[op](*(to_expr(a) for a in args)))
    e = op(*(to_expr(a) for a in args))
    if e.op is not op:
        return number(e)
    if op not in CORE and op.ball is None:
        raise Undefined(f"{op.name} has no ball")
    if not has_variables(e):
        _finite(constant_value(e))
    return generator(e)


def _finite(x: arb) -> arb:
    if not x.is_finite():
        raise Undefined("no finite value")
    return x


def _power(a: Coefficient, b: Coefficient) -> Coefficient:
    if not isinstance(b, fmpq):
        if not is_generic(a) and sign(a) <= 0:
            raise Undefined("a power of a base that is not positive")
        return applied(EXP, [b * applied(LOG, [a])])
    q = to_fraction(b)
    s = 1 if is_generic(a) else sign(a)
    if s == 0:
        if q <= 0:
            raise Undefined("a negative power of zero")
        return NOTHING
    if q.denominator == 1:
        if abs(q) > 4096:
            raise Undefined("a large power")
        return _integer_power(a, int(q))
    if s < 0:
        raise Undefined("a root of a negative number")
    return root(a, q)


def _integer_power(a: Coefficient, n: int) -> Coefficient:
    if isinstance(a, fmpq | arb):
        return a**n
    if n < 0:
        return _integer_power(inverse(a), -n)
    result: Coefficient = fmpq(1)
    while n:
        if n & 1:
            result = result * a
        n >>= 1
        if n:
            a = a * a
    return result


def _exponential(x: Coefficient) -> Coefficient:
    terms = x.terms if isinstance(x, Number) else {_UNIT: x}
    powers: dict[Expr, Fraction] = {}
    result: Coefficient = fmpq(1)
    for m, q in terms.items():
        logs = [g for g, e in m if g.op is LOG and e == 1]
        if len(m) == 1 and logs:  # exp(q*log(p)) = p**q
            result = result * root(number(logs[0].args[0]), to_fraction(q))
        else:
            powers[EXP(_term(m, fmpq(1)))] = to_fraction(q)
    monomial = frozenset(powers.items())
    return result * (Number({monomial: fmpq(1)}) if monomial else fmpq(1))


def _logarithm(x: Coefficient) -> Coefficient:
    if not is_generic(x) and sign(x) <= 0:
        raise Undefined("the logarithm of a number that is not positive")
    total: Coefficient = NOTHING
    if isinstance(x, fmpq):
        for p, k in _primes(x):
            total = total + generator(LOG(ir.const(p))) * fmpq(k)
        return total
    if len(x.terms) == 1:
        ((m, q),) = x.terms.items()
        if q > 0 and all(_positive(g) for g, _ in m):
            total = _logarithm(q)
            for g, e in m:
                inner = LOG(g)
                part = generator(inner) if inner.op is LOG else number(inner)
                total = total + part * fmpq(e.numerator, e.denominator)
            return total
    return generator(LOG(to_expr(x)))


def _half_turns(x: Coefficient) -> Fraction | None:
    """q if x = q*pi."""
    if isinstance(x, Number) and len(x.terms) == 1:
        ((m, q),) = x.terms.items()
        if m == frozenset({(PI(), Fraction(1))}):
            return to_fraction(q)
    return None


def _sine(q: Fraction) -> Coefficient | None:
    """sin(q*pi) where it is a simple surd."""
    q %= 2
    if q >= 1:
        inner = _sine(q - 1)
        return None if inner is None else -inner
    q = min(q, 1 - q)
    squares = {Fraction(0): fmpq(0), Fraction(1, 6): fmpq(1, 4), Fraction(1, 4): fmpq(1, 2),
               Fraction(1, 3): fmpq(3, 4), Fraction(1, 2): fmpq(1)}  # fmt: skip
    if q not in squares:
        return None
    return root(squares[q], Fraction(1, 2)) if q else NOTHING


def number(e: Expr) -> Coefficient:
    """The value of a constant, with variables as parameters; raises `Undefined`."""
    values: dict[Expr, Coefficient] = {}
    for n in ir.topological((e,)):
        if n.op is ir.WHERE and has_variables(n):
            values[n] = generator(n)
        elif n.op.boolean and has_variables(n):
            values[n] = None
        elif (q := ir.rational(n)) is not None:
            values[n] = fmpq(q.numerator, q.denominator)
        elif n.op is CONST or n.op.boolean or n.op is ir.WHERE:
            raise Undefined("not a finite constant")
        elif not n.args and n.op not in _IDENTITIES:
            values[n] = generator(n)
        else:
            values[n] = applied(n.op, [values[a] for a in n.args])
    return values[e]
