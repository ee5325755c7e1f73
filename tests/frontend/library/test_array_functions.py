"""More of NumPy on arrays whose size is not known when traced."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pytest

from symdiff import SymdiffError, symgrad
from tests.frontend.differences import check
from tests.frontend.refused import program
from tests.frontend.tracing import agrees_on_sizes, cases


def list_of_arrays(x):
    acc = []
    for k in range(3):
        acc.append(x * k)
    return sum(acc)


def finite_differences(x):
    h = 1e-3

    def f(z):
        return z[0] ** 2 + z[-1]

    e = np.zeros(len(x))
    e[0] = h
    return (f(x + e) - f(x - e)) / (2 * h)


def truth_arithmetic(x):
    b = x > 0
    return np.sum(np.where(b, 1, 0)) + b.sum() + b.mean() + np.sum(b * x) + (~b).sum()


def arange_masks(x):
    k = np.arange(len(x))
    return np.sum(x[k % 3 == 0]) + x[k // 2].sum() + np.sum(x * k**2) + np.sum(2.0**k)


def kernel_matrix(x):
    d = x[:, None] - x
    k = np.exp(-0.5 * d**2)
    return k.sum(), np.linalg.slogdet(k + np.eye(len(x)))[1]


def interp_on_grid(x):
    h = 0.1
    n = 50
    t_ = np.linspace(0, 1, n)
    return np.sum(np.interp(t_, np.arange(len(x)) * h, x))


def tolist(x):
    return x.tolist()


def powers_as_rows(x):
    y = np.zeros((3, len(x)))
    for k in range(3):
        y[k] = x**k
    return y.T @ np.array([1.0, 2.0, 3.0])


def rotations(x):
    R = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    return x @ R.T + np.cross(x, x[::-1])


def integer_arrays(x):
    k = np.arange(len(x))
    i = (k * k + 1) % max(len(x), 1)
    return x[i] + k / 2 + (k // 2) * x + k % 2


def ranks_by_cumsum(x):
    k = np.cumsum(x > 0) - 1
    y = np.zeros(len(x))
    y[k[x > 0]] = x[x > 0]
    return y


def ranks_by_argsort(x):
    o = np.argsort(x)
    r = np.empty(len(x))
    r[o] = np.arange(len(x))
    return r


def masked_columns(x):
    m = x > 0
    return np.sum(np.where(m, x, 0), axis=0) / (1 + np.sum(m, axis=0)) + m.mean()


def selection_of_selection(x):
    z = x[x > 0] * 2 + x[x > 0] ** 2
    return z.sum() + (z > 1).sum() + np.sum(z[z > 1])


def small_from_large(x):
    a = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            a[i, j] = x[(i * 3 + j) % len(x)]
    return a @ a.T


def default_is_bound_before(x):
    def f(a, b=x):
        return a * b

    x = x + 1
    return f(x)


def permutation_matrix(x):
    n = len(x)
    P = np.eye(n)
    for i in range(n - 1):
        P[[i, i + 1]] = P[[i + 1, i]]
    return P @ x


def results_put_into_arrays(x):
    y = np.empty_like(x)
    np.multiply(x, 2.0, out=y)
    np.add(y, x, y)
    z = np.zeros(len(x))
    np.sqrt(x, out=z, where=x > 0)
    np.cumsum(y, out=y)
    np.maximum(y, 0, where=x < 0, out=y)
    return y * z + np.log(x, where=x > 0, out=np.ones_like(x))


def at_the_same_places(x, v):
    y, k = np.ones(len(x) + 1), np.array([0, -1, 0])
    np.add.at(y, k, v)
    np.subtract.at(y, k, np.sin(v))
    np.multiply.at(y, k, v)
    np.maximum.at(y, k, 0.5)
    z = np.zeros((len(x) + 1, 2))
    np.add.at(z, k, v[:, None])
    np.multiply.at(z, (k, np.array([0, 1, 1])), v)
    return y, z


def slopes_of_second_order_at_the_ends(x):
    if len(x) < 3:
        return x
    return np.gradient(x, edge_order=2) + np.gradient(x, np.arange(len(x)) ** 2.0, edge_order=2)


def ranges_of_short_numbers(x):
    n = len(x)
    return x * np.arange(1.0, n + 1) + np.arange(n, 0.0, -1) + np.sum(np.arange(0.5, n, 0.25)) + len(np.arange(0, n, 0.5))  # fmt: skip


def blocks(x, M):
    rows = np.block([[M, np.ones((3, 1))], [np.zeros((1, 3)), 2.0]])
    first, *others = np.array_split(x, 3)
    return rows @ rows, first, np.block([x, x]), np.ix_(x, x)[0] * np.ix_(x, x)[1]


def steps_by_value(x):
    i, s = 0, 0.0
    while i < len(x):
        s += x[i]
        i += 2 if x[i] > 0 else 1
    return s * i


def more_functions(x, M):
    y = x.copy()
    np.put(y, [0, 2], 7.0)
    np.putmask(y, x < 0, x**2)
    joined = np.ediff1d(x, to_end=[1.0], to_begin=0.5)
    return (
        y, np.vecdot(M, M), np.compress(x > 0, x).sum(), np.polyadd(x, x[1:]), np.diagflat(x),
        np.geomspace(1.0, 8.0, 4), np.rollaxis(M[None], 2).shape, joined,
        np.choose([0, 1, 0], [x, 2 * x]), np.hsplit(M, [1])[1], np.matvec(M, x), np.vecmat(x, M),
    )  # fmt: skip


def integers_of_quotients(x):
    n = len(x)
    half = int(n / 2)
    return x[:half].sum() + half + math.floor((n - 1) / 2) + math.ceil(n / 4) + int(-n * 0.5) + np.zeros(math.ceil(n / 2)).size  # fmt: skip


def starred_names_of_unknown_length(x):
    first, *others = x
    *most, last = x
    p, *between, q = x
    return first * last + sum(others) + len(most) + p * q + len(between)


def functions_of_python(x, M):
    def signed(a, b):
        return a * b if a > b else b

    along = np.apply_along_axis(lambda row: row.sum() * row[0], 1, M)
    return np.vectorize(signed)(x, x[0]).sum() + along + np.apply_along_axis(np.cumsum, 0, M)[:, 1]


def copies(x):
    held = {"w": x, "rows": [2 * x, 1.0]}
    deep, flat = copy.deepcopy(held), copy.copy(held)
    deep["w"] *= 2
    deep["rows"][0][0] = 7.0
    flat["w"] = 3 * x
    return held["w"] + deep["w"] * flat["w"] + held["rows"][0] * deep["rows"][0]


def places(x, M):
    i, j = np.unravel_index(4, (3, 3))
    rows, columns = np.indices((3, 3))
    chosen = x[np.isin(np.arange(3), [0, 2])]
    return M[i, j] * chosen.sum() + x[np.ravel_multi_index((1, 1), (2, 2)) - 1] + (rows * columns * M).sum() + x[np.argwhere(x > 0)[:, 0]].sum() + x[slice(1, None)].sum()  # fmt: skip


CASES = {
    "x: n": [
        list_of_arrays, finite_differences, truth_arithmetic, arange_masks, kernel_matrix, interp_on_grid, tolist,
        powers_as_rows, integer_arrays, ranks_by_cumsum, ranks_by_argsort, selection_of_selection, small_from_large,
        default_is_bound_before, permutation_matrix, results_put_into_arrays, slopes_of_second_order_at_the_ends,
        ranges_of_short_numbers, steps_by_value, integers_of_quotients, starred_names_of_unknown_length,
    ],
    "x: n m": [masked_columns],
    "x: n 3": [rotations],
    "x: n, v: m": [at_the_same_places],
    "x: n, M: 3 3": [blocks],
    "x: m, M: 3 3": [more_functions, places],
    "x: n, M: n 3": [functions_of_python],
    "x: m": [copies],
}  # fmt: skip
SHORT = {
    "x: n": {
        "starred": program("x", "a, *b = [x[0], x[1], x[2]]", "return a + sum(b)"),
        "nested_tuples": program("x", "(p, q), r = (x[0], x[1]), x[2]", "p, q = q, p", "return p - 2 * q + r"),
        "slice_by_count": program("x", "k = int(np.sum(x > 0))", "return x[:k].sum() + k"),
        "list_element_assigned": program("x", "y = [v * 2 for v in x]", "y[0] = 1", "return y"),
        "scan_of_scan": program("x", "c = np.cumsum(x)", "return c[1:] - c[:-1] + np.exp(c[-1])"),
        "distance_matrix": program("x", "i = np.arange(len(x))", "return np.exp(-np.abs(i[:, None] - i[None, :])) @ x"),
        "unpacked_slice": program("x", "a, b = x[:2]", "return a - b"),
        "tridiagonal": program("x", "M = np.diag(x) + np.diag(x[1:], 1) + np.diag(x[:-1], -1)", "return M @ x"),
        "list_of_array": program("x", "y = list(x)", "return sum(y) + y[0]"),
        "where_indices": program("x", "i = np.where(x > 0)[0]", "return x[i].sum() + len(i)"),
        "array_of_counted_size": program("x", "k = (x > 0).sum()", "y = np.zeros(k)", "y[:] = x[x > 0]", "return y.sum()"),
        "store_many_in_mask": program("x", "m = x > 0", "x[m] = np.arange(np.sum(m)) + 10.0", "return x"),
        "where_of_integers": program("x", "i = np.where(x > 0, 0, len(x) - 1)", "return x[i]"),
        "divmod_of_sizes": program("x", "d, e = divmod(len(x), 2)", "return x[d] + e + round(2.6) + pow(2, 3) * x[-1]"),
        "floor_division_of_sizes": lambda x: x[len(x) // 2] + x[len(x) // 3 :].sum() + x[-(len(x) // 2)],
        "builtins_on_arrays": lambda x: max(x) - min(x) + max(x[0], x[1], 0.0) + sum(x) + len(x) + abs(x).sum(),
        "list_returned": lambda x: [v * 2 for v in x],
        "sizes_as_numbers": lambda x: np.dot(x, x) ** 0.5 / np.sqrt(x.size) + x.shape[0] + x.ndim,
        "math_on_arrays": lambda x: math.sqrt(sum(v * v for v in x)) + math.fsum(x) + math.prod(x),
        "power_of_arange": lambda x: np.sum(x ** np.arange(len(x))),
        "joined_by_index": lambda x: np.concatenate([x[1:], x[:1]]) + np.r_[x[1:], x[0]],
        "reshapes_back": lambda x: x.reshape((len(x), 1)).T.reshape(-1),
        "outer_difference": lambda x: np.sum(x[np.newaxis, :] - x[:, np.newaxis]) + np.subtract.outer(x, x).sum(),
        "ufunc_reduce": lambda x: np.add.reduce(x) + np.multiply.reduce(x) + np.maximum.reduce(x),
        "ufunc_accumulate": lambda x: np.add.accumulate(x),
        "conversions": lambda x: float(np.sum(x)) * 3 * True,
        "argsort_reversed": lambda x: x[x.argsort()[::-1]][:2].sum(),
        "polyval_interp": lambda x: np.polyval([1.0, 2.0, 3.0], x).sum() + np.interp(0.3, np.sort(x), x),
        "searchsorted_digitize": lambda x: np.searchsorted(np.sort(x), 0.0) + np.digitize(0.1, np.sort(x)),
        "mask_of_maximum": lambda x: x[np.abs(x) == np.max(np.abs(x))].sum(),
        "and_of_numbers": lambda x: np.any(x > 1) and x[0] > 0,
        "and_or": lambda x: (x[0] > 0 and x[1] > 0) or x[0] < -1,
        "gradient": lambda x: np.gradient(x),
        "isnan": lambda x: np.where(np.isnan(x), 0.0, x).sum(),
    },
    "x: n m": {
        "standardised": program("x", "z = (x - x.mean(axis=0)) / (x.std(axis=0) + 1)", "return z.T @ z / len(x)"),
        "rows_all_positive": program("x", "r = x[(x > 0).all(axis=1)]", "return r.sum(axis=0) + len(r)"),
        "normalised_rows": lambda x: x / np.linalg.norm(x, axis=1, keepdims=True) + x.mean(axis=0) - x.max(axis=(0, 1)),
        "rows_and_columns_listed": lambda x: (np.array([np.sum(r) for r in x]), np.array([c.max() for c in x.T])),
        "norms_of_rows": lambda x: np.linalg.norm(x - x.mean(0), axis=-1) @ np.ones(len(x)),
        "arguments_by_name": lambda x: np.sum(a=x, axis=0) + np.repeat(a=x, repeats=2, axis=0).sum(0) + np.reshape(x, shape=(-1, 3)).sum(0),
    },
    "x: n, y: n": {
        "gram_of_two": lambda x, y: np.array([[x @ x, x @ y], [y @ x, y @ y]]),
        "products_of_selections": lambda x, y: np.sum(x[x > 0]) * np.sum(y[x > 0]) + x[x > 0] @ y[x > 0],
    },
    "x: n m, y: m": {"row_means": lambda x, y: (x * y[None, :]).sum(axis=1) / (1e-3 + np.abs(x).sum(axis=-1))},
    "x: n m, y: m n": {"trace_identities": lambda x, y: np.trace(x @ y) + np.sum(x * y.T) + np.einsum("ij,ji", x, y)},
    "x: n, y: m": {"interpolated_by_size": lambda x, y: np.interp(y, np.linspace(-1, 1, len(x)), x) if len(x) > 0 else y},
    "a: n 3, b: 3 m": {
        "subscripts_as_numbers": lambda a, b: np.einsum(a, [0, 1], b, [1, 2], [2, 0]) + np.einsum(a, [0, ...], [..., 0]),
    },
    "x: n, M: n 3": {
        "reduced_logaddexp": lambda x, M: np.logaddexp.reduce(x + 0.0) + np.logaddexp.reduce(M, axis=1).sum() if len(x) else 0.0,
    },
    "x: n 3": {
        "columns_unpacked": program("x", "a, b, c = x.T", "return a * b + c"),
    },
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize(("fun", "shapes"), cases(CASES, SHORT))
def test_as_python(fun: Any, shapes: Any) -> None:
    agrees_on_sizes(fun, shapes)


def thirds(x):
    s = 0.0
    for i in range(int(len(x) / 3)):
        s += x[3 * i] * x[3 * i + 2]
    return s


@pytest.mark.sampled
@pytest.mark.parametrize("f", [
    lambda x: np.sum(np.arange(1.0, len(x) + 1.0) * x), lambda x: np.sum(np.asarray([0.0, x[0]] + list(x[1::2])) ** 2),  # noqa: RUF005
    lambda x: np.sum((x[0] - [3.0, 5, 2]) ** 2 * [1, 2, 3]), thirds, lambda x: int(x[0]) * x[1],
    lambda x: np.sum(np.repeat(np.atleast_2d(x), np.size(np.atleast_2d(x), 1), axis=0)),
])  # fmt: skip
def test_as_people_write_them(f: Any) -> None:
    for n in (3, 4, 7, 3):
        check(f, np.linspace(-1.7, 2.6, n), value=1e-14, near=1e-8, step=2.0**-20)


SCALES = np.array([1.0, 2.0, 3.0])


def quotient_in_place(x):
    v = x[0] + x[1] * SCALES
    v /= 1 + x[2] * SCALES
    w = np.sin(v)
    w *= 2
    return np.sum(w)


def test_results_of_arithmetic_are_changed_in_place() -> None:
    x = np.array([1.0, 2.0, 0.5])
    s = symgrad(quotient_in_place)
    np.testing.assert_allclose(s(x), quotient_in_place(x), rtol=1e-15)
    assert SCALES.tolist() == [1.0, 2.0, 3.0]


STACK = np.random.default_rng(5).normal(size=(2, 3, 3))
HOLES = np.array([[1.0, np.nan, 3.0], [2.0, 5.0, np.nan], [4.0, 1.0, 0.5]])


def test_stacks_and_holes_in_short() -> None:
    def f(a: Any) -> Any:
        return np.linalg.det(a), np.cross(a[0], a[1], axis=0), np.nanmean(a[0] * HOLES), np.angle(a)

    for found, want in zip(symgrad(f, accuracy="fast")(STACK), f(STACK), strict=True):
        np.testing.assert_allclose(found, want, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    "f",
    [
        lambda a: np.linalg.inv(a),
        lambda a: np.linalg.det(a),
        lambda a: np.linalg.slogdet(a)[1],
        lambda a: np.linalg.solve(a, a[0, :, 0]),
        lambda a: np.linalg.solve(a[0], a),
        lambda a: np.linalg.cholesky(a @ np.swapaxes(a, -1, -2)),
        lambda a: np.linalg.qr(a[0])[0],
        lambda a: np.linalg.qr(a[1, :, :2], "complete")[1],
        lambda a: np.linalg.qr(a[1, :2])[1],
        lambda a: np.cross(a[0], a[1], axisa=0, axisb=1, axisc=0),
        lambda a: np.cross(a[0], a[1], axis=0),
        lambda a: np.nanmax(a * HOLES, axis=1) + np.nanmin(a * HOLES),
        lambda a: np.nanmean(a * HOLES, axis=2, keepdims=True) * np.nanstd(a * HOLES, ddof=1),
        lambda a: np.nanprod(a * HOLES, axis=0) + np.nancumsum(a[0, 0] * HOLES[0]),
        lambda a: np.real(a) * 2 + np.imag(a) + np.angle(a),
    ],
)
def test_stacks_and_holes(f: Any) -> None:
    """Values are NumPy's; derivatives those of differences."""
    s = symgrad(f, accuracy="fast")
    np.testing.assert_allclose(s(STACK), f(STACK), rtol=1e-12, atol=1e-13)
    way = np.random.default_rng(6).normal(size=STACK.shape)
    _, slope = s.jvp((STACK,), (way,))
    h = 1e-6
    want = (f(STACK + h * way) - f(STACK - h * way)) / (2 * h)
    np.testing.assert_allclose(slope, want, rtol=1e-6, atol=1e-7)


