"""`f.ufunc`: elementwise functions are ufuncs of NumPy, with all that those do."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from symdiff import UnsupportedError, symgrad
from tests.collecting import collect

X = np.array([0.0, 1.0, 2.0])


@symgrad
def f(x, y):
    """A quotient, and more."""
    return np.sin(x) / x + y


def plain(x, y):
    return np.sinc(np.asarray(x) / np.pi) + y


def test_it_is_one() -> None:
    u = f.ufunc
    assert isinstance(u, np.ufunc) and u is f.ufunc
    assert (u.nin, u.nout, u.__name__) == (2, 1, "f")
    assert u.types == ["ee->e", "ff->f", "dd->d"] and "A quotient" in u.__doc__


def test_where_and_out() -> None:
    out = np.full(3, -1.0)
    kept = np.array([True, False, True])
    assert f.ufunc(X, 1.0, out=out, where=kept) is out
    np.testing.assert_allclose(out, np.where(kept, plain(X, 1.0), -1.0), rtol=1e-15)
    whole = np.zeros((2, 6))
    f.ufunc(X, 1.0, out=whole[1, ::2])
    np.testing.assert_allclose(whole[1, ::2], plain(X, 1.0), rtol=1e-15)
    assert not whole[0].any() and not whole[1, 1::2].any()
    same = X.copy()
    f.ufunc(same, 1.0, out=same)
    np.testing.assert_allclose(same, plain(X, 1.0), rtol=1e-15)


def test_types() -> None:
    assert f.ufunc(X, 1.0, dtype=np.float32).dtype == np.float32
    assert f.ufunc(np.array([0, 1]), 1).dtype == np.float64
    assert f.ufunc(X.astype(np.float16), np.float16(1)).dtype == np.float16
    with pytest.raises(TypeError, match="casting rule 'no'"):
        f.ufunc(np.array([0, 1]), 1.0, casting="no")
    with pytest.raises(TypeError):
        f.ufunc(X.astype(complex), 1.0)


@pytest.mark.parametrize(
    "x",
    [X[::-1], np.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1), np.zeros((0, 3)), 0.0,
     np.linspace(0, 9, 20_001)[::2], np.array([np.nan, np.inf, -0.0])],
)  # fmt: skip
def test_elements_anywhere(x) -> None:
    with np.errstate(all="raise"):
        found = f.ufunc(x, 2.0)
    np.testing.assert_array_equal(found, f(x, 2.0))
    assert np.shape(found) == np.shape(x)


def test_methods() -> None:
    np.testing.assert_allclose(f.ufunc.outer(X, X), plain(X[:, None], X), rtol=1e-15)
    np.testing.assert_allclose(f.ufunc.accumulate(X), [0.0, 2.0, plain(2.0, 2.0)], rtol=1e-15)
    steps = [X[1]]
    for x in X[1:]:
        steps.append(plain(steps[-1], x))
    np.testing.assert_allclose(f.ufunc.accumulate(X[[1, 1, 2]]), steps, rtol=1e-15)
    assert f.ufunc.reduce(X[[1, 1, 2]]) == pytest.approx(steps[-1], rel=1e-15)
    table = np.arange(12.0).reshape(3, 4)
    rows = plain(plain(table[0], table[1]), table[2])
    np.testing.assert_allclose(f.ufunc.reduce(table, axis=0), rows, rtol=1e-15)
    shifted = np.arange(6.0)
    f.ufunc(shifted[:-1], 1.0, out=shifted[1:])
    np.testing.assert_allclose(shifted[1:], plain(np.arange(5.0), 1.0), rtol=1e-15)
    at = X.copy()
    f.ufunc.at(at, [0, 0], 1.0)
    assert at[0] == pytest.approx(plain(2.0, 1.0), rel=1e-15)


def test_subclasses_and_protocols() -> None:
    class Named(np.ndarray):
        pass

    assert type(f.ufunc(X.view(Named), 1.0)) is Named
    masked = f.ufunc(np.ma.array(X, mask=[0, 1, 0]), 1.0)
    assert list(masked.mask) == [False, True, False]

    class Told:
        def __array_ufunc__(self, ufunc, method, *args, **kwargs):
            return ufunc.__name__, method, len(args)

    assert f.ufunc(Told(), 1.0) == ("f", "__call__", 2)


def test_several_results_and_derivatives() -> None:
    slopes = f.grad.ufunc(
        X, 1.0, where=np.array([False, True, True]), out=(np.zeros(3), np.zeros(3))
    )
    np.testing.assert_allclose(
        slopes[0][1:], ((X * np.cos(X) - np.sin(X)) / np.maximum(X, 1) ** 2)[1:]
    )
    assert list(slopes[1]) == [0.0, 1.0, 1.0]
    both = symgrad(lambda x: (x * x, np.exp(x)))
    np.testing.assert_allclose(both.ufunc(X), [X * X, np.exp(X)], rtol=1e-15)


def test_it_outlives_its_function() -> None:
    u = symgrad(lambda x: np.cos(x) / 3).ufunc
    collect()
    np.testing.assert_allclose(u(X), np.cos(X) / 3, rtol=1e-15)


def test_a_function_with_one_can_be_pickled() -> None:
    f.ufunc(X, 1.0)
    assert pickle.loads(pickle.dumps(f))(1.0, 2.0) == f(1.0, 2.0)


def test_static_parameters_and_parameters_named_out() -> None:
    power = symgrad(lambda x, n: x**n, static=("n",))
    with pytest.raises(Exception, match="n"):
        _ = power.ufunc

    np.testing.assert_allclose(symgrad(lambda out: np.sin(out)).ufunc(X), np.sin(X), rtol=1e-15)


def test_what_has_none() -> None:
    with pytest.raises(UnsupportedError, match="elementwise"):
        _ = symgrad(lambda x: np.sum(x)).ufunc

    def root(x):
        assert x > 0
        return np.sqrt(x)

    with pytest.raises(UnsupportedError, match="checks its arguments"):
        _ = symgrad(root).ufunc
    with pytest.raises(UnsupportedError, match="checks its arguments"):
        _ = symgrad(lambda x: np.sqrt(x), domain={"x": (0, None)}).ufunc
    assert symgrad(root, check_domain=False).ufunc(4.0) == 2.0


@pytest.mark.parametrize("name", ["grad", "value_and_grad", "hessian"])
def test_derivatives_are_ufuncs_of_all_their_results(name):
    f = symgrad(lambda x, y: np.sin(x) * y)
    x, y = np.linspace(0.0, 1.0, 4), np.full(4, 2.0)
    truth = {
        "value": [2 * np.sin(x)], "grad": [2 * np.cos(x), np.sin(x)],
        "hessian": [-2 * np.sin(x), np.cos(x), np.cos(x), 0 * x],
    }  # fmt: skip
    truth["value_and_grad"] = truth["value"] + truth["grad"]
    found = getattr(f, name).ufunc(x, y)
    np.testing.assert_allclose(found, truth[name], rtol=1e-14, atol=1e-15)
    second = symgrad(lambda x: x**3).diff("x", "x").ufunc
    np.testing.assert_allclose(second(x), 6 * x)
