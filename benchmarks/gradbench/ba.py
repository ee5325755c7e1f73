"""Bundle adjustment: the sparse Jacobian of the errors of points seen by cameras, as a row for each error.

A camera has eleven numbers: a rotation (angle times axis), its centre, focal length, principal point (two numbers),
and two of radial distortion.
"""

from __future__ import annotations

import numpy as np

from benchmarks.gradbench.evals import Eval, Functions
from symdiff import symgrad

CAMERA = 11
BLOCK = CAMERA + 3 + 1


def rotate(rotation, point):
    """The point turned about an axis, by Rodrigues' formula."""
    square = np.sum(rotation**2)
    if square == 0:
        return point + np.cross(rotation, point)
    angle = np.sqrt(square)
    axis = rotation / angle
    across = np.cross(axis, point)
    along = axis * np.dot(axis, point) * (1 - np.cos(angle))
    return point * np.cos(angle) + across * np.sin(angle) + along


def project(camera, point):
    seen = rotate(camera[:3], point - camera[3:6])
    flat = seen[:2] / seen[2]
    square = np.sum(flat**2)
    distorted = flat * (1 + camera[9] * square + camera[10] * square**2)
    return distorted * camera[6] + camera[7:9]


def error(camera, point, weight, feature):
    """Of one observation, two numbers."""
    return weight * (project(camera, point) - feature)


def weight_error(weight):
    return 1 - weight**2


def functions(accuracy: str) -> Functions:
    reprojection = symgrad(error, wrt=("camera", "point", "weight"), accuracy=accuracy)
    regular = symgrad(weight_error, accuracy=accuracy)

    def seen(cameras, points, weights, features, observed):
        return cameras[observed[:, 0]], points[observed[:, 1]], weights, features

    def objective(cameras, points, weights, features, observed):
        gathered = seen(cameras, points, weights, features, observed)
        return reprojection.map(*gathered), regular(weights)

    def jacobian(cameras, points, weights, features, observed):
        """Rows, columns and values of a matrix in compressed rows."""
        n, m, p = len(cameras), len(points), len(weights)
        gathered = seen(cameras, points, weights, features, observed)
        by_camera, by_point, by_weight = reprojection.jacobian.map(*gathered)
        values = np.empty(2 * BLOCK * p + p)
        blocks = values[: 2 * BLOCK * p].reshape(p, 2, BLOCK)
        blocks[:, :, :CAMERA] = by_camera
        blocks[:, :, CAMERA:-1] = by_point
        blocks[:, :, -1] = by_weight
        values[2 * BLOCK * p :] = regular.grad(weights)
        columns = np.empty(len(values), dtype=np.int32)
        places = columns[: 2 * BLOCK * p].reshape(p, 2, BLOCK)
        camera_columns = CAMERA * observed[:, 0, None] + np.arange(CAMERA)
        point_columns = CAMERA * n + 3 * observed[:, 1, None] + np.arange(3)
        last = CAMERA * n + 3 * m + np.arange(p)
        places[:, :, :CAMERA] = camera_columns[:, None, :]
        places[:, :, CAMERA:-1] = point_columns[:, None, :]
        places[:, :, -1] = last[:, None]
        columns[2 * BLOCK * p :] = last
        rows = np.concatenate(
            [np.arange(2 * p + 1) * BLOCK, 2 * BLOCK * p + np.arange(1, p + 1)], dtype=np.int32
        )
        return rows, columns, values

    return {"objective": objective, "jacobian": jacobian}


def output(name, result, given):
    if name == "objective":
        reprojection, weights = result
        return {
            "reproj_error": {"elements": reprojection[0].tolist(), "repeated": given["p"]},
            "w_err": {"element": float(weights[0]), "repeated": given["p"]},
        }
    short = (np.append(part[: 2 * BLOCK], part[-1]).tolist() for part in result)
    return dict(zip(("rows", "cols", "vals"), short, strict=True))


def prepare(given):
    n, m, p = given["n"], given["m"], given["p"]
    observed = np.stack([np.arange(p) % n, np.arange(p) % m], axis=1)
    repeated = [(given["cam"], n), (given["x"], m)]
    cameras, points = (np.tile(np.array(part, dtype=float), (k, 1)) for part, k in repeated)
    features = np.tile(np.array(given["feat"], dtype=float), (p, 1))
    return cameras, points, np.full(p, float(given["w"])), features, observed


def example(rng):
    return {
        "n": 2,
        "m": 3,
        "p": 5,
        "cam": rng.normal(size=CAMERA).tolist(),
        "x": rng.normal(loc=(0, 0, 5)).tolist(),
        "w": rng.normal(),
        "feat": rng.normal(size=2).tolist(),
    }


def sizes():
    cases = [(21, 11315, 36455), (49, 7776, 31843), (372, 47423, 204472)]
    one = example(np.random.default_rng(31337))
    return {f"n{n}_m{m}_p{p}": one | {"n": n, "m": m, "p": p} for n, m, p in cases}


EVAL = Eval(
    prepare=prepare,
    functions=functions,
    output=output,
    example=example,
    derivative="jacobian",
    sizes=sizes,
)
