"""Objects of the user's classes that are made while tracing."""

from __future__ import annotations

import collections
import dataclasses
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from symdiff.errors import UnsupportedError
from symdiff.frontend import capture
from symdiff.ir import const
from symdiff.ir.loop_program import Loop, LoopProgram
from tests.frontend.differences import check
from tests.frontend.tracing import agrees_on_sizes, cases


@dataclass
class Body:
    position: np.ndarray
    velocity: np.ndarray
    time: float = 0.0
    visits: list = field(default_factory=list)

    def __post_init__(self) -> None:
        self.steps = 0

    def energy(self) -> Any:
        return 0.5 * np.sum(self.velocity**2) + np.sum(self.position**2)

    @property
    def centre(self) -> Any:
        return np.sum(self.position) + self.time


@dataclass(frozen=True)
class Spring:
    stiffness: float
    mass: float = 2.0


class Layer:
    gain = 2.0

    def __init__(self, bias):
        self.bias = bias
        self.calls = 0

    def __call__(self, x):
        self.calls += 1
        return self.gain * x + self.bias


class Dense(Layer):
    def __init__(self, weights, bias):
        super().__init__(bias)
        self.weights = weights

    def __call__(self, x):
        return np.tanh(super().__call__(self.weights @ x))


class Pair(NamedTuple):
    first: Any
    second: Any


def replaced_in_a_loop(x, v):
    body = Body(x, v)
    for _ in range(len(x)):
        moved = body.position + 0.1 * body.velocity
        body = Body(moved, body.velocity - 0.1 * moved, body.time + 0.1)
    return body.energy() * body.centre


def changed_in_a_loop(x):
    body = Body(position=x.copy(), velocity=np.ones(len(x)))
    for value in x:
        if value > 0:
            body.time = 0.5 * body.time + value
        body.position += body.velocity * value
        body.steps += 1
    return body.centre * body.steps


def changed_on_one_side(x, c):
    body = Body(x, x)
    if c > 0.5:
        body.position = 2 * body.position
        body.time += c
    else:
        body = Body(x, 2 * x, 1.0)
    body.visits.append(c)
    return body.energy() + body.visits[0] + body.time


def replaced_on_one_side_and_changed_then(x, c):
    body = Body(x, x)
    if c > 0.5:
        body = Body(2 * x, x, c)
    body.time += 1.0
    body.position[0] = 5.0
    return body.centre


def shared(x):
    body = Body(x.copy(), x)
    other = body
    other.position *= 2
    other.time = 3.0
    return body.centre


def frozen(x, k):
    spring = Spring(stiffness=k)
    stiffer = replace(spring, stiffness=2 * k)
    return np.sum(x) * stiffer.stiffness * spring.mass + isinstance(spring, Spring)


def of_the_standard_library(x):
    body = Body(x, 2 * x)
    parts = dataclasses.asdict(body)
    position, velocity, time, *_ = dataclasses.astuple(body)
    space = SimpleNamespace(a=parts["velocity"], t=time)
    space.t += 1
    return np.sum(space.a) * space.t + position @ velocity


def methods_of_a_base(W, x):
    layer = Dense(W, x)
    for _ in range(3):
        x = layer(x)
    return np.sum(x) * layer.calls


def named_tuples(x):
    pair = Pair(x, 2.0)._replace(second=np.sum(x))
    return np.sum(pair.first) * pair._asdict()["second"] + len(Pair._make([1, 2]))


def arrays_in_containers_change_in_place(x):
    held = {"w": 2 * x, "rows": [3 * x]}
    w, row = held["w"], held["rows"][0]
    held["w"] += 1
    held["rows"][0] *= 2
    return w @ row


# ------------------------------------------------------------------ named tuples
class Point(NamedTuple):
    x: Any
    y: Any = 1.0

    @property
    def total(self):
        return self.x + self.y

    def norm(self):
        return (self.x**2 + self.y**2) ** 0.5


FIXED = Point(2.0, 3.0)


def methods_of_a_named_tuple(a, b):
    point = Point(a)
    moved = point._replace(y=b)
    x, y = moved
    return point.norm() * moved.total + x * y + moved._asdict()["y"] + FIXED.total * a


