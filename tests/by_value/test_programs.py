"""Functions run by values: values are plain Python's, and gradients those of central differences."""

from __future__ import annotations

import numpy as np
import pytest

from symdiff import symgrad
from tests.by_value.differences import check, gradient
from tests.by_value.more_programs import FAST, LONG
from tests.by_value.programs import PROGRAMS

ALL = {**PROGRAMS, **FAST, **LONG}


def case(f, k):
    marks = [pytest.mark.slow] if f in LONG else []
    return pytest.param(f, k, id=f"{f.__name__}-{k}", marks=marks)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("f", "k"), [case(f, k) for f in ALL for k in range(3)])
def test_value_and_gradient(f, k):
    check(f, *ALL[f][k])


@pytest.mark.filterwarnings("ignore::symdiff.ByValueWarning")
@pytest.mark.parametrize("f", [pytest.param(f, id=f.__name__) for f in list(PROGRAMS)[:2]])
def test_what_the_compiler_refuses_is_run_by_default(f):
    run = symgrad(f)
    for args in PROGRAMS[f]:
        check(f, *args, both=lambda *args: (run(*args), run.grad(*args)))


def test_second_derivatives_of_a_program():
    f, args = next((f, calls[0]) for f, calls in PROGRAMS.items() if f.__name__ == "adaptive")
    run = symgrad(f, by_value=True)
    found = run.hessian(*args)
    for i, row in enumerate(found):
        want = gradient(lambda *a, i=i: run.grad(*a)[i], args)
        np.testing.assert_allclose(row, [float(w) for w in want], rtol=1e-5)
