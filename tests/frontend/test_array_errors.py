"""Every use of arrays and loops that is refused, with the exact message that says so."""

from __future__ import annotations

import numpy as np
import pytest

from symdiff import Array, symgrad
from symdiff.errors import UnsupportedError
from symdiff.frontend import capture
from tests.frontend.refused import define, is_refused, refusals

REFUSED = refusals("""
# list_append_in_loop
    out = []
    for v in x:
        for w in x:
            out.append(v * w)
    return np.array(out)
=> 5:13: name 'out' changes its form in a loop whose length is not known when traced
hint: it must have the same type and size in every iteration
# list_rows
    rows = [0.0]
    for v in x:
        rows = [*rows, v]
    return rows[0]
=> 4:18: name 'rows' changes its size in a loop whose length is not known when traced
hint: append once in every iteration, or store in an array made before the loop
# becomes_an_array
def f(u, steps):
    for _ in range(len(steps)):
        u = u + np.roll(u, 1)
    return np.sum(u)
=> 4:12: a value is not known to be an array: it is reduced
hint: annotate parameters that are arrays, such as x: Array["n"]
# name_changes_form
    last = None
    total = 0.0
    for v in x:
        if last is not None:
            total += v * len(last)
        last = (v, last)
    return total
=> 5:12: name 'last' changes its form in a loop whose length is not known when traced
hint: it must have the same type and size in every iteration
# float_index
def f(x, y):
    return x[y] + x[0]
=> 2:12: a real number is used as an index
hint: if it is an integer known in the call, annotate it: y: int
# division_as_index
    return x[len(x) / 2]
=> 2:12: a real number is used as an index
hint: an index must be an integer: divide by '//'
# array_truth
    return 1.0 if x[1:] > 0 else 0.0
=> 2:19: the truth value of an array of several elements
hint: use np.any or np.all
# mask_rank
    return x[(x[:, None] > x)]
=> 2:12: a mask and the array that it selects from differ in shape
hint: use np.where
# shapes_that_never_fit
    return x[1:] * x[2:]
=> 2:12: axes of sizes (x_size + -1) and (x_size + -2) do not fit together
# integer_array_changed_in_place_to_reals
    k = np.zeros(len(x), dtype=int)
    k += x / 2
    return k
=> 3:5: an array of integers is changed in place to floats, which NumPy refuses
hint: make a new array: a = a + ..., or convert it first with .astype(float)
# constant_data_changed
    DATA[0] = x[0]
    return x
=> 2:5: an array that was not made in the function is changed
hint: change a copy; a function to differentiate has no side effects
# slice_step
    return x[::0]
=> 2:12: the step of a slice must be an integer, and not 0
# range_step
    s = 0.0
    for i in range(0, len(x), 0):
        s += x[i]
    return s
=> 3:14: the step of a range must be an integer, and not 0
# too_many_indices
    return (2 * x[:1])[0, 1]
=> 2:12: 2 indices for an array of 1 dimension
# unknown_method
    return x[1:].partition(2)
=> 2:12: attribute 'partition' of an array whose size is not known when traced
# unknown_norm
    return np.linalg.norm(x[:, None] * x, 3)
=> 2:12: this norm of a matrix is not supported
# einsum_ellipsis
    return np.einsum("...ij,i", x, x)
=> 2:12: np.einsum() of an array of too few dimensions
# filtered_list_of_a_loop
    return [sum(w * v for w in x) for v in x if v > 0]
=> 2:17: a filtered list whose elements take more than a formula
hint: make an array before, and store its elements in a loop
# list_of_two_loops
    return np.array([v * w for v in x for w in x])
=> 2:37: a list of several loops whose length is not known when traced
hint: make an array before, and store its elements in loops
# shared_in_a_loop
    y = x.copy()
    for _ in range(len(x)):
        y = x
        y[0] += 1
    return y
=> 5:9: an array that another name may share since a loop is changed
hint: make a copy of it first: np.copy(...)
# set_of_array
    return len({v for v in x[1:]})
=> 2:28: the elements of an array whose size is not known when traced are listed
hint: annotate the array with its size, such as x: Array[3], or write a 'for' statement
# return_in_loop_only
    for v in x:
        if v > 0:
            return v
=> 2:5: 'f' returns nothing when the loop does not return
hint: return a value on every path
# matrix_times_number
    return x[1:] @ 2.0
=> 2:12: '@' of a number
# sort_of_matrix
    return np.sort(2 * x, axis=1)
=> 2:12: axis 1 of an array of 1 dimension
# det_of_vector
    return np.linalg.det(x[1:])
=> 2:12: np.linalg.det() of an array of 1 dimension
hint: use one matrix
# dtype_of_array
    return x[1:].astype("complex64")
=> 2:12: dtype complex64 is not supported
hint: a traced function computes with real numbers; float, int and bool are known
# float_range_of_array
    s = 0.0
    for i in range(0.5 * x[0]):
        s += i
    return s
=> 3:14: range() of a real number
hint: the number of steps must be an integer known when traced
# string_as_index
def f(p):
    return p["a"] * dict(**p)["b"]
=> 2:12: a string is used as an index
hint: pass a dict: a parameter is one where the call passes one
# unpacked_number
def f(p):
    return {**p}["b"]
=> 2:15: '**' of a real number
hint: pass a dict: a parameter is one where the call passes one
# combinations_of_array
    from itertools import combinations
    return sum(a * b for a, b in combinations(x[1:], 2))
=> 3:34: the elements of an array whose size is not known when traced are listed
hint: annotate the array with its size, such as x: Array[3], or write a 'for' statement
""")


@pytest.mark.sampled
@pytest.mark.parametrize("name", REFUSED)
def test_exact_message(name: str) -> None:
    is_refused(*REFUSED[name])


def test_a_number_is_no_array() -> None:
    fun = define("def f(x):\n    return x[0]\n")
    with pytest.raises(UnsupportedError) as caught:
        capture(fun, {}, {"x": (0, "f")})
    assert str(caught.value) == (
        "model.py:2:12: parameter 'x' is used as an array: it is indexed\n"
        "    return x[0]\n"
        "           ^\n"
        "hint: pass an array"
    )


def test_errors_in_what_numpy_is_made_of_name_the_users_line() -> None:
    f = symgrad(lambda x: np.percentile(x, 30))
    with pytest.raises(IndexError) as caught:
        f(np.zeros(0))
    location = caught.value.location
    assert location.path == __file__ and "np.percentile" in location.text


@pytest.mark.sampled
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("shape", [(0,), (3,), (4,), (0, 3), (2, 3), (2, 0)])
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_median_of_nothing_is_nan(shape: tuple[int, ...], axis: int | None) -> None:
    x = np.arange(float(np.prod(shape))).reshape(shape) ** 2
    f = symgrad(lambda x: np.median(x, axis=axis))
    np.testing.assert_array_equal(f(x), np.median(x, axis=axis))


@pytest.mark.parametrize(
    "body",
    ["dict(enumerate(x))[1]", "{k: v for k, v in enumerate(x)}[1]", "[*range(len(x))][1] * x[1]"],
)
def test_the_hint_to_annotate_a_size_helps(body: str) -> None:
    """What is listed has a known length, where an annotation says the size."""
    text = f"def f(x):\n    return {body}\n"
    with pytest.raises(UnsupportedError, match=r"hint: annotate the array with its size"):
        capture(define(text), {})
    sized = define(text)
    sized.__annotations__ = {"x": Array[3]}
    assert symgrad(sized).grad(np.arange(3.0)).tolist() == [0.0, 1.0, 0.0]
