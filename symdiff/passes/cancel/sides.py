"""Products of one-sided slopes in derivatives are products of one side, at the kink too.

Before:  taken(x, 0)*taken(x, 0), where each factor is 1/2 at x = 0
After:   where(x == 0, (1*1 + 0*0)/2, taken(x, 0)*taken(x, 0))

Requires: derivatives, each linear in the slopes of any single kink.
Ensures: equal values but where a kink is met whose slopes are multiplied. There the result is the
mean of what it is on the sides that there are, as for a single slope: so where all sides agree it
is that, as the second derivative of max(x, 0)**2 + min(x, 0)**2 is 2 and not 1. Kinks of kinks
count, max(x, 0) - abs(max(x, 0)) is 0; and kinks that meet: near x = y = z there are six sides,
not eight (`passes.cancel.meeting`). Kinks at one place along different formulas, as abs(x) and
abs(sin(x)), are distinguished by their gradients. Where these say nothing (abs(1 - cos(x)) at 0), or
where more kinks meet than are distinguished, second derivatives are that of all sides if they agree, and
nan if not. Outputs that would become much longer, or take more than the budget, stay as they are, or are nan
at all kinks if they are second derivatives: the definition decides there (`interpret.special_points`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from symdiff import ir
from symdiff.ir import (
    ABS,
    ADD,
    CONST,
    DIV,
    HALF,
    MUL,
    NAN,
    NEG,
    ONE,
    POW,
    SIGN,
    SUB,
    TRUE,
    WHERE,
    ZERO,
    Expr,
)
from symdiff.ir.functions import EXTREMES, HELD, IVE, LARGER, MAXIMA, SLOPES, SMALLER
from symdiff.passes.cancel.meeting import (
    Side,
    alone,
    dependent,
    feasible,
    form,
    independent_unknowns,
    where_others_vanish,
)
from symdiff.passes.cancel.signsquares import are_short, place
from symdiff.passes.differentiate import all_of, gradient

MAX_CHOICES = 32
"""Kinks that are distinguished in one output, with those that meet there."""
MAX_DEPTH = 4
"""Kinks that are distinguished where they meet, if no more choices are needed for that."""
MAX_NODES = 4000
"""Largest number of nodes of outputs."""
MAX_WORK = 20_000
"""The most nodes to visit for one output."""
MAX_VARIABLES = 6
"""The most variables by which a kink's formula is differentiated."""
NEARLY = ir.const(2) ** -24
"""Sides agree if they differ by a smaller relative amount."""


def sides_of_kinks(
    outputs: Iterable[Expr],
    of: Iterable[Expr] = (),
    second: bool = False,
    steps: Mapping[Expr, Expr] | None = None,
    slopes: Iterable[Expr] = (),
) -> tuple[Expr, ...]:
    """The outputs, derivatives of the given expressions, with means of sides where slopes of a kink
    are multiplied. Signs are slopes where they belong to an absolute value in it, or to an
    exponentially scaled Bessel function.

    Parameters
    ----------
    second : whether these are derivatives of derivatives, which are nan where sides that cannot be
        distinguished differ.
    steps : the jumps of signs that are no slopes, by whether the function is still continuous:
        only then their sides count; see `signsquares.steps_of`.
    slopes : the jumps of signs that are slopes, though their absolute values are no longer visible.
    """
    outputs = tuple(outputs)
    order = ir.topological((*outputs, *of))
    steps = steps or {}
    sizes = {place(e.args[-1])[0] for e in order if e.op in (ABS, IVE)} | set(slopes)
    signs = {place(e.args[0])[0] for e in order if e.op is SIGN}
    written = signs - sizes - set(steps)
    if signs <= written and not any(e.op in SLOPES for e in order):
        return outputs
    if len(order) > MAX_NODES:
        return outputs
    found = tuple(_with_sides(o, written, second, steps) for o in outputs)
    if are_short(found, outputs, second):
        return found
    return _undefined(outputs, written | set(steps)) if second else outputs


def _undefined(outputs: tuple[Expr, ...], but: set[Expr]) -> tuple[Expr, ...]:
    """The outputs with nan for each slope at its kink, except for some signs."""

    def rule(n: Expr, args: tuple[Expr, ...]) -> Expr:
        made = ir.rebuild(n, args)
        if made.op not in (*SLOPES, SIGN) or (n.op is SIGN and place(n.args[0])[0] in but):
            return made
        a, b = args if n.op in SLOPES else (*args, ZERO)
        return ir.where(ir.eq(a, b), NAN, made)

    return ir.transform(outputs, rule)


