"""Generated modules of programs with arrays and loops: double arithmetic, decided as Python decides.
Truth is known, or plain Python."""

from __future__ import annotations

import math
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from flint import arb

from symdiff import symgrad
from symdiff.errors import SymdiffError, TargetError
from symdiff.export.measured import run
from tests.codegen.source.test_module_edges import defined
from tests.law.made import formula, loaded

variance = formula("variance", "x", "np.sum((x - np.sum(x) / x.shape[0]) ** 2) / x.shape[0]")


def recurrence(x):
    s = 0.0
    for i in range(x.shape[0]):
        s = s * s - s + x[i]
    return s * s - x[x.shape[0] - 1] * x[x.shape[0] - 1]


def table(x):
    e = np.zeros(3) + 0 * x[0]
    for step in range(x.shape[0]):
        for k in range(3):
            e[k] = (e[k] - x[step]) * (e[k] + x[step]) + x[step]
    return np.sum(e) - 3 * x[x.shape[0] - 1]


def sides(x):
    total = 0 * x[0]
    for i in range(x.shape[0]):
        if x[i] > x[0]:
            total += x[i] * x[i] - x[0] * x[0]
        else:
            total -= x[0]
    return total


def products(x):
    a = np.outer(x, x) + np.eye(3)
    return np.sum((a @ x - x) ** 2) - np.sum(x * x) ** 3


def steps(x):
    v = 1.0
    while v * v < x[0]:
        v = v + x[1]
    return v * v - x[0]


CASES = [
    (variance, 1e8 + np.arange(4.0) / 7),
    (recurrence, np.array([1e-9, 2e-9, 3e-7])),
    (table, np.array([1e-9, 2.0, 1e-8])),
    (sides, np.array([1e8, 1e8 + 2.0**-20, 1.0])),
    (products, np.array([1e-3, 2.0, 1e-4])),
    (steps, np.array([2.0, 0.41421356237309515])),
]
"""Programs, and where they lose digits."""


def exactly(f, x) -> arb:
    """The same program run on balls of many bits."""
    return f(np.array([v if isinstance(v, arb) else arb(float(v)) for v in x], object))


def text(f, *args, **options) -> str:
    from symdiff.export.faces import face_of
    from symdiff.export.loops import array_module

    g = symgrad(f, **options)
    g(*args)
    return array_module(g._source.program({}), g._wrt(), face=face_of(g))


