"""The plain chain rule on a source, in mpmath arithmetic: the truth of the fuzzing of numbers.

`Jet` is a value with its first and second derivative along a line. Nothing is simplified,
filled or rewritten; where an operation has no derivative, the derivative is None, and where it
has no value, `Undefined` is raised. `limits` looks at both sides of such a point.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import mpmath
from mpmath import mp, mpf

DIGITS = ((60, "d"), (400, "u"), (3000, "d"))
"""Digits, and where they are rounded to, towards zero or away from it: what is lost altogether, as
exp(-1e5) in 1 + exp(-1e5), is lost in one of the two only."""
NEAR = (mpf(10) ** -60, mpf(10) ** -90)
"""Distances at which limits are looked at, as parts of the least coordinate."""
CLOSE, SLOWLY = mpf(10) ** -40, mpf(10) ** -10
"""How far apart values at two distances are that have one limit; as slowly as a root has it."""


class Undefined(ArithmeticError):  # noqa: N818
    """An operation has no value here."""


class TooFar(Exception):  # noqa: N818
    """Reducing an argument would take as many bits as it is large."""


LARGEST = 20_000
"""Binary size of arguments of functions."""


@dataclass(frozen=True, slots=True)
class Jet:
    """c[0] + c[1]*s + c[2]*s**2/2; None for a derivative that does not exist."""

    value: Any
    first: Any
    second: Any

    def _chain(self, f: Any, d: Any, dd: Any) -> Jet:
        if self.first == 0 and self.second == 0 and d is not None and dd is not None:
            return Jet(f, mpf(0), mpf(0))
        first = None if d is None or self.first is None else d * self.first
        if None in (d, dd, self.first, self.second):
            return Jet(f, first, None)
        return Jet(f, first, dd * self.first**2 + d * self.second)

    def __neg__(self) -> Jet:
        return self * -1

    def __pos__(self) -> Jet:
        return self

    def __add__(self, other: Any) -> Jet:
        o = lift(other)
        return Jet(self.value + o.value, _sum(self.first, o.first), _sum(self.second, o.second))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Jet:
        return self + lift(other) * -1

    def __rsub__(self, other: Any) -> Jet:
        return lift(other) - self

    def __mul__(self, other: Any) -> Jet:
        a, b = self, lift(other)
        first = _sum(_product(a.value, b.first), _product(a.first, b.value))
        cross = _product(2, _product(a.first, b.first))
        second = _sum(_sum(_product(a.value, b.second), _product(a.second, b.value)), cross)
        return Jet(a.value * b.value, first, second)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Jet:
        o = lift(other)
        if o.value == 0:
            raise Undefined("division")
        q = self.value / o.value  # exact where it is a number: 3/3 is 1, 3*(1/3) may not be
        if o.first == 0 and o.second == 0:
            return Jet(q, _over(self.first, o.value), _over(self.second, o.value))
        first = _over(_sum(self.first, _product(-q, o.first)), o.value)
        rest = _sum(_product(-2, _product(first, o.first)), _product(-q, o.second))
        return Jet(q, first, _over(_sum(self.second, rest), o.value))

    def __rtruediv__(self, other: Any) -> Jet:
        return lift(other) / self

    def __pow__(self, other: Any) -> Jet:
        if isinstance(other, Jet):
            if self.value <= 0:
                raise Undefined("power")
            return exp(other * log(self))
        x, q = self.value, mpf(other)
        if x == 0:
            if q < 0:
                raise Undefined("power")
            whole = q == int(q)
            slope = mpf(q == 1) if whole or q > 1 else None
            bend = mpf(2 * (q == 2)) if whole or q > 2 else None
            return self._chain(mpf(q == 0), slope, bend)
        if x < 0 and q != int(q):
            raise Undefined("power")
        n = int(q) if q == int(q) else q
        return self._chain(x**n, q * x ** (n - 1), q * (q - 1) * x ** (n - 2))

    def __rpow__(self, other: Any) -> Jet:
        return exp(self * mpmath.log(mpf(other)))

    def __abs__(self) -> Jet:
        s = mpmath.sign(self.value)
        return self._chain(abs(self.value), s or None, mpf(0) if s else None)

    def __lt__(self, other: Any) -> bool:
        return bool(self.value < lift(other).value)

    def __le__(self, other: Any) -> bool:
        return bool(self.value <= lift(other).value)

    def __gt__(self, other: Any) -> bool:
        return bool(self.value > lift(other).value)

    def __ge__(self, other: Any) -> bool:
        return bool(self.value >= lift(other).value)

    def __eq__(self, other: object) -> bool:
        return bool(self.value == lift(other).value)

    __hash__ = None  # type: ignore[assignment]


def _sum(a: Any, b: Any) -> Any:
    return None if a is None or b is None else a + b


def _product(a: Any, b: Any) -> Any:
    """None*0 is not known: the derivative may be anything."""
    return None if a is None or b is None else a * b


def _over(a: Any, b: Any) -> Any:
    return None if a is None else a / b


def lift(x: Any) -> Jet:
    return x if isinstance(x, Jet) else Jet(mpf(x), mpf(0), mpf(0))


def _function(f: Any, d: Any, dd: Any, inside: Any = None, edge: Any = None) -> Callable[..., Jet]:
    def apply(u: Any) -> Jet:
        u = lift(u)
        x = u.value
        if mpmath.isfinite(x) and x and mpmath.mag(x) > LARGEST:
            raise TooFar
        if inside is not None and not inside(x):
            raise Undefined("domain")
        if edge is not None and edge(x):
            return u._chain(f(x), None, None)
        return u._chain(f(x), d(x), dd(x))

    return apply


m = mpmath
exp = _function(m.exp, m.exp, m.exp)
log = _function(m.log, lambda x: 1 / x, lambda x: -1 / x**2, lambda x: x > 0)
_unit = {"inside": lambda x: abs(x) <= 1, "edge": lambda x: abs(x) == 1}
MATH = SimpleNamespace(
    exp=exp,
    log=log,
    sin=_function(m.sin, m.cos, lambda x: -m.sin(x)),
    cos=_function(m.cos, lambda x: -m.sin(x), lambda x: -m.cos(x)),
    tan=_function(m.tan, lambda x: m.sec(x) ** 2, lambda x: 2 * m.sec(x) ** 2 * m.tan(x)),
    sinh=_function(m.sinh, m.cosh, m.sinh),
    cosh=_function(m.cosh, m.sinh, m.cosh),
    tanh=_function(m.tanh, lambda x: m.sech(x) ** 2, lambda x: -2 * m.sech(x) ** 2 * m.tanh(x)),
    atan=_function(m.atan, lambda x: 1 / (1 + x * x), lambda x: -2 * x / (1 + x * x) ** 2),
    asin=_function(m.asin, lambda x: 1 / m.sqrt(1 - x * x), lambda x: x / m.sqrt(1 - x * x) ** 3, **_unit),
    acos=_function(m.acos, lambda x: -1 / m.sqrt(1 - x * x), lambda x: -x / m.sqrt(1 - x * x) ** 3, **_unit),
    sqrt=_function(m.sqrt, lambda x: 1 / (2 * m.sqrt(x)), lambda x: -1 / (4 * x * m.sqrt(x)),
                   lambda x: x >= 0, lambda x: x == 0),
    expm1=_function(m.expm1, m.exp, m.exp),
    log1p=_function(m.log1p, lambda x: 1 / (1 + x), lambda x: -1 / (1 + x) ** 2, lambda x: x > -1),
    erf=_function(
        m.erf, lambda x: 2 * m.exp(-x * x) / m.sqrt(m.pi),
        lambda x: -4 * x * m.exp(-x * x) / m.sqrt(m.pi),
    ),
    pi=m.pi,
)  # fmt: skip


class _Exact(ast.NodeTransformer):
    """Numbers of a source as jets, so that nothing is computed in doubles."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.Call(ast.Name("lift", ast.Load()), [node], [])

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        node.left = self.visit(node.left)
        constant = isinstance(node.right, ast.Constant)
        if not (isinstance(node.op, ast.Pow) and constant):
            node.right = self.visit(node.right)
        return node


