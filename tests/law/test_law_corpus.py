"""Every program of the two corpora both ways: plain Python and symgrad, with arguments of other
kinds than it was written for. The same value and shape, or a refusal."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.errors import SymdiffError
from tests import array_corpus, corpus

pytestmark = pytest.mark.slow


def same(got: Any, want: Any) -> None:
    if isinstance(want, dict):
        assert list(got) == list(want)
        for k in want:
            same(got[k], want[k])
        return
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            same(g, w)
        return
    g, w = np.asarray(got, float), np.asarray(want, float)
    assert g.shape == w.shape
    there = np.isfinite(w)  # elsewhere what is undefined may be filled
    np.testing.assert_allclose(g[there], w[there], rtol=1e-8, atol=1e-10)


def compare(fun: Any, s: Any, args: list[Any], static: Any = None) -> bool:
    """Whether both give something; a refusal is fine."""
    copies = [np.copy(a) if isinstance(a, np.ndarray) else a for a in args]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            want = fun(*copies, **(static or {}))
        except Exception:
            return False
        try:
            got = s(*args, **(static or {}))
        except SymdiffError:
            return False
        same(got, want)
    return True


@pytest.mark.parametrize("case", corpus.CASES, ids=lambda c: c.name)
def test_functions_of_numbers(case: corpus.Case) -> None:
    points = np.array(case.samples, float)
    columns = [points[:, k].copy() for k in range(points.shape[1])]
    s = symgrad(case.fun, static=tuple(case.static) or None)
    kinds = [
        columns,
        [np.stack([v, v[::-1]]) for v in columns],
        [np.repeat(v, 2)[::2] for v in columns],
        [v[:0] for v in columns],
        [columns[0], *[float(v[0]) for v in columns[1:]]],
        [np.array(v[0]) for v in columns],
        [np.float64(v[0]) for v in columns],
        [float(v[0]) for v in columns],
        [v[:1] for v in columns],
    ]
    found = [compare(case.fun, s, args, case.static) for args in kinds]
    assert True in found


@pytest.mark.parametrize(
    "case", [c for c in array_corpus.CASES if not c.static], ids=lambda c: c.name
)
def test_functions_of_arrays(case: array_corpus.Case) -> None:
    s = symgrad(case.fun)
    sizes = list(case.sizes((1, 3, 4)))
    base = case.arguments(sizes[-1])
    kinds = [case.arguments(z) for z in (*sizes[:2], sizes[-1])]
    real = [isinstance(a, np.ndarray) and a.dtype.kind == "f" for a in base]
    kinds += [
        [np.repeat(a, 2, axis=-1)[..., ::2] if np.ndim(a) else a for a in base],
        [np.stack([a, a]) if r else a for a, r in zip(base, real, strict=True)],
        [0.7 if r else a for a, r in zip(base, real, strict=True)],
        [a if np.ndim(a) else np.array([0.5, 1.5, 0.9]) for a in base],
    ]
    found = [compare(case.fun, s, args) for args in kinds]
    assert True in found
