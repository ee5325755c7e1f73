"""Functions that the source of a program with arrays and loops calls, by their names."""

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
    "_dft": '''@njit(error_model="numpy", cache=True)
def _dft_of_power(z, roots):
    """The transform of 2**k numbers (Stockham's)."""
    n, stride = z.size, 1
    other = np.empty_like(z)
    while stride < n:
        half = n//(2*stride)
        for p in range(half):
            root = roots[p*stride]
            for q in range(stride):
                a, b = z[q + stride*p], z[q + stride*(p + half)]
                other[q + stride*2*p] = a + b
                other[q + stride*(2*p + 1)] = (a - b)*root
        z, other = other, z
        stride *= 2
    return z


@njit(error_model="numpy", cache=True)
def _dft(re, im, axis):
    """The discrete Fourier transform along an axis, as a convolution (Bluestein's)."""
    n = re.shape[axis]
    if n == 0:
        raise ValueError("a transform of no numbers")
    m = 1
    while m < n:
        m *= 2
    power = m == n
    if not power:
        m *= 2
    roots = np.exp(-2j*np.pi*np.arange(m)/m)
    k = np.arange(n)
    chirp = np.exp(-1j*np.pi*(k*k % (2*n))/n)
    wave = np.zeros(m, np.complex128)
    if not power:
        wave[:n] = np.conj(chirp)
        wave[m-n+1:] = np.conj(chirp[:0:-1])
        wave = _dft_of_power(wave, roots)
    real, imag = np.swapaxes(re, axis, -1).copy(), np.swapaxes(im, axis, -1).copy()
    reals, imags = real.reshape((re.size//n, n)), imag.reshape((re.size//n, n))
    for row in range(reals.shape[0]):
        z = np.zeros(m, np.complex128)
        for i in range(n):
            z[i] = complex(reals[row, i], imags[row, i])*(1.0 if power else chirp[i])
        z = _dft_of_power(z, roots)
        if not power:
            z = np.conj(_dft_of_power(np.conj(z*wave), roots))[:n]*chirp/m
        reals[row], imags[row] = z.real, z.imag
    return np.swapaxes(real, axis, -1).copy(), np.swapaxes(imag, axis, -1).copy()
''',
    "_first_half": '''@njit(error_model="numpy", cache=True)
def _first_half(z, axis):
    """The elements of a transform of real numbers that determine the others."""
    half = z[0].shape[axis]//2 + 1
    real, imag = np.swapaxes(z[0], axis, -1)[..., :half], np.swapaxes(z[1], axis, -1)[..., :half]
    return np.swapaxes(real, axis, -1).copy(), np.swapaxes(imag, axis, -1).copy()
''',
    "_padded": '''@njit(error_model="numpy", cache=True)
def _padded(a, n, axis):
    """The array with zeros at the end of an axis, which has n elements then."""
    given = np.swapaxes(a, axis, -1)
    found = np.zeros((*given.shape[:-1], n), a.dtype)
    found[..., :given.shape[-1]] = given
    return np.swapaxes(found, axis, -1).copy()
''',
}  # fmt: skip
"""Functions that a source may call."""