def compiled(source: str) -> Callable[..., Jet]:
    """The function `f` of a source, for jets."""
    tree = ast.fix_missing_locations(_Exact().visit(ast.parse(source)))
    names: dict[str, Any] = {"math": MATH, "abs": abs, "lift": lift}
    exec(compile(tree, "<truth>", "exec"), names)
    found: Callable[..., Jet] = names["f"]
    return found


@dataclass(frozen=True, slots=True)
class Truth:
    """One value or derivative.

    kind : "exact": `value`; "limit": undefined there, and this from all sides; "between": a
        kink, with a value between `value` and `other`; "outside": of the domain;
        "none": jumps or poles; "open": not known.
    """

    kind: str
    value: Any = None
    other: Any = None


def truths(f: Callable[..., Jet], point: Sequence[float], along: int) -> list[Truth]:
    """Value, first and second derivative by one variable."""
    before: list[Truth] | None = None
    for digits, rounding in DIGITS:
        try:
            with mp.workdps(digits), _rounded(rounding):
                found = _at(f, point, along)
        except TooFar:
            break
        if before is not None and all(map(_same, before, found)):
            return found
        before = found
    return [Truth("open")] * 3


@contextmanager
def _rounded(to: str) -> Iterator[None]:
    before = mp._prec_rounding[1]
    mp._prec_rounding[1] = to
    try:
        yield
    finally:
        mp._prec_rounding[1] = before


