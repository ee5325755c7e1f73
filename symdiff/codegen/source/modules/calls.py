"""From a call of a module's function to its results, as text of modules.

Before:  `f_grad(x, y)`, and the functions of its kernel
After:   def _evaluate(parts, count, *args, slopes=()): ...
"""

from __future__ import annotations

STACK = '''
def _stack(values, shape):
    """Results as one array with the leading axes of `shape`."""
    return np.stack(np.broadcast_arrays(*values)).reshape(shape + np.shape(values[0]))
'''.lstrip("\n")

_NUMBERS = '''
def _at(parts, point, slopes):
    """The results for numbers."""
    kernel, _, repaired, *_ = parts
    values, flagged = kernel(*point, slopes)
    if flagged:
{demand}        values = values if repaired is None else repaired(*map(float, point), slopes)
    return values


def _evaluate(parts, count, *args, slopes=()):
    """The results of a kernel for numbers, or element by element for arrays."""
    _, loop, _, again, *_ = parts
    if all(type(a) in (float, int) for a in args):
        return [float(v) for v in _at(parts, [{scalar}(a) for a in args], slopes)]
    args = [a if type(a) in (float, int) else np.asarray(a) for a in args]
    kind = np.result_type(*args)
    if kind.kind not in "fiub":
        raise TypeError(f"arguments must be real numbers, not {{kind}}")
    result = {result}
    work = {work}
    shape = np.broadcast_shapes(*(np.shape(a) for a in args))
    if shape == ():
        return [result.type(v) for v in _at(parts, [{scalar}(a) for a in args], slopes)]
    flat = [np.ascontiguousarray(np.broadcast_to(a, shape), work).reshape(-1) for a in args]
    size = flat[0].size
    out, flagged = np.empty((count, size), work), np.empty(size, np.bool_)
    _in_threads(size, 1 << 15, lambda a, b: loop(*flat, out, flagged, a, b, slopes))
    _again(parts, flat, out, np.flatnonzero(flagged), slopes)
    return [o.reshape(shape).astype(result, copy=False) for o in out]


def _in_threads(size, least, task):
    """Call a task for all elements, or for parts of at least so many, each in a thread."""
    count = max(1, min(get_num_threads(), size // least))
    ends = [size * k // count for k in range(count + 1)]
    if count == 1:
        task(0, size)
        return
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(task, ends[:-1], ends[1:]))


def _again(parts, flat, out, at, slopes):
    """Compute the elements of arrays that are flagged, which are at these places, again."""
    again, points = parts[3], [a[at].astype(np.float64) for a in flat]
{demands}    if again is not None and at.size:
        found = np.empty((len(out), at.size))
        _in_threads(at.size, 1 << 10, lambda a, b: again(*points, found, a, b, slopes))
        out[:, at] = found
'''.lstrip("\n")
_DEMAND = "        _refuse(parts, point)\n"
_DEMANDS = "    for point in zip(*points):\n        _refuse(parts, point)\n"
_REFUSE = '''

def _refuse(parts, point):
    """Refuse arguments that are not what they must be."""
    broken, names, texts = parts[4]
    found = broken(*point)
    if found:
        values = ", ".join(f"{n} = {float(p)!r}" for n, p in zip(names, point))
        raise ValueError(f"{texts[found - 1]}, for {values}")
'''


def calls(dtype: str, demands: bool) -> str:
    """The functions between public functions and kernels; with `demands`, arguments may be refused."""
    if dtype == "float32":
        scalar, work = "np.float32", "np.dtype(np.float32)"
        result = "np.dtype(np.float32)"
    else:
        scalar, work = "float", "np.dtype(np.float32 if result.itemsize <= 4 else np.float64)"
        result = 'kind if kind.kind == "f" else np.dtype(np.float64)'
    text = _NUMBERS.format(
        scalar=scalar, work=work, result=result,
        demand=_DEMAND if demands else "", demands=_DEMANDS if demands else "",
    )  # fmt: skip
    return text + (_REFUSE if demands else "")


__all__ = ["STACK", "calls"]