POINTS = np.array([[0.0, 0.0, 0.0], [1.0, 0.5, 0.0], [-0.5, 2.0, 1.0]])


def repulsion(r):
    total = 0.0
    for i in range(len(r)):
        for j in range(i):
            total += 1 / math.dist(r[i], r[j])
    return total


@pytest.mark.sampled
@pytest.mark.parametrize(
    "function",
    [
        lambda r: math.dist(r[0], r[1]),
        lambda r: math.dist(r[2], (1.0, 2.0, 3.0)) ** 2,
        repulsion,
        lambda r: math.hypot(*r[1]),
        lambda r: r.sum().item() ** 2,
        lambda r: np.linalg.norm(r).item(),
        lambda r: np.asarray(r[0] @ r[1]).item() * r.max().item(),
        lambda r: r.sum().mean(),
    ],
)
def test_distances_of_rows_and_numbers_made_of_arrays(function):
    assert isinstance(symgrad(function)(POINTS), float)
    check(function, POINTS, value=1e-15, slope=1e-8, near=1e-8)


def test_distances_of_points_of_other_dimensions_are_refused():
    f = symgrad(lambda a, b: math.dist(a, b))
    with pytest.raises(ValueError):
        f(POINTS[0], POINTS[1, :1])


def test_item_is_that_of_one_element() -> None:
    f = symgrad(lambda x: 2 * x.item() ** 2)
    assert f(np.array([3.0])) == f(np.array([[3.0]])) == 18.0
    with pytest.raises(ValueError, match="has the size 3, not 1"):
        f(np.array([1.0, 2.0, 3.0]))


