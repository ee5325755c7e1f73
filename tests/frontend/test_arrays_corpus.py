"""Traced functions with arrays and loops do what Python and NumPy do."""

from __future__ import annotations

import pytest

from symdiff.frontend import capture
from tests.array_corpus import CASES, Case
from tests.frontend.tracing import agrees


@pytest.mark.sampled
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_as_python(case: Case) -> None:
    program = capture(case.fun, case.static, case.kinds())
    for seed, sizes in enumerate(case.sizes()):
        agrees(program, case.fun, case.arguments(sizes, seed), case.static)
