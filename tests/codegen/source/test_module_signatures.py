"""How functions of generated modules are called: as the user's function, with what is fixed in them."""

from __future__ import annotations

import inspect
import linecache
import math

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.export.measured import run
from tests.law.made import formula, loaded

counted = formula("counted", "x, n: int=3", "x**n")
by_kind = formula(
    "by_kind", "x, *, kind: str='sine', k=2.0", 'math.sin(k * x) if kind == "sine" else k * x'
)
optional = formula(
    "optional", "x, flag=None, *, exact: bool=True", "2 * x if flag is None and exact else x"
)


def of_vector(x, n: int = 2, k=1.5, *, twice: bool = True):
    """Powers."""
    total = 0.0
    for i in range(len(x)):
        total = total + k * x[i] ** n
    return 2 * total if twice else total


callback = formula("callback", "x, g=math.sin", "g(x)")


def module(f, path, at=None, **options):
    """The text of the module of a function, which may have to be called before."""
    made = symgrad(f, accuracy="fast", **options)
    if at is not None:
        made(*at)
    made.save(path / "m.py", companion=None)
    return (path / "m.py").read_text()


def same_signature(f, g):
    """Names, order, kinds and defaults."""

    def of(h):
        found = inspect.signature(h).parameters.values()
        return [(p.name, p.kind, p.default) for p in found]

    return of(f) == of(g)


@pytest.mark.sampled
@pytest.mark.parametrize("f", [counted, by_kind, optional, of_vector])
def test_signatures_are_kept(f, tmp_path):
    scope = run(module(f, tmp_path, at=[np.ones(2)] if f is of_vector else None))
    for name in (f.__name__, f"{f.__name__}_grad", f"{f.__name__}_value_and_grad"):
        assert same_signature(scope[name], f), name


@pytest.mark.sampled
@pytest.mark.parametrize("signature", [
    "r_", "out", "x0, x1", "x, /, y", "x, *, scale", "t, nan=2.0", "i, j, n=3", "out0, out, *, x=1.5",
    "lambda_, re_", "np_, math_=2.0", "r, r_, _r", "self, other",
])  # fmt: skip
def test_names_order_defaults_and_docstrings_are_kept(signature, tmp_path):
    names = [n.split("=")[0] for n in signature.split(", ") if n not in "/*"]
    terms = " + ".join(f"{k + 2}*{n}**2" for k, n in enumerate(names))
    text = f'import math\n\ndef f({signature}):\n    """Said of f."""\n    return math.sin({names[0]}) + {terms}\n'
    linecache.cache[str(tmp_path)] = len(text), None, text.splitlines(True), str(tmp_path)
    scope = {}
    exec(compile(text, str(tmp_path), "exec"), scope)
    f = scope["f"]
    made = run(module(f, tmp_path))
    given = {
        n: 0.25 + k for k, n in enumerate(names) if inspect.signature(f).parameters[n].kind != 0
    }
    first = [0.5] if len(given) < len(names) else []
    for name in ("f", "f_grad", "f_value_and_grad"):
        assert same_signature(made[name], f), name
    assert "Said of f." in made["f"].__doc__
    assert made["f"](*first, **given) == pytest.approx(f(*first, **given), rel=1e-15)


def test_fixed_parameters_take_their_value(tmp_path):
    text = module(counted, tmp_path)
    assert "n = 3" in text
    scope = run(text)
    f, slope = scope["counted"], scope["counted_grad"]
    assert f(0.5) == f(0.5, 3) == f(0.5, n=3) == f(x=0.5, n=np.int64(3)) == 0.125
    np.testing.assert_array_equal(slope(np.array([0.5, 1.0]), 3), [0.75, 3.0])
    for other in (4, 3.0, True, "3", None, np.array([3, 4])):
        for g in (f, slope):
            with pytest.raises(ValueError, match=r"counted: .* compiled for n=3; .* default of n"):
                g(0.5, other)


def test_other_kinds_of_fixed_parameters(tmp_path):
    f = run(module(by_kind, tmp_path))["by_kind"]
    assert f(0.25, kind="sine", k=1.0) == math.sin(0.25)
    with pytest.raises(ValueError, match="compiled for kind='sine'"):
        f(0.25, kind="line")
    g = run(module(optional, tmp_path))["optional"]
    assert g(1.0, None, exact=True) == 2
    with pytest.raises(ValueError, match="compiled for flag=None"):
        g(1.0, False)
    with pytest.raises(ValueError, match="compiled for exact=True"):
        g(1.0, exact=1)
    h = run(module(callback, tmp_path, static="g"))["callback"]
    assert h(0.5) == math.sin(0.5)
    with pytest.raises(ValueError, match="compiled for the default of g"):
        h(0.5, math.cos)


def test_arguments_of_functions_with_arrays(tmp_path):
    scope = run(module(of_vector, tmp_path, at=[np.ones(2)]))
    f, slope = scope["of_vector"], scope["of_vector_grad"]
    assert f([1.0, 2.0]) == f([1, 2], 2, 1.5, twice=True) == 15
    assert "Powers." in f.__doc__
    for args, text in (
        ((np.ones((3, 2)),), r"of_vector: x is a vector .* of shape \(3, 2\)"),
        ((2.0,), r"of_vector: x is a vector .* of shape \(\)"),
        (([1.0, 2.0], 2, np.ones(2)), r"of_vector: k is a number .* of shape \(2,\)"),
        (([1.0, 2.0], 3), "compiled for n=2"),
    ):
        for g in (f, slope):
            with pytest.raises(ValueError, match=text):
                g(*args)


@pytest.mark.slow
def test_fixed_parameters_in_compiled_functions(tmp_path):
    from numba import njit

    module(counted, tmp_path)
    count = loaded(tmp_path / "m.py").counted

    @njit
    def good(x):
        return count(x) + count(x, 3) + count(x, n=3)

    @njit
    def bad(x):
        return count(x, 4)

    assert good(0.5) == 0.375
    with pytest.raises(ValueError, match="compiled for n=3"):
        bad(0.5)


def checked_root(x):
    if x < 0:
        raise ValueError(f"bad {x}")
    return math.sqrt(x)


def asserted_root(x):
    assert x >= 0
    return math.sqrt(x)


@pytest.mark.slow
@pytest.mark.parametrize("function", [checked_root, asserted_root])
def test_modules_check_what_never_needs_another_tier(function, tmp_path):
    path = tmp_path / "checked.py"
    symgrad(function).save(path, companion=None)
    scope, name = vars(loaded(path)), function.__name__
    for call, root in ((scope[name], 2.0), (scope[f"{name}_grad"], 0.25)):
        assert call(4.0) == root
        with pytest.raises(ValueError, match="this does not hold"):
            call(-4.0)
