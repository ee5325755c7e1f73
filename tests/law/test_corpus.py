"""The corpus of plain functions, crossed with every derivative, dtype and target; and both corpora with arguments of
other kinds than they were written for.

Values are compared with plain Python, derivatives with differences taken in
ball arithmetic at 600 bits, where a step of 2**-100 leaves 50 correct digits.
"""

from __future__ import annotations

import sys
import types
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb

from symdiff import ir, symgrad
from symdiff.errors import SymdiffError, UnsupportedError
from symdiff.export.scalar import module_text
from symdiff.interpret import evaluate, exclusive
from symdiff.ir.program import map_tree
from tests import array_corpus, corpus
from tests.corpus import CASES

STEP = 2.0**-100
PRECISION = 600
ids = [c.name for c in CASES]


every_case = pytest.mark.parametrize("case", CASES, ids=ids)


def leaves(tree):
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, (tuple, list)):
        return [leaf for t in tree for leaf in leaves(t)]
    if isinstance(tree, np.ndarray):
        return [float(v) for v in tree.ravel()]
    return [float(tree)]


_functions = {}


def program_of(case):
    """The function, the same for all tests, and its program."""
    if case.name not in _functions:
        _functions[case.name] = symgrad(case.fun, static=list(case.static))
    f = _functions[case.name]
    numbers = dict.fromkeys(f._source.parameters.real, (0, "f"))
    return f, f._source.program(case.static, numbers)


def slopes(program, point):
    """Rows of the Jacobian by central differences."""
    columns = []
    for name in program.params:
        x = ir.var(name)
        moved = [ir.substitute(program.outputs, {x: x + ir.const(sign * STEP)}) for sign in (1, -1)]
        up, down = (evaluate(outputs, program.params, point, PRECISION) for outputs in moved)
        with exclusive(PRECISION):
            differences = [(a - b) / (2 * arb(STEP)) for a, b in zip(up, down, strict=True)]
        columns.append([float(d.mid()) for d in differences])
    return list(zip(*columns, strict=True))


@pytest.mark.sampled
@every_case
def test_values_are_those_of_python(case):
    f, _ = program_of(case)
    for sample in case.samples:
        np.testing.assert_allclose(
            leaves(f(*sample, **case.static)), leaves(case(*sample)), rtol=1e-13, atol=1e-13
        )


@pytest.mark.sampled
@every_case
def test_derivatives_are_those_of_differences(case):
    f, program = program_of(case)
    real = program.params
    for sample in case.samples:
        truth = slopes(program, sample)
        got = leaves(f.jacobian(*sample, **case.static))
        if isinstance(program.tree, np.ndarray):  # one array per parameter
            got = list(np.array(got).reshape(len(real), -1).T.ravel())
        np.testing.assert_allclose(got, np.ravel(truth), rtol=4e-16, atol=1e-300)


@pytest.mark.slow
@every_case
def test_products_agree_with_the_jacobian(case):
    f, program = program_of(case)
    rng = np.random.default_rng(5)
    for sample in case.samples[:2]:
        truth = np.array(slopes(program, sample))
        v = rng.uniform(-1, 1, len(sample))
        _, tangent = f.jvp(sample, tuple(v), **case.static)
        np.testing.assert_allclose(leaves(tangent), truth @ v, rtol=1e-12, atol=1e-12)
        w = rng.uniform(-1, 1, len(truth))
        _, cotangent = f.vjp(sample, map_tree(w.__getitem__, program.tree), **case.static)
        np.testing.assert_allclose(leaves(cotangent), w @ truth, rtol=1e-12, atol=1e-12)


@pytest.mark.sampled
@pytest.mark.parametrize("case", [c for c in CASES if c.gives_a_number], ids=lambda c: c.name)
def test_second_derivatives_are_those_of_differences(case):
    f, program = program_of(case)
    first = f.grad._source.program(case.static)
    for sample in case.samples[:2]:
        truth = slopes(first, sample)
        got = leaves(f.hessian(*sample, **case.static))
        np.testing.assert_allclose(got, np.ravel(truth), rtol=4e-16, atol=1e-300)


