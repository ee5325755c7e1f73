"""Tracking of a hand: the Jacobian of the distances between measured points and those of a posed model.

The model has vertices that follow its bones with given weights. theta has the rotation of the hand (angle times
axis), its translation and four angles for each finger. Where a point may lie anywhere in its triangle, two numbers
`us` say where, and the Jacobian begins with a column for each of them, as a point depends on its own only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.gradbench.evals import Eval, Functions, listed
from symdiff import symgrad

FINGERS = 5
MODEL = ("parents", "base_relatives", "inverse_base_absolutes", "base_positions", "weights")


def turned(angle_axis):
    """The matrix of a rotation, by Rodrigues' formula."""
    angle = np.sqrt(np.sum(angle_axis**2))
    if angle < 1e-4:
        return np.eye(3)
    x, y, z = angle_axis / angle
    across = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * across + (1 - np.cos(angle)) * across @ across


def euler(x, z, y):
    about_x = np.array([[1, 0, 0], [0, np.cos(x), -np.sin(x)], [0, np.sin(x), np.cos(x)]])
    about_y = np.array([[np.cos(y), 0, np.sin(y)], [0, 1, 0], [-np.sin(y), 0, np.cos(y)]])
    about_z = np.array([[np.cos(z), -np.sin(z), 0], [np.sin(z), np.cos(z), 0], [0, 0, 1]])
    return about_z @ about_y @ about_x


def vertices(theta, parents, relatives, inverses, base, weights, mirrored):
    """The vertices of the posed model, shape (v, 3). parents has shape (b,), relatives and inverses (b, 4, 4)."""
    bones = len(parents)
    angles = np.zeros((bones, 3))
    for finger in range(FINGERS):
        first, given = 2 + 4 * finger, 6 + 4 * finger
        angles[first, :2] = theta[given : given + 2]
        angles[first + 1, 0] = theta[given + 2]
        angles[first + 2, 0] = theta[given + 3]
    placed = np.zeros((bones, 4, 4))
    positions = np.zeros((len(base), 3))
    for i in range(bones):
        turn = np.eye(4)
        turn[:3, :3] = euler(angles[i, 0], angles[i, 1], angles[i, 2])
        relative = relatives[i] @ turn
        placed[i] = relative if parents[i] == -1 else placed[parents[i]] @ relative
        moved = base @ (placed[i] @ inverses[i]).T
        positions = positions + weights[:, i, None] * moved[:, :3]
    if mirrored:
        positions = positions * np.array([-1.0, 1.0, 1.0])
    return positions @ turned(theta[:3]).T + theta[3:6]


def simple(theta, correspondences, points, *model):
    """points has shape (p, 3); the result as well."""
    return points - vertices(theta, *model)[correspondences]


def complicated(theta, us, corners, points, *model):
    """corners has shape (p, 3): the vertices of each point's triangle."""
    posed = vertices(theta, *model)
    u, v = us[:, :1], us[:, 1:]
    inside = (
        u * posed[corners[:, 0]] + v * posed[corners[:, 1]] + (1 - u - v) * posed[corners[:, 2]]
    )
    return points - inside


def functions(accuracy: str) -> Functions:
    options: dict[str, Any] = {"static": "mirrored", "accuracy": accuracy}

    @symgrad(wrt="theta", **options)
    def to_vertices(
        theta, correspondences, points, parents, relatives, inverses, base, weights, mirrored
    ):
        model = parents, relatives, inverses, base, weights, mirrored
        return simple(theta, correspondences, points, *model)

    @symgrad(wrt="theta", **options)
    def to_triangles(
        theta, us, corners, points, parents, relatives, inverses, base, weights, mirrored
    ):
        model = parents, relatives, inverses, base, weights, mirrored
        return complicated(theta, us, corners, points, *model)

    within = symgrad(to_triangles.__wrapped__, wrt="us", **options)

    def objective(theta, us, *rest):
        return to_vertices(theta, *rest) if us is None else to_triangles(theta, us, *rest)

    def jacobian(theta, us, *rest):
        """Shape (p, 3, n): by us, where there are any, and theta."""
        if us is None:
            return to_vertices.jacobian(theta, *rest)
        directions = (np.zeros(us.shape) for _ in range(2))
        columns = []
        for k, direction in enumerate(directions):
            direction[:, k] = 1.0
            columns.append(within.jvp((theta, us, *rest), (direction,))[1][:, :, None])
        return np.concatenate([*columns, to_triangles.jacobian(theta, us, *rest)], axis=2)

    return {"objective": objective, "jacobian": jacobian}


def prepare(given):
    data, model = given["data"], given["data"]["model"]
    where = np.array(data["correspondences"])
    us = np.array(given["us"], dtype=float) if len(given["us"]) else None
    if us is not None:
        where = np.array(model["triangles"])[where]
    arrays = [np.array(model[key]) for key in MODEL]
    points = np.array(data["points"], dtype=float)
    return np.array(given["theta"], dtype=float), us, where, points, *arrays, model["is_mirrored"]


def output(name, result, given):
    if name == "objective":
        return listed(name, np.ravel(result), given)
    return listed(name, result.reshape(-1, result.shape[-1]), given)


def given(rng, bones, vertices, points, inside):
    """A model of random bones, with the inputs that the description says."""
    transforms = np.zeros((2, bones, 4, 4))
    transforms[:, :, :3] = rng.normal(size=(2, bones, 3, 4))
    transforms[:, :, 3, 3] = 1
    base = np.ones((vertices, 4))
    base[:, :3] = rng.normal(size=(vertices, 3))
    weights = rng.random((vertices, bones)) * (rng.random((vertices, bones)) < 0.3)
    triangles = rng.integers(0, vertices, size=(vertices, 3))
    model = {
        "bone_count": bones,
        "bone_names": [str(i) for i in range(bones)],
        "parents": [-1, *(int(rng.integers(0, i)) for i in range(1, bones))],
        "base_relatives": (transforms[0] / 2).tolist(),
        "inverse_base_absolutes": (transforms[1] / 2).tolist(),
        "base_positions": base.tolist(),
        "weights": weights.tolist(),
        "triangles": triangles.tolist(),
        "is_mirrored": False,
    }
    return {
        "theta": rng.normal(size=6 + 4 * FINGERS).tolist(),
        "data": {
            "model": model,
            "correspondences": rng.integers(0, vertices, size=points).tolist(),
            "points": rng.normal(size=(points, 3)).tolist(),
        },
        "us": rng.random((points, 2)).tolist() if inside else [],
    }


def sizes():
    rng = np.random.default_rng(31337)
    cases = {"simple, 544 vertices, 100 points": (544, 100, False),
             "complicated, 544 vertices, 100 points": (544, 100, True),
             "complicated, 544 vertices, 1600 points": (544, 1600, True)}  # fmt: skip
    return {name: given(rng, 22, *case) for name, case in cases.items()}


EVAL = Eval(
    prepare=prepare,
    functions=functions,
    output=output,
    example=lambda rng: given(rng, 22, 4, 3, True),
    derivative="jacobian",
    sizes=sizes,
)
