"""Functions of one angle, written by each of the others.

Before:  (1 - c)/s**2, with c = cos(x), s = sin(x)
After:   1/(c + 1), 1/(2*ch**2) with ch = cos(x/2), ...

Everything is rational in h, the tangent of half the angle: exact arithmetic there cancels what
`s**2 + c**2 = 1` hides. What comes back is written by sine and cosine, by one of them where the
parity allows, by the tangent where the period is half a turn, by the double and by half the angle.
The same with the signs of hyperbolic functions, for which an exponential is `(1 + h)/(1 - h)`.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from symdiff.passes.cancel.rational import Factored, OutOfBudgetError, factors_with
from symdiff.passes.simplify.frame import CIRCULAR, Angle, Frame
from symdiff.passes.simplify.pieces import key_of

MAX_DEGREE = 12
"""Largest power of sine and cosine, or of an exponential, that is rewritten."""
MAX_TERMS = 200


def forms(frame: Frame, angle: Angle, value: Factored) -> Iterator[Factored]:
    """The value by other functions of an angle that it depends on."""
    of = angle.kind, angle.of
    work = frame.forms.get(of)
    if work is None:
        work = frame.forms[of] = _Forms(frame, angle)
    if not work.concerns(value):
        return
    try:
        half = work.by_half(value)
    except OutOfBudgetError:
        return
    seen: set[Any] = set()
    for form in work.all_of(half):
        key = key_of(form)
        if key not in seen:
            seen.add(key)
            yield form


def matters(frame: Frame, angle: Angle, value: Factored) -> bool:
    """Whether identities can do something: the value has the functions of the angle, or the
    exponential in a sum, more than once."""
    symbols = (angle.s, angle.c) if angle.exponential is None else (angle.exponential,)
    columns = [frame.index[str(g)] for g in symbols]
    total = 0
    for base, n in value.factors.values():
        if len(base) > 1 or angle.exponential is None:
            total += abs(n) * max(sum(int(m[i]) for i in columns) for m in base.monoms())
            if len(base) == 2 and total == 1 and angle.exponential is None:
                return True  # 1 + cos(x)
    return total > 1


class _Forms:
    def __init__(self, frame: Frame, angle: Angle) -> None:
        self.frame, self.angle, self.ring = frame, angle, frame.ring
        self.sign = angle.kind
        self.one = self.ring.context.constant(1)
        self._rows: dict[tuple[str, int], dict[int, Any]] = {}
        self._known: dict[tuple[str, int, str], Factored] = {}
        self._halves: dict[tuple[object, int], tuple[Factored, Any, Any]] = {}

    def _index(self, symbol: Any) -> int:
        return self.frame.index[str(symbol)]

    def concerns(self, value: Factored) -> bool:
        """Whether the value depends on the angle."""
        a = self.angle
        used = [self._index(g) for g in ((a.s, a.c) if a.exponential is None else (a.exponential,))]
        return any(base.degrees()[i] for base, _ in value.factors.values() for i in used)

    # ------------------------------------------------------------ half the angle
    def by_half(self, value: Factored) -> Factored:
        """The value by the tangent of half the angle."""
        a, ring, result = self.angle, self.ring, self.ring.const(value.unit)
        h2 = self.sign * a.h * a.h
        for base, n in value.factors.values():
            if a.exponential is not None:
                made = self._substituted(base, a.exponential, 1 + a.h, 1 - a.h)
            else:
                made = self._turned(base, 2 * a.h, 1 - h2, 1 + h2)
            result = ring.mul(result, ring.pow(made, n))
        return result

    def _substituted(self, base: Any, x: Any, over: Any, under: Any) -> Factored:
        """The polynomial at x = over/under."""
        i = self._index(x)
        top = int(base.degrees()[i])
        if top == 0:
            return self.ring.of(base)
        if top > MAX_DEGREE:
            raise OutOfBudgetError("the power is too high")
        key = str(base), i, str(over)
        if (found := self._known.get(key)) is not None:
            return found
        total = self.ring.context.constant(0)
        for k, c in self._coefficients(base, i).items():
            total = total + c * over**k * under ** (top - k)
        if total.is_zero():
            raise OutOfBudgetError("zero")
        made = self.ring.div(self.ring.of(total), self.ring.pow(self.ring.of(under), top))
        self._known[key] = made
        return made

    def _turned(self, base: Any, sine: Any, cosine: Any, circle: Any) -> Factored:
        i, j = self._index(self.angle.s), self._index(self.angle.c)
        top = max(int(m[i]) + int(m[j]) for m in base.monoms())
        if top == 0:
            return self.ring.of(base)
        if top > MAX_DEGREE:
            raise OutOfBudgetError("the power is too high")
        total = self.ring.context.constant(0)
        for m, q in base.terms():
            rest, n, k = list(m), int(m[i]), int(m[j])
            rest[i] = rest[j] = 0
            term = self.ring.context.from_dict({tuple(rest): q})
            total = total + term * sine**n * cosine**k * circle ** (top - n - k)
            if len(total) > MAX_TERMS:
                raise OutOfBudgetError("too many terms")
        if total.is_zero():
            raise OutOfBudgetError("zero")
        return self.ring.div(self.ring.of(total), self.ring.pow(self.ring.of(circle), top))

    def _coefficients(self, base: Any, i: int) -> dict[int, Any]:
        """A polynomial by the powers of one symbol."""
        key = str(base), i
        found = self._rows.get(key)
        if found is None:
            rows: dict[int, dict[tuple[int, ...], Any]] = {}
            for m, q in base.terms():
                rows.setdefault(int(m[i]), {})[(*m[:i], 0, *m[i + 1 :])] = q
            context = self.ring.context
            found = self._rows[key] = {k: context.from_dict(r) for k, r in rows.items()}
        return found

    # ---------------------------------------------------------------- and back
    def all_of(self, half: Factored) -> Iterator[Factored]:
        """What is written by the tangent of half the angle, by other functions."""
        a = self.angle
        yield half
        yield from self._of_halves(half, a.h, a.sh, a.ch, a.c)
        plain = [*self._parities(half, a.h, a.s, a.c)]
        plain += self._attempt(lambda: self._circle(half, a.h, a.s, a.c))
        if self.sign == CIRCULAR:  # the complement of the angle exchanges sine and cosine
            for other in self._attempt(lambda: self._complement(half, a.h)):
                plain += self._parities(other, a.h, a.c, a.s)
                plain += self._attempt(lambda h=other: self._circle(h, a.h, a.c, a.s))
        yield from plain
        if a.exponential is not None:  # s = E - c
            i = self._index(a.s)
            for form in plain:
                result = Factored(form.unit, {})
                for base, n in form.factors.values():
                    if int(base.degrees()[i]) > 1:
                        break
                    parts = self._coefficients(base, i)
                    made = sum(
                        (q * (a.exponential - a.c) ** k for k, q in parts.items()),
                        self.ring.context.constant(0),
                    )
                    result = self.ring.mul(result, self.ring.pow(self.ring.of(made), n))
                else:
                    yield result
        for form in plain:
            yield from self._by_tangent(form)

    def _complement(self, half: Factored, h: Any) -> Factored:
        result = self.ring.const(half.unit)
        for base, n in half.factors.values():
            made = self._substituted(base, h, 1 - h, 1 + h)
            result = self.ring.mul(result, self.ring.pow(made, n))
        return result

    def _attempt(self, make: Any) -> Iterator[Factored]:
        try:
            made = make()
        except OutOfBudgetError:
            return
        if made is not None:
            yield made

    def _sides(self, half: Factored, h: Any) -> tuple[Factored, Any, Any]:
        """What does not depend on h, and numerator and denominator of what does."""
        i = self._index(h)
        key = key_of(half), i
        if (found := self._halves.get(key)) is not None:
            return found
        rest = {k: f for k, f in half.factors.items() if not f[0].degrees()[i]}
        above, below = (factors_with(half, i, side, self.one, MAX_TERMS) for side in (1, -1))
        made = self._halves[key] = Factored(half.unit, rest), above, below
        return made

    def _even(self, rows: dict[int, Any], c: Any) -> Factored:
        """A polynomial in h**2 = (1 - c)/(sign*(1 + c))."""
        top = max(rows) // 2
        total = self.ring.context.constant(0)
        for k, q in rows.items():
            total = total + q * self.sign ** (k // 2) * (1 - c) ** (k // 2) * (1 + c) ** (
                top - k // 2
            )
        if total.is_zero():
            raise OutOfBudgetError("zero")
        return self.ring.div(self.ring.of(total), self.ring.pow(self.ring.of(1 + c), top))

    def _parities(self, half: Factored, h: Any, s: Any, c: Any) -> Iterator[Factored]:
        """By cosine alone, or with one sine as a factor, where the value is even or odd."""
        try:
            rest, top, bottom = self._sides(half, h)
            i, ring = self._index(h), self.ring
            over, under = self._coefficients(top, i), self._coefficients(bottom, i)
            signs = {k % 2 for k in over}, {k % 2 for k in under}
            if len(signs[0]) > 1 or len(signs[1]) > 1:
                return
            odd_over, odd_under = signs[0] == {1}, signs[1] == {1}
            value = ring.mul(
                rest,
                ring.div(
                    self._even({k - odd_over: q for k, q in over.items()}, c),
                    self._even({k - odd_under: q for k, q in under.items()}, c),
                ),
            )
            if odd_over == odd_under:
                yield value
                return
            sine, plus, minus = ring.of(s), ring.of(1 + c), ring.of(1 - c)
            if self.sign != CIRCULAR:
                minus = ring.neg(minus)
            if odd_over:  # h = s/(1 + c) = (1 - c)/(sign*s)
                yield ring.mul(value, ring.div(sine, plus))
                yield ring.mul(value, ring.div(minus, sine))
            else:
                yield ring.mul(value, ring.div(plus, sine))
                yield ring.mul(value, ring.div(sine, minus))
        except OutOfBudgetError:
            return

    def _circle(self, half: Factored, h: Any, s: Any, c: Any) -> Factored | None:
        """By sine and cosine: (a + b*s)/d with polynomials a, b, d of the cosine."""
        rest, top, bottom = self._sides(half, h)
        i, ring = self._index(h), self.ring
        mirrored = self._mirrored(bottom, i)
        if (bottom - mirrored).is_zero() or (bottom + mirrored).is_zero():
            if {k % 2 for k in self._coefficients(top, i)} != {0, 1}:
                return None  # even or odd
        else:
            top, bottom = top * mirrored, bottom * mirrored
        over, under = self._coefficients(top, i), self._coefficients(bottom, i)
        if len(top) > MAX_TERMS or max(*over, *under) > 2 * MAX_DEGREE:
            raise OutOfBudgetError("too many terms")
        low = 1 if all(k % 2 for k in under) else 0
        below = self._even({k - low: q for k, q in under.items()}, c)
        even = {k: q for k, q in over.items() if k % 2 == low}
        odd = {k: q for k, q in over.items() if k % 2 != low}
        total = ring.const(Fraction(0))
        if even:
            total = self._even({k - low: q for k, q in even.items()}, c)
        if odd:
            part = self._even({k - 1 + low: q for k, q in odd.items()}, c)
            h_ = ring.div(ring.of(s), ring.of(1 + c))
            if low:  # k even, over h: h**(k-1) = h**k * (1 + c)/s
                h_ = ring.pow(h_, -1)
            total = ring.add(total, ring.mul(part, h_))
        return ring.mul(rest, ring.div(total, below))

    def _mirrored(self, p: Any, i: int) -> Any:
        return self.ring.context.from_dict({m: -q if int(m[i]) % 2 else q for m, q in p.terms()})

    def _of_halves(
        self, half: Factored, h: Any, sine: Any, cosine: Any, whole: Any
    ) -> Iterator[Factored]:
        """By sine and cosine of half the angle, where its tangent is in products only."""
        i, ring = self._index(h), self.ring
        circle = 1 + self.sign * h * h
        other = 1 - self.sign * h * h
        result = ring.const(half.unit)
        for base, n in half.factors.values():
            if not base.degrees()[i]:
                made = Factored(Fraction(1), {str(base): (base, 1)})
            elif base == h:
                made = ring.div(ring.of(sine), ring.of(cosine))
            elif base in (circle, -circle):
                made = ring.pow(ring.of(cosine), -2)
                made = ring.neg(made) if base == -circle else made
            elif base in (other, -other):
                made = ring.mul(ring.of(whole), ring.pow(ring.of(cosine), -2))
                made = ring.neg(made) if base == -other else made
            else:
                return
            result = ring.mul(result, ring.pow(made, n))
        yield result

    def _beside(self, tangent: Factored) -> Iterator[Factored]:
        """By the tangent in sums, and the cosine for factors `1 + sign*t**2`."""
        a, ring = self.angle, self.ring
        circle, i = 1 + self.sign * a.t * a.t, self._index(a.t)
        key = next((k for k, f in tangent.factors.items() if f[0] in (circle, -circle)), None)
        rest = {k: f for k, f in tangent.factors.items() if k != key}
        if key is None or not any(len(b) > 1 and b.degrees()[i] for b, _ in rest.values()):
            return
        base, n = tangent.factors[key]
        unit = -tangent.unit if base == -circle and n % 2 else tangent.unit
        yield ring.mul(Factored(unit, rest), ring.pow(ring.of(a.c), -2 * n))

    # --------------------------------------------------------------- the tangent
    def _by_tangent(self, value: Factored) -> Iterator[Factored]:
        """What is written by sine and cosine, by the tangent, and by the double angle, if it
        has half the period or changes its sign there."""
        a, ring = self.angle, self.ring
        try:
            found = self._quotients(value)
        except OutOfBudgetError:
            return
        if found is None:
            return
        power, tangent = found
        if power:
            cosine = ring.of(a.c)
            square = ring.of(1 + self.sign * a.t * a.t)
            yield ring.mul(tangent, cosine)
            yield ring.div(tangent, ring.mul(square, cosine))
            return
        yield tangent
        yield from self._of_halves(tangent, a.t, a.s, a.c, a.c2)
        yield from self._beside(tangent)
        yield from self._parities(tangent, a.t, a.s2, a.c2)
        yield from self._attempt(lambda: self._circle(tangent, a.t, a.s2, a.c2))
        if self.sign == CIRCULAR:
            for other in self._attempt(lambda: self._complement(tangent, a.t)):
                yield from self._parities(other, a.t, a.c2, a.s2)

    def _quotients(self, value: Factored) -> tuple[int, Factored] | None:
        """The value as the cosine to the power 0 or 1 and a rational function of the tangent:
        s = t*c, c**2 = 1/(1 + sign*t**2)."""
        a, ring = self.angle, self.ring
        i, j = self._index(a.s), self._index(a.c)
        inner = {k for k, f in value.factors.items() if f[0].degrees()[i] or f[0].degrees()[j]}
        if not inner:
            return None
        result = Factored(value.unit, {k: f for k, f in value.factors.items() if k not in inner})
        square, power = 1 + self.sign * a.t * a.t, 0
        for side in (1, -1):
            total = self.one
            for key in inner:
                base, n = value.factors[key]
                if n * side > 0:
                    total = total * base ** abs(n)
                    if len(total) > MAX_TERMS:
                        raise OutOfBudgetError("too many terms")
            rows: dict[int, Any] = {}
            for m, q in total.terms():
                k, rest = int(m[i]) + int(m[j]), list(m)
                rest[i] = rest[j] = 0
                term = self.ring.context.from_dict({tuple(rest): q}) * a.t ** int(m[i])
                rows[k] = rows.get(k, self.ring.context.constant(0)) + term
            if len({k % 2 for k in rows}) > 1:
                return None
            low, high = min(rows), max(rows)
            made = self.ring.context.constant(0)
            for k, q in rows.items():
                made = made + q * square ** ((high - k) // 2)
            if made.is_zero():
                raise OutOfBudgetError("zero")
            # c**high * made, and c**high = c**(high % 2)/square**(high//2)
            power += side * (high % 2)
            value_ = ring.div(ring.of(made), ring.pow(ring.of(square), high // 2))
            result = ring.mul(result, ring.pow(value_, side))
            del low
        if power < 0:
            result = ring.mul(result, ring.of(square))
        return abs(power), result
