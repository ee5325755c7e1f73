"""Sparse Jacobians of residuals as SciPy's users write them, compared with difference quotients."""

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.errors import SymdiffError
from tests.law.alike import differences
from tests.law.made import formula


def concatenated(u):
    inner = (u[2:] - 2 * u[1:-1] + u[:-2]) * 4 + np.exp(u[1:-1])
    return np.concatenate(([u[0]], inner, [u[-1] - 1.0]))


def stored(u):
    r = np.empty_like(u)
    r[0] = u[0]
    r[-1] = u[-1] - 1
    r[1:-1] = (u[2:] - 2 * u[1:-1] + u[:-2]) * 4 + np.exp(u[1:-1])
    return r


def added(u):
    r = np.zeros_like(u)
    r[1:-1] = (u[2:] - 2 * u[1:-1] + u[:-2]) * 4 + np.exp(u[1:-1])
    r[0] += u[0]
    r[-1] += u[-1] - 1
    return r


@pytest.mark.sampled(3)
@pytest.mark.parametrize("f", [concatenated, stored, added])
def test_rows_at_the_ends(f):
    u = np.linspace(0.1, 1.0, 7)
    found = symgrad(f).jacobian(u, sparse=True)
    assert list(np.diff(found.indptr)) == [1, 3, 3, 3, 3, 3, 1]
    np.testing.assert_allclose(found.toarray(), differences(f, (u,)), atol=1e-8)


def distances(params, n, i, j, measured):
    points = params.reshape((n, 2))
    return np.sqrt(np.sum((points[i] - points[j]) ** 2, axis=1)) - measured


@pytest.mark.slow
def test_gathers_by_arrays_of_indices():
    rng = np.random.default_rng(3)
    i, j = np.array([0, 1, 2, 4, 0]), np.array([1, 2, -2, 3, -1])
    args = (rng.normal(size=10), 5, i, j, rng.normal(size=5))
    net = symgrad(distances, wrt="params")
    found = net.jacobian(*args, sparse=True)
    assert list(np.diff(found.indptr)) == [4] * 5
    np.testing.assert_allclose(found.toarray(), differences(distances, args), atol=1e-8)
    with pytest.raises(IndexError):
        net.jacobian(args[0], 5, i + 1, j, args[4], sparse=True)


def rotate(points, rot_vecs):
    theta = np.linalg.norm(rot_vecs, axis=1)[:, np.newaxis]
    with np.errstate(invalid="ignore"):
        v = rot_vecs / theta
        v = np.nan_to_num(v)
    dot = np.sum(points * v, axis=1)[:, np.newaxis]
    cos_theta = np.cos(theta)
    sin_theta = np.sin(theta)
    return cos_theta * points + sin_theta * np.cross(v, points) + dot * (1 - cos_theta) * v


def project(points, camera_params):
    points_proj = rotate(points, camera_params[:, :3])
    points_proj += camera_params[:, 3:6]
    points_proj = -points_proj[:, :2] / points_proj[:, 2, np.newaxis]
    f = camera_params[:, 6]
    k1 = camera_params[:, 7]
    k2 = camera_params[:, 8]
    n = np.sum(points_proj**2, axis=1)
    r = 1 + k1 * n + k2 * n**2
    points_proj *= (r * f)[:, np.newaxis]
    return points_proj


def bundle(params, n_cameras, n_points, camera_indices, point_indices, points_2d):
    camera_params = params[: n_cameras * 9].reshape((n_cameras, 9))
    points_3d = params[n_cameras * 9 :].reshape((n_points, 3))
    points_proj = project(points_3d[point_indices], camera_params[camera_indices])
    return (points_proj - points_2d).ravel()


@pytest.mark.slow
def test_bundle_adjustment_of_the_cookbook():
    rng = np.random.default_rng(0)
    cameras = 0.2 + 0.3 * rng.normal(size=27)
    points = (rng.normal(size=(10, 3)) + np.array([0.0, 0.0, 5.0])).ravel()
    seen = rng.integers(0, 3, 24), rng.integers(0, 10, 24), rng.normal(size=(24, 2))
    args = (np.concatenate([cameras, points]), 3, 10, *seen)
    found = symgrad(bundle, wrt="params").jacobian(*args, sparse=True)
    assert set(np.diff(found.indptr)) == {12}  # nine numbers of a camera, three of a point
    np.testing.assert_allclose(found.toarray(), differences(bundle, args), rtol=1e-7, atol=1e-7)


# ------------------------------------------------------------------------- Hessians
valley = formula("valley", "x", "np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)")
full = formula("full", "x", "np.sum(x) ** 3")


def beam(x):
    total = 0.0
    for i in range(1, x.shape[0] - 1):
        total += (x[i - 1] - 2 * x[i] + x[i + 1]) ** 4
    return total


membrane = formula(
    "membrane", "u", "np.sum((u[1:, :] - u[:-1, :]) ** 4) + np.sum((u[:, 1:] - u[:, :-1]) ** 4)"
)


def second_quotients(f, x):
    """Second differences by all pairs of elements."""
    h = 1e-4
    steps = h * np.eye(x.size).reshape(x.size, *x.shape)
    return np.array([
        [(f(x + a + b) - f(x + a - b) - f(x - a + b) + f(x - a - b)) / (4 * h * h) for b in steps]
        for a in steps
    ])  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("f", "x", "nnz"),
    [
        (valley, np.linspace(0.5, 1.5, 6), 6 + 2 * 5),
        (beam, np.array([0.3, 1.0, -0.4, 0.9, 0.1, 0.6, 0.2]), 7 + 2 * 6 + 2 * 5),
        (membrane, np.array([[0.3, 1.0, -0.4], [0.9, 0.1, 0.6]]), 6 + 2 * 7),
    ],
)
def test_hessians(f, x, nnz):
    found = symgrad(f).hessian(x, sparse=True)
    assert found.nnz == nnz
    np.testing.assert_allclose(found.toarray(), second_quotients(f, x), rtol=1e-5, atol=1e-5)


@pytest.mark.slow
def test_hessians_by_several_arguments():
    f = symgrad(lambda x, y: np.sum((x[1:] - y[:-1]) ** 2 * x[1:]))
    x, y = np.array([0.3, 1.0, 2.0]), np.array([0.5, 0.2, 4.0])
    ((xx, xy), (yx, yy)) = f.hessian(x, y, sparse=True)
    np.testing.assert_allclose(xx.toarray(), np.diag([0, *(6 * x[1:] - 4 * y[:-1])]), rtol=1e-14)
    expected = np.zeros((3, 3))
    expected[[1, 2], [0, 1]] = 2 * y[:-1] - 4 * x[1:]
    np.testing.assert_allclose(xy.toarray(), expected, rtol=1e-14)
    np.testing.assert_allclose(yx.toarray(), expected.T, rtol=1e-14)
    np.testing.assert_allclose(yy.toarray(), np.diag([*(2 * x[1:]), 0]), rtol=1e-14)


def test_hessians_that_are_not_sparse():
    for f, x, out, text in (
        (full, np.ones(3), None, r"the Jacobian of full\.grad is not sparse by its form"),
        (valley, np.ones(3), np.ones((3, 3)), "a sparse Hessian takes no out="),
        (lambda a: a**3, 1.0, None, "whose Hessian is not sparse"),
    ):
        with pytest.raises(SymdiffError, match=text):
            symgrad(f).hessian(x, sparse=True, **({} if out is None else {"out": out}))
