"""A corpus of plain NumPy functions with arrays and loops, by the shapes of their arguments.

Every function runs in Python as it stands, so what is traced is compared with that. A shape
is written as the names of its axes: `x="n m"`; "" is a number, "3" an axis of that size;
`k="i n"` is an array of integers from 0 to n-1.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.special
from numpy.typing import NDArray

from symdiff.frontend.capture import ELEMENTWISE


@dataclass(frozen=True)
class Case:
    """One function of the corpus.

    Attributes
    ----------
    fun : the function.
    shapes : the shapes of its arguments, by their names.
    least : the smallest size of an axis.
    positive : whether its arguments are positive.
    static : values of its static arguments.
    smooth : whether it has a gradient at random points.
    """

    fun: Callable[..., Any]
    shapes: Mapping[str, str]
    least: int = 0
    positive: bool = False
    static: Mapping[str, Any] | None = None
    smooth: bool = True

    @property
    def name(self) -> str:
        return self.fun.__name__

    def kinds(self) -> dict[str, tuple[int, str]]:
        """Dimensions and kinds, as `capture` takes them."""
        return {
            n: (len(_axes(s)), "i" if s.startswith("i ") else "f") for n, s in self.shapes.items()
        }

    def sizes(self, choices: tuple[int, ...] = (0, 1, 2, 7)) -> Iterator[dict[str, int]]:
        """Sizes to try for the named axes."""
        names = dict.fromkeys(a for s in self.shapes.values() for a in _axes(s) if not a.isdigit())
        fitting = [n for n in choices if n >= self.least] or [self.least]
        for values in itertools.islice(itertools.product(fitting, repeat=len(names)), 12):
            yield dict(zip(names, values, strict=True))

    def arguments(self, sizes: Mapping[str, int], seed: int = 0) -> list[Any]:
        """Random arguments of these sizes."""
        rng = np.random.default_rng(seed)
        return [self._argument(s, sizes, rng) for s in self.shapes.values()]

    def _argument(self, spec: str, sizes: Mapping[str, int], rng: np.random.Generator) -> Any:
        shape = tuple(int(a) if a.isdigit() else sizes[a] for a in _axes(spec))
        if spec.startswith("i "):
            largest = sizes[spec.split()[1]]
            return rng.integers(0, max(largest, 1), shape)
        values = rng.uniform(0.3, 2.0, shape) if self.positive else rng.normal(size=shape)
        return values if shape else float(values)


def _axes(spec: str) -> list[str]:
    parts = spec.split()
    return parts[2:] if parts and parts[0] == "i" else parts


def passed(program: Any, args: list[Any]) -> Iterator[list[Any]]:
    """What a captured program is called with: the arguments; of one that is elementwise, so
    that it takes numbers, an element of each at a time."""
    if program.taken != ELEMENTWISE:
        yield args
        return
    for row in zip(*(a.ravel() for a in np.broadcast_arrays(*args)), strict=True):
        yield [v.item() for v in row]


CASES: list[Case] = []


def case(
    least: int = 0, positive: bool = False, static: Any = None, smooth: bool = True, **shapes: str
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Put a function into the corpus."""

    def register(fun: Callable[..., Any]) -> Callable[..., Any]:
        CASES.append(Case(fun, shapes, least, positive, static, smooth))
        return fun

    return register


Array = NDArray[Any]


# --------------------------------------------------------------------- elementwise
@case(x="n", y="n")
def dot_by_sum(x, y):
    return np.sum(x * y)


@case(x="n m", y="m")
def broadcast_rows(x, y):
    return x * y + 2


@case(x="n", y="m")
def outer_by_axes(x, y):
    return np.exp(x)[:, None] * np.tanh(y)[None, :]


@case(x="n", c="")
def scaled(x, c):
    return np.sin(c * x) / (1 + x**2)


@case(x="n")
def where_negative(x):
    return np.where(x > 0, np.sqrt(np.abs(x)), x**3)


@case(x="n")
def clipped(x):
    return np.clip(x, -0.5, 0.5) + np.maximum(x, 0) + np.minimum(x, 0.1)


@case(x="n")
def selected_cases(x):
    return np.select([x < -1, x < 0, x < 1], [x, x**2, np.sin(x)], 3.0)


@case(x="n")
def piecewise(x):
    return np.piecewise(x, [x < 0, x >= 0], [lambda v: -v, lambda v: v**2])


@case(x="n", smooth=False)
def comparisons(x):
    return np.sum((x > 0) & ~(x > 1) | (x < -1)) + np.sum(np.logical_not(x > 0.5))


@case(x="n", smooth=False)
def signs(x):
    return np.sign(x) + np.floor(x) + np.round(x, 1)


@case(x="n", y="n")
def in_place(x, y):
    x += y
    x *= 2
    return x - y


@case(x="n", y="n")
def alias(x, y):
    z = x
    z += y
    return np.sum(x * z)


@case(x="n")
def copy_is_not_alias(x):
    z = x.copy()
    z += 1
    return np.sum(x * z)


# ------------------------------------------------------------------------- slicing
@case(x="n")
def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


@case(x="n")
def every_second(x):
    return x[::2]


@case(x="n")
def backwards(x):
    return x[::-1] * x


@case(x="n")
def steps(x):
    return np.sum(x[1:7:3]) + np.sum(x[5:1:-2]) + np.sum(x[-4:-1]) + np.sum(x[-2::-3])