def _with_sides(output: Expr, written: set[Expr], second: bool, steps: Mapping[Expr, Expr]) -> Expr:
    """The output with as many kinks distinguished where they meet as the budget allows. A factor
    without these kinks stays outside: an infinite one has no mean with its opposite, and none with
    0."""
    free, rest = _factors(output)
    seen: dict[Expr, tuple[list[Expr], set[Expr]]] = {}
    for depth in range(MAX_DEPTH, 0, -1):
        try:
            found = _Choices(written, second, steps, depth, seen).of(rest)
        except _SpentError:
            continue
        return output if found is rest else ir.mul(free, found)
    return output


class _SpentError(Exception):
    """The budget has ended."""


def _factors(e: Expr) -> tuple[Expr, Expr]:
    """A product as the factors that share no variable with its slopes, and the rest."""
    factors: list[Expr] = []
    stack = [e]
    while stack:
        n = stack.pop()
        if n.op is MUL:
            stack += n.args[::-1]
        elif n.op is NEG:
            stack += n.args
            factors.append(ir.const(-1))
        else:
            factors.append(n)
    slopes = [n for n in ir.topological(factors) if n.op in (*SLOPES, SIGN)]
    about = set(ir.leaves(slopes))
    free = [n for n in factors if n.op is not CONST and about.isdisjoint(ir.leaves((n,)))]
    rest = [n for n in factors if n not in free]
    return (ir.product(free), ir.product(rest)) if free and rest else (ONE, e)


