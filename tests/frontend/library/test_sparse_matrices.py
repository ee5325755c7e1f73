"""Sparse matrices that are made of traced numbers: SciPy's values, slopes as differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg

from symdiff import UnsupportedError, symgrad
from tests.frontend.differences import check

V = np.array([0.1, 0.4, 0.2, 0.9, 0.3, 0.7])
ROWS, COLUMNS = np.array([0, 1, 2, 2, 0, 0]), np.array([1, 2, 0, 0, 3, 1])
PLACES, STARTS = np.array([0, 1, 3, 0, 2, 1]), np.array([0, 2, 4, 6])
ONE = np.array([1.0, 2.0, 3.0, 4.0])
SHAPE = (3, 4)


def chain(v: Any) -> Any:
    n = len(v)
    a = sp.diags([-1.0, 2.0 + v, -1.0], [-1, 0, 1], shape=(n, n))
    return np.sum(scipy.sparse.linalg.spsolve(a.tocsc(), v))


def sums(v: Any) -> Any:
    a = sp.csr_matrix(np.outer(v, v))
    return np.sum(a * v + (2 * a + sp.eye(6) - a / 3).toarray() @ v)


CASES: dict[str, Any] = {
    "repeated": lambda v: np.sum((sp.csr_array((v, (ROWS, COLUMNS)), shape=SHAPE) @ ONE) ** 2),
    "to_a_matrix": lambda v: np.sum(
        (sp.coo_matrix((v, (ROWS, COLUMNS)), shape=SHAPE) @ np.outer(ONE, v)) ** 2
    ),
    "from_the_left": lambda v: np.sum(
        (v[:3] @ sp.csr_array((v, (ROWS, COLUMNS)), shape=SHAPE)) ** 2
    ),
    "rows": lambda v: np.sum(
        sp.csr_matrix((v, PLACES, STARTS), shape=SHAPE).dot(v[:4]) ** 2
    ),
    "columns": lambda v: np.sum(
        (sp.csc_matrix((v, PLACES % 3, np.array([0, 2, 4, 6, 6])), shape=(3, 4)) @ ONE) ** 2
    ),
    "products": lambda v: np.sum(
        (sp.csr_array(np.outer(v, v)) @ sp.csr_array(np.diag(v))).toarray() ** 2
    ),
    "elements": lambda v: (
        sp.csr_array(np.outer(v, v)) * sp.csr_array(np.outer(v, v + 1))
    ).sum(),
    "chain": chain,
    "sums": sums,
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("name", CASES)
def test_values_and_slopes(name: str) -> None:
    check(CASES[name], V)


@pytest.mark.parametrize(
    ("f", "text"),
    [
        (lambda v: (sp.csr_matrix((v, (ROWS, COLUMNS))) @ ONE)[0], r"pass shape=\(m, n\)"),
        (lambda v: (sp.csr_matrix(np.outer(v, v)) + v)[0, 0], "use toarray"),
    ],
)
def test_refused(f: Any, text: str) -> None:
    with pytest.raises(UnsupportedError, match=text):
        symgrad(f)(V)
