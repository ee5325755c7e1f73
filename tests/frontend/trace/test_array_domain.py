"""Where values are not defined: nan, although the simplified expression would not be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.frontend.tracing import agrees_on_sizes, cases


def undefined_store(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = np.sqrt(x[i]) ** 2
    return y


def undefined_branch(x):
    y = np.where(x > 0, np.sqrt(x) ** 2, 1.0)
    return y


CASES = {
    "x: n": [undefined_store, undefined_branch],
}  # fmt: skip
SHORT = {
    "x: n": {
        "root_squared_over_x": lambda x: np.sqrt(x) ** 2 / x,
        "undefined_selection": lambda x: np.sum((np.sqrt(x) ** 2)[x > -1]),
        "undefined_chain": lambda x: np.log(np.exp(np.sqrt(x) ** 2)).sum(),
        "undefined_numbers": lambda x: (max(np.sqrt(x[0]) ** 2, 0.0), np.exp(np.log(x[0]))),
        "undefined_dot": lambda x: np.sum(np.sqrt(x) ** 2 * x) + x @ (np.sqrt(x) ** 2),
        "undefined_scan": lambda x: np.cumsum(np.sqrt(x) ** 2),
    },
    "x: n m": {"undefined_maximum": lambda x: np.max(np.sqrt(x) ** 2, axis=0)},
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize(("fun", "shapes"), cases(CASES, SHORT))
def test_as_python(fun: Any, shapes: Any) -> None:
    agrees_on_sizes(fun, shapes)