@case(x="n", least=1)
def ends(x):
    return x[0] * x[-1]


@case(x="n m", least=1)
def rows_and_columns(x):
    return x[0] @ x[-1] + np.sum(x[:, 0]) * np.sum(x[:, -1]) + x[..., 0] @ x[:, -1]


@case(x="n m")
def stencil(x):
    return x[1:-1, 1:-1] - 0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])


@case(x="n")
def view_is_alias(x):
    y = 2 * x
    v = y[1:]
    v *= 3
    return np.sum(y**2)


@case(x="n")
def store_slices(x):
    y = np.zeros(len(x))
    y[1:] = x[:-1]
    y[::2] += x[::2]
    y[-1:] = 5
    return y


@case(x="n m")
def store_columns(x):
    y = np.ones_like(x)
    for j in range(x.shape[1]):
        y[:, j] = x[:, j] * j
    return y


@case(x="n m")
def overlapping(x):
    x[1:] = x[:-1]
    x[:, 1:] += x[:, :-1]
    return x


# --------------------------------------------------------------------------- masks
@case(x="n")
def where_nan(x):
    return np.sum((x**0.5)[x > 0])


@case(x="n")
def masked_mean(x):
    return np.mean(x[x > -10] ** 2) + x[x < 100].max() if len(x) > 0 else 0.0


@case(x="n")
def masked_store(x):
    x[x < 0] = 0.0
    x[x > 1] *= 2
    return x


@case(x="n", y="n")
def masked_pairs(x, y):
    m = x > 0
    return np.sum(x[m] * y[m]) + np.sum(m)


@case(x="n")
def compressed(x):
    z = x[x > 0]
    return np.sum(z * np.arange(len(z)))


@case(x="n m")
def masked_matrix(x):
    return x[x > 0].sum() + x[x[:, 0] > 0].sum() if x.shape[1] > 0 else 0.0


@case(x="n", smooth=False)
def nonzero(x):
    return np.sum(np.nonzero(x > 0)[0]) + np.sum(np.flatnonzero(x < 0)) + len(np.where(x > 1)[0])


@case(x="n")
def mask_of_mask(x):
    z = x[x > -1]
    return z[z < 1]


@case(x="n", y="n")
def store_selected(x, y):
    m = x > 0
    x[m] = y[m] ** 2
    x[~m] -= 1
    return x


# -------------------------------------------------------------------------- gather
@case(x="n", k="i n m", least=1)
def gather(x, k):
    return np.sum(np.sin(x[k]))


@case(x="n m", k="i n p", least=1)
def gather_rows(x, k):
    return x[k] * 2


@case(x="n m", k="i n p", j="i m p", least=1)
def gather_pairs(x, k, j):
    return x[k, j]


@case(x="n m", k="i m p", least=1)
def gather_columns(x, k):
    return x[:, k]


@case(x="n", k="i n m", v="m", least=1)
def scatter_last_wins(x, k, v):
    x[k] += v
    return x


@case(x="n", k="i n m", v="m", least=1)
def scatter_add(x, k, v):
    y = np.zeros(len(x))
    np.add.at(y, k, v)
    return y + x


@case(x="n", k="i n m", least=1)
def negative_gather(x, k):
    return x[-k - 1] + np.take(x, k)


@case(x="n", k="i n m", least=1)
def histogram(x, k):
    counts = np.zeros(len(x))
    for i in k:
        counts[i] += x[i]
    return counts


# --------------------------------------------------------------------------- shapes
@case(x="n m")
def reshapes(x):
    n, m = x.shape
    return (
        x.reshape(m, n) + x.ravel().reshape((m, n)) + x.reshape(-1).reshape(m, -1)
        if n * m
        else x.reshape(m, n)
    )


@case(x="n 3")
def reshape_known(x):
    return x.reshape(-1, 3).sum(axis=0) + x.ravel()[: 3 * len(x)].reshape(-1, 3).sum(0)


@case(x="n m")
def reshape_stores(x):
    y = x * 1.0
    y.reshape(-1)[::2] = 0
    y.T[0:1] = 1
    return y


@case(x="n m p")
def axes_moved(x):
    return np.moveaxis(x, 0, -1) * np.swapaxes(x, 0, 2).transpose(1, 0, 2).transpose(
        (0, 2, 1)
    ).swapaxes(1, 2)


@case(x="n m")
def transposes(x):
    return x.T @ x + np.transpose(x) @ np.swapaxes(x.T, 0, 1)


@case(x="n")
def new_axes(x):
    return np.squeeze(np.expand_dims(x, 0) * x[None, :], 0) + x[:, np.newaxis][:, 0]


@case(x="n")
def rolled(x):
    return np.roll(x, 2) - np.roll(x, -1)


@case(x="n m")
def flips(x):
    return np.flip(x) + np.flipud(x) + np.fliplr(x) + np.flip(x, 1)


@case(x="n")
def tiles(x):
    return np.tile(x, 3) + np.repeat(x, 3)


@case(x="n m")
def repeats(x):
    return np.repeat(x, 2, axis=1) * np.tile(x, (1, 2))


@case(x="n", y="m")
def joins(x, y):
    return np.concatenate([x, 2 * y, [1.0, 2.0], x])


@case(x="n m", y="p m")
def stacks_of_rows(x, y):
    return np.vstack([x, y]) + np.concatenate((x, y), axis=0)