@pytest.mark.sampled
@pytest.mark.parametrize("f", [
    lambda x: np.max(x, initial=0.1), lambda x: np.min(x, initial=-0.1), lambda x: np.amax(x, axis=0, initial=0.25),
    lambda x: np.min(x, axis=-1, initial=0.1, keepdims=True), lambda x: np.max(x, initial=-1.0, where=x < 0.4),
    lambda x: np.max(np.abs(x), axis=1, initial=0), lambda x: np.max(x, initial=np.sum(x)), lambda x: np.max(x[:0], initial=2.5),
    lambda x: np.min(x, initial=0.1, keepdims=True), lambda x: np.max(x[0], initial=x[1, 1]),
])  # fmt: skip
def test_extremes_beside_a_first_element(f: Any) -> None:
    x = np.array([[1.0, -2.0, 0.5], [0.3, 0.2, -0.1]])
    np.testing.assert_array_equal(symgrad(f)(x), f(x))
    along = np.array([[0.5, 1.0, -0.25], [1.5, -1.0, 2.0]])
    want = (f(x + 2**-10 * along) - f(x - 2**-10 * along)) * 2**9
    np.testing.assert_allclose(symgrad(f).jvp((x,), (along,))[1], want, atol=1e-10)


def test_extremes_of_nothing_beside_a_first_element() -> None:
    f = symgrad(lambda x: np.max(x, initial=0.5))
    assert f(np.zeros(0)) == 0.5 and f(np.array([0.25, 0.75])) == 0.75
    np.testing.assert_array_equal(f.grad(np.array([0.25, 0.75])), [0.0, 1.0])


