"""Functions of one angle, written by each of the others.

Before:  (1 - c)/s**2, with c = cos(x), s = sin(x)
After:   1/(c + 1), (t**2 + 1)/2 with t = tan(x/2), ...

Everything is rational in h, the tangent of half the angle: exact arithmetic there cancels what
`s**2 + c**2 = 1` hides. What comes back is written by sine and cosine, by one of them where the
parity allows, by the tangent where the period is half a turn, by the double and by half the angle.
The same with the signs of hyperbolic functions, for which an exponential is `(1 + h)/(1 - h)`.
All of it is one operation: symbols of a polynomial replaced by quotients of one denominator.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from symdiff.passes.cancel.rational import Factored, OutOfBudgetError, factors_with
from symdiff.passes.simplify.frame import CIRCULAR, Angle, Frame
from symdiff.passes.simplify.pieces import by_powers, key_of

MAX_DEGREE = 12
"""Largest power of sine and cosine, or of an exponential, that is rewritten."""
MAX_TERMS = 200


def forms(frame: Frame, angle: Angle, value: Factored) -> Iterator[Factored]:
    """The value by other functions of an angle that it depends on."""
    work = frame.forms.setdefault((angle.kind, angle.of), _Forms(frame, angle))
    if not any(base.degrees()[i] for base, _ in value.factors.values() for i in work.columns):
        return
    seen: set[Any] = set()
    try:
        for form in work.all_of(value):
            key = key_of(form)
            if key not in seen:
                seen.add(key)
                yield form
    except OutOfBudgetError:
        return


def matters(frame: Frame, angle: Angle, value: Factored) -> bool:
    """Whether identities can apply: the value has the functions of the angle, or the
    exponential in a sum, more than once."""
    columns, total = _columns(frame, angle), 0
    for base, n in value.factors.values():
        if len(base) > 1 or angle.exponential is None:
            total += abs(n) * max(sum(int(m[i]) for i in columns) for m in base.monoms())
            if len(base) == 2 and total == 1 and angle.exponential is None:
                return True  # 1 + cos(x)
    return total > 1


def _columns(frame: Frame, angle: Angle) -> list[int]:
    symbols = (angle.s, angle.c) if angle.exponential is None else (angle.exponential,)
    return [frame.index[str(g)] for g in symbols]


class _Forms:
    def __init__(self, frame: Frame, angle: Angle) -> None:
        self.frame, self.angle, self.ring, self.sign = frame, angle, frame.ring, angle.kind
        self.columns = _columns(frame, angle)
        self.one = self.ring.context.constant(1)
        self._known: dict[Any, Factored] = {}
        self._halves: dict[tuple[object, int], tuple[Factored, Any, Any]] = {}

    def all_of(self, value: Factored) -> Iterator[Factored]:
        """A rational function of the tangent of half the angle, by other functions."""
        a = self.angle
        if a.exponential is not None:
            half = self._replaced(value, ((a.exponential, 1 + a.h),), 1 - a.h)
        else:
            h2 = self.sign * a.h * a.h
            half = self._replaced(value, ((a.s, 2 * a.h), (a.c, 1 - h2)), 1 + h2)
        yield half
        plain = self._by_both(half, a.h, a.s, a.c)
        yield from plain
        if a.exponential is not None:  # s = E - c
            i = self.frame.index[str(a.s)]
            for form in plain:
                if all(base.degrees()[i] < 2 for base, _ in form.factors.values()):
                    yield self._replaced(form, ((a.s, a.exponential - a.c),), self.one)
        for form in plain:
            yield from self._by_tangent(form)

    # ------------------------------------------------------------ replacing symbols
    def _replaced(self, value: Factored, new: Iterable[tuple[Any, Any]], below: Any) -> Factored:
        """The value with quotients of one denominator in place of symbols."""
        result = self.ring.const(value.unit)
        tops = {self.frame.index[str(symbol)]: top for symbol, top in new}
        for base, n in value.factors.values():
            key = str(base), str(below), *tops
            made = self._known.get(key)
            if made is None:
                made = self._known[key] = self._at(base, tops, below)
            result = self.ring.mul(result, self.ring.pow(made, n))
        return result

    def _at(self, base: Any, tops: dict[int, Any], below: Any, step: int = 1) -> Factored:
        """A polynomial at quotients, where the powers of the symbols are multiples of `step`."""
        rows = by_powers(base, tops)
        highest = max(sum(powers) // step for powers in rows)
        if highest > MAX_DEGREE:
            raise OutOfBudgetError("the power is too high")
        total = self.ring.context.constant(0)
        for powers, part in rows.items():
            for top, n in zip(tops.values(), powers, strict=True):
                part = part * top ** (n // step)
            total = total + part * below ** (highest - sum(powers) // step)
            if len(total) > MAX_TERMS:
                raise OutOfBudgetError("too many terms")
        if total.is_zero():
            raise OutOfBudgetError("zero")
        made = self.ring.of(total)
        return self.ring.div(made, self.ring.pow(self.ring.of(below), highest)) if highest else made

    # ---------------------------------------------------------- sine and cosine
    def _sides(self, half: Factored, h: Any) -> tuple[Factored, Any, Any]:
        """The part that does not depend on h, and numerator and denominator of the rest."""
        i = self.frame.index[str(h)]
        key = key_of(half), i
        found = self._halves.get(key)
        if found is None:
            rest = {k: f for k, f in half.factors.items() if not f[0].degrees()[i]}
            above, below = (factors_with(half, i, side, self.one, MAX_TERMS) for side in (1, -1))
            found = self._halves[key] = Factored(half.unit, rest), above, below
        return found

    def _by_both(self, half: Factored, h: Any, s: Any, c: Any) -> list[Factored]:
        """The value by sine and cosine; the complement of a circular angle exchanges them."""
        found: list[Factored] = []
        for one, other in ((s, c), (c, s))[: 1 + (self.sign == CIRCULAR)]:
            try:
                if one is c:
                    half = self._replaced(half, ((h, 1 - h),), 1 + h)
                found += self._by_cosine(half, h, one, other)
            except OutOfBudgetError:
                continue
        return found

    def _by_cosine(self, half: Factored, h: Any, s: Any, c: Any) -> Iterator[Factored]:
        """The value by cosine alone or with one sine as a factor, where it is even or odd;
        otherwise as (a + b*s)/d with polynomials a, b, d of the cosine."""
        rest, top, bottom = self._sides(half, h)
        i, ring = self.frame.index[str(h)], self.ring
        under = by_powers(bottom, (i,))
        if len({n % 2 for (n,) in under}) > 1:
            mirrored = sum((-q if n % 2 else q) * h**n for (n,), q in under.items())
            top, bottom = top * mirrored, bottom * mirrored
            under = by_powers(bottom, (i,))
        over = by_powers(top, (i,))
        low = max(n % 2 for (n,) in under)
        if len(top) > MAX_TERMS or max(*over, *under)[0] > 2 * MAX_DEGREE:
            raise OutOfBudgetError("too many terms")

        def even(rows: dict[tuple[int, ...], Any], odd: int) -> Factored | None:
            """The even or odd rows as a polynomial in h**2 = (1 - c)/(sign*(1 + c))."""
            chosen = [q * h ** (n - odd) for (n,), q in rows.items() if n % 2 == odd]
            return self._at(sum(chosen), {i: self.sign * (1 - c)}, 1 + c, 2) if chosen else None

        plain, turned = even(over, low), even(over, 1 - low)
        below = even(under, low)
        assert below is not None
        rest, up = ring.div(rest, below), 1 - 2 * low
        if turned is None and plain is not None:
            yield ring.mul(rest, plain)
            return
        assert turned is not None
        sine, plus, minus = ring.of(s), ring.of(1 + c), ring.of(self.sign * (1 - c))
        for height in (ring.div(sine, plus), ring.div(minus, sine)):
            made = ring.mul(turned, ring.pow(height, up))
            if plain is not None:
                yield ring.mul(rest, ring.add(plain, made))
                return
            yield ring.mul(rest, made)

    # --------------------------------------------------------------- the tangent
    def _by_tangent(self, value: Factored) -> Iterator[Factored]:
        """The value by sine and cosine, by the tangent, and by the double angle, if it
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
        yield from self._beside(tangent)
        yield from self._by_both(tangent, a.t, a.s2, a.c2)

    def _beside(self, tangent: Factored) -> Iterator[Factored]:
        """The value by the tangent in sums, and by the cosine for factors `1 + sign*t**2`."""
        a, ring = self.angle, self.ring
        circle, i = 1 + self.sign * a.t * a.t, self.frame.index[str(a.t)]
        key = next((k for k, f in tangent.factors.items() if f[0] in (circle, -circle)), None)
        rest = {k: f for k, f in tangent.factors.items() if k != key}
        if key is None or not any(len(b) > 1 and b.degrees()[i] for b, _ in rest.values()):
            return
        base, n = tangent.factors[key]
        unit = -tangent.unit if base == -circle and n % 2 else tangent.unit
        yield ring.mul(Factored(unit, rest), ring.pow(ring.of(a.c), -2 * n))

    def _quotients(self, value: Factored) -> tuple[int, Factored] | None:
        """The value as the cosine to the power 0 or 1 and a rational function of the tangent:
        s = t*c, c**2 = 1/(1 + sign*t**2)."""
        a, ring = self.angle, self.ring
        columns = [self.frame.index[str(g)] for g in (a.s, a.c)]
        square, power = 1 + self.sign * a.t * a.t, 0
        degrees = {k: base.degrees() for k, (base, _) in value.factors.items()}
        inner = {k for k, d in degrees.items() if any(d[i] for i in columns)}
        if not inner:
            return None
        result = Factored(value.unit, {k: f for k, f in value.factors.items() if k not in inner})
        for side in (1, -1):
            total = self.one
            for base, n in [value.factors[k] for k in inner]:
                if n * side > 0:
                    total = total * base ** abs(n)
                    if len(total) > MAX_TERMS:
                        raise OutOfBudgetError("too many terms")
            rows = by_powers(total, columns)
            high = max(map(sum, rows))
            if any((high - sum(powers)) % 2 for powers in rows):
                return None
            made = sum(
                q * a.t ** powers[0] * square ** ((high - sum(powers)) // 2)
                for powers, q in rows.items()
            )
            if made.is_zero():
                raise OutOfBudgetError("zero")
            # c**high * made, and c**high = c**(high % 2)/square**(high//2)
            power += side * (high % 2)
            made = ring.div(ring.of(made), ring.pow(ring.of(square), high // 2))
            result = ring.mul(result, ring.pow(made, side))
        if power < 0:
            result = ring.mul(result, ring.of(square))
        return abs(power), result
