"""Programs of many fields, as people write them: value and gradient are those of plain Python."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest

from symdiff import symgrad
from tests.programs import biology, engineering, finance, inference, learning, physics, signals
from tests.programs.case import Case
from tests.programs.differences import gradient, leaves

FIELDS = (physics, finance, learning, inference, engineering, biology, signals)
PROGRAMS = [case for field in FIELDS for case in field.PROGRAMS]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("case", PROGRAMS, ids=lambda c: c.fun.__name__)
def test_value_and_gradient_of_a_program(case: Case) -> None:
    fun = symgrad(case.fun, wrt=case.wrt or None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value, found = fun.value_and_grad(*copy.deepcopy(case.args))
    assert value == pytest.approx(case.fun(*copy.deepcopy(case.args)), rel=1e-11)
    expected, errors = gradient(case)
    entries = np.array(leaves(found))
    assert entries.shape == expected.shape
    largest = np.max(np.abs(expected))
    assert np.all(errors <= 1e-6 * np.abs(expected) + 1e-8 * largest)
    bound = 20 * errors + 1e-9 * np.abs(expected) + 1e-12 * largest
    assert np.all(np.abs(entries - expected) <= bound)