@case(x="n", y="n")
def stacks(x, y):
    return (
        np.stack([x, y]) @ np.column_stack([x, y])
        + np.hstack([x, y]).sum()
        + np.vstack((x, y)).sum()
    )


@case(x="n", y="n")
def rows_of_list(x, y):
    return np.array([x, y, x * y]) + x @ y


@case(x="n")
def appended(x):
    return np.append(x, 3.0) + np.append(0.0, x)


@case(x="n")
def padded(x):
    return np.pad(x, 2) + np.pad(x, (1, 3), constant_values=2.0)


@case(x="n", least=2)
def padded_edges(x):
    return np.pad(x, 1, mode="edge") + np.pad(x, 1, mode="wrap") + np.pad(x, 1, mode="reflect")


@case(x="n n")
def diagonals(x):
    return np.diag(x) + np.diag(np.diag(x)).sum(0) + np.diagonal(x)


@case(x="n m")
def triangles(x):
    return np.triu(x) + np.tril(x, -1) + np.trace(x)


@case(x="n", y="m")
def grids(x, y):
    a, b = np.meshgrid(x, y)
    return a * np.sin(b)


@case(x="n")
def broadcast_to(x):
    return np.broadcast_to(x, (3, len(x))).sum(axis=0)


# ----------------------------------------------------------------------- reductions
@case(x="n m")
def sums(x):
    return (
        x.sum(axis=0).sum()
        + np.sum(x, axis=1, keepdims=True)
        + np.sum(x, axis=(0, 1))
        + x.sum(-1)[:, None]
    )


@case(x="n", positive=True)
def products(x):
    return np.prod(x) + np.cumprod(x).sum()


@case(x="n m", least=1)
def means(x):
    return np.mean(x, axis=0) + np.var(x) + np.std(x, axis=0) + np.mean(x) + x.var(axis=0, ddof=0)


@case(x="n m", least=1)
def extremes(x):
    return np.max(x, axis=1) + np.min(x) + x.max() - np.ptp(x)


@case(x="n m", least=1)
def places_of_extremes(x):
    return x[np.argmax(x[:, 0])].sum() + x.ravel()[x.argmin()] + np.sum(np.argmax(x, axis=1))


@case(x="n m")
def running_sums(x):
    return np.cumsum(x, axis=0) + np.cumsum(x, axis=1) + np.cumsum(x).reshape(x.shape)


@case(x="n")
def differences(x):
    return np.sum(np.diff(x) ** 2) + np.sum(np.diff(x, n=2))


@case(x="n", y="n")
def trapezoids(x, y):
    return np.trapezoid(y, x) + np.trapezoid(y, dx=0.1)


@case(x="n", smooth=False)
def truths(x):
    return np.any(x > 1) * 2 + np.all(x > -1) + np.count_nonzero(x > 0)


@case(x="n", least=1)
def norms(x):
    return (
        np.linalg.norm(x) + np.linalg.norm(x, 1) + np.linalg.norm(x, np.inf) + np.linalg.norm(x, 3)
    )


@case(x="n m", least=1)
def matrix_norms(x):
    return np.linalg.norm(x) + np.linalg.norm(x, axis=1).sum() + np.linalg.norm(x, 1)


@case(x="n", least=1)
def log_sum_exp(x):
    return scipy.special.logsumexp(x)


@case(x="n m", least=1)
def log_sum_exp_rows(x):
    return scipy.special.logsumexp(x, axis=1)


@case(x="n m", least=1)
def softmax_rows(x):
    return scipy.special.softmax(x, axis=1) + scipy.special.log_softmax(x, axis=-1)


@case(x="n", w="n", positive=True, least=1)
def weighted_average(x, w):
    return np.average(x, weights=w)


# -------------------------------------------------------------------------- products
@case(a="n m", b="m p", x="p")
def matrix_products(a, b, x):
    return a @ b @ x + np.dot(a, np.matmul(b, x)) + a.dot(b.dot(x))


@case(a="p n m", b="p m 2")
def batched_products(a, b):
    return a @ b


@case(x="n", y="n")
def vector_products(x, y):
    return np.dot(x, y) + np.vdot(x, y) + np.inner(x, y) + x @ y + np.outer(x, y).sum()


@case(a="n m", x="n", y="m")
def bilinear(a, x, y):
    return x @ a @ y


@case(a="n m", b="m p")
def einsums(a, b):
    return np.einsum("ij,jk->ik", a, b) + np.einsum("ij,jk", a, b) + np.tensordot(a, b, 1)


@case(a="n m", x="m")
def einsums_of_three(a, x):
    return np.einsum("ij,j,ij->i", a, x, a) + np.einsum("ij->i", a)


@case(a="n n")
def einsum_trace(a):
    return np.einsum("ii", a) + np.einsum("ii->i", a).sum()


@case(a="n 2", b="2 m")
def kronecker(a, b):
    return np.kron(a, b)


@case(x="n 3", y="n 3")
def cross_products(x, y):
    return np.cross(x, y)


@case(a="n m p", b="n m p", c="p q")
def einsums_with_an_ellipsis(a, b, c):
    return np.einsum("...i,...i->...", a, b) + np.einsum("...j,jk", a, c).sum(-1)


@case(x="n", y="n", least=1)
def interpolated_and_beyond(x, y):
    return np.interp(x, np.cumsum(y**2 + 0.1), y) + np.interp(
        x, np.cumsum(y**2 + 0.1), y, left=-1.0, right=2.0
    )