def a_named_tuple_that_is_made_inside(a, b):
    kind = collections.namedtuple("kind", "first second", defaults=(b,))
    one = kind(a)
    return one.first * one.second + len(one) + kind._make([b, a])[0]


@dataclasses.dataclass
class Spheroid:
    """A dataclass keeps the constructor of its body."""

    name: str
    major: Any
    minor: Any
    flattening: Any

    def __init__(self, major: Any, minor: Any, name: str = "") -> None:
        self.major, self.minor, self.name = major, minor, name
        self.flattening = (major - minor) / major


class Sphere(Spheroid):
    def __init__(self, radius: Any) -> None:
        super().__init__(radius, radius / 2, name="sphere")


def a_dataclass_with_its_own_constructor(a, b):
    shape = Spheroid(a + 3, b, name="s")
    return shape.flattening * shape.major + len(shape.name)


CASES = {
    "x: n, v: n": [replaced_in_a_loop],
    "x: n": [changed_in_a_loop],
    "x: m, c:": [changed_on_one_side, replaced_on_one_side_and_changed_then],
    "x: m": [shared, of_the_standard_library, named_tuples, arrays_in_containers_change_in_place],
    "x: m, k:": [frozen],
    "W: 3 3, x: m": [methods_of_a_base],
    "a:, b:": [methods_of_a_named_tuple, a_named_tuple_that_is_made_inside, a_dataclass_with_its_own_constructor],
}  # fmt: skip
SHORT = {
    "a:, b:": {"a_subclass_of_it": lambda a, b: Sphere(a + 3).flattening * b + Sphere(b + 4).major},
}  # fmt: skip


@pytest.mark.parametrize(("fun", "shapes"), cases(CASES, SHORT))
def test_as_python(fun: Any, shapes: Any) -> None:
    agrees_on_sizes(fun, shapes)


@pytest.mark.slow
def test_gradients() -> None:
    x, v = np.array([0.3, -0.2, 0.5]), np.array([1.0, 0.5, -1.0])
    check(replaced_in_a_loop, x, v, slope=1e-9, near=1e-8, step=1e-5)


def test_gradients_of_named_tuples() -> None:
    check(methods_of_a_named_tuple, 0.7, 1.3)
    check(a_named_tuple_that_is_made_inside, 0.7, 1.3)


def test_a_loop_over_a_state_of_arrays_stays_a_loop() -> None:
    def f(x, v):
        body = Body(x, v)
        pair = (x, v)
        for _ in range(20):
            body = Body(body.position + 0.1 * body.velocity, body.velocity - np.sin(body.position))
            pair = (pair[0] + 0.1 * pair[1], pair[1] - np.sin(pair[0]))
        return body.energy() + pair[0] @ pair[1]

    program = capture(f, {}, {"x": (1, "f"), "v": (1, "f")})
    assert isinstance(program, LoopProgram)
    assert any(isinstance(s, Loop) and s.count is const(20) for s in program.block)
    agrees_on_sizes(f, {"x": "n", "v": "n"}, (3, 1))


REFUSED = {
    "a frozen one": (
        lambda x: _set(Spring(x)),
        "field 'mass' of the frozen 'Spring' is assigned",
    ),
    "an argument too many": (lambda x: Spring(x, 1.0, 2.0), "takes 2 positional arguments, not 3"),
    "a missing argument": (lambda x: Spring(mass=x), "called without its argument 'stiffness'"),
    "an unknown argument": (lambda x: Spring(x, size=1), "'Spring' has no parameter 'size'"),
    "a missing attribute": (lambda x: Spring(x).size, "has no attribute 'size'"),
    "a result": (lambda x: Layer(x), "an object of 'Layer'"),
}


def _set(spring):
    spring.mass = 1.0
    return spring.mass


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    fun, message = REFUSED[name]
    with pytest.raises(UnsupportedError, match=message):
        capture(fun, {})


def test_the_caller_s_objects_are_not_changed() -> None:
    body = Body(np.ones(2), np.ones(2))

    def f(x):
        body.time = x
        return x

    with pytest.raises(UnsupportedError, match="attribute 'time' is assigned"):
        capture(f, {})
