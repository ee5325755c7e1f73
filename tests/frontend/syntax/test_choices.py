"""Values that cannot be merged, such as strings, chosen by a condition on numbers: compared, looked up,
matched and printed."""

from __future__ import annotations

from enum import Enum
from typing import Any, cast

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.errors import UnsupportedError
from tests.frontend.differences import check


def phases(x: float) -> float:
    phase = "liquid" if x < 1 else ("gas" if x > 2 else "mixed")
    if phase == "liquid":
        return 3 * x
    if phase in ("gas", "plasma"):
        return x * x
    return 1 / x


def looked_up(x: float) -> float:
    kind = "a" if x > 1.2 else "b"
    return {"a": 2.0, "b": x}[kind] * x


def matched(x: float) -> float:
    if x < 0:
        mode = "negative"
    elif x < 1.5:
        mode = "small"
    else:
        mode = "large"
    match mode:
        case "negative":
            return -x
        case "small" | "tiny":
            return x * x
        case _:
            return 2 * x - 1


def two_flags(x: float) -> float:
    kind = "e" if x < 1 else "c"
    side = "e" if x < 2 else "f"
    y = 0.0
    if kind != "c":
        y += x
    if kind == "e" or x > 3:
        y += x * x
    if kind == side:
        y += 3 * x
    assert kind, f"no kind: {kind}"
    return y


def modes_of_a_machine(x: float) -> float:
    mode, y = "start", 0.0
    for _ in range(4):
        if mode == "start":
            y += x
            mode = "run" if y > 1 else "start"
        elif mode == "run":
            y *= x
            mode = "stop" if y > 4 else "run"
    return y


def in_a_pair(x: float) -> float:
    pair = (1, "a") if x > 1.2 else (2, "b")
    return x * x if pair == (1, "a") else 3 * x


class Side(Enum):
    LEFT = 1
    RIGHT = 2


def enumerated(x: float) -> float:
    side = Side.LEFT if x < 1.2 else Side.RIGHT
    word = "left" if x < 1.2 else "right"
    y = 2 * x if side is Side.LEFT else x * x
    wanted = "left"
    return y + cast(float, x) if word is wanted or side == Side.RIGHT else y


def number_or_none(x: float) -> float:
    held = None if x < 1 else x
    return 5.0 * x if held != 1.75 else 2.0 * x


CASES = [
    phases, looked_up, matched, two_flags, modes_of_a_machine, in_a_pair, enumerated, number_or_none,
]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("fun", CASES)
def test_as_plain_python_has_it(fun: Any) -> None:
    for x in (-0.4, 0.4, 0.8, 1.1, 1.3, 1.7, 2.5, 3.5):
        check(fun, x, value=1e-14, slope=1e-8, near=1e-9, step=1e-5)


def test_other_uses_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="name 'k' is a string or another string"):

        def f(x: float) -> float:
            k = "a" if x > 1 else "bb"
            return x * len(k)

        symgrad(f)(2.0)


def test_shapes_are_compared_as_tuples() -> None:
    def f(v):
        if v.shape in ((3,), (3, 1)) and (v.shape == (3,) or v.shape != (1, 3)):
            return np.sum(v**2)
        return np.sum(v)

    for v in (np.arange(3.0), np.arange(3.0)[:, None], np.arange(4.0)):
        assert symgrad(f)(v) == f(v)


def test_shapes_end_recursions() -> None:
    def is_pose(m):
        return m.shape == (4, 4) and np.all(m[3, :] == np.array([0, 0, 0, 1]))

    def part(m):
        if m.shape[0] == 4:
            return m[:3, :3]
        return m[:2, :2]

    def summed(m):
        if is_pose(m):
            return 2 * summed(part(m)) + m[0, 3]
        return np.sum(m)

    pose = np.arange(16.0).reshape(4, 4)
    pose[3] = [0, 0, 0, 1]
    for m in (pose, pose[:3, :3]):
        assert symgrad(summed)(m) == summed(m)


def test_integers_that_must_be_known() -> None:
    rounded = symgrad(lambda x, n: round(x, n))
    for known in (rounded.source, lambda: rounded(1.25, 1.0)):
        with pytest.raises(UnsupportedError, match="the digits of round") as caught:
            known()
        assert caught.value.hint == "if it is an integer known in the call, annotate it: n: int"
    for n in (1, 2, 0, 1):
        assert rounded(1.257, n) == round(1.257, n)
        assert rounded.grad(1.257, n) == 0.0


def test_bits_of_converted_numbers() -> None:
    def folded(angle):
        turns = (np.array([angle, 2 * angle]) / np.pi).astype(int)
        even = np.bitwise_and(turns, 1) == 0
        rest = np.array([angle, 2 * angle]) - turns * np.pi
        return np.sum(np.where(even, rest, np.pi - rest) * ((turns << 2) - (turns >> 1)))

    for x in (0.4, 2.0, 4.0, 7.3, -2.5):
        assert symgrad(folded)(x) == pytest.approx(folded(x), rel=1e-13)
