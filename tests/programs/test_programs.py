"""Programs of many fields, as people write them: value and gradient are those of plain Python."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import pytest

from symdiff import AccuracyWarning, UnsupportedError, symgrad
from tests.programs import (
    biology,
    earth,
    engineering,
    finance,
    inference,
    learning,
    physics,
    signals,
)
from tests.programs.case import Case
from tests.programs.differences import gradient, leaves

FIELDS = (biology, engineering, finance, learning, inference, physics, signals, earth)
PROGRAMS = [case for field in FIELDS for case in field.PROGRAMS]
OPEN = {
    "ssim": "a list that nested loops append to is refused where the sizes of arrays are not known",
    "dtw_soft": "the infinite border of the table gives a false warning of lost digits",
}
"""What is refused or has a wrong warning: a program that works again fails its test here."""
LONG = {"battery_discharge", "dtw_soft"}
"""Programs of the sample whose first calls take over 5 s."""


def _parameter(case: Case) -> Any:
    name = case.fun.__name__
    marks = [pytest.mark.slow] if name in LONG else []
    if why := OPEN.get(name):
        expected = (UnsupportedError, AccuracyWarning)
        marks.append(pytest.mark.xfail(reason=why, strict=True, raises=expected))
    return pytest.param(case, id=name, marks=marks)


@pytest.mark.sampled(160)
@pytest.mark.parametrize("case", [_parameter(c) for c in PROGRAMS])
def test_value_and_gradient_of_a_program(case: Case) -> None:
    fun = symgrad(case.fun, wrt=case.wrt or None, static=case.static or None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value, found = fun.value_and_grad(*copy.deepcopy(case.args))
    assert value == pytest.approx(case.fun(*copy.deepcopy(case.args)), rel=1e-11)
    expected, errors = gradient(case)
    entries = np.array(leaves(found))
    assert entries.shape == expected.shape
    largest = np.max(np.abs(expected))
    assert np.all(errors <= 1e-6 * np.abs(expected) + 1e-8 * largest)
    bound = 20 * errors + 1e-9 * np.abs(expected) + 1e-10 * largest
    assert np.all(np.abs(entries - expected) <= bound)
