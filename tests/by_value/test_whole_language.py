"""Parts of Python that the compiler leaves to runs by values: generators, deques, dicts with defaults, classes
inside of functions, `finally`, patterns of sequences, mappings and classes. Values are plain Python's, and gradients those of
central differences.
"""

import contextlib
import functools
import math
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pytest

from symdiff import ByValueWarning, symgrad
from tests.by_value.differences import check

V = np.array([1.0, 2.0, 3.5, 2.0, 1.5, 2.2])
X = np.array([1.3, 2.2, -3.7])
rate = 3.0


def summed(x):
    def powers():
        v = 1.0
        for _ in range(5):
            yield v
            v *= x

    return sum(powers())


def steps(x, v, n):
    for _ in range(n):
        v = v - 0.1 * x
        x = x + 0.1 * v
        yield x, v


def left_early(x):
    e = 0.0
    for p, v in steps(x, 0.5, 20):
        e += 0.5 * v * v + 0.5 * p * p
        if e > 3:
            break
    return e


def enumerated(x):
    out = []
    for i, (p, _) in enumerate(steps(x, 0.5, 4)):
        out.append(p * i)
    return max(out)


def from_others(x):
    def inner(y):
        yield y
        yield y * y

    def outer():
        yield from inner(x)
        for v in inner(x + 1):
            yield v * v

    return math.prod(outer())


def of_arrays(x):
    def rows():
        for i in range(3):
            yield x * i

    return sum(np.sum(r * r) for r in rows())


def asked_one_by_one(x):
    g = steps(x, 1.0, 5)
    a, _ = next(g)
    b, _ = next(g)
    return a * b


def zipped(x):
    return sum(p * k for k, (p, _) in zip([1, 2, 3], steps(x, 0.2, 3), strict=True))


def in_comprehension(x):
    return sum([p for p, _ in steps(x, 0.1, 3)])


def changes_what_it_yields(x):
    def g():
        s = [x]
        for _ in range(3):
            s[0] = s[0] * 2
            yield s

    return sum(q[0] for q in g())


def is_changed_meanwhile(x):
    a = [x, 1.0]

    def g():
        for k in range(3):
            yield a[0] * k

    t = 0.0
    for v in g():
        a[0] = a[0] + 1
        t += v
    return t


def reads_another_name_meanwhile(x):
    def g():
        for k in range(3):
            yield x * k

    t = 0.0
    for v in g():
        x = x + 1
        t += v
    return t


def under_a_condition(x):
    def g():
        for k in range(3):
            if x > k:
                yield x

    return sum(g())


def under_a_known_condition(x):
    def g():
        for k in range(6):
            if k % 2:
                yield x * k

    return sum(g())


def many(x):
    def g():
        for k in range(90):
            yield x / (k + 1)

    return sum(g())


def returned(x):
    def g():
        yield x
        return
        yield 2 * x

    return sum(g())


def changes_arrays(x):
    def g():
        u = x.copy()
        for _ in range(3):
            u *= 2
            yield u

    return sum(np.sum(q) for q in g())


def makes_new_arrays(x):
    def g():
        u = x
        for _ in range(3):
            u = u * 2
            yield u

    t = 0.0
    for q in g():
        t += np.sum(q)
    return t


def endless(x):
    def g():
        while True:
            yield x

    t = 0.0
    for v in g():
        t += v
        if t > 10:
            break
    return t


def both_ends(x):
    d = deque([x, x * x])
    d.append(x**3)
    d.appendleft(2 * x)
    return d.popleft() * d.pop() + len(d) * d[0] + sum(d)


def bounded(x):
    d = deque(maxlen=3)
    for i in range(6):
        d.append(x**i)
    d.appendleft(x)
    return sum(d) + 10 * d[-1] + len(d)


def rotated(x):
    d = deque([x, 2.0, x * x])
    d.rotate(1)
    d.extend([1.0])
    d.extendleft([x, 3.0])
    d.reverse()
    s = 0.0
    while d:
        s = s * 0.5 + d.popleft()
    return s


def on_a_branch(x):
    d = deque([x] * 3, maxlen=3)
    if x > 1:
        d.append(2 * x)
    else:
        d.append(3 * x)
    return d[2] * d[0] + len(d)


def moving_means(v):
    d = deque(maxlen=3)
    found = []
    for a in v:
        d.append(a * a)
        found.append(sum(d) / len(d))
    return found[-1] * sum(found)


