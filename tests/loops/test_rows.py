"""Programs over rows of their arguments, beside the programs for one row."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from symdiff import symgrad
from symdiff.ir.verify.loops import faults
from symdiff.pipeline import loops as loop_pipeline
from symdiff.runtime.loops.transposed import Transposed
from tests.loops.programs import close, outputs
from tests.loops.test_array_corpus import REAL, Case, _traced

RNG = np.random.default_rng(11)


@pytest.mark.sampled
@pytest.mark.parametrize("case", REAL, ids=lambda c: c.name)
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


@pytest.mark.slow
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


@pytest.mark.slow
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


# --------------------------------------------------------------------- measured
def turned(p, w):
    """A formula whose values have more roundings than doubles may have: most are flagged."""
    d = p[:2] - p[1:]
    s = np.sum(d**2)
    if s == 0:
        return p * w
    r = np.sqrt(s)
    return p * np.cos(r) * w + np.sin(r) / r * np.sum(p) - (1 - np.cos(r)) / s * p


def turned_exactly(p, w):
    with mp.workprec(600):
        p, w = [mp.mpf(float(v)) for v in p], mp.mpf(float(w))
        s = (p[0] - p[1]) ** 2 + (p[1] - p[2]) ** 2
        if s == 0:
            return [v * w for v in p]
        r = mp.sqrt(s)
        share = mp.sin(r) / r * sum(p)
        return [v * mp.cos(r) * w + share - (1 - mp.cos(r)) / s * v for v in p]


def row_arguments(count):
    rng = np.random.default_rng(5)
    return rng.normal(size=(count, 3)), rng.normal(size=count)


@pytest.mark.slow
def test_rows_that_would_be_flagged_are_measured() -> None:
    f = symgrad(turned)
    p, w = row_arguments(60)
    p[3] = 1.0
    p[4] = [1.0, 1.0 + 2.0**-40, 1.0 - 2.0**-41]
    p[5] *= 1e-9
    w[6] = 1e-320
    for k, row in enumerate(f.map(p, w)):
        for a, b in zip(row, turned_exactly(p[k], w[k]), strict=True):
            assert abs(mp.mpf(float(a)) - b) <= 2.0**-44 * np.max(abs(row))


@pytest.mark.slow
def test_a_measured_row_does_not_depend_on_others() -> None:
    f = symgrad(turned).jacobian
    p, w = row_arguments(40)
    p[3], w[6], p[7] = 1.0, 1e-320, 0.0
    p[8, 1] = np.nan
    whole = f.map(p, w)
    for k in (0, 3, 6, 7, 8, 39):
        for together in ([k], [k, 6, 3], [k, 8, 7]):
            for a, b in zip(whole, f.map(p[together], w[together]), strict=True):
                np.testing.assert_array_equal(a[k], b[0])


def kernels_of_rows(f):
    (found,) = f._arrays._by_row.values()
    return found[:2]


@pytest.mark.slow
def test_only_rows_that_are_not_accurate_are_computed_again() -> None:
    f = symgrad(turned)
    p, w = row_arguments(30)
    p[11], w[11] = [1.0, 1.0 + 1e-5, 1.0 - 1e-5], -2.5  # all three results cancel
    given = []
    f.map(p[:1], w[:1])
    kernel, first = kernels_of_rows(f)
    assert not kernel.is_compiled("float64")  # nothing was left to it
    more = kernel.with_more_digits
    kernel.with_more_digits = lambda some: given.append(some) or more(some)
    f.map(p, w)
    assert [len(some[0]) for some in given] == [1]
    np.testing.assert_array_equal(given[0][0][0], p[11])
    exact = list(map(float, turned_exactly(p[11], w[11])))
    np.testing.assert_allclose(f.map(p, w)[11], exact, rtol=1e-14)


def test_sums_of_rows_are_measured_as_those_of_calls() -> None:
    """Also where no formula is tested: numbers that loops carry have no tests."""

    def excess(x):
        total = 0.0
        for v in x:
            total = total + v
        return total - len(x) * x[0]

    x = 1e7 + np.random.default_rng(0).normal(size=(5, 6)) * 1e-3
    exact = [float(sum(map(Fraction, row.tolist())) - 6 * Fraction(row[0])) for row in x]
    np.testing.assert_allclose(symgrad(excess).map(x), exact, rtol=1e-12)


def test_rows_at_points_that_are_treated_apart_are_those_of_calls() -> None:
    """A value at one point is no branch: its derivatives are those of both sides."""

    def turn(w, p):
        angle = np.sqrt(np.sum(w * w))
        if angle == 0.0:
            return p[0]
        return p[0] * np.cos(angle) + (w[0] * p[1] - w[1] * p[2]) * np.sin(angle) / angle

    w, p = np.array([[0.3, -0.2], [0.0, 0.0], [0.1, 0.0]]), np.arange(1.0, 10.0).reshape(3, 3)
    g = symgrad(turn).grad
    for k, rows in enumerate(zip(*g.map(w, p), strict=True)):
        for row, one in zip(rows, g(w[k], p[k]), strict=True):
            np.testing.assert_allclose(row, one, rtol=1e-14)
    np.testing.assert_array_equal(g.map(w, p)[0][1], [5.0, -6.0])


def test_rows_that_lose_nothing_are_computed_in_doubles() -> None:
    f = symgrad(lambda x, y: np.sum(x * y))
    f.map(np.ones((3, 4)), np.ones((3, 4)))
    assert kernels_of_rows(f)[1].schedule is not None  # which says when they are measured


@pytest.mark.slow
def test_underflow_in_a_row_is_told_by_that_row() -> None:
    """The products of small factors have lost digits, which the large one shows."""

    def small(x):
        u = x[0] * x[1] * np.cos(x[5]) - x[2] * x[3] * np.sin(x[5])
        return u * x[4] * (1 + np.cos(x[5]))

    f = symgrad(small)
    x = np.random.default_rng(2).normal(size=(9, 6))
    x[4] = [3e-162, 1.1e-161, 1.7e-162, 1.3e-161, 1e300, 1.0]
    found = f.map(x)
    assert kernels_of_rows(f)[1] is not None
    with mp.workprec(3000):
        for value, row in zip(found, x, strict=True):
            a, b, c, d, e, angle = map(mp.mpf, map(float, row))
            u = a * b * mp.cos(angle) - c * d * mp.sin(angle)
            truth = u * e * (1 + mp.cos(angle))
            assert abs(mp.mpf(float(value)) - truth) <= 4 * np.spacing(abs(float(truth)))


@pytest.mark.slow
@pytest.mark.parametrize("accuracy", ["high", "fast"])
def test_rows_in_vectors_are_those_that_are_asked_for_one_by_one(accuracy):
    """However many there are, however they lie in memory, and whatever they are beside."""
    f = symgrad(turned, accuracy=accuracy).jacobian
    p, w = row_arguments(2500)  # more than are taken together
    whole = f.map(p, w)
    first = kernels_of_rows(f)[1]
    assert isinstance(first if accuracy == "fast" else first.plain, Transposed)
    turned_over = f.map(np.asfortranarray(p), np.repeat(w, 2)[::2])
    for a, b in zip(whole, turned_over, strict=True):
        np.testing.assert_array_equal(a, b)
    for k in (0, 1, 16, 17, 1023, 1041, 2499):
        for a, b in zip(whole, f.map(p[k : k + 1], w[k : k + 1]), strict=True):
            np.testing.assert_array_equal(a[k], b[0])
    for level in ("high", "strict"):
        one = symgrad(turned, accuracy=level).jacobian(p[7], w[7])
        for a, b in zip(whole, one, strict=True):
            np.testing.assert_allclose(a[7], b, rtol=1e-13)


def test_rows_of_integers_and_of_other_sizes() -> None:
    """Formulas are those of a size; integers are doubles, unless they are too large for these."""
    f = symgrad(lambda x, s: s * np.sum(np.sin(x) ** 2) * x, wrt="x", accuracy="fast")
    for n in (2, 3):
        x = np.arange(5 * n).reshape(5, n)
        for rows in (x, x.astype(float)):
            found = f.map(rows, 3.0, axes=(0, None))
            np.testing.assert_allclose(
                found, 3 * np.sum(np.sin(x) ** 2, axis=1)[:, None] * x, rtol=1e-13
            )
    single = f.map(x.astype(np.float32), 3.0, axes=(0, None))
    assert single.dtype == np.float32
