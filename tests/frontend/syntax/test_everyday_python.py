"""What libraries write beside their formulas: optional parameters, names of methods, messages and
warnings, membership, bits of integers, imports where they are needed."""

from __future__ import annotations

import math
import pickle
import warnings
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.errors import SymdiffError


def same(fun: Any, *args: Any) -> None:
    """A call means what plain Python makes of it, and is of the same kind."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        want, got = fun(*args), symgrad(fun)(*args)
    assert np.asarray(got).dtype == np.asarray(want).dtype
    np.testing.assert_allclose(got, want, rtol=1e-15)


# ------------------------------------------------------- parameters without a value
def reynolds(v: float, d: float, rho: Any = None, mu: Any = None, nu: Any = None) -> Any:
    if rho is not None and mu is not None:
        nu = mu / rho
    elif nu is None:
        raise ValueError("either the density and the viscosity or nu is needed")
    return v * d / nu


def test_optional_parameters_that_are_named_are_differentiated_by() -> None:
    f = symgrad(reynolds, wrt=("v", "rho", "mu"))
    v, d, rho, mu = 2.5, 0.25, 1.25, 2.0**-15
    got = f.grad(v, d, rho, mu)
    assert got == pytest.approx((d * rho / mu, v * d / mu, -v * d * rho / mu**2), rel=1e-15)
    assert f.grad(v, d, nu=0.5) == 0.5  # the others say what is computed
    assert f.value_and_grad(v, d, None, None, 0.5) == (1.25, 0.5)
    assert f.hessian(v, d, nu=0.5) == 0.0
    assert f.jvp((v, d, rho, mu), (1.0, 0.0, 0.0)) == pytest.approx(
        (v * d * rho / mu, d * rho / mu)
    )
    assert symgrad(reynolds, wrt=-1).grad(v, d, nu=0.5) == -2.5
    assert pickle.loads(pickle.dumps(f)).grad(v, d, nu=0.5) == 0.5


@pytest.mark.slow
def test_optional_arrays() -> None:
    def mean(x: Any, w: Any = None) -> Any:
        return np.mean(x) if w is None else np.sum(w * x) / np.sum(w)

    f = symgrad(mean, wrt=("x", "w"))
    x, w = np.array([1.0, 2.0, 4.0]), np.array([1.0, 1.0, 2.0])
    np.testing.assert_allclose(f.grad(x), np.full(3, 1 / 3))
    by_x, by_w = f.grad(x, w)
    np.testing.assert_allclose(by_x, w / 4)
    np.testing.assert_allclose(by_w, (x - 2.75) / 4)


def test_what_is_not_passed_has_no_derivative() -> None:
    f = symgrad(reynolds, wrt="rho")
    with pytest.raises(SymdiffError, match="by rho: no real number is passed"):
        f.grad(2.5, 0.25, nu=0.5)
    with pytest.raises(SymdiffError, match="by rho: no real number is passed"):
        f.diff("rho")(2.5, 0.25, nu=0.5)
    with pytest.raises(SymdiffError, match="static parameter 'rho'"):
        symgrad(reynolds).diff("rho")


def chosen(x: Any, y: Any, method: Any) -> Any:
    if method is None:
        return x
    return x * y if method == "product" else x + y


def test_strings_say_what_is_computed() -> None:
    f = symgrad(chosen)
    for method in ("product", "sum", None):
        same(chosen, 3.0, 5.0, method)
        same(chosen, 3, 5, method)
        same(chosen, np.array([1.0, 2.0]), 5.0, method)
    assert f.grad(3.0, 5.0, "product") == (5.0, 3.0)
    assert f.grad(3.0, 5.0, method="sum") == (1.0, 1.0)
    assert f.grad(3.0, 5.0, None) == (1.0, 0.0)
    assert f.hessian(3.0, 5.0, "product") == ((0.0, 1.0), (1.0, 0.0))
    assert f.diff("x", "y")(3.0, 5.0, "product") == 1.0
    assert f.grad.jacobian(3.0, 5.0, "product") == ((0.0, 1.0), (1.0, 0.0))
    both = symgrad(lambda x, y: f(x, y, "product") - f.grad(x, y, "product")[0])
    assert both(3.0, 5.0) == 10.0
    assert both.grad(3.0, 5.0) == (5.0, 2.0)
    out = np.empty(2), np.empty(2)
    assert f.grad(np.ones(2), np.full(2, 5.0), "product", out=out) is out
    np.testing.assert_array_equal(out, [[5.0, 5.0], [1.0, 1.0]])
    with pytest.raises(SymdiffError, match="no real number is passed"):
        f.diff("method")(3.0, 5.0, "sum")


# ------------------------------------------------------------- messages and warnings
def symmetric(r: Any) -> Any:
    r = np.asarray(r)
    if not np.allclose(r, r.T):
        message = "not symmetric: %r of %s" % (r, "a test")  # noqa: UP031
        warnings.warn(message + f", {r[0, 0]:.3g}", UserWarning, stacklevel=2)
    if r[0, 0] < 0:
        text = "negative: {}".format(r[0, 0]) + str(r)  # noqa: UP032
        raise ValueError(text)
    return 2 * r


def test_messages_are_not_computed() -> None:
    same(symmetric, np.eye(2))
    same(symmetric, np.array([[1.0, 2.0], [3.0, 4.0]]))
    with pytest.raises(ValueError):
        symgrad(symmetric)(-np.eye(2))
    np.testing.assert_array_equal(symgrad(symmetric).jacobian(np.eye(2))[0, 1, 0, 1], 2.0)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "fun",
    [
        lambda x: x if str(x) else -x,
        lambda x: x if f"{x:.1f}" == "2.0" else -x,
        lambda x: x * len("{}".format(x)),  # noqa: UP032
        lambda x: float(f"{x}"),
        lambda x: {"2.0": x}[repr(x)],
        lambda x: x if f"{x}" in ("2.0", "3.0") else -x,
        lambda x: "%f" % x,  # noqa: UP031
        lambda x: "a" * x,
    ],
)
def test_nothing_else_is_made_of_text(fun: Any) -> None:
    with pytest.raises(SymdiffError, match=r"text of values|returns|a string|used as a key"):
        symgrad(fun)(2.0)


# --------------------------------------------------------------------- membership
def axis(x: Any, n: Any) -> Any:
    if n not in [0, 1, 2]:
        raise ValueError("no axis")
    return x * n


def special(x: Any, y: Any) -> Any:
    return x if x in {1.0, 2.5} or y in (x, None, "no", 4) else -x


def test_numbers_are_looked_for_among_numbers() -> None:
    for n in (0, 1, 2, 2.0):
        same(axis, 2.5, n)
    with pytest.raises(ValueError):
        symgrad(axis)(2.5, 3)
    for x in (1.0, 2.5, 3.0, 4.0, math.nan):
        for y in (3.0, 4.0, math.nan):
            same(special, x, y)
    same(lambda x: sum(1.0 for k in range(9) if k in (x, 3)), 4.0)
    assert symgrad(special).grad(3.0, 7.0) == (-1.0, 0.0)


# ---------------------------------------------------------------- bits of integers
def halving(x: Any) -> Any:
    low, high = 0, len(x) - 1
    while low < high:
        middle = low + ((high - low) >> 1)
        if x[middle] < 0.5:
            low = middle + 1
        else:
            high = middle
    return x[low] * (low << 1) + (low & 1) + (-low & 3) + (-low >> 1)


@pytest.mark.sampled
@pytest.mark.parametrize("size", [1, 2, 5, 8, 9])
def test_bits_of_integers(size: int) -> None:
    x = np.linspace(0, 1, size)
    same(halving, x)
    slopes = symgrad(halving).grad(x)
    place = int(np.searchsorted(x, 0.5)) if size > 1 else 0
    want = np.zeros(size)
    want[place] = 2 * place
    np.testing.assert_array_equal(slopes, want)


def test_other_bits_are_refused() -> None:
    def mixed(x: Any) -> Any:
        return sum(x[k & 5] for k in range(len(x)))

    with pytest.raises(SymdiffError, match="'&' of an integer"):
        symgrad(mixed)(np.ones(3000))
    for n in (7, 6):  # the size of a call with a few elements is known
        x = np.linspace(0.5, 2.0, n)
        assert symgrad(mixed)(x) == pytest.approx(mixed(x), rel=1e-15)
        counts = np.bincount([k & 5 for k in range(n)], minlength=n)
        assert symgrad(mixed).grad(x).tolist() == counts.tolist()


# --------------------------------------------------------------------------- others
def test_real_and_imaginary_parts_of_real_numbers() -> None:
    def parts(x: Any) -> Any:
        return x.real * x.conjugate() + x.imag

    for x in (3.0, 3, np.float64(3.0)):
        same(parts, x)
    assert symgrad(parts).grad(3.0) == 6.0


def test_imports_and_sets() -> None:
    def inside(x: Any) -> Any:
        import fractions
        from statistics import mean
        from xml.etree import ElementTree

        letters = {"a", "b"}
        count = len(letters.union(["c"]).difference("b"))
        known = letters.issubset({"a", "b", "c"}) and letters.isdisjoint({"d"})
        return x * count if known and fractions and mean and ElementTree else x

    same(inside, 1.5)

    def missing(x: Any) -> Any:
        import no_such_module_of_anyone

        return x * no_such_module_of_anyone.two

    with pytest.raises(SymdiffError, match="ImportError when traced"):
        symgrad(missing)(1.0)