def full_from_the_start(v):
    d = deque([0.0, 0.0, 0.0], maxlen=3)
    s = 0.0
    for a in v:
        d.append(a * a)
        s += np.mean(d) + max(d) + d[-1] * d[0]
    return s


def sums(x):
    d = defaultdict(float)
    d["a"] += x
    d["b"] += x * x
    d["a"] += 3 * x
    return d["a"] * d["b"] + len(d)


def groups(x):
    d = defaultdict(list)
    d["a"].append(x)
    d["a"].append(x * x)
    d["b"].append(x)
    return sum(len(k) * sum(v) * len(v) for k, v in d.items())


def nested(x):
    d = defaultdict(lambda: defaultdict(float))
    d["a"]["b"] += x * x
    if x > 1:
        d["a"]["b"] *= 3
    return d["a"]["b"] + d.get("c", x)


def counted(x):
    c = Counter("abcab")
    return sum(x**n for n in c.values()) + c["z"]


def in_order(x):
    d = OrderedDict()
    d["a"], d["b"] = x, x * x
    d.move_to_end("a")
    first, second = d.values()
    return first - 2 * second


def of_a_loop(v):
    d = defaultdict(float)
    d[0] += 1.0
    d[1] += 1.0
    for a in v:
        d[0] += a
        d[1] = d[0] * 0.5
    return d[0] * d[1]


def points(x):
    @dataclass
    class P:
        a: float
        b: float = 2.0
        seen: list = field(default_factory=list)

        def norm(self):
            return math.hypot(self.a, self.b)

        def __add__(self, other):
            return P(self.a + other.a, self.b * other.b, [x])

    p = P(x) + P(1.0, x)
    p.a *= 2
    return p.norm() + sum(p.seen)


def inherited(x):
    class A:
        scale = 3.0

        def __init__(self, k):
            self.k = k

        def value(self, v):
            return self.k * v * self.scale

        @classmethod
        def of(cls, v):
            return cls(v + 1)

    class B(A):
        def __init__(self, k):
            super().__init__(k * 2)
            self.j = k

        def value(self, v):
            return super().value(v) + self.j * x

        @property
        def doubled(self):
            return 2 * self.k

        @doubled.setter
        def doubled(self, v):
            self.k = v / 2

        @functools.cached_property
        def square(self):
            return self.k**2

        @staticmethod
        def third(v):
            return v / 3

    b = B.of(x)
    b.doubled = b.doubled + 1
    return b.value(2.0) + b.square + B.third(x) + A.scale + isinstance(b, A)


def state(x):
    class State:
        def __init__(self):
            self.e = 0.0

        def __call__(self, v):
            self.e = 0.5 * self.e + v * v

    s = State()
    for i in range(len(x)):
        if x[i] > 0:
            s(x[i])
    return s.e


def names_in_classes(x):
    rate, a, b = 10.0, 1.0, 2.0

    class Read:
        double = rate + 1

    class Bound:
        rate = rate + 1
        a = 7.0
        sizes = (a, b)
        inside = [a for _ in sizes] + [s * b for s in sizes]
        read = lambda self: a * self.rate

        def method(self):
            return a + rate

    bound = sum(Bound.inside) + Bound().read() * Bound().method()
    return x * Read.double + Bound.rate * x**2 + bound


@dataclass
class Wave:
    height: float
    rate: float = 1.0


class Pair(NamedTuple):
    u: Any
    v: Any


def shapes(x):
    total = 0.0
    parts = [x, 2], (x, 3, 4), [x], "xy", 5.0, None, [[x, 1], "z"], {"a": x, "b": 2.0}, range(3)
    for part in parts:
        match part:
            case [a, 2]:
                total += a
            case [a, *rest]:
                if len(rest) == 2:
                    total += 10 * a * rest[1]
                else:
                    match part:
                        case [only]:
                            total += 100 * only
                        case [[p, q], r]:
                            total += p * q * len(r)
            case "xy":
                total += 0.5
            case float():
                total += 0.25
            case None:
                total += 0.125
            case {"a": p, **others}:
                total += p * others["b"]
    return total


def records(x):
    found = []
    for made in (Wave(x), Wave(x, 2.0), Wave(3.0, rate=x), Pair(x, 4.0)):
        match made:
            case Wave(h, 1.0):
                found.append(h)
            case Wave(height=h, rate=r) if h != 3.0:
                found.append(h * r)
            case Wave():
                found.append(0 * x)
            case (u, v):
                found.append(u - v)
    return found


