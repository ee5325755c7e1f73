"""Small expression trees with explicit decisions, evaluated with mpmath.

A tree is printed as Python source by `point_spelling` and evaluated here with numbers of many digits. A decision
(a condition, a floor, a sign) has a key; an evaluation records what it decides and obeys decisions that are fixed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
from mpmath import mp, mpf

NAN = mpf("nan")
INF = mpf("inf")


@dataclass(frozen=True, eq=False)
class Node:
    """An operation with its arguments; `rank` is 0 for numbers and 1 for arrays."""

    op: str
    args: tuple[Node, ...] = ()
    data: Any = None
    rank: int = 0

    def __pow__(self, other: Any) -> Node:
        return binary("**", self, other)

    def __neg__(self) -> Node:
        return Node("neg", (self,), None, self.rank)

    def __getitem__(self, k: int) -> Node:
        return Node("get", (self,), k)


def _give_operator(op: str, name: str) -> None:
    setattr(Node, f"__{name}__", lambda self, other: binary(op, self, other))
    setattr(Node, f"__r{name}__", lambda self, other: binary(op, other, self))


for _op, _name in {"+": "add", "-": "sub", "*": "mul", "/": "truediv"}.items():
    _give_operator(_op, _name)


def num(value: float) -> Node:
    return Node("num", (), float(value))


def node(x: Any) -> Node:
    return x if isinstance(x, Node) else num(x)


def var(name: str, rank: int = 0) -> Node:
    return Node("var", (), name, rank)


def binary(op: str, a: Any, b: Any) -> Node:
    a, b = node(a), node(b)
    return Node(op, (a, b), None, max(a.rank, b.rank))


def call(name: str, *args: Any) -> Node:
    """An elementary function, elementwise."""
    nodes = tuple(map(node, args))
    return Node("call", nodes, name, max(a.rank for a in nodes))


def reduce(name: str, *args: Node) -> Node:
    """From arrays to a number: sum, mean, prod, max, min, norm, dot, logsumexp, std."""
    return Node("reduce", args, name)


def vec(*args: Any) -> Node:
    return Node("vec", tuple(map(node, args)), None, 1)


def compare(a: Any, op: str, b: Any) -> Node:
    a, b = node(a), node(b)
    return Node("compare", (a, b), op, max(a.rank, b.rank))


def both(a: Node, b: Node) -> Node:
    return Node("and", (a, b), None, max(a.rank, b.rank))


def either(a: Node, b: Node) -> Node:
    return Node("or", (a, b), None, max(a.rank, b.rank))


def negated(a: Node) -> Node:
    return Node("not", (a,), None, a.rank)


def band(a: Any, width: float) -> Node:
    """Whether a, which is never negative, is below a small width: beside the point, whether it is 0."""
    a = node(a)
    return Node("band", (a,), float(width), a.rank)


def every_zero(v: Node) -> Node:
    return Node("every zero", (v,))


def choose(test: Node, a: Any, b: Any, style: str = "") -> Node:
    """A conditional; `style` is a spelling, any one if empty."""
    a, b = node(a), node(b)
    return Node("choose", (test, a, b), style, max(test.rank, a.rank, b.rank))


def chain(*args: Any) -> Node:
    """Test, value, test, value, ..., value: one decision among several branches."""
    return Node("chain", tuple(map(node, args)))


def let(name: str, value: Node, body: Callable[[Node], Node]) -> Node:
    """The body with a name for a value."""
    inner = body(var(name, value.rank))
    return Node("let", (value, inner), name, inner.rank)


def total(index: str, count: int, body: Callable[[Node], Node]) -> Node:
    """The sum over an index from 0 to count - 1, written as a loop."""
    return Node("total", (body(var(index)),), (index, count))


def element(v: Node, index: Node, offset: int = 0) -> Node:
    return Node("element", (v, index), offset)


def free_names(n: Node) -> set[str]:
    if n.op == "var":
        return {n.data}
    if n.op == "let":
        return free_names(n.args[0]) | (free_names(n.args[1]) - {n.data})
    inner = set().union(*map(free_names, n.args))
    return inner - {n.data[0]} if n.op == "total" else inner


# --------------------------------------------------------------------- arithmetic
def _guarded(fn: Callable[..., Any]) -> Callable[..., Any]:
    def inner(*args: Any) -> Any:
        if any(mpmath.isnan(a) for a in args):
            return NAN
        try:
            r = fn(*args)
        except (ZeroDivisionError, ValueError, OverflowError):
            return NAN
        if isinstance(r, mpmath.mpc):
            return r.real if r.imag == 0 else NAN
        return r

    return inner


def _power(a: mpf, b: mpf) -> mpf:
    if a == 0:
        return mpf(1) if b == 0 else (mpf(0) if b > 0 else INF)
    if a < 0 and b != mpmath.floor(b):
        return NAN
    return mp.power(a, b)


def _log(a: mpf) -> mpf:
    return NAN if a < 0 else (-INF if a == 0 else mp.log(a))


def _logaddexp(a: mpf, b: mpf) -> mpf:
    m, s = max(a, b), min(a, b)
    return m if s == -INF else m + mp.log1p(mp.exp(s - m))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sin": mp.sin, "cos": mp.cos, "tan": mp.tan, "exp": mp.exp, "expm1": mp.expm1,
    "tanh": mp.tanh, "sinh": mp.sinh, "arctan": mp.atan,
    "log": _log, "log1p": lambda a: _log(1 + a) if a <= -1 else mp.log1p(a),
    "sqrt": lambda a: NAN if a < 0 else mp.sqrt(a),
    "arccos": lambda a: NAN if abs(a) > 1 else mp.acos(a),
    "arcsin": lambda a: NAN if abs(a) > 1 else mp.asin(a),
    "arctan2": lambda a, b: mpf(0) if a == 0 and b == 0 else mp.atan2(a, b), "hypot": lambda a, b: mp.sqrt(a * a + b * b),
    "abs": abs, "maximum": max, "minimum": min, "clip": lambda a, lo, hi: min(max(a, lo), hi),
    "logaddexp": _logaddexp,
}  # fmt: skip

ARITHMETIC: dict[str, Callable[..., Any]] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
    "/": lambda a, b: (NAN if a == 0 else (INF if a > 0 else -INF)) if b == 0 else a / b, "**": _power,
}  # fmt: skip

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b,
    ">": lambda a, b: a > b, "<=": lambda a, b: a <= b, ">=": lambda a, b: a >= b,
}  # fmt: skip


def _steps(name: str, a: mpf) -> int:
    if mpmath.isnan(a) or mpmath.isinf(a):
        return 0
    return int(mpmath.floor(a)) if name == "floor" else int(a > 0) - int(a < 0)


def lifted(fn: Callable[..., Any], *args: Any) -> Any:
    """Of numbers, or elementwise where one of the arguments is an array."""
    if any(isinstance(a, np.ndarray) for a in args):
        return np.frompyfunc(fn, len(args), 1)(*args)
    return fn(*args)


def _sum(v: Any) -> Any:
    return sum(v, mpf(0))


def _norm(v: Any) -> Any:
    return _guarded(FUNCTIONS["sqrt"])(_sum(x * x for x in v))


def _logsumexp(v: Any) -> Any:
    if any(mpmath.isnan(x) for x in v):
        return NAN
    m = max(v)
    return m if m == -INF else m + mp.log(_sum(mp.exp(x - m) for x in v))


def _extreme(pick: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda v: NAN if any(mpmath.isnan(x) for x in v) else pick(v)


def _std(v: Any) -> Any:
    mean = _sum(v) / len(v)
    return _norm([x - mean for x in v]) / mp.sqrt(len(v))


REDUCTIONS: dict[str, Callable[..., Any]] = {
    "sum": _sum, "mean": lambda v: _sum(v) / len(v), "prod": lambda v: math.prod(v, start=mpf(1)), "max": _extreme(max),
    "min": _extreme(min), "norm": _norm, "dot": lambda a, b: _sum(x * y for x, y in zip(a, b, strict=True)),
    "logsumexp": _logsumexp, "std": _std,
}  # fmt: skip


# --------------------------------------------------------------------- evaluation
class Run:
    """One evaluation: `taken` has the decisions in the order in which they were met."""

    def __init__(
        self, env: Mapping[str, Any], fixed: Mapping[Any, Any] | None = None, at_point: bool = False
    ) -> None:
        self.env = dict(env)
        self.fixed = fixed or {}
        self.at_point = at_point
        self.taken: dict[Any, Any] = {}
        self.bands: set[Any] = set()
        self.where: tuple[int, ...] = ()

    def decided(self, n: Node, element: int, found: Any) -> Any:
        key = (n.op, id(n), self.where, element)
        self.taken[key] = self.fixed.get(key, found)
        return self.taken[key]

    def test(self, n: Node) -> Any:
        """Whether a condition holds, before anything is fixed."""
        match n.op:
            case "compare":
                return lifted(COMPARISONS[n.data], *map(self.value, n.args))
            case "and":
                a, b = map(self.test, n.args)
                return lifted(lambda x, y: bool(x and y), a, b)
            case "or":
                a, b = map(self.test, n.args)
                return lifted(lambda x, y: bool(x or y), a, b)
            case "not":
                return lifted(lambda x: not x, self.test(n.args[0]))
            case "band":
                width = mpf(n.data)
                return lifted(
                    lambda a: a < width if self.at_point else a == 0, self.value(n.args[0])
                )
            case "every zero":
                return all(x == 0 for x in self.value(n.args[0]))
        raise AssertionError(n.op)

    def value(self, n: Node) -> Any:
        match n.op:
            case "num":
                return mpf(n.data)
            case "var":
                return self.env[n.data]
            case "get":
                return self.value(n.args[0])[n.data]
            case "element":
                return self.value(n.args[0])[int(self.value(n.args[1])) + n.data]
            case "neg":
                return lifted(lambda a: -a, self.value(n.args[0]))
            case "call" if n.data in ("floor", "sign"):
                return self._step(n)
            case "call":
                return lifted(_guarded(FUNCTIONS[n.data]), *map(self.value, n.args))
            case "vec":
                made = np.empty(len(n.args), object)
                for k, a in enumerate(n.args):
                    made[k] = self.value(a)
                return made
            case "reduce":
                return REDUCTIONS[n.data](*map(self.value, n.args))
            case "choose":
                return self._choice(n)
            case "chain":
                tests = [bool(self.test(t)) for t in n.args[:-1:2]]
                first = tests.index(True) if True in tests else len(tests)
                taken = self.decided(n, 0, first)
                return self.value(n.args[-1] if taken == len(tests) else n.args[2 * taken + 1])
            case "let":
                self.env[n.data] = self.value(n.args[0])
                return self.value(n.args[1])
            case "total":
                return self._total(n)
        return lifted(_guarded(ARITHMETIC[n.op]), *map(self.value, n.args))

    def _step(self, n: Node) -> Any:
        a = self.value(n.args[0])
        if not isinstance(a, np.ndarray):
            return mpf(self.decided(n, 0, _steps(n.data, a)))
        made = np.empty(len(a), object)
        for k, x in enumerate(a):
            made[k] = mpf(self.decided(n, k, _steps(n.data, x)))
        return made

    def _choice(self, n: Node) -> Any:
        test, a, b = n.args
        held = self.test(test)
        if test.op == "band" or any(x.op == "band" for x in test.args):
            self.bands.add(id(n))
        if not isinstance(held, np.ndarray):
            return self.value(a if self.decided(n, 0, bool(held)) else b)
        taken = [self.decided(n, k, bool(h)) for k, h in enumerate(held)]
        made = np.empty(len(held), object)
        for want, branch in ((True, a), (False, b)):
            if want in taken:
                values = self.value(branch)
                for k, t in enumerate(taken):
                    if t is want:
                        made[k] = values[k] if isinstance(values, np.ndarray) else values
        return made

    def _total(self, n: Node) -> Any:
        index, count = n.data
        r, outer = mpf(0), self.where
        for k in range(count):
            self.env[index], self.where = mpf(k), (*outer, k)
            r = r + self.value(n.args[0])
        self.where = outer
        return r