class _Choices:
    """The kinks of one output; those of expressions that were `seen`."""

    def __init__(
        self, written: set[Expr], second: bool, steps: Mapping[Expr, Expr], depth: int,
        seen: dict[Expr, tuple[list[Expr], set[Expr]]],
    ) -> None:  # fmt: skip
        self.written, self.second, self.steps, self.depth = written, second, steps, depth
        self.seen = seen
        self.left = MAX_CHOICES
        self.work = MAX_WORK

    def of(
        self, e: Expr, known: tuple[Side, ...] = (), done: frozenset[Expr] = frozenset()
    ) -> Expr:
        """The output with choices at its kinks except those that are done, on the given sides of
        the known ones, all of which vanish."""
        loci, inner = self._loci(e)
        before = [w for w, _ in known]
        tangled = not _triangular((*before, *loci))
        for u in loci:
            if u in done:
                continue
            degree = self._degree(e, {u, *_dependent_on(u, loci, before)})
            unproven = self.second and bool(degree) and _may_be_flat(u)
            nested = u in inner and (tangled or bool(known))
            if not (degree > 1 or unproven or nested):
                if not (degree and self._bound(u, known)):
                    continue
            done = done | {u}
            self.left -= 1
            if self.left < 0 or self.work <= 0:
                raise _SpentError
            if len(known) >= self.depth:
                if not self.second:
                    return e
                unknown = NAN
            else:
                unknown = self._at(e, u, known, done, degree)
            met = ir.eq(*u.args) if u.op is SUB else ir.eq(u, ZERO)  # also of infinite numbers
            kink = ir.and_(met, self.steps.get(u, TRUE))
            if not nested:
                return ir.where(kink, unknown, self.of(e, known, done))
            self.work -= 2 * len(ir.topological((e,)))
            above, below = (self._on(_beside(e, u, s), known, done) for s in (1, -1))
            below = ir.where(ir.le(u, ir.INF), below, _beside(e, u, 0))  # nan is on no side
            return ir.where(kink, unknown, ir.where(ir.lt(ZERO, u), above, below))
        return e

    def _bound(self, u: Expr, known: tuple[Side, ...]) -> bool:
        """Whether the sign of u may depend on those of known sides."""
        mine = set(ir.variables((u,)))
        near = [w for w, _ in known if mine & set(ir.variables((w,)))]
        if not near:
            return False
        return not independent_unknowns((u, *near)) or len(_sides(u, known)) == 1

    def _at(
        self, e: Expr, u: Expr, known: tuple[Side, ...], done: frozenset[Expr], degree: int
    ) -> Expr:
        """The output where a kink is met."""
        sides = _sides(u, known)
        here = {s: self._on(e, (*known, (u, s)), done) for s in sides}
        if len(here) == 1:
            return next(iter(here.values()))
        plus, minus = here[1], here[-1]
        if plus is minus:
            return plus
        mean = HALF * (plus + minus)
        told = independent_unknowns((u, *(w for w, _ in known)))
        if told and not (self.second and _may_be_flat(u)):
            return mean
        if not known:
            return ir.where(*self._where_flat(u, plus, minus), mean) if self.second else mean
        return self._told_apart(u, known, plus, minus)

    def _on(self, e: Expr, known: tuple[Side, ...], done: frozenset[Expr]) -> Expr:
        """The output on the last of these sides; that side may lie on a side of another kink,
        too."""
        while True:
            before = e
            for u, s in reversed(known):
                e = _beside(e, u, s)
            for u in self._loci(e)[0]:
                if c := where_others_vanish(u, [w for w, _ in known]):
                    e = _beside(e, u, 1 if c > 0 else -1)
            self.work -= len(known)
            if e is before or self.work <= 0:
                return self.of(e, known, done)

    def _where_flat(self, u: Expr, plus: Expr, minus: Expr) -> tuple[Expr, Expr]:
        """Where u and its gradient are both 0, and the output there."""
        names = ir.variables((u,))
        if len(names) > MAX_VARIABLES:
            return TRUE, self._agreed(plus, minus)
        slopes = gradient(u, names)
        found = self._agreed(plus, minus)
        if len(names) == 1:
            (bend,) = gradient(slopes[0], names)
            found = _by_sign(bend, plus, minus, found)
        return all_of(tuple(ir.eq(d, ZERO) for d in slopes)), found

    def _told_apart(self, u: Expr, known: tuple[Side, ...], plus: Expr, minus: Expr) -> Expr:
        """The output where kinks meet whose formulas share variables, distinguished by their
        gradients."""
        names = ir.variables((u, *(w for w, _ in known)))
        agreed = self._agreed(plus, minus)
        if len(names) > MAX_VARIABLES:
            return agreed
        mine = gradient(u, names)
        apart = len(known) == 1  # two gradients that are not parallel are independent
        found = HALF * (plus + minus) if apart else agreed
        for w, side in known:
            other = gradient(w, names)
            parallel = all_of(tuple(
                ir.eq(a * d, b * c)
                for i, (a, c) in enumerate(zip(mine, other, strict=True))
                for b, d in zip(mine[:i], other[:i], strict=True)
            ))  # fmt: skip
            product = ZERO
            for a, b in zip(mine, other, strict=True):
                product = product + a * b
            first, last = (plus, minus) if side > 0 else (minus, plus)
            found = ir.where(parallel, _by_sign(product, first, last, agreed), found)
        return found

    def _agreed(self, a: Expr, b: Expr) -> Expr:
        """The common value of two sides, one of which may be missing. Else nan; of first
        derivatives the mean, which is between those of the sides."""
        if a is b:
            return a
        mean = HALF * (a + b)
        near = ir.le(ir.abs_(a - b), NEARLY * (ir.abs_(a) + ir.abs_(b)))
        return ir.where(near, mean, NAN) if self.second else mean

    def _degree(self, e: Expr, loci: set[Expr]) -> int:
        """How many slopes of these kinks are multiplied; 2 denotes two or more."""
        known: dict[Expr, int] = {}
        order = ir.topological((e,))
        self.work -= len(order)
        for n in order:
            parts = [known[a] for a in n.args]
            if n.op.boolean:
                found = 0
            elif n.op in (*SLOPES, SIGN) and any(self._is_slope(n, u) for u in loci):
                found = 1
            elif n.op in (ADD, SUB, NEG, WHERE):
                found = max(parts)
            elif n.op is MUL:
                found = sum(parts)
            elif n.op is DIV:
                found = parts[0] + 2 * parts[1]
            else:
                found = 2 * max(parts, default=0)
            known[n] = min(found, 2)
        return known[e]

    def _is_slope(self, n: Expr, u: Expr) -> bool:
        """Whether a slope jumps where u vanishes, by itself or inside its argument."""
        if place(*n.args)[0] is u:
            return True
        size, kinks = _inside(n.args)
        self.work -= size
        if self.work <= 0 or u not in kinks:
            return False
        for side in (1, -1):
            self.work -= size
            args = tuple(_beside(a, u, side) for a in n.args)
            if args != n.args and place(*args)[0] is u:
                return True
        return False

    def _loci(self, e: Expr) -> tuple[list[Expr], set[Expr]]:
        """Quantities that vanish at kinks whose slopes occur and that have different signs on the
        two sides; and those of them that lie within the kinks of others."""
        if (known := self.seen.get(e)) is not None:
            return known
        found: dict[Expr, None] = {}
        within: set[Expr] = set()
        for n in ir.topological((e,)):
            if n.op in (*SLOPES, SIGN):
                own, _ = place(*n.args)
                if n.op is SIGN and own in self.written:
                    continue
                for u in _inside(n.args)[1]:
                    if self._counts(u):
                        found[u] = None
                        if u is not own:
                            within.add(u)
                if self._counts(own):
                    found[own] = None
        self.seen[e] = list(found), within
        return self.seen[e]

    def _counts(self, u: Expr) -> bool:
        """Whether u has two sides, or one whose slopes are not at 0."""
        if self.second and _is_even_power(u):
            return not any(e.op in (ABS, *EXTREMES, WHERE) for e in ir.topological((u,)))
        return not _has_one_side(u)


