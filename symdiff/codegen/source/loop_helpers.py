"""Functions that the Numba Python of loops calls, by name."""

from __future__ import annotations

HELPERS = {
    "_at": '''@njit(error_model="numpy", cache=True)
def _at(i, n):
    """An index moved into an axis of n elements; what is read there does not count."""
    return max(0, min(i, n - 1))
''',
    "_room": '''@njit(error_model="numpy", cache=True)
def _room(tape, needed):
    """The tape, longer if it must be."""
    if needed <= tape.size:
        return tape
    longer = np.empty(max(needed, 2*tape.size), tape.dtype)
    longer[:tape.size] = tape
    return longer
''',
    "_argsort_rows": '''@njit(error_model="numpy", cache=True)
def _argsort_rows(a):
    """The indices that sort along the last axis."""
    n = a.shape[-1]
    rows = np.ascontiguousarray(a).reshape((a.size // max(1, n), n))
    order = np.empty(rows.shape, np.int64)
    for i in range(rows.shape[0]):
        order[i] = np.argsort(rows[i], kind="mergesort")
    return order.reshape(a.shape)
''',
    "_cofactors": '''@njit(error_model="numpy", cache=True)
def _cofactors(a):
    """The cofactors: signed determinants without a row and a column."""
    if a.size == 0:
        return a.copy()
    u, sizes, v = np.linalg.svd(a)
    others = np.ones_like(sizes)
    for i in range(sizes.size):
        for j in range(sizes.size):
            if j != i:
                others[i] *= sizes[j]
    if np.linalg.det(u)*np.linalg.det(v) < 0:
        others = -others
    return np.dot(np.ascontiguousarray(u*others), v)
''',
    "_cofactor_slopes": '''@njit(error_model="numpy", cache=True)
def _cofactor_slopes(a, d):
    """The derivative of the cofactors of a along d."""
    if a.size == 0:
        return a.copy()
    u, sizes, v = np.linalg.svd(a)
    along = np.dot(np.dot(np.ascontiguousarray(u.T), np.ascontiguousarray(d)), np.ascontiguousarray(v.T))
    inner = np.zeros_like(along)
    for i in range(sizes.size):
        for j in range(sizes.size):
            if j != i:
                others = 1.0
                for k in range(sizes.size):
                    if k != i and k != j:
                        others *= sizes[k]
                inner[i, j] = -others*along[j, i]
                inner[i, i] += others*along[j, j]
    if np.linalg.det(u)*np.linalg.det(v) < 0:
        inner = -inner
    return np.dot(np.dot(u, inner), v)
''',
}  # fmt: skip
"""Functions that a source may call."""

__all__ = ["HELPERS"]
