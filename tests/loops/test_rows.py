"""Programs over rows of their arguments, beside the programs for one row."""

from __future__ import annotations

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.ir.verify.loops import faults
from symdiff.pipeline import loops as loop_pipeline

from .programs import close, outputs
from .test_array_corpus import CASES, Case, _traced

RNG = np.random.default_rng(11)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_every_row_by_itself(case: Case) -> None:
    program, args, wrt, places = _traced(case)
    for derived in (loop_pipeline.value(program), loop_pipeline.jvp(program, wrt)):
        given = [*args, *(args[k] for k in places)][: len(derived.params)]
        which = [p.type.kind == "f" for p in derived.params]
        which[0] = which[0] and len(which) == 1  # one that all rows share
        if not any(which):
            which[-1] = True
        found = loop_pipeline.rows(derived, which)
        if found is None:  # a shape that is only known when computed
            return
        assert faults(found) == []
        shifted = [[np.add(a, s) if w and derived.params[k].type.kind == "f" else a
                    for k, (a, w) in enumerate(zip(given, which, strict=True))]
                   for s in (0.0, 0.01)]  # fmt: skip
        together = [np.stack(c) if w else c[0] for w, *c in zip(which, *shifted, strict=True)]
        alone = zip(*(outputs(derived, row) for row in shifted), strict=True)
        for a, rows in zip(outputs(found, together), alone, strict=True):
            assert close(a, np.stack([np.asarray(r) for r in rows]))


def leapfrog(q, p, k):
    for _ in range(150):
        p = p - 0.01 * k * q
        q = q + 0.01 * p
    return q * p


def settle(a):
    x = a
    while abs(x * x - a) > 1e-13 * a:
        x = 0.5 * (x + a / x)
    return x


@pytest.mark.parametrize("parallel", [False, True])
def test_functions_of_numbers_take_arrays_element_by_element(parallel: bool) -> None:
    f = symgrad(leapfrog, parallel=parallel)
    q, p = RNG.normal(size=(7, 1)), RNG.normal(size=300)
    found = f(q, p, 2.0)
    np.testing.assert_allclose(found, leapfrog(q, p, 2.0), rtol=1e-12, atol=1e-14)
    slopes = f.grad(q, p, 2.0)
    for at in ((0, 0), (6, 299), (3, 17)):
        want = f.grad(float(q[at[0], 0]), float(p[at[1]]), 2.0)
        np.testing.assert_allclose([s[at] for s in slopes], want, rtol=1e-12)
    assert f(q[:0], p, 2.0).shape == (0, 300)


def test_dtype_and_places_of_results() -> None:
    f = symgrad(leapfrog)
    q = np.linspace(0, 1, 5, dtype=np.float32)
    assert f(q, 1.0, 2.0).dtype == np.float32
    place = np.zeros((2, 5))
    assert f(q, np.ones((2, 1)), 2.0, out=place) is place
    np.testing.assert_allclose(place, f(q.astype(float), np.ones((2, 5)), 2.0), rtol=1e-6)
    with pytest.raises(ValueError, match="shape"):
        f(q, 1.0, 2.0, out=np.zeros(4))
    with pytest.raises(ValueError, match="broadcast"):
        f(q, np.ones(3), 2.0)


def test_loops_of_different_lengths() -> None:
    a = RNG.uniform(0.1, 1e6, size=1000)
    np.testing.assert_allclose(symgrad(settle)(a), np.sqrt(a), rtol=1e-12)
    np.testing.assert_allclose(symgrad(settle).grad(a), 0.5 / np.sqrt(a), rtol=1e-6)


def test_checks_of_rows_raise() -> None:
    pick = symgrad(lambda x, k: np.sum(x[k]))
    assert pick.map(np.ones((3, 4)), np.array([[0, 1]] * 3)).tolist() == [2, 2, 2]
    with pytest.raises(IndexError):
        pick.map(np.ones((3, 4)), np.array([[0, 1], [0, 4], [0, 0]]))


def test_rows_whose_shapes_are_only_known_when_computed() -> None:
    f = symgrad(lambda x: x[x > 0] * 2)
    np.testing.assert_array_equal(f.map(np.ones((3, 4))), np.full((3, 4), 2.0))