@lru_cache(maxsize=1024)
def _inside(args: tuple[Expr, ...]) -> tuple[int, dict[Expr, None]]:
    """The number of nodes below the arguments, and the quantities that vanish at their kinks, in
    order."""
    nodes = ir.topological(args)
    return len(nodes), dict.fromkeys(place(*m.args)[0] for m in nodes if m.op in (ABS, *EXTREMES))


def _sides(u: Expr, known: tuple[Side, ...]) -> list[int]:
    """The signs that u may have near a point at which u and the known kinks vanish."""
    both = [1] if _is_even_power(u) else [1, -1]
    if not independent_unknowns((u, *(w for w, _ in known))):
        return both
    return [s for s in both if feasible((*known, (u, s))) is not False] or both


def _triangular(loci: Iterable[Expr]) -> bool:
    """Whether each has a term in a variable that those before it do not depend on, so that any
    signs go together, whatever sides of other kinks they contain."""
    seen: set[Expr] = set()
    for u in loci:
        own = ir.variables((u,))
        if _may_be_flat(u) or all(v in seen for v in own if v in form(u)):
            return False
        seen.update(own)
    return True


def _dependent_on(u: Expr, loci: Sequence[Expr], known: Sequence[Expr]) -> list[Expr]:
    """The other kinks, except known ones, whose sides may depend on those of u."""
    mine = set(ir.variables((u,)))
    near = [w for w in loci if w is not u and mine & set(ir.variables((w,)))]
    straight = [w for w in near if independent_unknowns((u, w))]
    together = (u, *straight, *known)
    if independent_unknowns(together) and not dependent(together):
        return [w for w in near if w not in straight]
    return near


def _may_be_flat(u: Expr) -> bool:
    """Whether the gradient of u may vanish."""
    return next(alone(form(u)), None) is None


def _by_sign(e: Expr, plus: Expr, minus: Expr, else_: Expr) -> Expr:
    return ir.where(ir.lt(ZERO, e), plus, ir.where(ir.lt(e, ZERO), minus, else_))


def _has_one_side(u: Expr) -> bool:
    """Whether it is never negative, or never positive: the kink then belongs to its arguments."""
    if u.op in EXTREMES:
        return any(
            (q := ir.rational(a)) is not None and (q >= 0 if u.op in MAXIMA else q <= 0)
            for a in u.args
        )
    return (bool(u.op.sign) and u.op.sign != "same") or _is_even_power(u)


def _is_even_power(u: Expr) -> bool:
    return u.op is POW and (k := ir.integer(u.args[1])) is not None and k % 2 == 0


@lru_cache(maxsize=4096)
def _beside(e: Expr, u: Expr, side: int) -> Expr:
    """The expression with the values and slopes where u has a sign; for 0: where u is nan."""

    def rule(n: Expr, args: tuple[Expr, ...]) -> Expr:
        if n.op in (ABS, SIGN, *SLOPES, *EXTREMES):
            at, turn = place(*args)
            if at is u and not side:
                return ONE if n.op is HELD else args[0] if n.op in (LARGER, SMALLER) else NAN
            if at is u:
                turn *= side
                if n.op is ABS:
                    return args[0] if turn > 0 else -args[0]
                if n.op is SIGN:
                    return ir.const(turn)
                if n.op in SLOPES:
                    return ONE if turn > 0 else ZERO
                return args[0 if (turn > 0) == (n.op in MAXIMA) else 1]
        if side and ZERO in args and (n.op is MUL or (n.op is DIV and args[0] is ZERO)):
            return ZERO  # along the whole side, whatever the limit of the other factor
        if not side and NAN in args and n.op in (ADD, SUB, MUL, DIV, NEG):
            return NAN
        if not side and args == (NAN,) and not n.op.boolean:
            return NAN
        return ir.rebuild(n, args)

    return ir.transform((e,), rule)[0]
