"""Arrays that a condition selects, or that lie otherwise in memory, are changed under one name and read under
another: as in NumPy, or refused."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdiff import UnsupportedError, symgrad

X = np.array([[0.45, -1.3], [-0.2, 0.4], [0.1, -0.8]])


def _made(*lines: str) -> Callable[[Any], Any]:
    """A function of these lines."""
    text = "\n    ".join(("def f(x):", *lines)) + "\n"
    path = f"<changed {abs(hash(text))}>"
    linecache.cache[path] = len(text), None, text.splitlines(keepends=True), path
    names: dict[str, Any] = {"np": np}
    exec(compile(text, path, "exec"), names)
    return names["f"]


def _check(f: Callable[[Any], Any], may_be_refused: bool) -> None:
    try:
        found = symgrad(f, verify=False, accuracy="fast")(X.copy())
    except UnsupportedError as e:
        assert may_be_refused, e
        assert "changed" in str(e) or "assigned" in str(e)
        return
    for a, b in zip(found, f(X.copy()), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-15)


SHOWN = [
    "a.reshape(-1)", "a.ravel()", "a.T", "a[1:]", "a[0]", "a[::-1]", "np.asarray(a)", "a[None]", "np.split(a, 1)[0]",
    "np.squeeze(a)", "[r for r in a][0]", "(a,)[0]",
]  # fmt: skip


@pytest.mark.parametrize("view", SHOWN)
def test_a_view_of_a_selection_is_changed(view: str) -> None:
    _check(_made("a = x[x[:, 0] > 0]", f"b = {view}", "b[0] = 7.0", "return a, b"), True)


@pytest.mark.parametrize("view", SHOWN)
def test_a_selection_is_changed_that_a_view_shows(view: str) -> None:
    _check(_made("a = x[x[:, 0] > 0]", f"b = {view}", "a *= 3.0", "return a, b"), True)


@pytest.mark.sampled
@pytest.mark.parametrize("read", ["np.mean(a)", "a*2", "np.sum(a.T)", "a.copy()", "len(a)"])
def test_what_was_only_read_may_be_changed(read: str) -> None:
    _check(_made("a = x[x[:, 0] > 0]", f"b = {read}", "a *= 3.0", "return a, b"), False)


@pytest.mark.sampled
@pytest.mark.parametrize("made", ["np.transpose(x*1.0)", "x*1.0", "(x*1.0)[::2]", "(x*1.0)[:, 0]"])
def test_contiguous_arrays_are_views_or_copies(made: str) -> None:
    f = _made(f"a = {made}", "b = np.ascontiguousarray(a)", "b[0] = 7.0", "return a, b")
    _check(f, "::2" in made)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "selected", ["t[t[:, 0]]", "t[t]", "t[:, 0][t[:, 0]]", "t[[0, 1]]", "t[1:]"]
)
def test_selected_truth_values_are_numpys(selected: str) -> None:
    f = _made("t = x < x + 1", f"s = {selected}", "return s + s, True*s, s*s")
    _check(f, False)
    assert all(a.dtype == bool for a in symgrad(f)(X))


@pytest.mark.slow
def test_truth_values_in_functions_of_arrays() -> None:
    f = _made(
        "t = x[:, 0] > 0", "return np.diag(t), np.median(t), np.interp(x[:, 1], [0.0, 1.0], t[:2])"
    )
    _check(f, False)
    assert symgrad(f)(X)[0].dtype == bool


def test_functions_of_one_element_give_floats() -> None:
    f = _made("return np.trapezoid(x[0, :1]), np.linalg.norm(int(x[1, 1]) + 2)")
    _check(f, False)
    assert all(isinstance(v, float) for v in symgrad(f)(X))
