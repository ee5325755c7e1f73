"""Calls with static arguments: each value has compiled entries of its own, which serve no other."""

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.api.entries import MOST_SELECTIONS
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