@pytest.mark.slow
def test_arguments_that_say_what_is_done_anyway() -> None:
    """`dtype=None` and `casting="same_kind"`, as NumPy's own functions pass them on."""
    x = np.array([1.0, -2.0])
    for f in (lambda x: np.vstack((x, x), dtype=None, casting="same_kind"), lambda x: np.hstack((x, x), casting="same_kind"),
              lambda x: np.concatenate((x, 2 * x), axis=0, dtype=None), lambda x: np.stack([x, x], dtype=None), lambda x: np.pad(x, 1, mode="constant"),
              lambda x: np.sum(x, dtype=None, out=None)):  # fmt: skip
        np.testing.assert_array_equal(symgrad(f)(x), f(x))
    with pytest.raises(SymdiffError, match="dtype"):
        symgrad(lambda x: np.vstack((x, x), dtype=np.float32))(x)


def divided_where(x: Any) -> Any:
    y = np.zeros_like(x, dtype=float)
    return np.divide(2.0, x, out=y, where=~np.equal(x, 0))


def negated_truths(x: Any) -> Any:
    m = np.array([np.isclose(x, 1.0), np.less(x, 2)])
    return (~m).sum() + m.sum() * 10 + (m[0] & m[1]) * 100 + m.all() * x


@pytest.mark.sampled(2)
@pytest.mark.parametrize("fun", [
    lambda x: 3 * x if np.isclose(x, 1).any() else 2 * x, lambda x: 3 * x if np.all(np.isclose(x, 1.0)) else 2 * x,
    divided_where, negated_truths,
])  # fmt: skip
def test_truth_values_of_numbers_in_arrays(fun: Any) -> None:
    for x in (1.0, 1.5, 2.5):
        assert symgrad(fun)(x) == fun(x)
    if fun is not negated_truths:
        assert symgrad(fun)(np.array([1.0, 2.0])).tolist() == fun(np.array([1.0, 2.0])).tolist()