def _same(a: Truth, b: Truth) -> bool:
    if a.kind != b.kind:
        return False
    pairs = [(a.value, b.value), (a.other, b.other)]
    return all(x is None or _agree(x, y, mpf(10) ** -25) for x, y in pairs)


def _agree(x: Any, y: Any, close: Any) -> bool:
    return bool(abs(x - y) <= close * max(abs(x), abs(y)))


def _run(f: Callable[..., Jet], point: Sequence[Any], along: int) -> Jet | None:
    jets = [Jet(mpf(x), mpf(i == along), mpf(0)) for i, x in enumerate(point)]
    try:
        found = lift(f(*jets))
    except (Undefined, ZeroDivisionError):
        return None
    if isinstance(found.value, mpmath.mpc) or not mpmath.isfinite(found.value):
        return None
    return found


def _at(f: Callable[..., Jet], point: Sequence[float], along: int) -> list[Truth]:
    here = _run(f, point, along)
    parts = [None] * 3 if here is None else [here.value, here.first, here.second]
    result = [Truth("open") if p is None else Truth("exact", p) for p in parts]
    if None not in parts:
        return result
    with mp.workdps(2 * mp.dps + 300):
        lines = _lines(len(point))
        least = min((abs(mpf(x)) for x in point if x), default=mpf(1))
        near = [h * min(least, mpf(1)) for h in NEAR]
        sides = [
            [_run(f, [mpf(x) + h * c for x, c in zip(point, line, strict=True)], along) for h in near]
            for line in lines
        ]  # fmt: skip
        for k in range(3):
            if parts[k] is None:
                result[k] = _limit(sides, k, here is not None)
    if result[0].kind in ("none", "outside", "open"):
        result[1:] = [Truth("open")] * 2  # no value, no derivative that could be right or wrong
    elif result[1].kind != "exact" and result[1].kind != "limit":
        result[2] = Truth("open")
    return result


def _lines(n: int) -> list[list[Any]]:
    if n == 1:
        return [[mpf(1)], [mpf(-1)]]
    a, b = mpf("0.7309"), mpf("0.5831")
    return [[s * a, t * b] for s in (1, -1) for t in (1, -1)] + [[b, -a / 9], [-a / 9, b]]


def _limit(sides: list[list[Jet | None]], k: int, continuous: bool) -> Truth:
    """What the values near a point say: all of them, or a kink."""
    ends: list[Any] = []
    for side in sides:
        if all(j is None for j in side):
            continue
        values = [None if j is None else (j.value, j.first, j.second)[k] for j in side]
        if None in values:
            return Truth("open")
        far, near = values
        if _agree(far, near, CLOSE):
            ends.append(near)
        elif abs(near) < abs(far) * mpf(10) ** -12 and abs(near) < mpf(10) ** -30:
            ends.append(mpf(0))
        elif _agree(far, near, SLOWLY):
            ends.append(near)
        else:
            return Truth("none")
    if not ends:
        return Truth("outside")
    low, high = min(ends), max(ends)
    if low == high == 0 or high - low <= CLOSE * max(abs(low), abs(high)):
        return Truth("limit", low)
    if len(ends) < len(sides):
        return Truth("open")
    if _agree(low, high, SLOWLY):
        return Truth("limit", low)
    return Truth("none") if k == 0 else Truth("between", low, high)
