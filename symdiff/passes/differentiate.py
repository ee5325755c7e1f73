"""The chain rule on the DAG, forward and reverse.

Before:  y = sin(x)/x
After:   dy/dx = cos(x)/x - (sin(x)/x)/x

Requires: nodes whose operations have a derivative (see `Op.partials`).
Ensures: each node is differentiated once; the side of a branch that is not
taken contributes nothing, not even 0*inf: every adjoint carries the path of
conditions under which its node is executed, and a sum over different paths
is taken through `where`.

Reverse mode is Linnainmaa's (1970), second derivatives are forward over
reverse; see Griewank and Walther, Evaluating Derivatives (2008), chapter 3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction

from symdiff import ir
from symdiff.ir import ADD, DIV, FALSE, MUL, NAN, NEG, ONE, POW, SUB, TRUE, VAR, WHERE, ZERO, Expr
from symdiff.ir.functions import (
    EXTREMES,
    HYPOT,
    MAXIMA,
    ROOT_SLOPE,
    SLOPES,
    SQUARES,
    UNIT,
    XLOGY,
)
from symdiff.passes.analysis.quadratic import squared_in

Path = tuple[Expr, ...]
"""Conditions that must all hold; () is always."""

MAX_NORM_TERMS = 64
MAX_CLAMPS = 4
"""Clamps in a norm that are distinguished."""


def gradient(output: Expr, wrt: Sequence[Expr]) -> tuple[Expr, ...]:
    """Derivatives of one output with respect to variables, in reverse mode."""
    return pullback((output,), (ONE,), wrt)


def pullback(
    outputs: Sequence[Expr], cotangents: Sequence[Expr], wrt: Sequence[Expr]
) -> tuple[Expr, ...]:
    """`sum_i cotangents[i] * d outputs[i]/d wrt` for each variable (a vjp)."""
    outputs = opened(outputs)
    order = ir.topological(outputs)
    active = depends_on(order, wrt)
    pending: dict[Expr, dict[Path, Expr]] = {}
    for output, cotangent in zip(outputs, cotangents, strict=True):
        accumulate(pending, output, (), cotangent)
    result: dict[Expr, Expr] = {}
    for node in reversed(order):
        if node not in active or node not in pending:
            continue
        path, adjoint = combine(pending.pop(node))
        if node.op is VAR:
            result[node] = gated(path, adjoint)
            continue
        for child, partial, counts in local_partials(node):
            if child in active and partial is not ZERO:
                inner = path if counts is TRUE or counts in path else (*path, counts)
                accumulate(pending, child, inner, adjoint * partial)
    return tuple(result.get(v, ZERO) for v in wrt)


def pushforward(outputs: Sequence[Expr], tangents: Mapping[Expr, Expr]) -> tuple[Expr, ...]:
    """Derivative of each output along a direction of the variables (a jvp)."""
    outputs = opened(outputs)
    order = ir.topological(outputs)
    active = depends_on(order, [v for v, t in tangents.items() if t is not ZERO])
    tangent: dict[Expr, Expr] = {}
    for node in order:
        if node not in active:
            continue
        if node.op is VAR:
            tangent[node] = tangents[node]
        elif node.op is WHERE:
            tangent[node] = of_branches(node, lambda a: tangent.get(a, ZERO))
        else:
            total = ZERO
            for child, partial, counts in local_partials(node):
                if child in active:
                    total = total + ir.where(counts, multiplied(tangent[child], partial), ZERO)
            tangent[node] = total
    return tuple(tangent.get(o, ZERO) for o in outputs)


def multiplied(tangent: Expr, partial: Expr) -> Expr:
    """Their product, without 0*inf on a side of a branch that contributes nothing."""
    sides: list[tuple[Expr, bool]] = []
    while tangent.op is WHERE and ZERO in tangent.args:
        condition, a, b = tangent.args
        sides.append((condition, a is ZERO))
        tangent = b if a is ZERO else a
    product = tangent * partial
    for condition, first in reversed(sides):
        product = ir.where(condition, *((ZERO, product) if first else (product, ZERO)))
    return product


def opened(outputs: Sequence[Expr]) -> tuple[Expr, ...]:
    """The outputs, prepared for differentiation. The slope of a norm is 0 where the norm is 0, but
    the slope itself has no derivative there. In a norm of clamps, a clamp is the only term that
    counts where all others are met: the kink there is that of a maximum, as
    `hypot(max(x, 0), max(y, 0))` is max(x, 0) for negative y."""

    def rule(n: Expr, args: tuple[Expr, ...]) -> Expr:
        if n.op is UNIT and is_slope(n):
            return args[0] / args[1]
        return _apart(n, ir.rebuild(n, args))

    order = ir.topological(outputs)
    found = any(map(is_slope, order))
    if not found and not any(n.op in EXTREMES for n in order):
        return tuple(outputs)
    return ir.transform(outputs, rule)


Clamp = tuple[Expr, Expr]
"""The absolute value of a clamp, and the condition that it is active; elsewhere the value is 0 too."""


def _apart(n: Expr, made: Expr) -> Expr:
    """A norm of clamps, with branches where all but one of them are met."""
    clamps = _clamps(n) or []
    if not 1 < len(clamps) <= MAX_CLAMPS:
        return made
    for i, (size, _) in enumerate(clamps):
        others = (*clamps[:i], *clamps[i + 1 :])
        made = ir.where(all_of(tuple(met for _, met in others)), size, made)
    return made


def _clamps(n: Expr) -> list[Clamp] | None:
    """The clamps in a norm; None if it has other terms."""
    terms = [(Fraction(1), a, 2) for a in n.args] if n.op is HYPOT else None
    if n.op is POW and ir.rational(n.args[1]) == Fraction(1, 2):
        terms = squares(n.args[0])
    found: list[Clamp] = []
    for weight, w, k in terms or ():
        inner = [_clamp(w)] if w.op is not HYPOT else _clamps(w)
        if inner is None or None in inner or (k > 2 and len(inner) > 1):
            return None
        root = ir.power(ir.const(weight), ir.HALF)
        found += [(root * ir.power(c[0], k // 2), c[1]) for c in inner if c is not None]
    return found


def _clamp(e: Expr) -> Clamp | None:
    factor, clamp = ir.scaled(e)
    if clamp.op not in EXTREMES or ZERO not in clamp.args:
        return None
    at, up = clamp.args[clamp.args[0] is ZERO], clamp.op in MAXIMA
    size = ir.const(abs(factor)) * (clamp if up else -clamp)
    return size, ir.lt(at, ZERO) if up else ir.lt(ZERO, at)


def is_slope(n: Expr) -> bool:
    """Whether a node is the slope of the root of a sum of squares."""
    return n.op is ROOT_SLOPE or (n.op is UNIT and n.args[0].op is ir.CONST)


def depends_on(order: Sequence[Expr], wrt: Sequence[Expr]) -> set[Expr]:
    """The nodes of a topological order whose real value depends on a variable."""
    active = set(wrt)
    for node in order:
        if not node.op.boolean and any(a in active and not a.op.boolean for a in node.args):
            active.add(node)
    return active


def accumulate(pending: dict[Expr, dict[Path, Expr]], node: Expr, path: Path, term: Expr) -> None:
    """Add a term to the adjoint of a node, for one path to it."""
    if FALSE in path:
        return
    paths = pending.setdefault(node, {})
    paths[path] = paths[path] + term if path in paths else term


def combine(paths: dict[Path, Expr]) -> tuple[Path, Expr]:
    """One path and adjoint for a node that is reached along several.

    The two sides of a branch join into one `where`; the rest is gated
    term by term and executed if any of the paths is.
    """
    while len(paths) > 1:
        longest = max(paths, key=len)
        twin = (*longest[:-1], ir.not_(longest[-1])) if longest else None
        if twin is None or twin not in paths:
            break
        a, b = paths.pop(longest), paths.pop(twin)
        joined = ir.where(longest[-1], a, b)
        above = longest[:-1]
        paths[above] = paths[above] + joined if above in paths else joined
    if len(paths) == 1:
        return next(iter(paths.items()))
    if () in paths:
        for path in [p for p in paths if p]:
            within = _cancelled(paths[()], paths[path])
            if within is not None:
                del paths[path]
                paths[()] = _either(path, within, paths[()])
    condition, total = FALSE, ZERO
    for path, term in paths.items():
        condition = ir.or_(condition, all_of(path))
        total = total + gated(path, term)
    return (() if condition is TRUE else (condition,)), total


def _either(path: Path, term: Expr, other: Expr) -> Expr:
    """A term where the path is taken, else another one."""
    for condition in reversed(path):
        term = ir.where(condition, term, other)
    return term


def _cancelled(total: Expr, other: Expr) -> Expr | None:
    """The sum of both, if terms of one cancel terms of the other: entirely, or where a slope of a
    maximum is 1. None if none do; rounded sums of large terms that cancel would lose all digits."""
    terms, others = _terms_of(total), _terms_of(other)
    if terms is None or others is None:
        return None
    left, found = list(terms), False
    for factor, e in others:
        scale, rest, share = _shared(factor, e)
        if (-scale, rest) in left:
            at = left.index((-scale, rest))
            left[at] = -scale, rest * (1 - share)
            found = True
        else:
            left.append((factor, e))
    return sum((ir.const(q) * e for q, e in left if e is not ZERO), ZERO) if found else None


def _shared(factor: Fraction, e: Expr) -> tuple[Fraction, Expr, Expr]:
    """A term as a factor, a formula, and a slope of a maximum, or 1."""
    if e.op is MUL and (share := next((a for a in e.args if a.op in SLOPES), None)) is not None:
        more, rest = ir.scaled(e.args[e.args[0] is share])
        return factor * more, rest, share
    return factor, e, ONE


def _terms_of(e: Expr) -> list[tuple[Fraction, Expr]] | None:
    """The terms of a sum, with their factors; None if there are many."""
    found: list[tuple[Fraction, Expr]] = []
    stack = [(Fraction(1), e)]
    while stack:
        factor, n = stack.pop()
        more, n = ir.scaled(n)
        factor *= more
        if n.op in (ADD, SUB):
            stack += [(factor * (-1 if n.op is SUB else 1), n.args[1]), (factor, n.args[0])]
        else:
            found.append((factor, n))
        if len(found) + len(stack) > MAX_NORM_TERMS:
            return None
    return found


def all_of(path: Path) -> Expr:
    """The condition that a path is taken."""
    condition = TRUE
    for c in path:
        condition = ir.and_(condition, c)
    return condition


def gated(path: Path, term: Expr) -> Expr:
    """The term where the path is taken, else 0."""
    for condition in reversed(path):
        term = ir.where(condition, term, ZERO)
    return term


def of_branches(node: Expr, slope: Callable[[Expr], Expr]) -> Expr:
    """The slope of a branch from those of its sides; None if it is no number."""
    condition, *sides = node.args
    return ir.where(condition, *(NAN if a is NAN else slope(a) for a in sides))


def local_partials(node: Expr) -> Iterator[tuple[Expr, Expr, Expr]]:
    """(child, derivative of the node by it, condition under which it counts)."""
    args = node.args
    if node.op is ADD:
        yield args[0], ONE, TRUE
        yield args[1], ONE, TRUE
    elif node.op is SUB:
        yield args[0], ONE, TRUE
        yield args[1], ir.const(-1), TRUE
    elif node.op is NEG:
        yield args[0], ir.const(-1), TRUE
    elif node.op is MUL:
        yield args[0], args[1], TRUE
        yield args[1], args[0], TRUE
    elif node.op is DIV:
        yield args[0], ONE / args[1], TRUE
        yield args[1], -(node / args[1]), TRUE
    elif node.op is POW:
        yield from _power_partials(node)
    elif node.op is WHERE:
        condition, a, b = args
        yield a, *((ir.where(condition, ONE, NAN), TRUE) if b is NAN else (ONE, condition))
        yield b, *((ir.where(condition, NAN, ONE), TRUE) if a is NAN else (ONE, ir.not_(condition)))
    elif node.op.partials is None:
        raise TypeError(f"{node.op.name} has no derivative")
    elif (parts := powers_and_logarithms(node)) is not None:
        base, exponent, k = parts
        slope = exponent * _power_and_logarithms(base, exponent - 1, k)
        yield base, slope + k * _power_and_logarithms(base, exponent - 1, k - 1), TRUE
        yield exponent, XLOGY(node, base), TRUE
    else:
        conditions = node.op.live(*args) if node.op.live else (TRUE,) * len(args)
        for child, partial, counts in zip(args, node.op.partials(*args), conditions, strict=True):
            if partial is not None:
                yield child, partial, counts


def _power_partials(node: Expr) -> Iterator[tuple[Expr, Expr, Expr]]:
    base, exponent = node.args
    q = ir.rational(exponent)
    if q == Fraction(1, 2) and (terms := squares(base)) is not None:
        for weight, w, n in terms:  # a norm: d|w| = (w/|w|) dw, with 0 at 0
            yield w, UNIT(ir.const(weight * n / 2) * ir.power(w, n - 1), node), TRUE
        return
    if q == Fraction(1, 2) and base.op is SQUARES:
        yield base, ROOT_SLOPE(base), TRUE
        return
    slope = exponent * ir.power(base, exponent - 1)
    if q == Fraction(1, 2):
        kink = weighted_squares(base)
        if kink is None and (rows := squared_in(base)) is not None:
            kink = [ir.eq(row, ZERO) for row in rows]
        if kink is not None:
            slope = ir.where(all_of(tuple(kink)), UNIT(ir.HALF, node), slope)
    yield base, slope, TRUE
    if q is None:
        slope = XLOGY(node, base)
        if base is ZERO:  # all derivatives of 0**y are 0 for y > 0, where log(0)**2 * 0**y is nan
            slope = ir.where(ir.lt(ZERO, exponent), ZERO, slope)
        yield exponent, slope, TRUE


def powers_and_logarithms(node: Expr) -> tuple[Expr, Expr, int] | None:
    """(x, y, k) of x**y * log(x)**k, the form of derivatives of x**y by y; else None. Its own
    derivatives are sums of such terms, which are 0 at x = 0 for y > 1, where products with log(x)
    would be nan."""
    k, e = 0, node
    while e.op is XLOGY and e.args[1] is node.args[1]:
        k, e = k + 1, e.args[0]
    if k == 0 or e.op is not POW or e.args[0] is not node.args[1]:
        return None
    base, exponent = e.args
    return (base, exponent, k) if ir.rational(exponent) is None else None


def _power_and_logarithms(base: Expr, exponent: Expr, k: int) -> Expr:
    """base**exponent * log(base)**k, 0 at 0 where the power is."""
    e = ir.power(base, exponent)
    for _ in range(k):
        e = XLOGY(e, base)
    return e


def weighted_squares(u: Expr) -> list[Expr] | None:
    """The condition that a sum of at least two terms c*w**n, with any factors c and even n > 0, is
    0 in all terms, and no c is negative: there its root has a kink, as a norm has. None for other
    sums."""
    found: dict[Expr, None] = {}
    terms = 0
    stack = [u]
    while stack:
        e = stack.pop()
        if e.op is ADD:
            stack.extend(reversed(e.args))
            continue
        split = _squared(e)
        terms += 1
        if split is None or terms > MAX_NORM_TERMS:
            return None
        w, c = split
        found[ir.eq(w, ZERO)] = None
        found[ir.le(ZERO, c)] = None
    if terms < 2 or FALSE in found:
        return None
    return [c for c in found if c is not TRUE]


def _squared(e: Expr) -> tuple[Expr, Expr] | None:
    """The squared factor of a product, and the other factors; None if there is none, or there are
    too many. Equal factors make a square too, as in w*y*y."""
    stack, w, rest = [e], None, ONE
    single: list[Expr] = []
    while stack:
        n = stack.pop()
        k = ir.integer(n.args[1]) if n.op is POW else None
        if len(single) > MAX_NORM_TERMS:
            return None
        if n.op is MUL:
            stack.extend(reversed(n.args))
        elif n.op is DIV:
            rest = rest / n.args[1]
            stack.append(n.args[0])
        elif w is None and k is not None and k > 0 and not k % 2:
            w = n.args[0]
        elif w is None and n in single:
            w = n
            single.remove(n)
        else:
            single.append(n)
    for n in single:
        rest = rest * n
    return None if w is None else (w, rest)


def squares(u: Expr) -> list[tuple[Fraction, Expr, int]] | None:
    """u as a sum of at least two terms c*w**n with c > 0 and n even, else None."""
    terms: list[tuple[Fraction, Expr, int]] = []
    sums, again = set[Expr](), 0
    stack = [(Fraction(1), u)]
    while stack:
        factor, e = stack.pop()
        weight, w = ir.scaled(e)
        weight *= factor
        if w.op is ADD:
            stack.extend((weight, a) for a in reversed(w.args))
            again += w in sums
            sums.add(w)
            if len(stack) > MAX_NORM_TERMS or again > MAX_NORM_TERMS:
                return None
            continue
        n = ir.integer(w.args[1]) if w.op is POW else None
        if weight <= 0 or n is None or n < 2 or n % 2:
            return None
        terms.append((weight, w.args[0], n))
    return terms if len(terms) > 1 else None
