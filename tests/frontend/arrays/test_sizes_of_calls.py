"""Programs that list an array, or name its elements, are traced with the sizes of the call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdiff import UnsupportedError, symgrad
from tests.frontend.differences import check

NAMES = ["A", "B", "C"]


def by_names(c: Any) -> Any:
    at = dict(zip(NAMES, c, strict=False))
    return at["A"] * at["B"] ** 2


def by_places(c: Any) -> Any:
    at = dict(enumerate(c))
    return at[0] * at[len(at) - 1] ** 2


def by_steps(target: Any) -> Any:
    q = np.array([0.3, 0.6])
    for _ in range(3):
        q += 0.1 * (target - q**2)
    return q @ q


@pytest.mark.sampled(2)
@pytest.mark.parametrize("f", [
    by_names, lambda c: sum(v**3 if name == "B" else v for name, v in zip("AB", c, strict=False)), by_places, by_steps,
])  # fmt: skip
def test_values_and_slopes(f: Callable[[Any], Any]) -> None:
    check(f, np.array([0.7, 1.3]), value=1e-14, slope=1e-8, near=0.0, step=1e-5)


def test_each_size_has_its_program() -> None:
    f = symgrad(by_places)
    for n in (2, 4, 3):
        x = np.arange(1.0, n + 1)
        assert f(x) == by_places(x)


def test_many_elements_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="more than 4096 elements are listed"):
        symgrad(by_places)(np.ones(5000))