@case(x="n", y="n", smooth=False)
def places_in_order(x, y):
    return np.searchsorted(np.sort(x), y) + np.digitize(y, np.sort(x))


@case(x="n m", least=2)
def slopes_of_grids(x):
    rows, columns = np.gradient(x)
    return (
        rows * columns + np.gradient(x, 0.5, axis=1) + np.gradient(x[0], np.cumsum(x[1] ** 2 + 0.1))
    )


@case(x="n", least=1)
def differences_from_ends(x):
    return np.diff(x, prepend=0.0) + np.diff(x, append=x[:1])


@case(x="n m", least=1)
def turned(x):
    return np.rot90(x).sum(0) + np.rot90(x, 2)[:, 0] + np.rot90(x, 3)[0]


@case(x="n m", k="i m n", least=1)
def repeated_by_counts(x, k):
    return np.repeat(x, k, axis=0).sum(axis=0) + np.sum(np.repeat(x[:, 0], k) ** 2)


@case(w="m", k="i m m", least=1)
def counts_with_weights(w, k):
    return np.bincount(k, weights=w, minlength=20)[:20] + np.bincount(k, minlength=20)[:20]


@case(x="n n", least=1)
def parts_of_triangles(x):
    upper = x[np.triu_indices(len(x))]
    return np.sum(upper**2) + np.sum(np.cumsum(x[np.tril_indices_from(x, -1)])) + np.tri(len(x)) * x


@case(x="n", least=3)
def windows(x):
    return np.lib.stride_tricks.sliding_window_view(x, 3) @ np.array([1.0, -2.0, 1.0])


@case(x="n", least=3)
def without_one(x):
    return np.delete(x, 1) * np.delete(x, -1) + np.insert(x, 2, 5.0)[2:]


@case(x="n", least=1)
def padded_symmetrically(x):
    return np.pad(x, 1, mode="symmetric")


@case(c="n", x="m", least=1)
def polynomials(c, x):
    p = np.polynomial.polynomial
    return np.polyval(np.polyder(c), x) + np.polyval(np.polyint(c), x) + p.polyval(x, c)


@case(x="n", y="m", least=1)
def correlations(x, y):
    return np.correlate(x, y, "full")


@case(x="n m", y="n m")
def stacked_in_depth(x, y):
    return np.dstack([x, y])


@case(x="n", least=3)
def steps_that_depend_on_sizes(x):
    h = len(x) // 3
    total = 0.0
    for i in range(0, len(x), h):
        total += x[i] ** 2
    for i in range(len(x) - 1, -1, -h):
        total *= np.cos(x[i])
    return np.sum(x[::h] ** 2) + total


