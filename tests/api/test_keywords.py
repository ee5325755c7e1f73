"""Keywords of other packages, keys that arguments lack, and lists where arrays may be meant."""

import numpy as np
import pytest

import symdiff
from symdiff import UnsupportedError, symgrad
from symdiff.errors import CallError

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
