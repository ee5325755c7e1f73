"""From a call of a module's function to its results, as text of modules.

Before:  `f_grad(x, y)`, and the functions of its kernel
After:   def _evaluate(parts, count, *args, slopes=()): ...
"""

from __future__ import annotations

CALLS: dict[str, tuple[str, tuple[str, ...]]] = {
    "_at": (
        '''def _at(parts, point, slopes):
    """The results for numbers."""
    kernel, _, repaired, _, demands = parts
    values, flagged = kernel(*point, slopes)
    if flagged:
        _refuse(demands, point)
        values = values if repaired is None else repaired(*map(float, point), slopes)
    return values
''',
        ("_refuse",),
    ),
    "_refuse": (
        '''def _refuse(demands, point):
    """Refuse arguments that are not what they must be."""
    broken, names, texts = demands or (lambda *point: 0, (), ())
    found = broken(*point)
    if found:
        values = ", ".join(f"{n} = {float(p)!r}" for n, p in zip(names, point))
        raise ValueError(f"{texts[found - 1]}, for {values}")
''',
        (),
    ),
    "_evaluate": (
        '''def _evaluate(parts, count, *args, slopes=(), single=False):
    """The results of a kernel for numbers, or element by element for arrays."""
    loop, real = parts[1], np.float32 if single else float
    if all(type(a) in (float, int) for a in args):
        return [float(v) for v in _at(parts, [real(a) for a in args], slopes)]
    args = [a if type(a) in (float, int) else np.asarray(a) for a in args]
    kind = np.result_type(*args)
    if kind.kind not in "fiub":
        raise TypeError(f"arguments must be real numbers, not {kind}")
    result = np.dtype(np.float32 if single else kind if kind.kind == "f" else np.float64)
    work = np.dtype(np.float32 if result.itemsize <= 4 else np.float64)
    shape = np.broadcast_shapes(*(np.shape(a) for a in args))
    if shape == ():
        return [result.type(v) for v in _at(parts, [real(a) for a in args], slopes)]
    flat = [np.ascontiguousarray(np.broadcast_to(a, shape), work).reshape(-1) for a in args]
    size = flat[0].size
    out, flagged = np.empty((count, size), work), np.empty(size, np.bool_)

    def task(s):
        loop(*(a[s] for a in flat), tuple(o[s] for o in out), flagged[s], slopes)

    _in_threads(size, 1 << 15, task)
    _again(parts, flat, out, np.flatnonzero(flagged), slopes)
    return [o.reshape(shape).astype(result, copy=False) for o in out]
''',
        ("_at", "_in_threads", "_again"),
    ),
    "_in_threads": (
        '''def _in_threads(size, least, task):
    """Call a task for all elements, or for parts of at least so many, each in a thread."""
    count = max(1, min(get_num_threads(), size // least))
    ends = [size * k // count for k in range(count + 1)]
    parts = [slice(a, b) for a, b in zip(ends[:-1], ends[1:])]
    if count == 1:
        task(parts[0])
        return
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(task, parts))
''',
        (),
    ),
    "_again": (
        '''def _again(parts, flat, out, at, slopes):
    """Compute the elements of arrays that are flagged, which are at these places, again."""
    again, demands = parts[3:]
    points = [a[at].astype(np.float64) for a in flat]
    for point in zip(*points) if demands else ():
        _refuse(demands, point)
    if again is not None and at.size:
        found = np.empty((len(out), at.size))

        def task(s):
            again(*(p[s] for p in points), tuple(f[s] for f in found), slopes)

        _in_threads(at.size, 1 << 10, task)
        out[:, at] = found
''',
        ("_refuse", "_in_threads"),
    ),
    "_stack": (
        '''def _stack(values, shape):
    """Results as one array with the leading axes of `shape`."""
    return np.stack(np.broadcast_arrays(*values)).reshape(shape + np.shape(values[0]))
''',
        (),
    ),
    "_check_fixed": (
        '''def _check_fixed(text, value, known):
    """A parameter that has one value in this module."""
    value = value.item() if isinstance(value, np.generic) else value
    if type(value) is not type(known) or repr(value) != repr(known):
        raise ValueError(f"{text} (given: {value!r})")
''',
        (),
    ),
    "_only_numbers": (
        '''def _only_numbers(*args):
    """Compiled functions call those of this module with numbers alone."""
    if any(hasattr(a, "ndim") for a in args):
        raise TypingError("arguments are numbers here: call it in a loop over the elements")
''',
        (),
    ),
}
"""The text of each function, and which others it calls."""

__all__ = ["CALLS"]
