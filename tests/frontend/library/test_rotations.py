"""Rotations that are made of traced numbers, one or several: SciPy's values, slopes as differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from symdiff import symgrad
from tests.frontend.differences import check

V = np.array([0.1, 0.4, 0.2, 0.9, 0.3, 0.7])
W = np.arange(9.0).reshape(3, 3)

CASES: dict[str, Any] = {
    "vectors": lambda v: np.sum(Rotation.from_rotvec(v.reshape(2, 3)).apply([1.0, 2, 3]) ** 3),
    "to_rows": lambda v: np.sum(Rotation.from_rotvec(v[:3]).apply(W, inverse=True) ** 3),
    "products": lambda v: np.sum(
        (Rotation.from_euler("xyz", v.reshape(2, 3)) * Rotation.from_rotvec(v[:3])).as_quat(
            scalar_first=True, canonical=True
        )
        * np.arange(4.0)
    ),
    "stack": lambda v: np.sum(Rotation.from_euler("z", v[:, None]).as_matrix() * W),
    "angles": lambda v: np.sum(Rotation.from_euler("ZXZ", v.reshape(2, 3)).magnitude() ** 2),
    "back": lambda v: np.sum(Rotation.from_quat(v[:4] - 1.0).as_rotvec(degrees=True) * v[:3]),
    "scalar_first": lambda v: np.sum(
        Rotation.from_quat(v[:4], scalar_first=True).inv().as_matrix() * W
    ),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", CASES)
def test_values_and_slopes(name: str) -> None:
    check(CASES[name], V)


@pytest.mark.slow
def test_vector_of_no_rotation() -> None:
    """To a vector and back at 0: the identity, whose slopes are those of the unit matrix."""
    g = symgrad(lambda r: Rotation.from_rotvec(r).as_rotvec())
    assert g(np.zeros(3)) == pytest.approx(np.zeros(3), abs=1e-15)
    assert g.jacobian(np.array([0.0, 1e-9, 0.0])) == pytest.approx(np.eye(3), abs=1e-8)
