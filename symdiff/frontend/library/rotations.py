"""Rotations of `scipy.spatial.transform` that are made where a function is traced: a class that is traced
like a user's, in place of SciPy's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

ArrayLike = Any


def _product(p: ArrayLike, q: ArrayLike) -> Any:
    """Of two quaternions, with the real part last."""
    v = p[3] * q[:3] + q[3] * p[:3] + np.cross(p[:3], q[:3])
    return np.concatenate([v, np.array([p[3] * q[3] - np.sum(p[:3] * q[:3])])])


class Rotation:
    """One rotation, by its quaternion of length 1 with the real part last."""

    def __init__(self, quat: ArrayLike) -> None:
        self._quaternion = quat

    @classmethod
    def identity(cls) -> Any:
        return cls(np.array([0.0, 0.0, 0.0, 1.0]))

    @classmethod
    def from_quat(cls, quat: ArrayLike, *, scalar_first: bool = False) -> Any:
        q = np.asarray(quat) * 1.0
        if np.ndim(q) != 1:
            raise TypeError("rotations are made one by one here: of arrays of one axis")
        q = np.roll(q, -1) if scalar_first else q
        return cls(q / np.sqrt(np.sum(q * q)))

    @classmethod
    def from_rotvec(cls, rotvec: ArrayLike, degrees: bool = False) -> Any:
        r = np.asarray(rotvec) * 1.0
        if np.ndim(r) != 1:
            raise TypeError("rotations are made one by one here: of arrays of one axis")
        r = r * (math.pi / 180) if degrees else r
        angle = np.sqrt(np.sum(r * r))
        return cls(np.concatenate([r * (np.sin(angle / 2) / angle), np.array([np.cos(angle / 2)])]))

    @classmethod
    def from_euler(cls, seq: str, angles: Any, degrees: bool = False) -> Any:
        if np.ndim(angles) != (0 if len(seq) == 1 else 1):
            raise TypeError("rotations are made one by one here: one angle for each axis")
        found = np.array([0.0, 0.0, 0.0, 1.0])
        for k in range(len(seq)):
            half = (angles if len(seq) == 1 else angles[k]) / 2
            half = half * (math.pi / 180) if degrees else half
            axis = np.eye(4)["xyz".find(seq[k].lower())]
            part = np.sin(half) * axis + np.cos(half) * np.eye(4)[3]
            found = _product(found, part) if seq == seq.upper() else _product(part, found)
        return cls(found)

    def as_quat(self, canonical: bool = False, *, scalar_first: bool = False) -> Any:
        q = self._quaternion
        if canonical:
            raise TypeError("canonical quaternions are not supported")
        return np.roll(q, 1) if scalar_first else q

    def as_matrix(self) -> Any:
        x, y, z, w = self._quaternion
        return np.array([
            [x * x - y * y - z * z + w * w, 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), -x * x + y * y - z * z + w * w, 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), -x * x - y * y + z * z + w * w],
        ])  # fmt: skip

    def as_rotvec(self, degrees: bool = False) -> Any:
        q = self._quaternion
        q = np.where(q[3] < 0, -q, q)
        size = np.sqrt(np.sum(q[:3] * q[:3]))
        found = q[:3] * (2 * np.arctan2(size, q[3]) / size)
        return found * (180 / math.pi) if degrees else found

    def magnitude(self) -> Any:
        q = self._quaternion
        return 2 * np.arctan2(np.sqrt(np.sum(q[:3] * q[:3])), np.abs(q[3]))

    def apply(self, vectors: ArrayLike, inverse: bool = False) -> Any:
        matrix = self.as_matrix()
        return np.asarray(vectors) @ (matrix if inverse else matrix.T)

    def inv(self) -> Any:
        return Rotation(self._quaternion * np.array([-1.0, -1.0, -1.0, 1.0]))

    def __mul__(self, other: Any) -> Any:
        return Rotation(_product(self._quaternion, other._quaternion))


CLASSES: dict[str, type] = {"scipy.spatial.transform.Rotation": Rotation}
"""By the dotted name of the class that each stands for."""
