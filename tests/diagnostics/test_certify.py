"""Measured accuracy: sampling is fair and repeatable, errors are those of closed forms."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import numpy as np
import pytest

from symdiff import ir, symgrad
from symdiff.cli.targets import function
from symdiff.diagnostics.certify import KINDS, Accuracy, accuracy, derivatives, measure, points
from symdiff.ir.functions import SIN
from symdiff.ir.program import Program
from symdiff.pipeline.samples import (
    Lines,
    bases,
    bit_uniform,
    breaks,
    from_ordinal,
    halfway,
    inside,
    ordinal,
    ordinary,
    spread,
)

x, y = ir.var("x"), ir.var("y")


def program(text: str) -> Program:
    return function(text).raw_program


def measured(text: str, answers: object, names: Sequence[str]) -> Accuracy:
    raw = program(text)
    return measure(raw, derivatives(raw, ["x"]), answers, list(names))  # type: ignore[arg-type]


# ---------------------------------------------------------------------- doubles
def test_ordinals_count_the_doubles() -> None:
    values = np.array(
        [-np.inf, -2.0, -5e-324, -0.0, 0.0, 5e-324, 1.0, np.nextafter(1.0, 2), np.inf]
    )
    counts = ordinal(values)
    assert (np.diff(counts) >= 0).all()
    assert counts[2:6].tolist() == [-1, 0, 0, 1]
    assert counts[7] - counts[6] == 1
    assert (from_ordinal(counts) == values).all()
    assert halfway(1.0, np.nextafter(np.nextafter(1.0, 2), 2)) == np.nextafter(1.0, 2)
    assert spread(1.0, 4.0, 3) == [1.5, 2.0, 3.0]


# ----------------------------------------------------------------------- points
def test_random_points_are_what_they_say() -> None:
    bits = bit_uniform(2000, 1)[:, 0]
    assert np.isfinite(bits).all()
    assert 0.45 < (np.abs(bits) > 1).mean() < 0.55
    assert (np.abs(bits) > 1e200).any()
    plain = np.abs(ordinary(2000, 2))
    assert plain.min() >= 0
    assert plain.max() <= 1e8
    single = bit_uniform(500, 1, "float32")
    assert (single.astype(np.float32) == single).all()


def test_points_lie_in_the_domain() -> None:
    raw = program("log(x - 3) + sqrt(5 - x)")
    chosen = points(raw, 10)
    assert set(chosen) == set(KINDS)
    for rows in chosen.values():
        assert len(rows)
        assert ((rows >= 3) & (rows <= 5)).all()


def test_boxes_are_filled() -> None:
    def f(x, y):  # type: ignore[no-untyped-def]
        return x * y

    raw = symgrad(f, domain={"x": (3, 3.5), "y": (0, None)}).raw_program
    for dtype in ("float64", "float32"):
        for kind, rows in points(raw, 10, dtype).items():
            assert len(rows) == 64 or kind == "near-singular"
            assert ((rows[:, 0] >= 3) & (rows[:, 0] <= 3.5) & (rows[:, 1] >= 0)).all()
            assert (rows.astype(dtype) == rows).all()


def test_lines_start_inside_the_domain() -> None:
    raw = program("log(x - 200) + y")
    test = inside(raw.params, raw.domain)
    for point in bases(raw.params, test, {"y": 7.0}):
        if point[0] != point[1]:
            assert point[0] > 200
    assert bases(raw.params, test, {"y": 7.0})[0][1] == 7


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("text", "roots"),
    [
        ("1/(x - 2)", [2.0]),
        ("1/(x*x - 2)", [math.sqrt(2), -math.sqrt(2)]),
        ("acos(x)", [1.0, -1.0]),
        ("1/(1 - cos(x))", [0.0]),
        ("log(x - 12.625)", [12.625]),
        ("abs(x + 1000)", [-1000.0]),
        ("where(x < 0.75, x, 2)", [0.75]),
        ("1/(exp(x) - 5)", [math.log(5)]),
    ],
)
def test_singular_points_are_found(text: str, roots: list[float]) -> None:
    raw = program(text)
    lines = Lines(raw.params, list(breaks(raw.outputs)))
    found = lines.roots((0.3,), 0)
    for root in roots:
        assert min(abs(r - root) for r in found) <= 2 * math.ulp(root)
    values, marked = lines.grid((0.3,), 0)
    assert set(values[marked]) == set(found)


def test_singular_points_in_several_variables() -> None:
    raw = program("(exp(x) - exp(y))/(x - y)")
    lines = Lines(raw.params, list(breaks(raw.outputs)))
    assert 1.7 in lines.roots((0.3, 1.7), 0)
    assert 0.3 in lines.roots((0.3, 1.7), 1)


def test_of_many_changes_of_sign_those_close_to_zero_are_roots() -> None:
    x = ir.var("x")
    waves = [SIN(x + ir.const(k) / 8) for k in range(12)]
    lines = Lines(["x"], waves)
    roots = lines.roots((0.3,), 0)
    for k in range(12):
        assert min(abs(r + k / 8) for r in roots) < 1e-15


# ---------------------------------------------------------------------- measure
def test_an_exact_callable_has_no_error() -> None:
    def exact(point: Sequence[float]) -> list[float]:
        return [abs(point[0]), math.copysign(1.0, point[0]) if point[0] else 0.0]

    result = measured("abs(x)", exact, ["f", "df/dx"])
    assert [k.kind for k in result.kinds] == list(KINDS)
    assert all(k.points > 10 and k.worst == k.mean == k.nonfinite == 0 for k in result.kinds)
    assert result.complete


def test_errors_are_counted_in_ulps() -> None:
    def off(point: Sequence[float]) -> list[float]:
        value = abs(point[0])
        return [value + 3 * math.ulp(value), math.copysign(1.0, point[0]) if point[0] else 0.0]

    result = measured("abs(x)", off, ["f", "df/dx"])
    for k in result.kinds:
        assert k.worst == 3
        assert k.mean == pytest.approx(1.5)
        assert k.output == "f"
        assert k.point is not None
        assert set(k.point) == {"x"}


def test_answers_that_are_not_finite_are_counted_apart() -> None:
    def broken(point: Sequence[float]) -> list[float]:
        return [math.nan, math.copysign(1.0, point[0]) if point[0] else 0.0]

    for k in measured("abs(x)", broken, ["f", "df/dx"]).kinds:
        assert k.nonfinite == k.points
        assert k.worst == 0


def test_truth_at_removable_points_is_the_limit() -> None:
    def plain(point: Sequence[float]) -> list[float]:
        t = point[0]
        return [t + 2 if t != 2 else math.nan, 1.0]

    near = measured("(x**2-4)/(x-2)", plain, ["f", "df/dx"]).kinds[2]
    assert near.nonfinite == 1
    assert near.worst < 1


# --------------------------------------------------------------------- functions
def test_accuracy_of_functions() -> None:
    def f(x, k=2.0):  # type: ignore[no-untyped-def]
        return np.exp(-k * x) * np.sin(x)

    result = accuracy(symgrad(f))
    assert result == accuracy(symgrad(f))
    assert all(k.nonfinite == 0 for k in result.kinds)
    assert all(k.worst < 2**26 for k in result.kinds)
    labels = {"f", "df/dx", "df/dk"}
    assert all(k.output in labels for k in result.kinds if k.point)


def test_guards_that_are_right_count_as_the_smooth_extension() -> None:
    def f(x):  # type: ignore[no-untyped-def]
        return np.where(x == 0, 1.0, np.expm1(x) / x)

    truth = accuracy(symgrad(f, accuracy="certified"))
    assert sum(k.points for k in truth.kinds) > 50


def test_accuracy_in_single_precision() -> None:
    def f(x):  # type: ignore[no-untyped-def]
        return x * x + 1

    result = accuracy(symgrad(f, dtype="float32"))
    assert all(k.worst <= 1 for k in result.kinds)
    assert all(k.points for k in result.kinds[:2])


def test_time_limit() -> None:
    raw = program("exp(x) + x")
    result = measure(raw, derivatives(raw, ["x"]), lambda p: [0.0, 0.0], ["f", "df/dx"], budget=0)
    assert not result.complete
    assert "out of time" in "\n".join(result.lines())


def test_functions_without_variables() -> None:
    def f():  # type: ignore[no-untyped-def]
        return np.sqrt(2)

    result = accuracy(symgrad(f))
    assert [(k.points, k.worst < 1) for k in result.kinds] == [(1, True)]


def test_report_states_the_accuracy() -> None:
    report = function("(x**2-4)/(x-2)").report()
    text = str(report)
    for kind in KINDS:
        assert kind in text
    document = report.to_dict()
    json.dumps(document)
    kinds = document["accuracy"]["kinds"]
    assert [k["kind"] for k in kinds] == list(KINDS)
    assert all(k["worst_ulp"] <= 4 and k["nonfinite"] == 0 for k in kinds)