OF_FEW = {
    "the largest column": lambda m: np.linalg.norm(m, 1),
    "the largest singular value": lambda m: np.linalg.norm(m, 2),
    "the number that are not 0": lambda m: np.linalg.norm(m[0], 0),
    "the norm of order 3": lambda m: np.linalg.norm(m[0], 3),
    "norms with their axis": lambda m: np.linalg.norm(m, axis=1, keepdims=True),
    "the product of all elements": lambda m: np.vdot(m, m),
    "weights along an axis": lambda m: np.average(m, axis=0, weights=m[0]),
    "weights of all elements": lambda m: np.average(m, weights=m * m, keepdims=True),
    "a selection": lambda m: np.mean(m, where=m > 0.8),
    "a first element": lambda m: np.sum(m, initial=m[0, 0]),
    "trapezoids along an axis": lambda m: np.trapezoid(m, m[0], axis=1),
    "running sums of integers": lambda m: np.cumsum(np.array([1, 2])) * m,
    "a diagonal beside the first": lambda m: np.trace(m, 1) * np.diagonal(m, -1),
    "products of rows": lambda m: np.cross(m[:, [0, 1, 0]], m[:, [1, 1, 0]]),
    "axes in another order": lambda m: m.transpose(1, 0) - 2 * m.T,
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", OF_FEW)
def test_arrays_of_few_elements_are_as_any(name):
    fun = OF_FEW[name]

    def of_numbers(x, y):
        return fun(np.array([[x, y], [x * y, x + y]]))

    want = of_numbers(0.7, 1.3)
    found = symgrad(of_numbers)(0.7, 1.3)
    assert np.shape(found) == np.shape(want)
    assert np.asarray(found).dtype == np.asarray(want).dtype
    np.testing.assert_allclose(found, want, rtol=1e-13)