def augmented_slopes(x):
    """`v += 1` changes the array x that v is: ((x + 1)**2 - 0.5)**2/9, exactly."""
    up = [Fraction(float(v)) + 1 for v in x]
    return np.diag([float(Fraction(4, 9) * u * (u * u - Fraction(1, 2))) for u in up])


def array_where_slopes(x):
    """A sum over the elements of x, plus 2*x."""
    grid = np.linspace(-2.0, 2.0, 5)
    return np.where(grid > 0, grid, np.cos(grid + x)) + 2 * np.eye(5)


REFUSED = {"array_mask", "array_output"}
"""For which arrays have the wrong shapes, in Python too."""
AS_ARRAYS = {"augmented": augmented_slopes, "array_where": array_where_slopes}
"""Jacobians of what NumPy does not compute one element at a time."""


@pytest.mark.sampled
@every_case
def test_arrays_give_what_scalars_give(case):
    f, _ = program_of(case)
    columns = [np.array(c) for c in zip(*case.samples, strict=True)]
    if case.name in REFUSED:
        for called in (case.fun, f, f.jacobian):
            with pytest.raises((ValueError, UnsupportedError)):
                called(*columns, **case.static)
        return
    if case.name in AS_ARRAYS:
        stacked = f.jacobian(*columns, **case.static)
        np.testing.assert_allclose(stacked, AS_ARRAYS[case.name](*columns), rtol=2e-15)
        want = case.fun(*map(np.copy, columns))
        np.testing.assert_allclose(f(*columns), want, rtol=1e-13)
        return
    stacked = f.jacobian.map(*columns, **case.static)
    single = [leaves(f.jacobian(*s, **case.static)) for s in case.samples]
    flat = np.array([np.ravel(a) for a in _arrays(stacked, len(case.samples))])
    np.testing.assert_allclose(flat.T, single, rtol=2e-15, atol=1e-300)


@pytest.mark.sampled
@pytest.mark.parametrize("case", [c for c in CASES if c.name not in REFUSED], ids=lambda c: c.name)
def test_single_precision(case):
    f, _ = program_of(case)
    columns = [np.array(c, np.float32) for c in zip(*case.samples, strict=True)]
    whole = case.name in AS_ARRAYS
    stacked = (f.jacobian if whole else f.jacobian.map)(*columns, **case.static)
    got = _arrays(stacked, len(case.samples))
    for a in got:
        assert a.dtype == np.float32
    if whole:
        truth = AS_ARRAYS[case.name](*(c.astype(float) for c in columns))
        np.testing.assert_allclose(stacked, truth, rtol=4e-7)
        return
    truth = [leaves(f.jacobian(*map(float, s), **case.static)) for s in zip(*columns, strict=True)]
    np.testing.assert_allclose(np.array(got).T, truth, rtol=4e-7, atol=1e-37)


def _arrays(tree, n):
    """Every leaf of a result over n elements, as an array of n."""
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, (tuple, list)):
        return [a for t in tree for a in _arrays(t, n)]
    return list(np.asarray(tree).reshape(-1, n))


@pytest.mark.slow
@every_case
def test_generated_modules_agree(case, tmp_path):
    f, program = program_of(case)
    text = module_text(program, program.params)
    assert "symdiff" not in [line.split()[1] for line in text.splitlines() if line[:6] == "import"]
    module = types.ModuleType(f"generated_{case.name}")
    path = tmp_path / f"{module.__name__}.py"
    path.write_text(text)
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    exec(compile(text, str(path), "exec"), module.__dict__)
    for sample in case.samples:
        value = getattr(module, program.name)(*sample)
        np.testing.assert_allclose(
            leaves(value), leaves(f(*sample, **case.static)), rtol=1e-13, atol=1e-13
        )


# --- both corpora, with arguments of other kinds than they were written for
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


@pytest.mark.slow
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


@pytest.mark.slow
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
