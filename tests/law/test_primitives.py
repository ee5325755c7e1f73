"""Functions of NumPy and SciPy in all the ways they are called: with axes, shapes that broadcast,
keywords. Values are those of the plain functions, derivatives those of extrapolated differences."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.signal
import scipy.special
import scipy.stats

from symdiff import symgrad

Case = tuple[Callable[..., Any], tuple[Any, ...]]
STEP = 2.0**-12
SAMPLE = 61
"""One of so many cases belongs to the default suite."""


def numbers(*shape: int, low: float = -1.0, high: float = 1.0) -> Any:
    """Numbers between two bounds, the same ones for the same shape; no two of them close."""
    count = math.prod(shape)
    order = np.random.default_rng(count + 7 * len(shape)).permutation(count)
    places = (order + 0.31) / max(count, 1)
    found = low + (high - low) * places.reshape(shape)
    return found if shape else float(found)


SHAPES = ((), (3,), (2, 3), (1, 3))


# ------------------------------------------------------------------------- the list
def of(f: Any, *more: Any, **named: Any) -> Callable[..., Any]:
    """The function of its first argument."""
    return lambda x: f(x, *more, **named)


def of_two(f: Any, *more: Any, **named: Any) -> Callable[..., Any]:
    return lambda x, y: f(x, y, *more, **named)


def of_three(f: Any, *more: Any, **named: Any) -> Callable[..., Any]:
    return lambda x, y, z: f(x, y, z, *more, **named)


def joined(f: Any, *more: Any, **named: Any) -> Callable[..., Any]:
    return lambda x, y: f((x, y), *more, **named)


def after(f: Any, first: Any) -> Callable[..., Any]:
    return lambda x: f(first, x)


def compared(f: Any) -> Callable[..., Any]:
    return lambda x, y: np.sum(f(x, y)) * 1.0 + x[0]


def composed(x: Any, f: Any) -> Any:
    return f(np.cumsum(x))


def of_symmetric(f: Any) -> Callable[..., Any]:
    return lambda x, m, s: f(x, m, (s + s.T) / 2)


def statistics() -> Iterator[Case]:
    for f in (np.sum, np.mean, np.prod, np.var, np.std, np.max, np.min, np.amax, np.ptp):
        yield of(f), (numbers(4),)
        for axis, keep in itertools.product((None, 0, 1, -1, (0, 2)), (False, True)):
            yield of(f, axis=axis, keepdims=keep), (numbers(2, 3, 2),)
    for f in (np.cumsum, np.cumprod, np.median, np.nanmean, np.average):
        for axis in (None, 0, 1):
            yield of(f, axis=axis), (numbers(3, 4),)
    for f in (np.var, np.std):
        yield of(f, axis=0, ddof=1), (numbers(3, 4),)
    for q in (0.0, 0.3, 1.0):
        yield of(np.quantile, q, axis=0), (numbers(5, 2),)
    for keep in (False, True):
        for axis in (None, 0, 1):
            f = scipy.special.logsumexp
            yield of(f, axis=axis, keepdims=keep), (numbers(2, 3),)


UNARY: list[tuple[Any, float, float]] = [
    *((f, -0.9, 0.9) for f in (
        np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan, np.sinh, np.cosh, np.tanh, np.arcsinh,
        np.arctanh, np.exp, np.exp2, np.expm1, np.square, np.negative, np.positive, np.abs, np.absolute, np.fabs,
        np.deg2rad, np.rad2deg, np.degrees, np.radians, np.sinc, np.sign, np.floor, np.ceil, np.trunc, np.rint, np.fix,
        np.real, np.conj, np.angle, np.nan_to_num, np.cbrt, np.isfinite, np.real_if_close, scipy.special.erf,
        scipy.special.erfc, scipy.special.expit, scipy.special.ndtr, scipy.special.log_ndtr,
    )),
    *((f, 0.2, 0.8) for f in (
        np.log, np.log2, np.log10, np.log1p, np.sqrt, np.reciprocal, scipy.special.gamma, scipy.special.gammaln,
        scipy.special.digamma, scipy.special.psi, scipy.special.rgamma, scipy.special.logit, scipy.special.entr,
    )),
    (np.arccosh, 1.2, 3.0),
]  # fmt: skip


def unary() -> Iterator[Case]:
    for (f, low, high), shape in itertools.product(UNARY, SHAPES):
        yield of(f), (numbers(*shape, low=low, high=high),)


def binary() -> Iterator[Case]:
    near = (
        np.add, np.subtract, np.multiply, np.maximum, np.minimum, np.fmax, np.fmin, np.hypot,
        np.arctan2, np.logaddexp, np.logaddexp2, np.copysign, operator.add, operator.mul, operator.sub,
    )  # fmt: skip
    apart = (
        np.divide,
        np.true_divide,
        np.mod,
        np.remainder,
        np.fmod,
        operator.mod,
        operator.truediv,
    )
    for p, q in itertools.product(SHAPES, SHAPES):
        for f in near:
            yield of_two(f), (numbers(*p), 0.137 + numbers(*q, low=-0.7, high=0.6))
        for f in apart:
            yield of_two(f), (numbers(*p), numbers(*q, low=0.45, high=1.37))
            yield of_two(f), (numbers(*p), numbers(*q, low=-1.37, high=-0.45))
        for f in (np.power, np.float_power, operator.pow):
            args = numbers(*p, low=0.3, high=2.0), numbers(*q)
            yield of_two(f), args
    for f in (np.less, np.greater_equal, np.not_equal):
        yield compared(f), (numbers(3), 0.137 + numbers(3))


def products() -> Iterator[Case]:
    v, m, s = numbers(3), numbers(2, 3), numbers(2, 2, 3)
    for a, b in itertools.product((1.5, v, m, s), (0.3, v, numbers(3, 4), numbers(2, 3, 4))):
        yield of_two(np.dot), (a, b)
    for a, b in itertools.product((v, m, s), (v, numbers(3, 4), numbers(2, 3, 4))):
        yield of_two(np.matmul), (a, b)
    for a, b in itertools.product((1.5, v, m), (0.3, v, numbers(4, 3))):
        yield of_two(np.inner), (a, b)
    for a, b in itertools.product((v, m, 1.5), (v, numbers(2, 2), 0.5)):
        yield of_two(np.outer), (a, b)
        yield of_two(np.kron), (a, b)
    yield of_two(np.matmul), (numbers(1, 2, 2), numbers(3, 2, 1))
    yield of_two(np.vdot), (m, numbers(2, 3) + 1)
    for axes, p, q in (
        (2, (2, 2), (2, 2)), (1, (2, 3), (3, 2)), (0, (2,), (3,)), ((1, 0), (2, 3), (3, 2)),
        (((0,), (1,)), (3, 2), (2, 3)), (((0, 1), (1, 2)), (2, 3), (2, 2, 3)),
        (((1, 0), (2, 1)), (2, 3, 2), (2, 2, 3)), (((-1,), (0,)), (2, 3), (3, 2)),
    ):  # fmt: skip
        yield of_two(np.tensordot, axes), (numbers(*p), numbers(*q))
    yield lambda a: np.tensordot(a, a), (numbers(2, 2),)
    for text, *shapes in (
        ("ij->ji", (2, 3)), ("ij,jk->ik", (2, 3), (3, 2)), ("...ij,...jk->...ik", (2, 2, 3), (3, 2)),
        ("ijk,lji->lki", (2, 3, 3), (2, 3, 2)), ("...jk,...lj->...lk", (2, 2), (2, 3, 2)),
        ("jk...,lj...->lk...", (3, 2), (2, 3, 2)), ("k,nk->", (3,), (2, 3)), ("abcd->bd", (2, 3, 2, 2)),
        ("ij,k", (2, 3), (2,)), ("ii->i", (3, 3)), ("ii", (3, 3)), ("i,j,k->kji", (2,), (3,), (2,)),
        ("...k,...nk->...", (2, 3), (2, 2, 3)), ("ij,ij->", (2, 3), (2, 3)),
    ):  # fmt: skip
        yield _einsum(text, len(shapes)), tuple(numbers(*s) for s in shapes)
    yield lambda a, b: np.einsum(a, (0, 1), b, (1, 2), (0, 2)), (m, numbers(3, 2))
    yield lambda a, b: np.einsum(a, (..., 0, 1), b, (..., 1, 2), (..., 0, 2)), (s, numbers(3, 2))
    for axis in (-1, 0, 1):
        yield of_two(np.cross, axis=axis), (numbers(3, 3), numbers(3, 3) + 0.5)
    yield (
        lambda a, b: np.cross(a, b, axisa=0, axisb=1, axisc=0),
        (numbers(3, 3), numbers(3, 3) + 0.5),
    )


def _einsum(text: str, count: int) -> Callable[..., Any]:
    if count == 1:
        return lambda a: np.einsum(text, a)
    if count == 2:
        return lambda a, b: np.einsum(text, a, b)
    return lambda a, b, c: np.einsum(text, a, b, c)


def rearranged() -> Iterator[Case]:
    x = numbers(2, 3, 4)
    for axes in (None, (0, 2, 1), [2, 0, 1], (1, 2, 0)):
        yield of(np.transpose, axes=axes), (x,)
        yield of(np.transpose, axes), (x,)
    for i, j in itertools.product((0, 1, 2), (0, -1)):
        for f in (np.swapaxes, np.moveaxis, np.rollaxis):
            yield of(f, i, j), (x,)
    for shift, axis in ((1, None), (-2, 0), (1, 2), ((1, 2), (0, 1))):
        yield of(np.roll, shift, axis=axis), (x,)
    for count, axis in itertools.product((0, 1, 3), (None, 0, 1)):
        yield of(np.repeat, count, axis=axis), (numbers(2, 3),)
    for count in (2, (2,), (1, 2), (3, 2, 1)):
        yield of(np.tile, count), (numbers(1, 3),)
        yield of(np.tile, count), (numbers(2),)
    for n, axis in itertools.product((1, 2), (0, 1, -1)):
        yield of(np.diff, n=n, axis=axis), (numbers(3, 4),)
    for axis in (None, 0, 1, (0, 1)):
        yield of(np.gradient, axis=axis), (numbers(3, 4),)
    for f in (
        np.flip,
        np.fliplr,
        np.flipud,
        np.rot90,
        np.ravel,
        np.squeeze,
        np.atleast_1d,
        np.atleast_2d,
        np.atleast_3d,
    ):
        yield of(f), (numbers(1, 3),)
    for shape in ((), (3,), (2, 3), (2, 3, 2)):
        for f in (np.atleast_1d, np.atleast_2d, np.atleast_3d):
            yield of(f), (numbers(*shape),)
    for width in (0, 2, (1, 2), ((1, 2), (0, 3))):
        for mode in ("constant", "edge", "wrap"):
            yield of(np.pad, width, mode), (numbers(3, 3),)
    for f in (np.vstack, np.hstack, np.column_stack, np.stack, np.concatenate):
        for shape in ((2, 3), (2, 3, 2)):
            yield of(f), (numbers(*shape),)
            yield joined(f), (numbers(*shape), numbers(*shape) + 1)
    for f in (np.vstack, np.hstack, np.column_stack, np.dstack, np.stack):
        yield joined(f), (numbers(3), numbers(3) + 1)
    for f in (np.vstack, np.hstack, np.column_stack):
        yield of(f), (numbers(3),)
    for axis in (0, 1, -1):
        yield joined(np.concatenate, axis=axis), (x, x + 1)
        yield joined(np.stack, axis=axis), (x, x + 1)
    for f, parts in itertools.product((np.vsplit, np.hsplit, np.dsplit), (2, [1, 2])):
        yield of(f, parts), (numbers(2, 2, 2),)
    for parts, axis in itertools.product((4, [3, 5]), (0, 1)):
        yield of(np.array_split, parts, axis=axis), (numbers(7, 6),)
    yield lambda a, b: np.r_[a, b, 0.5, 1:3], (numbers(3), numbers(2))
    yield lambda a, b: np.c_[a, b], (numbers(3), numbers(3))
    for f in (np.fft.fftshift, np.fft.ifftshift):
        yield of(f), (numbers(3, 4),)
        yield of(f, axes=1), (numbers(3, 4),)


def selected() -> Iterator[Case]:
    for k in (-1, 0, 1):
        for f in (np.diag, np.tril, np.triu, np.trace, np.diagonal):
            yield of(f, k), (numbers(3, 3),)
        for f in (np.tril, np.triu, np.trace):
            yield of(f, k), (numbers(3, 2, 2),)
        yield of(np.diagflat, k), (numbers(3),)
    for f in (np.sort, lambda a: np.partition(a, 2), lambda a: np.sort(a, axis=0)):
        yield of(f), (numbers(4, 3),)
    yield lambda a: np.where(a > 0, a, a**2), (numbers(3, 2),)
    yield lambda a, b: np.where(a > 0, a, b), (numbers(3, 2), numbers(2))
    yield (
        lambda a, b: np.select([a > 0.5, a > 0], [a, b], default=1.5),
        (numbers(3, 2), numbers(3, 2) + 1),
    )
    yield lambda a: np.select([a > 0.5, a > 0], [a, a * a]), (numbers(3, 2),)
    yield lambda a: np.clip(a, -0.5, 0.4), (numbers(3, 4),)
    yield (
        lambda a: np.piecewise(a, [a < 0, a >= 0], [lambda v: v * v, lambda v: 2 * v]),
        (numbers(5),),
    )
    yield lambda a: np.take(a, [2, 0, 0], axis=1), (numbers(2, 3),)
    yield lambda a: np.compress([True, False, True], a), (numbers(3),)
    for key in (
        1,
        slice(1, None),
        (slice(None), 2),
        ...,
        None,
        [0, 1, 1],
        (..., [0, 2]),
        (slice(None, None, -1), 0),
    ):
        yield of(operator.getitem, key), (numbers(2, 3),)
    yield lambda a: a[a > 0], (numbers(7),)
    yield lambda a: np.array([a, 2 * a, a]), (numbers(2, 2),)
    yield lambda a: np.array([[a, a**2], [1.0, a]]), (0.7,)
    yield lambda x, y, n=4: np.linspace(x, y, n), (1.2, -3.4)
    for reduce in (np.max, np.min):
        yield of(composed, reduce), (numbers(4),)


def algebra() -> Iterator[Case]:
    a, s = numbers(3, 3) + 2 * np.eye(3), numbers(2, 3, 3) + 3 * np.eye(3)
    wide = numbers(2, 4) + np.eye(2, 4)
    for m in (a, s):
        for f in (np.linalg.inv, np.linalg.det, np.linalg.slogdet, np.linalg.pinv):
            yield of(f), (m,)
        yield lambda x: np.linalg.cholesky(x @ np.swapaxes(x, -1, -2)), (m,)
        yield lambda x: np.linalg.eigh(x + np.swapaxes(x, -1, -2)), (m,)
        yield lambda x: np.linalg.eigvalsh(x + np.swapaxes(x, -1, -2), "U"), (m,)
        yield lambda x: np.linalg.svd(x, compute_uv=False), (m,)
        yield lambda x: np.linalg.svd(x, full_matrices=False), (m,)
    for m in (wide, wide.T, numbers(2, 2, 3) + np.eye(2, 3)):
        yield lambda x: np.linalg.pinv(x), (m,)
        yield lambda x: np.linalg.svd(x, full_matrices=False), (m,)
    for mode in ("reduced", "complete"):
        yield of(np.linalg.qr, mode), (numbers(3, 2),)
    for b in (numbers(3), numbers(3, 2)):
        yield of_two(np.linalg.solve), (a, b)
    yield of_two(np.linalg.solve), (s, numbers(2, 3, 2))
    for order in (None, 1, 2, np.inf, "fro", "nuc"):
        yield of(np.linalg.norm, order), (a,)
        yield of(np.linalg.norm, ord=order, axis=(0, 2)), (s,)
    for order in (None, 1, 2, 3, np.inf):
        yield of(np.linalg.norm, order, axis=-1, keepdims=True), (a,)
    for n in (0, 1, 3, -2):
        yield of(np.linalg.matrix_power, n), (a,)
    yield lambda x: np.linalg.norm([x, x + 2]), (0.0,)
    yield of_three(scipy.linalg.solve_sylvester), (a, numbers(2, 2) + 3 * np.eye(2), numbers(3, 2))
    yield lambda ab, b: scipy.linalg.solve_banded((1, 1), ab, b), (numbers(3, 4) + 2, numbers(4))


def of_scipy() -> Iterator[Case]:
    for mode in ("full", "same", "valid"):
        for p, q in (((6,), (3,)), ((3,), (5,)), ((4, 3), (2, 2)), ((2, 3), (4, 4))):
            f = scipy.signal.convolve
            yield of_two(f, mode=mode), (numbers(*p), numbers(*q))
    k, r = np.array([0.0, 1.0, 3.0]), numbers(3, low=0.5, high=2.5)
    stats = scipy.stats
    for f in (
        stats.norm.pdf,
        stats.norm.logpdf,
        stats.norm.cdf,
        stats.norm.logcdf,
        stats.norm.sf,
        stats.norm.logsf,
    ):
        yield of_three(f), (numbers(3), numbers(3) / 2, r)
        yield of_three(f), (numbers(2, 3), numbers(1, 3) / 2, numbers(2, 1, low=0.5, high=2.5))
    for f in (stats.gamma.logpdf, stats.gamma.pdf, stats.chi2.logpdf, stats.t.logpdf, stats.t.pdf):
        yield of_two(f), (r + 0.3, r[::-1] + 2.1)
    for f in (stats.beta.logpdf, stats.beta.pdf):
        yield of_three(f), (numbers(3, low=0.1, high=0.9), r + 1, r[::-1] + 2.1)
    for f in (stats.poisson.logpmf, stats.poisson.pmf):
        yield after(f, k), (r,)
    x, cov = numbers(3), np.eye(3) + 0.1 * np.ones((3, 3))
    for f in (stats.multivariate_normal.logpdf, stats.multivariate_normal.pdf):
        yield of_symmetric(f), (x, x[::-1] / 3, cov)
        yield of_symmetric(f), (numbers(4, 3), x[::-1] / 3, cov)
    yield lambda m, s: stats.multivariate_normal.entropy(m, (s + s.T) / 2), (x, cov)
    for f in (stats.dirichlet.logpdf, stats.dirichlet.pdf):
        yield after(f, np.array([0.2, 0.5, 0.3])), (r + 1,)
    for f in (scipy.special.beta, scipy.special.betaln, scipy.special.xlogy, scipy.special.xlog1py):
        yield of_two(f), (r + 1, r[::-1] + 0.5)
    yield lambda a: scipy.special.multigammaln(a, 3), (r + 3,)
    yield lambda a, b: scipy.special.logsumexp(a, b=b, axis=0), (numbers(3, 2), numbers(3, 2) + 2)


def containers() -> Iterator[Case]:
    tree = {"a": numbers(2, 3), "b": numbers(3), "c": 0.5}
    yield lambda d: np.sum(np.sin(d["a"])) + np.sum(d["b"]) * d["c"], (tree,)
    yield lambda d: sum(np.sum(np.cos(v)) * (k + 1) for k, v in enumerate(d.values())), (tree,)
    yield lambda d: sum(np.sum(d[k]) ** 2 for k in sorted(d)), (tree,)
    yield lambda d: d.get("a", 2.0) ** 2 + d.get("z", 3.0), ({"a": 1.5},)
    yield (
        lambda v: np.sum(v[0]) * v[1][0] + np.sum(v[1:][0][1]),
        ([numbers(2, 2), (0.5, numbers(3))],),
    )
    yield lambda v: [np.sin(v), (v, {"w": v * v})], (numbers(3),)
    yield lambda a, b: (a @ b, {"k": [a, b[0]]}), (numbers(2, 3), numbers(3))
    yield lambda a, act=np.tanh: np.sum(act(a)), (numbers(3),)


FAMILIES = (
    statistics,
    unary,
    binary,
    products,
    rearranged,
    selected,
    algebra,
    of_scipy,
    containers,
)


def cases() -> Iterator[Any]:
    for family in FAMILIES:
        for k, (f, args) in enumerate(family()):
            marks = [] if k % SAMPLE == SAMPLE // 2 else [pytest.mark.slow]
            yield pytest.param(f, args, id=f"{family.__name__}-{k}", marks=marks)


# ------------------------------------------------------------------------- the law
def leaves(v: Any) -> list[Any]:
    if isinstance(v, dict):
        return [x for u in v.values() for x in leaves(u)]
    if isinstance(v, (list, tuple)):
        return [x for u in v for x in leaves(u)]
    return [v]


def rebuilt(v: Any, parts: Iterator[Any]) -> Any:
    if isinstance(v, dict):
        return {k: rebuilt(u, parts) for k, u in v.items()}
    if isinstance(v, (list, tuple)):
        found = [rebuilt(u, parts) for u in v]
        return type(v)(*found) if hasattr(v, "_fields") else type(v)(found)
    return next(parts)


def flat(v: Any) -> Any:
    return np.concatenate([np.asarray(x, float).ravel() for x in leaves(v)] or [np.zeros(0)])


def same(got: Any, want: Any) -> None:
    """What the law says: structure, shapes, kinds and values."""
    if isinstance(want, (dict, list, tuple)):
        assert type(got) is type(want)
        assert len(got) == len(want)
        if isinstance(want, dict):
            assert list(got) == list(want)
        for a, b in zip(leaves(got), leaves(want), strict=True):
            same(a, b)
        return
    assert np.shape(got) == np.shape(want)
    assert np.asarray(got).dtype == np.asarray(want).dtype
    scale = np.max(np.abs(np.asarray(want, float)), initial=1e-3)
    np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-12 * scale)


@pytest.mark.sampled
@pytest.mark.parametrize(("f", "args"), [*cases()])
def test_functions_are_plain_ones(f: Any, args: tuple[Any, ...]) -> None:
    check(f, *args)


def check(f: Any, *args: Any) -> None:
    """Values are those of the plain function, products in both modes those of its differences."""
    s = symgrad(f)
    want = f(*args)
    same(s(*args), want)
    rng = np.random.default_rng(3)
    ways = [[rng.choice((-1.0, 0.5, 1.0), np.shape(x)) for x in leaves(a)] for a in args]

    def moved(h: float) -> tuple[Any, ...]:
        steps = [iter([x + h * w for x, w in zip(leaves(a), way, strict=True)]) for a, way in zip(args, ways, strict=True)]  # fmt: skip
        return tuple(rebuilt(a, i) for a, i in zip(args, steps, strict=True))

    def slope(h: float) -> Any:
        return (flat(f(*moved(h))) - flat(f(*moved(-h)))) / (2 * h)

    true = (4 * slope(STEP / 2) - slope(STEP)) / 3
    room = 1e-7 * np.max(np.abs(true), initial=1.0)
    along = tuple(
        rebuilt(a, iter([float(w) if w.ndim == 0 else w for w in way]))
        for a, way in zip(args, ways, strict=True)
    )
    _, tangent = s.jvp(args, along)
    assert np.all(np.abs(flat(tangent) - true) <= room)
    weights = [rng.normal(size=np.shape(x)) for x in leaves(want)]
    back = rebuilt(want, iter([float(w) if w.ndim == 0 else w for w in weights]))
    _, cotangents = s.vjp(args, back)
    cotangents = cotangents if len(args) > 1 else (cotangents,)
    for a, c in zip(args, cotangents, strict=True):
        assert [np.shape(x) for x in leaves(a)] == [np.shape(x) for x in leaves(c)]
    onto = sum(
        float(np.sum(c * w))
        for a, way in zip(cotangents, ways, strict=True)
        for c, w in zip(leaves(a), way, strict=True)
    )
    assert abs(onto - flat(back) @ true) <= room * max(1.0, np.sum(np.abs(flat(back))))
