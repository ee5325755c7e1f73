"""Plain functions, one construct of Python each, to be crossed with every mode.

Each case runs as ordinary Python on its samples, which lie inside of the domain
and off the kinks, so that value and derivatives can be compared with numerics.
"""

# ruff: noqa: C416, C417, PLC0208

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import scipy.special


@dataclass(frozen=True)
class Case:
    """A function and points to try it at.

    Attributes
    ----------
    fun : the plain function.
    samples : tuples of real arguments.
    static : values of its static parameters.
    """

    fun: Callable[..., Any]
    samples: tuple[tuple[float, ...], ...]
    static: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.fun.__name__

    @property
    def gives_a_number(self) -> bool:
        """Whether it has one result, which is a number."""
        return isinstance(self(*self.samples[0]), (int, float, np.number))

    def __call__(self, *args: float) -> Any:
        """The plain Python value."""
        return self.fun(*args, **self.static)


ONE_D = ((0.7,), (1.3,), (2.6,), (-0.4,), (-1.7,))
POSITIVE = ((0.3,), (1.1,), (4.2,))
TWO_D = ((0.7, 1.9), (1.3, -0.4), (-2.1, 0.6), (-0.3, -1.2))
CASES: list[Case] = []


def case(
    *samples: tuple[float, ...], **static: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add a function to the corpus."""

    def add(fun: Callable[..., Any]) -> Callable[..., Any]:
        CASES.append(Case(fun, samples, static))
        return fun

    return add


# ------------------------------------------------------------------- arithmetic
@case(*TWO_D)
def arithmetic(x, y):
    return (x + y) * (x - y) / (x * x + 1) - -x + +y


@case((0.7,), (1.3,), (-1.7,))
def rational_quotient(x):
    return (x**2 - 4) / (x - 2)


@case(*POSITIVE)
def powers(x):
    return x**3 + x**-2 + x**0.5 + x**-1.5 + 2**x + x**x + pow(x, 4) + x ** (1 / 3)


@case(*TWO_D)
def rounding(x, y):
    return round(x) + math.floor(y) * x + math.ceil(x) + np.trunc(y) + abs(y) + round(x, 1)


@case((0.7, 1.9), (1.3, -0.5), (-2.1, 0.6), (-0.3, -1.2))
def modulo(x, y):
    q, r = divmod(x, 0.75)
    return x % 1.5 + y // 0.4 + q * r + math.fmod(x, 0.9) + np.mod(y, -0.7)


@case(*TWO_D)
def extremes(x, y):
    return max(x, y, 0.5) * min(x, 2 * y) + np.maximum(x, y) - np.minimum(x, 1.0) + max([x, y])


@case(*ONE_D)
def exact_constants(x):
    third = 1 / 3
    return x * third * 3 - x + np.sin(0.3) * x + 2**-3 + 7 // 2 + 7 % 4 + math.pi + np.e


@case(*ONE_D)
def augmented(x):
    v = x
    v += 1
    v *= x
    v -= 0.5
    v /= 3
    v **= 2
    return v


# ---------------------------------------------------------- elementary functions
@case(*ONE_D)
def trigonometry(x):
    return math.sin(x) * np.cos(x) + math.tan(x / 4) + math.atan(x) + np.arctan2(x, 2.0)


@case((0.3,), (-0.6,), (0.1,))
def inverse_functions(x):
    return math.asin(x) + np.arccos(x) + math.atanh(x) + np.arcsinh(x) + math.acosh(2 + x)


@case(*POSITIVE)
def exponentials(x):
    return (
        math.exp(-x) + np.exp2(x / 3) + math.expm1(x) * math.log1p(x) + np.log2(x) + math.log10(x)
    )


@case(*POSITIVE)
def logarithm_bases(x):
    return math.log(x, 3) + math.log(x, 2) + math.log(x, 10) + math.log(x)


@case(*ONE_D)
def hyperbolic(x):
    return math.sinh(x) / math.cosh(x) + np.tanh(x) + np.logaddexp(x, 1.0) + np.sinc(x)


@case(*POSITIVE)
def special_functions(x):
    return math.erf(x) + math.erfc(x) + math.gamma(x) + math.lgamma(x) + np.cbrt(x)


@case(*POSITIVE)
def scipy_functions(x):
    return scipy.special.expit(x) + scipy.special.xlogy(x, x) + scipy.special.digamma(x)


@case(*TWO_D)
def norms(x, y):
    return (
        math.hypot(x, y) + math.hypot(x, y, 1.0) + np.hypot(x, 2.0) + math.dist((x, y), (0.5, 3.0))
    )


@case(*TWO_D)
def signs(x, y):
    return np.sign(x) * y + math.copysign(x, y) + np.heaviside(x, 0.5) + math.fabs(y)


@case(*ONE_D)
def angles(x):
    return math.degrees(x) + np.radians(x) + np.deg2rad(30.0) * x


# ---------------------------------------------------------------------- branches
@case(*ONE_D)
def if_elif_else(x):
    if x > 1:
        y = x * x
    elif x > 0:
        y = math.sqrt(x)
    else:
        y = -x
    return 3 * y


@case(*ONE_D)
def conditional_expression(x):
    return math.log(x) if x > 0 else math.sin(x) if x < -1 else x


@case(*ONE_D)
def early_return(x):
    if x < -1:
        return x
    y = x + 2
    if x < 0:
        return y * y
    y = math.log(y)
    if x > 2:
        y = y + 1
        return y
    return y * x


@case(*TWO_D)
def nested_branches(x, y):
    z = 0.0
    if x > 0:
        if y > 0:
            z = x * y
        else:
            z = x - y
        z = z + 1
    elif y > 0.5:
        return y
    return z * x


@case(*TWO_D)
def boolean_logic(x, y):
    a = x > 0 and y > 0
    b = not a or x > 1
    c = x < y or y < -1
    return (1.5 if a else 2.5) * x + (y if b and not c else x * y)


@case(*TWO_D)
def chained_comparison(x, y):
    return x if -1 < x <= y < 3 else y * y


@case(*ONE_D)
def truth_of_number(x):
    y = x or 2.0
    return y if x else 1.0


@case(*ONE_D)
def condition_products(x):
    return (x > 0) * x**2 + (x <= 0) * x + 3 * (x > 1) + True * x - (not (x > 2))


@case(*TWO_D)
def conditions_as_values(x, y):
    a = (x > 0) & (y > 0) | (x < -1)
    b = np.logical_or(x > 2, y < 0) ^ (x > 1)
    return np.where(a, x, y) + np.where(np.logical_not(b), x * x, 1.0)


@case(*ONE_D)
def lazy_where(x):
    return np.where(x > 0, np.sqrt(np.maximum(x, 0)), 0) + np.where(x == 0, 1.0, np.sin(x) / x)


@case(*ONE_D)
def select_piecewise(x):
    a = np.select([x > 1, x > 0], [x * x, x], default=-x)
    b = np.piecewise(x, [x < 0, x >= 0], [lambda v: v * v, lambda v: 3 * v])
    return a + b


@case(*ONE_D)
def clipping(x):
    return np.clip(x, -1.0, 2.0) * x + np.clip(x * x, None, 1.5)


@case(*POSITIVE)
def asserted(x):
    assert x > 0, f"x is {x}"
    return math.log(x) / x


@case(*ONE_D)
def known_conditions(x):
    n, word = 3, "cos"
    if n > 2 and word in ("sin", "cos"):
        y = math.cos(x) if word == "cos" else math.sin(x)
    if math.sqrt(2.0) > 1.4:
        y = y + 1
    return y if math.sin(0.5) < 0.48 else y * y


# ------------------------------------------------------------------------- loops
@case(*ONE_D)
def counted_loop(x):
    total = 0.0
    for i in range(1, 6):
        total += x**i / math.factorial(i)
    return total


@case(*ONE_D)
def loop_break(x):
    total = x
    for i in range(6):
        if total > 4:
            break
        total = total * 1.5 + i
    else:
        total = total - 10
    return total


@case(*ONE_D)
def loop_continue(x):
    total = 0.0
    for k in [0.5, -1.0, 2.0]:
        if x * k > 1:
            continue
        total += k * x
        if total < -2:
            total *= 2
    return total


@case(*ONE_D)
def loop_return(x):
    v = x
    for _ in range(5):
        v = v * v - 0.5
        if v > 3:
            return v
        if v < -0.2:
            continue
        v = v + 0.1
    return v * 2


@case(*POSITIVE)
def newton_square_root(x):
    r = x
    for _ in range(8):
        new = (r + x / r) / 2
        if abs(new - r) < 1e-3:
            break
        r = new
    return r


@case(*ONE_D)
def known_while(x):
    n, y = 12, x
    while n > 1:
        y = y + x / n
        n //= 2
    return y


@case(*TWO_D)
def nested_loops(x, y):
    total = 0.0
    for i in range(3):
        for j in range(i + 1):
            if i * x > 2:
                break
            total += x**i * y**j
    return total


# ------------------------------------------------------------- data and functions
@case(*TWO_D)
def tuples(x, y):
    a, (b, *rest), c = x, (y, x, 2.0), 3
    a, b = b, a
    return a * rest[0] + b * rest[-1] + c


@case(*TWO_D)
def lists(x, y):
    v = [x, y]
    v.append(x * y)
    v += [1.5]
    v[0] = v[1] + v[-1]
    w = [*v, *v[1:3]]
    return sum(w) + len(w) * x + w[2]


@case(*ONE_D)
def list_in_branch(x):
    v = [x, 1.0, 2.0]
    if x > 0:
        v[1] = math.sqrt(x)
    else:
        v[2] = x * x
    return v[0] + v[1] * v[2]


@case(*TWO_D)
def dictionaries(x, y):
    d = {"a": x, "b": y, 3: x * y}
    d["c"] = d["a"] + 1
    d.update(e=2.0)
    return sum(d.values()) + sum(v for k, v in d.items() if k != "a") + d.get("z", 1.5)


@case(*ONE_D)
def comprehensions(x):
    powers = [x**k for k in range(4) if k != 1]
    table = {k: p for k, p in enumerate(powers)}
    return (
        sum(k * p for k, p in table.items()) + max(p for p in powers) + sum([1.0 for _ in {1, 2}])
    )


@case(*ONE_D)
def filtered_sum(x):
    values = [x, -x, x * x, x - 1]
    return sum(v for v in values if v > 0) + sum(1 for v in values if v < 0.5) * x


@case(*ONE_D)
def any_all(x):
    if any(x > k for k in (1, 2)) and all([x < 5, x > -5]):
        return x * x
    return -x


_SCALE = 2.5
_WEIGHTS = np.array([0.5, -1.0, 2.0])
_TABLE = {"rate": 0.25, "order": 2}


@case(*ONE_D)
def outer_values(x):
    return _SCALE * x ** _TABLE["order"] + _TABLE["rate"] * _WEIGHTS[1] + _WEIGHTS[2] * x


def _make_adder(k):
    return lambda v: v + k


_ADD = _make_adder(0.75)


@case(*ONE_D)
def closures(x):
    def inner(v, scale=2.0, *, shift=0.0):
        return v * scale + shift + x

    twice = lambda f, v: f(f(v))
    return inner(x) + inner(x, shift=1.0) + twice(inner, 0.5) + _ADD(x)


def _helper(a, b=1.5, *rest, gain=1.0, **options):
    return a * b * gain + sum(rest) + options.get("bias", 0.0)


@case(*TWO_D)
def keyword_arguments(x, y):
    args = (y, 0.5, x)
    options = {"gain": 2.0, "bias": x}
    return _helper(x) + _helper(x, *args, **options) + _helper(b=y, a=x)


def _chebyshev(n, x):
    if n < 2:
        return x if n else 1.0
    return 2 * x * _chebyshev(n - 1, x) - _chebyshev(n - 2, x)


@case(*ONE_D)
def recursion(x):
    return _chebyshev(5, x)


@case(*ONE_D, n=3, kind="sin", signed=True)
def static_parameters(x, n: int, kind="cos", signed: bool = False):
    f = math.sin if kind == "sin" else math.cos
    return f(x) ** n * (-1 if signed else 1)


@case(*ONE_D)
def walrus(x):
    if (y := x * x) > 1:
        return y
    return y + (z := x - 1) * z


@case(*ONE_D)
def higher_order(x):
    f = functools.partial(_helper, b=x)
    ys = map(lambda v: v * x, (1, 2, 3))
    return functools.reduce(operator.mul, ys, 1.0) + f(2.0) + sum(itertools.accumulate([x, x, 1.0]))


class _Point(NamedTuple):
    x: float
    y: float


@dataclass(frozen=True)
class _Model:
    rate: float
    power: int

    def value(self, x):
        return self.rate * x**self.power


_MODEL = _Model(0.3, 2)


@case(*TWO_D)
def objects(x, y):
    p = _Point(x, y=y * 2)
    return p.x * p.y + _MODEL.value(x) + _MODEL.rate


# ------------------------------------------------------------------ small arrays
@case(*TWO_D)
def array_arithmetic(x, y):
    v = np.array([x, y, 1.0])
    w = v * _WEIGHTS + np.ones(3) / 2
    return np.sum(w**2) + v @ _WEIGHTS + np.dot(w, v) + v.prod() + w[1:].max() + np.mean(v)


@case((0.7,), (-1.3,))
def array_mask(x):
    delta = np.array((0, 1, -1)) * x
    return np.sum((np.abs(delta) ** 0.5)[delta > 0]) + delta[delta > 0.1].sum()


@case(*ONE_D)
def array_where(x):
    grid = np.linspace(-2.0, 2.0, 5)
    return np.sum(np.where(grid > 0, grid * x, np.sin(grid + x))) + np.arange(3)[2] * x


@case(*ONE_D)
def array_loops(x):
    total = 0.0
    v = np.zeros(3)
    for i in range(len(v)):
        v[i] = x**i
    for i, e in enumerate(v):
        total += e * (i + 1)
    v[v > 1] = 0.5
    return total + v.sum() + v.shape[0]


@case(*TWO_D)
def matrices(x, y):
    a = np.array([[x, 1.0], [y, 2.0]])
    b = np.stack([a[0], a[:, 1]]) @ np.array([1.0, x])
    c = np.concatenate([b, a.T.ravel()]).reshape(2, 3)
    return c.sum(axis=0)[1] + np.linalg.norm(b) + np.cumsum(b)[-1] + np.outer(b, b)[0, 1]


# ----------------------------------------------------------------- several outputs
@case(*TWO_D)
def several_outputs(x, y):
    return x * y, (math.sin(x), [x + y, 2.0])


@case(*TWO_D)
def array_output(x, y):
    return np.array([[x * x, y], [x * y, 1.0]])


@case(*TWO_D)
def dictionary_output(x, y):
    return {"sum": x + y, "product": x * y}