@case(x="n", k="i n 1", least=2)
def steps_up_or_down(x, k):
    total, step = 0.0, 2 * (k[0] % 2) - 1
    for i in range(len(x) // 2, len(x) // 2 + 2 * step, step):
        total += np.sin(x[i % len(x)]) * (i + 1)
    return total


@case(x="n")
def appended_in_a_loop(x):
    squares = []
    for v in x:
        squares.append(v**2)
    return np.array(squares)


@case(x="n")
def appended_to_what_is_there(x):
    sums = [0.0, 1.0]
    for v in x:
        sums.append(0.5 * sums[-1] + np.sin(sums[-2]) * v + len(sums))
    return np.array(sums)


@case(x="n m", least=1)
def appended_rows(x):
    rows = []
    flat = []
    for r in x:
        rows.append(np.sin(r) * len(rows))
        flat.append((np.sum(r), 1.0))
    return (
        np.stack(rows),
        np.vstack(rows),
        np.concatenate(rows),
        np.column_stack(rows),
        np.array(flat),
    )


@case(x="n", y="m", least=1)
def convolutions(x, y):
    return (
        np.convolve(x, y).sum() + np.convolve(x, y, "same").sum() + np.convolve(x, y, "valid").sum()
    )


@case(c="n", x="m")
def polynomial(c, x):
    return np.polyval(c, x)


@case(x="n")
def vandermonde(x):
    return np.vander(x, 4) @ np.array([1.0, 2.0, 3.0, 4.0])


@case(a="n n", static={"k": 5})
def matrix_power(a, k: int):
    return np.linalg.matrix_power(a / (1 + np.abs(a).sum()), k)


# --------------------------------------------------------------------- linear algebra
@case(a="n n", b="n", least=1)
def solve(a, b):
    return np.linalg.solve(a + 5 * np.eye(len(b)), b)


@case(a="n n", b="n m", least=1)
def solve_many(a, b):
    m = a @ a.T + np.eye(len(b))
    return np.linalg.inv(m) @ np.linalg.solve(m, b)


@case(a="n n", least=1)
def determinants(a):
    sign, log = np.linalg.slogdet(a @ a.T + np.eye(len(a)))
    return np.linalg.det(a) + sign * log


@case(a="n n", least=1)
def cholesky(a):
    return np.linalg.cholesky(a @ a.T + np.eye(len(a)))


@case(a="n n", least=1)
def eigenvalues(a):
    w, v = np.linalg.eigh(a + a.T)
    return w + np.sum(v**2) + np.linalg.eigvalsh(a + a.T)


@case(a="n n", c="", least=1)
def solve_in_branch(a, c):
    if c > 0:
        return np.linalg.inv(a * 0 + np.eye(len(a)) * c)
    return a


@case(x="n")
def sorted_values(x):
    return np.sort(x) * np.arange(len(x)) + x[np.argsort(x)]


@case(x="n", least=1)
def median(x):
    return np.median(x)


@case(x="n m", least=1)
def sorted_along_axes(x):
    return np.sort(x, axis=0) * np.sort(x) + np.take_along_axis(x, np.argsort(x, axis=1), 1)


@case(x="n m", least=1)
def quantiles(x):
    rows = np.quantile(x, 0.5, axis=1, keepdims=True) * np.percentile(x, 30, axis=0)
    return rows + np.median(x, axis=0) + np.quantile(x, 0.77) + np.quantile(x, [0.1, 0.6]).sum()


@case(x="n m", least=2)
def covariances(x):
    return np.cov(x) + np.corrcoef(x) + np.cov(x[0], x[1])[0, 1] + np.cov(x[0], bias=True)


@case(x="n m", b="n", least=1)
def least_squares(x, b):
    a = np.concatenate([x, np.eye(x.shape[1])])
    right = np.concatenate([b, np.ones(x.shape[1])])
    return np.linalg.lstsq(a, right, rcond=None)[0] + np.sum(np.linalg.pinv(a) ** 2)


@case(x="n m", least=1)
def pseudoinverse(x):
    return np.linalg.pinv(x + 3 * np.eye(x.shape[0], x.shape[1]))


@case(x="n m", least=1)
def singular_values(x):
    a = x + 3 * np.eye(x.shape[0], x.shape[1])
    return np.linalg.svd(a, compute_uv=False) + np.linalg.norm(a, 2) + np.linalg.norm(a, "nuc")


@case(x="5 n", least=1)
def singular_vectors(x):
    a = x + 3 * np.eye(5, x.shape[1])
    u, s, v = np.linalg.svd(a, full_matrices=False)
    return (u * np.exp(-s)) @ v


@case(x="n n", b="n", least=1)
def triangular_systems(x, b):
    a = np.tril(x) + 3 * np.eye(len(b))
    return scipy.linalg.solve_triangular(a, b, lower=True) + scipy.linalg.cho_solve(
        scipy.linalg.cho_factor(x @ x.T + np.eye(len(b)), lower=True), b
    )


@case(a="n m", b="m p", c="p n")
def chained_products(a, b, c):
    return np.linalg.multi_dot([a, b, c])


# -------------------------------------------------------------------------- creation
@case(x="n")
def made(x):
    n = len(x)
    a = np.zeros((n, 2)) + np.ones((n, 1)) + np.full((1, 2), 3.0)
    return a + np.arange(n)[:, None] * x[:, None] + np.eye(n).sum() + np.linspace(0, 1, n)[:, None]


@case(x="n")
def made_like(x):
    return np.zeros_like(x) + np.ones_like(x) + np.full_like(x, 2.5) + np.arange(1, 2 * len(x), 2)


@case(x="n")
def empty_then_written(x):
    y = np.empty(len(x))
    for i in range(len(x)):
        y[i] = x[i] ** 2
    return y


@case(x="n", smooth=False)
def kinds(x):
    k = (x > 0).astype(int)
    return np.sum(k) + k.astype(float) + np.asarray(x, dtype=float)


@case(x="n", y="n", least=2)
def interpolated(x, y):
    grid = np.linspace(0.0, 1.0, len(y))
    return np.interp(x, grid, y)


@case(x="n", smooth=False)
def searched(x):
    grid = np.linspace(-1.0, 1.0, 9)
    return np.searchsorted(grid, x) + np.searchsorted(grid, 0.3, side="right")


# ----------------------------------------------------------------------------- loops
@case(x="n")
def loop_sum(x):
    s = 0.0
    for v in x:
        s += np.sin(v)
    return s


@case(d="n m")
def ewma(d):
    e = np.zeros(d.shape[0])
    for row in range(d.shape[0]):
        for col in range(d.shape[1]):
            e[row] = 0.5 * d[row, col] + 0.5 * e[row]
    return e


@case(d="n m")
def blending(d):
    e = np.zeros(d.shape[0])
    for row in range(d.shape[0]):
        for col in range(d.shape[1]):
            e[row] = (1 - e[row]) * d[row, col] + e[row]
    return np.sum(e)


@case(d="n")
def nonlinear_recurrence(d):
    e = 0.0
    for i in range(len(d)):
        e = np.sin(e) + d[i]
    return e


@case(W="h h", U="h", x="n")
def rnn(W, U, x):
    h = np.zeros(W.shape[0])
    for t in range(len(x)):
        h = np.tanh(W @ h + U * x[t])
    return np.sum(h)


@case(W="h h", U="h", x="n")
def rnn_in_place(W, U, x):
    h = np.zeros(W.shape[0])
    for t in range(len(x)):
        h[:] = np.tanh(W @ h + U * x[t])
    return np.sum(h)


@case(x="n", v="n", static={"steps": 40})
def leapfrog(x, v, steps: int):
    h = 0.05
    v = v - 0.5 * h * np.sin(x)
    for _ in range(steps):
        x = x + h * v
        v = v - h * np.sin(x)
    return np.sum(v**2) + np.sum(x)


@case(y="", a="", static={"steps": 100})
def runge_kutta(y, a, steps: int):
    def f(v):
        return a * v * (1 - v)

    h = 0.01
    for _ in range(steps):
        k1 = f(y)
        k2 = f(y + 0.5 * h * k1)
        k3 = f(y + 0.5 * h * k2)
        k4 = f(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


@case(u="n", static={"steps": 40})
def heat(u, steps: int):
    for _ in range(steps):
        for i in range(1, len(u) - 1):
            u[i] = u[i] + 0.1 * (u[i - 1] - 2 * u[i] + u[i + 1])
    return u


@case(x="n")
def triangular(x):
    s = 0.0
    for i in range(len(x)):
        for j in range(i):
            s += x[i] * x[j] / (1 + (x[i] - x[j]) ** 2)
    return s


@case(x="n")
def upper_triangular(x):
    s = 0.0
    n = len(x)
    for i in range(n):
        for j in range(i + 1, n):
            s += (x[i] - x[j]) ** 2
    return s


@case(x="n")
def backwards_loop(x):
    s = 0.0
    for i in range(len(x) - 1, -1, -1):
        s = s * 0.5 + x[i]
    for v in reversed(x):
        s += v * s * 0.1
    return s


@case(x="n")
def strided_loop(x):
    s = 0.0
    for i in range(1, len(x), 3):
        s += x[i] * i
    return s


@case(x="n", y="m")
def zipped(x, y):
    s = 0.0
    for k, (a, b) in enumerate(zip(x, y, strict=False)):
        s += (k + 1) * a * b
    return s


@case(x="n m")
def rows(x):
    s = 0.0
    for row in x:
        s += np.max(row**2) if len(row) > 0 else 0.0
    return s


@case(x="n")
def loop_break(x):
    s = 0.0
    for v in x:
        if v < -1:
            break
        s += v**2
    else:
        s += 100.0
    return s


@case(x="n")
def loop_continue(x):
    s = 0.0
    for i, v in enumerate(x):
        if v < 0:
            continue
        s += np.sqrt(v) * i
    return s


@case(x="n")
def loop_return(x):
    for i, v in enumerate(x):
        if v > 0.5:
            return v * i
    return -1.0


@case(x="n")
def loop_return_array(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i] ** 2
        if x[i] > 1:
            return y
    return y + 1


@case(a="", positive=True)
def newton(a):
    x = a
    while abs(x * x - a) > 1e-10:
        x = 0.5 * (x + a / x)
    return x


@case(x="n", least=1)
def while_index(x):
    i, s = 0, 0.0
    while i < len(x) and x[i] > -0.5:
        s += x[i]
        i += 2
    return s + i


@case(x="n")
def while_true(x):
    i, s = 0, 0.0
    while True:
        if i >= len(x):
            break
        s = 0.5 * s + x[i]
        i += 1
    return s


@case(x="n", y="n", static={"steps": 35})
def swapped(x, y, steps: int):
    for _k in range(steps):
        y = y + 0.1 * x
        x, y = y, x
    return x - 2 * y


@case(u="n", static={"steps": 35})
def swapped_buffers(u, steps: int):
    a = u.copy()
    b = np.zeros(len(u))
    for _ in range(steps):
        for i in range(1, len(u) - 1):
            b[i] = a[i] + 0.1 * (a[i - 1] - 2 * a[i] + a[i + 1])
        a, b = b, a
    return a


@case(x="n")
def state_in_containers(x):
    state = {"mean": 0.0, "pair": [0.0, 1.0]}
    for k, v in enumerate(x):
        state["mean"] += (v - state["mean"]) / (k + 1)
        state["pair"][1] = state["pair"][0] + v
        state["pair"][0] = 0.5 * state["pair"][1]
    return state["mean"] + state["pair"][1]


@case(x="n")
def tuple_state(x):
    s = (0.0, 1.0)
    for v in x:
        s = (s[0] + v * s[1], 0.9 * s[1])
    return s[0] + s[1]


@case(x="n")
def helper_in_loop(x):
    def step(s, v):
        if v > 0:
            return s + v
        return s * 0.5

    s = 1.0
    for v in x:
        s = step(s, v)
    return s


@case(x="n")
def branches_with_stores(x):
    y = np.zeros(len(x))
    z = np.zeros(len(x))
    for i in range(len(x)):
        if x[i] > 0:
            y[i] = x[i]
        elif x[i] > -1:
            z[i] = x[i] ** 2
        else:
            y[i] = z[i] = 1.0
    return y + 2 * z


@case(x="n", c="")
def loop_in_branch(x, c):
    s = 0.0
    if c > 0:
        for v in x:
            s += c * v
    else:
        for v in x:
            s -= v**2
    return s


@case(x="n", c="")
def arrays_in_branches(x, c):
    if c > 0:
        y = x * 2
    else:
        y = np.sin(x)
    y[1:] += 1
    return y


@case(x="n", c="")
def alias_in_branch(x, c):
    z = x**2
    y = z if c > 0 else x
    y[:1] = 7.0
    return x + z


@case(x="n", c="")
def early_return(x, c):
    if c > 0:
        return x * c
    y = x.copy()
    y[::2] = c
    return y


@case(x="n")
def cumulative_in_loop(x):
    y = np.zeros(len(x) + 1)
    for i in range(len(x)):
        y[i + 1] = y[i] * 0.9 + x[i]
    return y[1:]


@case(x="n")
def comprehensions(x):
    n = len(x)
    return (
        sum(x[i] ** 2 for i in range(n))
        + sum([np.sin(v) for v in x])
        + sum(x[i] * x[j] for i in range(n) for j in range(i))
    )


@case(x="n")
def filtered_comprehensions(x):
    return (
        sum(v for v in x if v > 0) + sum(1 for v in x if v < 0) + sum([v * v for v in x if v > -1])
    )


@case(x="n", least=1)
def extremes_of_generators(x):
    return max(v**2 for v in x) - min(np.sin(v) for v in x)


@case(x="n", smooth=False)
def any_and_all(x):
    return (1.0 if any(v > 1 for v in x) else 0.0) + (2.0 if all(v > -1 for v in x) else 0.0)


@case(x="n")
def array_of_comprehension(x):
    return np.array([np.sin(v) * i for i, v in enumerate(x)])


@case(x="n m", least=1)
def array_of_rows(x):
    return np.array([row * np.sum(row) for row in x])


@case(x="n")
def loop_in_comprehension(x):
    def power_sum(v):
        s = 0.0
        for w in x:
            s += v * w
        return s

    return np.array([power_sum(v) for v in x])


@case(x="n")
def nested_state(x):
    n = len(x)
    total = 0.0
    for i in range(n):
        inner = 0.0
        for j in range(n):
            if j == i:
                continue
            inner += x[j] / (1 + abs(i - j))
        total += inner * x[i]
    return total


@case(p="n 3")
def lennard_jones(p):
    e = 0.0
    for i in range(len(p)):
        for j in range(i + 1, len(p)):
            d = p[i] - p[j]
            r2 = d @ d + 0.1
            s6 = 1 / r2**3
            e += 4 * (s6 * s6 - s6)
    return e


@case(X="n m", y="n", w="m", b="")
def logistic(X, y, w, b):
    z = X @ w + b
    return np.sum(np.logaddexp(0.0, z) - y * z) + 0.5 * np.sum(w**2)


@case(x="n", A="m n", a="m", B="m", b="")
def network(x, A, a, B, b):
    return B @ np.tanh(A @ x + a) + b


@case(x="n")
def kalman(x):
    m, p = 0.0, 1.0
    log = 0.0
    for z in x:
        p = p + 0.1
        k = p / (p + 0.5)
        log += -0.5 * (np.log(2 * math.pi * (p + 0.5)) + (z - m) ** 2 / (p + 0.5))
        m, p = m + k * (z - m), (1 - k) * p
    return log


TABLE_OF_WEIGHTS = np.linspace(0.1, 2.0, 40)


@case(x="40")
def captured_data(x):
    return np.sum((x - TABLE_OF_WEIGHTS) ** 2) + TABLE_OF_WEIGHTS @ x


@case(x="n")
def defined_only_where_positive(x):
    return np.sqrt(x) ** 2


@case(x="n")
def undefined_sum(x):
    return np.sum(np.sqrt(x) ** 2)


@case(x="n")
def undefined_state(x):
    s = 1.0
    for v in x:
        s = s + np.exp(np.log(v + 1))
    return s


@case(x="n", y="n", least=1)
def dynamic_programming(x, y):
    n, m = len(x), len(y)
    D = np.zeros((n + 1, m + 1))
    for i in range(n):
        D[i + 1, 0] = 10.0 * (i + 1)
    for j in range(m):
        D[0, j + 1] = 10.0 * (j + 1)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = (x[i - 1] - y[j - 1]) ** 2
            D[i, j] = cost + min(D[i - 1, j], D[i, j - 1], D[i - 1, j - 1])
    return D[n, m]


@case(x="n")
def appended_where_positive(x):
    kept = [0.5]
    for v in x:
        if v > 0:
            kept.append(v**2)
        else:
            kept.append(v)
            kept.append(0)
    return np.sum(np.array(kept) ** 3) + len(kept)


@case(x="n m")
def rows_with_a_positive_sum(x):
    rows = []
    for row in x:
        if np.sum(row) < 0:
            continue
        rows.append(np.exp(row))
    return np.sum(np.array(rows) ** 2)


@case(x="6")
def appended_of_a_known_range(x):
    out = []
    for i in range(6):
        if x[i] > 0:
            out.append(x[i] * i)
    return sum(out)


@case(y="n 2", A="2 2", Q="2 2")
def kalman_filter(y, A, Q):
    m, p, total = np.zeros(2), np.eye(2), 0.0
    for t in range(y.shape[0]):
        m, p = A @ m, A @ p @ A.T + Q @ Q.T
        s = p + 0.5 * np.eye(2)
        r = y[t] - m
        gain = p @ np.linalg.inv(s)
        total += 0.5 * (r @ np.linalg.solve(s, r)) + 0.5 * np.log(np.linalg.det(s))
        m, p = m + gain @ r, (np.eye(2) - gain) @ p
    return total


@case(x="n 3", v="n 3", w="n", positive=True)
def leapfrog_with_a_known_number_of_steps(x, v, w):
    def pull(x):
        d = x[None, :, :] - x[:, None, :]
        return np.sum(
            w[None, :, None] * d / (np.sum(d * d, axis=2) + 0.5)[:, :, None] ** 1.5, axis=1
        )

    a = pull(x)
    for _ in range(6):
        v = v + 0.05 * a
        x = x + 0.1 * v
        a = pull(x)
        v = v + 0.05 * a
    return 0.5 * np.sum(w[:, None] * v**2)


@case(x="n 2", W="8 2", R="8 2", b="8")
def gated_cells(x, W, R, b):
    h, c = np.zeros(2), np.zeros(2)
    for row in x:
        i, f, o, g = np.split(W @ row + R @ h + b, 4)
        c = c / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
        h = np.tanh(c) / (1 + np.exp(-o))
    return h @ h


@case(p="n n", labels="i n 2", least=2)
def aligned_labels(p, labels):
    q = p - scipy.special.logsumexp(p, axis=1, keepdims=True)
    count = 2 * len(labels) + 1
    symbols = np.zeros(count, dtype=int)
    for k in range(len(labels)):
        symbols[2 * k + 1] = labels[k]
    a = np.full(count, -1e3)
    a[0], a[1] = q[0, 0], q[0, symbols[1]]
    for t in range(1, len(q)):
        new = np.full(count, -1e3)
        for s in range(count):
            v = a[s]
            if s > 0:
                v = np.logaddexp(v, a[s - 1])
            if s > 1 and symbols[s] != 0 and symbols[s] != symbols[s - 2]:
                v = np.logaddexp(v, a[s - 2])
            new[s] = v + q[t, symbols[s]]
        a = new
    return -np.logaddexp(a[count - 1], a[count - 2])


@case(w="m", X="n m", y="n")
def products_written_twice(w, X, y):
    return np.sum(np.log(1 + np.exp(X @ w)) - y * (X @ w)) + np.sum((X @ w) ** 2)


@case(c="4", x="n")
def spline_of_de_boor(c, x):
    knots = np.linspace(-3.0, 3.0, 8)
    total = 0.0
    for v in np.tanh(x):
        d = [c[0], c[1], c[2], c[3]]
        for r in range(1, 4):
            for j in range(3, r - 1, -1):
                low, high = knots[j], knots[j + 4 - r]
                part = (v - low) / (high - low)
                d[j] = (1 - part) * d[j - 1] + part * d[j]
        total += d[3] ** 2
    return total


@case(A="m n", b="n", least=1)
def conjugate_gradients(A, b):
    M = A.T @ A + 4 * np.eye(len(b))
    x, r = np.zeros_like(b), b.copy()
    p, rr = r.copy(), r @ r
    for _ in range(6):
        q = M @ p
        step = rr / (p @ q + 1)
        x += step * p
        r -= step * q
        new = r @ r
        p, rr = r + new / (rr + 1) * p, new
    return np.sum(x**2)


@case(v="m", X="n m", t="n", d="n", least=1)
def proportional_hazards(v, X, t, d):
    risk = X @ v
    order = np.argsort(-t)
    return -np.sum(d[order] * (risk[order] - np.log(np.cumsum(np.exp(risk[order])))))


@case(y="n", a="m", b="k")
def moving_averages_of_errors(y, a, b):
    e = np.zeros_like(y)
    for t in range(len(y)):
        m = 0.0
        for i in range(len(a)):
            if t - i - 1 >= 0:
                m += a[i] * y[t - i - 1]
        for j in range(len(b)):
            if t - j - 1 >= 0:
                m += 0.3 * b[j] * e[t - j - 1]
        e[t] = y[t] - m
    return np.sum(e**2)


@case(C="n n", positive=True, least=1)
def balanced_by_turns(C):
    K = np.exp(-C)
    u = np.ones(C.shape[0])
    for _ in range(6):
        v = 1 / (K.T @ u)
        u = 1 / (K @ v)
    return np.sum(u[:, None] * K * v[None, :] * C)


@case(A="m n", B="m n", least=1)
def nuclear_norm_of_a_product(A, B):
    _, sizes, _ = np.linalg.svd(A.T @ B + 3 * np.diag(1.0 + np.arange(A.shape[1])))
    return np.sum(sizes)


@case(x="n", places="i n n")
def sums_of_segments(x, places):
    sums = np.zeros(3)
    for i in range(len(x)):
        sums[places[i] % 3] += x[i]
    return np.sum(sums**2)


@case(A="m n", B="m k", least=1)
def products_of_parts(A, B):
    half = A.shape[0] // 2
    return np.sum((A[:half].T @ B[:half]) ** 2) + np.sum((np.diag(A[half:, 0]) @ A[half:]) ** 2)


@case(x="n", w="n", least=1)
def histogram_of_weights(x, w):
    sums, edges = np.histogram(x, 4, weights=w)
    return np.sum(sums**2) * (edges[4] - edges[0])


# ------------------------------------------------------------------ what applies to which
OF_NUMBERS = frozenset((
    "broadcast_rows", "scaled", "where_negative", "clipped", "selected_cases", "piecewise", "signs", "in_place",
    "masked_store", "new_axes", "swapped", "defined_only_where_positive",
))  # fmt: skip
"""Functions of numbers, which have no program with arrays."""
PROGRAMS = [c for c in CASES if c.name not in OF_NUMBERS]


BY_ROWS = ("broadcast_to", "vandermonde")
"""Elementwise, with a loop for each number: the program gives one."""


def _gives_a_number(case: Case) -> bool:
    if case.name in BY_ROWS:
        return True
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        args = case.arguments(next(case.sizes((3,))))
        result = case.fun(*args, **(case.static or {}))
    return isinstance(result, (float, np.floating))


WITH_GRADIENT = [c for c in PROGRAMS if c.smooth and _gives_a_number(c)]
"""Those with one number as their result."""