@pytest.mark.sampled
@pytest.mark.parametrize(("f", "x"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_double_arithmetic(f, x):
    """At ordinary arguments, what the decorator has; as many steps as plain Python takes."""
    made = text(f, x)
    scope = run(made)
    assert "flint" not in made and "Measured against ball arithmetic" in made
    at = np.array([1.5, 0.25, 0.75])[: x.size] if f is not steps else x
    g = symgrad(f)
    assert scope[f.__name__](at) == pytest.approx(f(at), rel=1e-12)
    found = np.ravel(scope[f"{f.__name__}_grad"](at))
    np.testing.assert_allclose(found, np.ravel(g.grad(at)), rtol=1e-12, atol=1e-12)


def test_numbers_are_carried_once():
    """A number that decides and is computed with is one number of the text."""

    def decay(a, T):
        s = t = 0.0
        while t < T:
            s += math.exp(-a * t)
            t += 0.01
        return s

    made = text(decay, 0.5, 1.0)
    kernel = made[made.index("def _decay_kernel") : made.index("def decay_grad")]
    assert kernel.count("0.01") == 1
    assert run(made)["decay"](0.5, 1.0) == pytest.approx(decay(0.5, 1.0), rel=1e-15)


def test_names_and_targets():
    f = symgrad(lambda x: np.sum(x * x))
    f(np.ones(3))
    with pytest.raises(SymdiffError, match="not a name for a function"):
        f.save("nowhere.py")
    g = symgrad(variance, target="auto")
    with pytest.raises(
        TargetError, match="variance has arrays or loops: its module computes on the CPU"
    ):
        g.save("nowhere.py")


@pytest.mark.slow
def test_sizes_in_formulas_do_not_hang_on_the_order_of_imports(tmp_path):
    """A size is a leaf of a formula, whichever file of the package was imported first."""
    script = (
        "import numpy as np, symdiff\n"
        "def moments(x):\n"
        "    n = x.shape[0]\n"
        "    return np.sum((1 + x)**2)/n - (np.sum(1 + x)/n)**2\n"
        "f = symdiff.symgrad(moments)\n"
        "f(np.arange(3.0))\n"
        "f.save('k.py')\n"
    )
    (tmp_path / "m.py").write_text(script)
    done = subprocess.run(
        [sys.executable, "m.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


of_powers = formula("of_powers", "x, k", "np.sum(x) if k == 0 else (np.prod(1 + k * x) - 1) / k")


def test_points_of_guards_that_only_a_run_shows():
    """Their derivatives are as written, and a warning says so."""
    scope = run(text(of_powers, np.array([1.0, 2.0]), 0.5))
    x = np.array([1.0, 2.0])
    with pytest.warns(RuntimeWarning, match="of_powers_grad: at a point that is treated apart"):
        assert scope["of_powers_grad"](x, 0.0)[0].tolist() == [1.0, 1.0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert scope["of_powers"](x, 0.0) == 3.0
        scope["of_powers_grad"](x, 0.5)


scaled_quotient = formula(
    "scaled_quotient", "abs, d, k=1.0", "k * np.sum(1 - np.cos(abs)) / np.sum(abs**2) * d[0]"
)


@pytest.mark.slow
def test_calls_by_compiled_functions(tmp_path):
    """With a parameter called as what they use, defaults, in threads, and refusals."""
    from numba import njit, prange
    from numba.core.errors import TypingError

    x, d = np.array([0.3, 0.2, 0.5]), np.array([2.0])
    made = symgrad(scaled_quotient)
    made(x, d)
    made.save(tmp_path / "k.py")
    module = loaded(tmp_path / "k.py")
    value, slopes = module.scaled_quotient, module.scaled_quotient_grad
    call = njit(lambda x, d: (value(x, d, k=2.0), slopes(abs=x, d=d)))
    found, expected = call(x, d), (value(x, d, k=2.0), slopes(x, d))
    assert found[0] == expected[0]
    for a, b in zip(found[1], expected[1], strict=True):
        np.testing.assert_array_equal(a, b)

    @njit(parallel=True)
    def rows(m, d):
        out = np.empty(len(m))
        for i in prange(len(m)):
            out[i] = value(m[i], d)
        return out

    assert rows(np.array([x, 2 * x]), d).tolist() == [value(x, d), value(2 * x, d)]
    with pytest.raises(TypingError, match="an array of float64 with 1 axes"):
        njit(lambda x, d: value(x, d))(x.astype(np.float32), d)


@pytest.mark.sampled
@pytest.mark.parametrize(("f", "x"), CASES[:2], ids=[f.__name__ for f, _ in CASES[:2]])
def test_no_name_of_a_module_is_bound_twice(f, x):
    names = defined(text(f, x))
    assert len(names) == len(set(names))


def average(x, alpha):
    """Squared error of an exponentially weighted moving average."""
    mean, loss = x[0], 0.0
    for k in range(1, len(x)):
        loss = loss + (x[k] - mean) ** 2
        mean = alpha * x[k] + (1 - alpha) * mean
    return loss


def test_modules_of_recurrences_are_short(tmp_path: Path):
    assert text(average, np.arange(4.0), 0.5).count("\n") <= 150


def kepler(m, e):
    """The eccentric anomaly, by Newton's method."""
    found, step = m, 1.0
    while abs(step) > 1e-12:
        step = (found - e * math.sin(found) - m) / (1 - e * math.cos(found))
        found = found - step
    return found


def test_slopes_are_those_beside_the_value_where_the_statements_are_the_same():
    written = text(kepler, 0.5, 0.3)
    assert written.count("while ") == 3  # in the formula, of the value, and with its slopes
    assert written.count("\n") <= 120
    made = run(written)
    found, (by_m, by_e) = made["kepler_value_and_grad"](0.5, 0.3)
    assert abs(found - 0.3 * math.sin(found) - 0.5) < 1e-15
    assert by_m == pytest.approx(1 / (1 - 0.3 * math.cos(found)), rel=1e-14)
    assert by_e == pytest.approx(math.sin(found) / (1 - 0.3 * math.cos(found)), rel=1e-14)
    assert made["kepler_grad"](0.5, 0.3) == (by_m, by_e)