def wrapped_names(x):
    match (x, 2.0):
        case (a, 2.0) as both:
            return a + both[1]
    return 0.0


def of_the_length(x):
    match x.shape:
        case (n,):
            return np.sum(x) * n
        case (n, m):
            return np.sum(x) / m


def of_a_truth_value(x):
    match x > 0:
        case True:
            return x
    return 0.0


def alternatives_with_names(x, n):
    match (n, x):
        case (0, a) | (a, 1):
            return a
    return x


def counts_what_it_yields(x):
    n = 0.0

    def numbers():
        nonlocal n
        for k in range(4):
            n += 1
            yield x * k

    s = 0.0
    for v in numbers():
        s += v * n
    return s


class Vector:
    def __init__(self, *parts):
        self.parts = parts

    def __iter__(self):
        yield from self.parts


def of_vectors(x):
    first, second = Vector(x * x, 2.0)
    return first * second + sum(Vector(x, x**3)) + max(*Vector(x, 2)) * math.fsum(Vector(x, x))


def at_last(x):
    old = np.seterr(all="ignore")
    try:
        if x > 1:
            return x**2
        y = 2 * x
    finally:
        k = 2.0
        np.seterr(**old)
    return y * k


def appended(x):
    out = [x]
    try:
        return out
    finally:
        out.append(2 * x)


def raised(x):
    try:
        y = math.log(x)
    except (ValueError, TypeError) as error:
        raise RuntimeError("no logarithm") from error
    else:
        y = y + 1
    finally:
        w = 3.0
    return y * w


def passes(x):
    y = 2.0
    with contextlib.suppress(ZeroDivisionError, ValueError):
        y = 1 / x
    return y


def with_finally(x):
    n = 0
    try:
        y = 1 / x
    except ZeroDivisionError:
        y = 0.0
    finally:
        n = 1
    return y + n


COUNTS = Counter("abca")


def counter_of_the_module(x):
    more = COUNTS.copy()
    more.update({"a": 5})
    return x * more["a"] + COUNTS["z"]


PAIR = np.array([1.0, 2.0])
CALLS = {
    **dict.fromkeys((summed, left_early, enumerated, from_others, zipped, in_comprehension), (0.7,)),
    **dict.fromkeys((asked_one_by_one, changes_what_it_yields, is_changed_meanwhile, many), (0.4,)),
    **dict.fromkeys((reads_another_name_meanwhile, under_a_known_condition, returned), (0.5,)),
    **dict.fromkeys((under_a_condition, endless, both_ends, bounded, rotated, on_a_branch), (1.5,)),
    **dict.fromkeys((of_arrays, makes_new_arrays, changes_arrays), (PAIR,)),
    **dict.fromkeys((sums, groups, nested, counted, in_order, points, inherited), (0.7,)),
    **dict.fromkeys((moving_means, full_from_the_start, of_a_loop), (V,)),
    **dict.fromkeys((at_last, raised, with_finally, passes), (1.5,)),
    names_in_classes: (0.7,), state: (X,), shapes: (1.5,), wrapped_names: (0.5,), of_the_length: (X,),
    of_a_truth_value: (1.0,), alternatives_with_names: (0.7, 1.0), counts_what_it_yields: (2.0,),
    of_vectors: (0.7,), counter_of_the_module: (0.7,),
}  # fmt: skip


@pytest.mark.parametrize("f", CALLS, ids=lambda f: f.__name__)
def test_value_and_gradient(f):
    args, run = CALLS[f], symgrad(f)
    with pytest.warns(ByValueWarning, match=f.__name__):
        check(f, *args, rtol=1e-6, atol=1e-7, both=lambda *args: (run(*args), run.grad(*args)))


@pytest.mark.filterwarnings("ignore::symdiff.ByValueWarning")
def test_several_results():
    for x in (0.5, 1.0, 3.0):
        assert symgrad(records)(x) == records(x)
    assert symgrad(records).jacobian(0.5) == [1.0, 2.0, 0.0, 1.0]
    assert symgrad(appended)(0.5) == [0.5, 1.0]
    assert symgrad(appended).jacobian(0.5) == [1.0, 2.0]


@pytest.mark.filterwarnings("ignore::symdiff.ByValueWarning")
def test_where_errors_are_caught():
    assert symgrad(with_finally)(0.0) == 1.0
    assert symgrad(passes)(0.0) == 2.0
    assert symgrad(at_last).grad(0.5) == 4.0
