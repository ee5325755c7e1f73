"""Functions of NumPy and SciPy in runs by values: values are plain Python's, and gradients those of differences."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg as sl
import scipy.special as sc

from tests.by_value.differences import check

A = np.array([0.55, -1.2, 2.05, 1.52, 0.3, -0.4])


def square(a):
    return a[:4].reshape(2, 2) + 3 * np.eye(2)


def rows(a):
    return a.reshape(2, 3)


def scattered(a, s):
    found = np.zeros(3)
    np.add.at(found, [0, 2, 1, 0, 2, 2], a * s)
    np.subtract.at(found, [1], s)
    return np.sum(found**2) + np.bincount([0, 1, 1, 0, 2, 2], weights=a, minlength=4)[2]


FUNCTIONS = {
    "scattered": scattered,
    "an element by an ellipsis": lambda a, s: a[..., 1] * s,
    "where of a sum": lambda a, s: np.sum(a, where=a > 0) * s + a.sum(where=a > 1),
    "reduceat": lambda a, s: np.add.reduceat(a, [0, 2, 4])[1] * s,
    "numbers of NumPy's": lambda a, s: np.radians(s) * (~(np.square(s) > 3)).astype(int) + np.positive(s) * (s > np.sin(s)).any(),
    "lists beside them": lambda a, s: ([1, 2.0] - np.exp(s)).sum() + ((s, 2) / np.exp(s))[0] + (np.exp(s) - (2, s))[1],
    "lists together": lambda a, s: np.broadcast_arrays([1, 2], a[:2] * s)[0][1] * s,
    "elements": lambda a, s: np.array([s, 1])[0].squeeze() * 2 + np.full(2, s)[1].sum(),
    "fromiter": lambda a, s: np.fromiter((v * s for v in a), float)[1],
    "vectorize": lambda a, s: np.vectorize(lambda t: t * s if t > 0 else -t * t)(a).sum(),
    "frompyfunc": lambda a, s: np.frompyfunc(lambda t: t * s, 1, 1)(a).sum(),
    "columns": lambda a, s: np.c_[a, a * s].prod() + np.c_[rows(a), np.ones(2)].sum(),
    "gradient": lambda a, s: np.gradient(a, s).sum() + np.gradient(rows(a))[1][0, 1],
    "gradient of places": lambda a, s: np.gradient(a, np.arange(6.0) ** 2)[2] * s,
    "fits": lambda a, s: np.polyfit(np.arange(6.0), a * s, 2)[0],
    "quantiles": lambda a, s: np.quantile(rows(a), [0.2, 0.5 * s], axis=1).sum() + np.percentile(a, 30),
    "medians": lambda a, s: np.median(rows(a), axis=1)[0] * s + np.median(a),
    "averages": lambda a, s: np.average(rows(a), axis=0, weights=[s, 1.0]).prod(),
    "covariances": lambda a, s: np.cov(a, a[::-1] * s)[0, 1] + np.corrcoef(a, np.arange(6))[0, 1],
    "without nan": lambda a, s: np.nanmean(np.append(a, np.nan)) * s + np.nanstd(a) + np.nanvar(a),
    "medians without nan": lambda a, s: np.nanmedian(np.append(a * s, np.nan)) + np.nanmedian(np.where(rows(a) > 2, np.nan, rows(a) * s), axis=0)[2],
    "quantiles without nan": lambda a, s: np.nanquantile(np.append(a * s, np.nan), 0.3) + np.nanpercentile(rows(a), 40, axis=1)[0],
    "polynomials": lambda a, s: np.polydiv(a[:4] * s, a[4:])[1][0] + np.polydiv([1, s, a[0]], [1, s])[0][1],
    "roots": lambda a, s: np.roots([1, -s, -a[0]])[0] * s + np.abs(np.roots(a[:4]))[0] + np.roots([1, s, 2, 0])[0].imag,
    "counts": lambda a, s: np.histogram(a, bins=[-2, 0, s, 3])[0][1] * s + np.histogram([s], [0, s + 1])[1][1],
    "without axes or lists": lambda a, s: np.asarray(s)[()] * 2 + np.asarray(s).squeeze()[()] / np.array([1, s])[0],
    "parts": lambda a, s: np.modf(a)[0] @ a + np.frexp(s)[0] * np.frexp(s)[1],
    "logarithms": lambda a, s: np.logaddexp2(s, a).sum() + np.geomspace(1, s + 1, 3)[1],
    "norms": lambda a, s: sum(np.linalg.norm(rows(a) * s, k) for k in (1, 2, np.inf, "nuc")),
    "norms of vectors": lambda a, s: np.linalg.norm(a * s, 3) + np.linalg.vector_norm(a),
    "powers": lambda a, s: np.linalg.matrix_power(square(a), 3)[0, 1] * s + np.linalg.matrix_power(square(a), -2)[0, 0],
    "products": lambda a, s: np.linalg.multi_dot([square(a)] * 3)[1, 0] * s + np.vecdot(a, a),
    "stacks": lambda a, s: np.linalg.det(np.stack([square(a)] * 2))[0] + np.linalg.inv(np.stack([square(a) * s] * 2))[1, 0, 0],
    "logarithms of determinants": lambda a, s: np.linalg.slogdet(square(a) * s)[1],
    "qr": lambda a, s: np.linalg.qr(square(a) * s)[1][0, 0] + sl.qr(square(a))[0][0, 1],
    "conditions": lambda a, s: np.linalg.cond(square(a)) * s,
    "exponentials": lambda a, s: sl.expm(square(a) * 0.1 * s)[0, 1],
    "factors": lambda a, s: sl.cho_solve(sl.cho_factor(np.eye(2) * (s + 2)), np.ones(2))[0] * a[0],
    "structured": lambda a, s: sl.toeplitz(a[:3])[0, 1] + sl.block_diag(square(a), [[s]])[2, 2] + sl.circulant(a[:3])[0, 1],
    "bands": lambda a, s: sl.solve_banded((1, 1), np.array([[0, 1, 1.0], [3 + s, 3, 3], [1.0, 1, 0]]), a[:3])[0],
    "least squares": lambda a, s: sl.lstsq(a.reshape(3, 2) * s, np.ones(3))[0][0],
    "eigenvalues": lambda a, s: sl.eigh(np.array([[s, a[0]], [a[0], 3.0]]))[0][0],
    "lambert": lambda a, s: sc.lambertw(s).real + sc.lambertw(-0.2 * s, -1).real + sc.lambertw(1j * a[:2]).imag.sum(),
    "log_softmax": lambda a, s: sc.log_softmax(a * s)[1] + sc.log_softmax(rows(a), axis=0)[1, 0],
    "entropies": lambda a, s: sc.entr(s) + sc.rel_entr(s, 2.0) + sc.huber(1.0, s) + sc.boxcox(s, 0.3),
    "normal": lambda a, s: sc.ndtri(0.3 * s) + sc.log_ndtr(s) + sc.logit(0.3 * s) + sc.log_expit(s),
    "bessel": lambda a, s: sc.j0(s) + sc.i0(s) + sc.k0(s) + sc.ellipk(0.3 * s) + sc.erfcx(s) + sc.beta(s, 2.0),
    "orders": lambda a, s: sc.polygamma(1, s) * a[0] + sc.exprel(s),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("args", [(A, 0.7), (A[::-1] * 0.9, 1.3)], ids=["one", "other"])
def test_value_and_gradient(name, args):
    check(FUNCTIONS[name], *args)
