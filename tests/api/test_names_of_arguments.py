"""Names and kinds of arguments: static ones, whose values have compiled entries of their own, which serve no other;
keywords of other packages; parameters that are called as keywords of ours."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symdiff
from symdiff import UnsupportedError, symgrad
from symdiff.api.entries import MOST_SELECTIONS
from symdiff.errors import CallError, SymdiffError
from symdiff.pipeline.keys import static_key
from tests.kernels import compiled_entries


def power(x, n: int = 2, shift: bool = False):
    return x**n + (1.0 if shift else 0.0)


@pytest.fixture
def f():
    return symgrad(power)


def general_calls(f, call):
    """How many of three calls take the general path, after the first two."""
    made = []
    whole = f._call
    call(), call()
    f._call = lambda *a, **k: made.append(a) or whole(*a, **k)
    call(), call(), call()
    del f._call
    return len(made)


@pytest.mark.parametrize(
    "arguments",
    [((1.5,), {}), ((1.5, 3), {"shift": True}), ((1.5, 3, True), {}), ((1.5,), {"n": 3, "shift": True}),
     ((), {"x": 1.5, "n": 3})],
)  # fmt: skip
def test_they_go_straight_to_compiled_code(f, arguments):
    args, kwargs = arguments
    assert general_calls(f, lambda: f(*args, **kwargs)) == 0
    assert f(*args, **kwargs) == power(*args, **kwargs)
    assert general_calls(f.grad, lambda: f.grad(*args, **kwargs)) == 0
    n = kwargs.get("n", args[1] if len(args) > 1 else 2)
    assert f.grad(*args, **kwargs) == n * 1.5 ** (n - 1)


def test_values_do_not_mix(f):
    for _ in range(3):
        for n in (2, 3, 5):
            assert f(1.5, n=n) == 1.5**n
            assert f(1.5, n, True) == 1.5**n + 1
            np.testing.assert_array_equal(f(np.array([1.5, 2.0]), n=n), [1.5**n, 2.0**n])
        assert f(1.5) == 2.25


def test_other_values_than_simple_ones_take_the_general_path():
    @symgrad(static="k")
    def g(x, k):
        return x * len(k) if isinstance(k, list) else x * k

    for _ in range(3):
        assert g(1.5, k=[1, 2]) == 3.0
        assert g(1.5, k=2.5) == 3.75
        assert g(1.5, k=True) == 1.5
        assert g(1.5, k=4) == 6.0


def test_a_zero_has_a_sign_and_elements_have_types():
    values = (0.0, -0.0, 0, False, (0,), (0.0,), (-0.0,), [0], {"a": 0}, {"a": 0.0}, {0}, {0.0}, 0j)
    assert len({static_key({"k": v}) for v in values}) == len(values)


def test_a_default_that_changes():
    def g(x, n: int = 2):
        return x**n

    f = symgrad(g)
    assert [f(2.0) for _ in range(3)] == [4.0] * 3
    g.__defaults__ = (3,)
    assert f(2.0) == 8.0
    assert f(2.0, n=2) == 4.0


SCALE = 2.0


def scaled(x, n: int = 2):
    return SCALE * x**n


def test_what_is_captured_may_change(monkeypatch):
    f = symgrad(scaled)
    assert [f(3.0, n=2) for _ in range(3)] == [18.0] * 3
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    assert [f(3.0, n=2) for _ in range(3)] == [45.0] * 3


def test_arguments_that_python_refuses_are_refused():
    @symgrad
    def g(x, *, n: int = 2):
        return x**n

    assert [g(2.0, n=3) for _ in range(3)] == [8.0] * 3
    with pytest.raises(TypeError, match="positional argument"):
        g(2.0, 3)
    with pytest.raises(TypeError, match="unexpected keyword"):
        g(2.0, m=3)


def test_places_for_results(f):
    out = np.empty(2)
    for _ in range(3):
        assert f(np.array([1.0, 2.0]), n=3, out=out) is out
    np.testing.assert_array_equal(out, [1.0, 8.0])


@pytest.mark.slow
def test_many_values(f):
    """The last ones take the general path."""
    for _ in range(2):
        for n in range(MOST_SELECTIONS + 3):
            assert f(1.0, n=n) == 1.0
    served = [n for n in range(MOST_SELECTIONS + 3) if compiled_entries(f, n=n, shift=False)]
    assert served == list(range(MOST_SELECTIONS))


def test_named_arguments_go_to_compiled_entries(monkeypatch):
    """By place, with the defaults of those that are left out; a floating-point static argument selects too."""

    @symgrad(static=("scale",))
    def g(x, y, scale=2.0):
        return scale * np.sum(x * y)

    x, y = np.arange(3.0), np.ones(3)
    for f in (g, g.grad):
        for _ in range(5):
            wanted = f(x, y, 0.5)
            f(x, y)
        monkeypatch.setattr(type(g), "_call", None)  # what the general path runs
        for got in (f(x=x, y=y, scale=0.5), f(x, scale=0.5, y=y)):
            np.testing.assert_array_equal(got, wanted)
        np.testing.assert_array_equal(f(y=y, x=x), 4 * np.asarray(wanted))
        monkeypatch.undo()
    with pytest.raises(TypeError, match="unexpected keyword"):
        g(x, z=y)
    for _ in range(5):
        assert g(x, y, scale=0.0) == 0.0
    assert not compiled_entries(g, scale=0.0) and compiled_entries(g, scale=0.5), (
        "0.0 is equal to -0.0"
    )


# --- keywords of other packages, keys that arguments lack, and lists
MAKERS = (
    symgrad,
    symdiff.grad,
    symdiff.value_and_grad,
    symdiff.jacobian,
    symdiff.hessian,
)


@pytest.mark.parametrize("make", MAKERS, ids=lambda m: m.__name__)
def test_keywords_of_other_packages_name_ours(make):
    with pytest.raises(CallError) as caught:
        make(lambda x, y: x * y, argnums=0)
    assert str(caught.value) == (
        f"{make.__name__}() got an unexpected keyword argument 'argnums'\n"
        "hint: it is called 'wrt', and takes names or positions of parameters"
    )
    assert isinstance(caught.value, TypeError)


def test_static_arguments_are_named_by_static():
    with pytest.raises(CallError, match="'static_argnums'\nhint: it is called 'static'"):
        symgrad(static_argnums=(1,))


def test_other_keywords_are_pythons_error():
    with pytest.raises(TypeError, match=r"^symgrad\(\) got an unexpected keyword argument 'by'$"):
        symgrad(lambda x: x, by=0)


def weighted(p, v):
    total = 0.0
    for k in range(len(v)):
        total += v[k] * p["gain"]
    return total


def test_a_key_that_an_argument_lacks_is_named():
    with pytest.raises(UnsupportedError, match="key 'gain' is not in the dictionary"):
        symgrad(weighted).grad({"bias": 1.0}, np.ones(3))


def test_reports_say_that_gradients_by_lists_are_lists():
    f = symgrad(lambda x, y: x[0] * np.sum(y))
    assert f.grad([2.0, 3.0], np.ones(2))[0] == [2.0, 0.0]
    said = "x as a list of numbers: gradients by x are lists, those by np.array(x) arrays"
    assert [k.text for k in f.report().findings].count(said) == 1
    g = symgrad(lambda p: p[0][0] * p[1])
    g.grad(([2.0], 3.0))
    assert not any("list" in k.text for k in g.report().findings)


# --- the function's own parameter wins
V = np.array([1.0, 2.0, 4.0])


NUMBERS: dict[str, Any] = {
    "out": lambda x, out: x**2 * out,
    "stream": lambda x, stream: x**2 * stream,
    "sparse": lambda x, sparse: x**2 * sparse,
    "self": lambda x, self: x**2 * self,
}
ARRAYS: dict[str, Any] = {
    "out": lambda x, out: np.sum(x**2 * out),
    "stream": lambda x, stream: np.sum(x**2 * stream),
    "sparse": lambda x, sparse: np.sum(x**2 * sparse),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_by_name_or_position(name: str) -> None:
    g = symgrad(NUMBERS[name])
    for _ in range(3):  # the later calls may take a shorter way
        for args, more in (((2.0, 3.0), {}), ((2.0,), {name: 3.0}), ((), {"x": 2.0, name: 3.0})):
            assert g(*args, **more) == 12.0
            assert g.grad(*args, **more) == (12.0, 4.0)
            assert g.value_and_grad(*args, **more) == (12.0, (12.0, 4.0))
            assert g.jacobian(*args, **more) == (12.0, 4.0)
            assert g.hessian(*args, **more) == ((6.0, 4.0), (4.0, 0.0))
        assert g.jvp((2.0,), (1.0, 1.0), **{name: 3.0}) == (12.0, 16.0)
        assert g.vjp((2.0,), 2.0, **{name: 3.0}) == (12.0, (24.0, 8.0))
        np.testing.assert_array_equal(g(V, **{name: V}), V**3)
        np.testing.assert_array_equal(g.grad(V, **{name: V})[0], 2 * V**2)


@pytest.mark.sampled
@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_by_name_or_position(name: str) -> None:
    g = symgrad(ARRAYS[name])
    for _ in range(3):
        for args, more in (((V, V), {}), ((V,), {name: V}), ((), {"x": V, name: V})):
            assert g(*args, **more) == 73.0
            u, v = g.grad(*args, **more)
            np.testing.assert_array_equal(u, 2 * V**2)
            np.testing.assert_array_equal(v, V**2)


@pytest.mark.parametrize("f", [NUMBERS["out"], ARRAYS["out"]])
def test_no_other_out_beside_it(f: Any) -> None:
    g, place = symgrad(f), np.zeros(3)
    for _ in range(3):
        g(V, V)
        with pytest.raises(TypeError, match="multiple values for argument 'out'"):
            g(V, V, out=place)
    assert not place.any()
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'out'"):
        g(V)


def test_a_static_parameter() -> None:

    g = symgrad(lambda x, out=None: x**2 if out is None else x**3)
    for _ in range(3):
        assert (g(2.0), g(2.0, out=None), g(2.0, out=True)) == (4.0, 4.0, 8.0)
        assert (g.grad(2.0), g.grad(2.0, out=True)) == (4.0, 12.0)


def test_containers() -> None:
    g = symgrad(lambda p, out: p[0] * p[1] * out)
    assert g((2.0, 3.0), out=4.0) == 24.0
    assert g.grad((2.0, 3.0), out=4.0) == ((12.0, 8.0), 6.0)


def test_axes_of_map() -> None:
    g = symgrad(lambda x, axes=2.0: x * axes)
    np.testing.assert_array_equal(g.map(V, 3.0), 3 * V)
    with pytest.raises(SymdiffError, match="axes= of map"):
        g.map(V, axes=3.0)
