"""Two hundred programs as engineers write them: value and slope beside plain Python, in both orders of sizes.

Refusals that name the line are no faults, but all are listed in `REFUSED`: a program that is understood later
is taken from the list.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from symdiff import UnsupportedError, symgrad
from symdiff.runtime.loops.call import ComputationError
from tests.numerics import (
    controllers,
    filters,
    finite_differences,
    solvers,
    sorting,
    state_machines,
    sweeps,
    trees,
)
from tests.numerics.cases import Program, at, copied, truth

FILES = {
    finite_differences: "gradient_norm",
    solvers: "newton_roots",
    sweeps: "best_run",
    sorting: "odd_even",
    state_machines: "refractory",
    filters: "ring_buffer",
    trees: "segment_tree_sum",
    controllers: "learning_rate",
}
"""The files, and the program of each that is not slow."""

REFUSED = {
    "determinant_nested": "a list is indexed by what is not known when traced",
    "determinant_of_rows": "may be the same object as other elements",
    "insert_into_list": "changes its size in a loop",
    "trinomial": "the sizes of two axes do not fit together",
    "huffman": "has no attribute 'index'",
    "library_heap": "'heapq.heapify' cannot be traced",
    "pairwise_reduction": "the sizes of two axes do not fit together",
    "search_tree": "'side' is a list .* depending on whether",
}
"""Programs that are refused, and words of the message."""

BY_VALUE = {"deque_average", "class_with_state"}
"""Programs that are run by values."""

ORDERS = {"growing": (False, True), "shrinking": (True, False)}
"""Whether the arguments are the large ones, call for call."""


def cases() -> Iterator[Any]:
    for file, quick in FILES.items():
        for program in file.programs:
            for accuracy in ("high", "fast"):
                for order in ORDERS:
                    name = program.f.__name__
                    is_quick = (name, accuracy, order) == (quick, "high", "growing")
                    marks = () if is_quick else pytest.mark.slow
                    yield pytest.param(
                        program, accuracy, order, id=f"{name}-{accuracy}-{order}", marks=marks
                    )


def kind(x: Any) -> Any:
    """The structure of a result: its types, shapes and dtypes."""
    if isinstance(x, (list, tuple)):
        return type(x), [kind(v) for v in x]
    if isinstance(x, np.ndarray):
        return x.dtype, x.shape
    return np.asarray(x).dtype.kind


def close(got: Any, want: Any, tolerance: float, what: str, rounding: float = 1e-13) -> None:
    scale = np.max(np.abs(want), initial=0.0)
    np.testing.assert_allclose(
        got, want, rtol=tolerance, atol=rounding + 0.01 * tolerance * scale, err_msg=what
    )


def check_value(got: Any, want: Any, what: str) -> None:
    assert kind(got) == kind(want), what
    close(got, want, 1e-11, what)


def check_slopes(
    found: Any, slopes: dict[Any, np.ndarray], count: int, rounding: float, what: str
) -> None:
    """Of results that are numbers or arrays, by so many arguments; the axes of the result come first."""
    parameters = sorted({path[0] for path in slopes})
    if (
        isinstance(found, tuple) and len(found) == count
    ):  # integers that are no sizes are numbers, too
        by_parameter = dict(enumerate(found))
    else:
        entries = found if len(parameters) > 1 else (found,)
        by_parameter = dict(zip(parameters, entries, strict=True))
    for k in parameters:
        mine = by_parameter[k]
        paths = [path for path in slopes if path[0] == k]
        wanted = np.array([slopes[path] for path in paths])
        leading = (slice(None),) * (wanted.ndim - 1)
        if leading:
            got = np.array([np.asarray(mine)[leading + path[1:]] for path in paths])
        else:
            got = np.array([float(at(mine, path[1:])) for path in paths])
        close(got, wanted, 1e-6, f"{what}, by argument {k}", rounding)


def call(program: Program, accuracy: str, order: str) -> None:
    by_value = program.f.__name__ in BY_VALUE or None
    s = symgrad(program.f, accuracy=accuracy, by_value=by_value)
    for large in ORDERS[order]:
        args = program.large if large else program.small
        want, slopes = truth(program, large)
        what = f"{program.f.__name__}{args}"
        check_value(s(*copied(args)), want, f"value of {what}")
        slope = s.jacobian if isinstance(want, np.ndarray) else s.grad
        rounding = 1e-10 * (1 + np.max(np.abs(want)))  # of the differences
        check_slopes(slope(*copied(args)), slopes, len(args), rounding, f"slope of {what}")


@pytest.mark.sampled
@pytest.mark.parametrize(("program", "accuracy", "order"), list(cases()))
def test_in_both_orders(program: Program, accuracy: str, order: str) -> None:
    words = REFUSED.get(program.f.__name__)
    if words is None:
        call(program, accuracy, order)
        return
    with pytest.raises((UnsupportedError, ComputationError), match=words) as found:
        call(program, accuracy, order)
    code, location = program.f.__code__, found.value.location
    assert location is not None and location.path == code.co_filename
    assert location.line >= code.co_firstlineno


def test_two_hundred_programs() -> None:
    names = [program.f.__name__ for file in FILES for program in file.programs]
    assert len(set(names)) == len(names) >= 200
    assert set(names) >= {*FILES.values(), *REFUSED}
