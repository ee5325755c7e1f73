"""The part of a standalone module of functions with arrays that computes on CUDA devices.

For each function kernels in Numba-CUDA Python, and a function that launches them. What these
functions share is a class of the module.
"""

from __future__ import annotations

from collections.abc import Sequence

from symdiff.codegen.cuda.loops.plan import plan
from symdiff.codegen.cuda.loops.steps import FULL, PARTS, STATUS, THREADS
from symdiff.codegen.llvm.loops.kernel import lowered
from symdiff.codegen.source.modules.cuda.host import Host, tapes
from symdiff.codegen.source.modules.cuda.kernels import NumbaPython
from symdiff.codegen.source.modules.cuda.scalar import cuda_header, cuda_name
from symdiff.ir.loop_program import LoopProgram


def cuda_array_parts(
    functions: Sequence[tuple[str, LoopProgram, str, str]], dtype: str, taken: Sequence[str]
) -> list[str]:
    """The texts of the part.

    Parameters
    ----------
    functions : the name of each function, its program in the form that is emitted, the summary
        of its docstring, and how its results nest as an expression of the flat list `r`.
    dtype : "float64" or "float32".
    taken : further names of the module.

    Raises
    ------
    UnsupportedError : for what cannot be written as Numba Python.
    """
    used: dict[str, str] = {}
    texts: list[str] = []
    uses_tapes = False
    for full, program, summary, results in functions:
        language = NumbaPython(dtype)
        made = lowered(program, "fast")
        found = plan(made, language, f"_{cuda_name(full)}")
        uses_tapes |= bool(tapes(found.steps))
        host = Host(made, found, language, taken)
        texts += [found.text, host.function(cuda_name(full), summary, results)]
        used |= language.used
    parts = [cuda_header(used)]
    parts += [_DEVICE.format(status=STATUS, full=FULL, threads=THREADS, parts=PARTS)]
    return [*parts, *([_TAPE] if uses_tapes else []), *texts]


_DEVICE = '''
class _Device:
    """One call on a device: what it keeps there, and how kernels are started."""

    NONE = 2**31 - 1  # no check has failed

    def __init__(self, stream, real, words, checks, *args):
        if cuda is None or not cuda.is_available():
            reason = _NO_CUDA if cuda is None else str(cuda.cuda_error()).strip()
            raise RuntimeError(f"there is no CUDA device that Numba can use: {{reason}}")
        self.stream, self.checks = stream, checks
        self.there = any(map(self.lies_there, args))
        counts = np.zeros(words, np.int64)
        counts[{status}] = self.NONE
        self.numbers = cuda.to_device(np.zeros(words, real), stream)
        self.counts = cuda.to_device(counts, stream)

    @staticmethod
    def lies_there(a):
        return hasattr(a, "__cuda_array_interface__") or hasattr(a, "__cuda_ndarray__")

    def given(self, name, a, kind, rank):
        """The elements of an argument, row by row, and its shape."""
        if self.lies_there(a):
            a = cuda.as_cuda_array(a) if hasattr(a, "__cuda_array_interface__") else a
            if a.dtype != kind or not a.is_c_contiguous():
                raise ValueError(f"arrays on a device must be contiguous, of {{np.dtype(kind)}}")
        else:
            a = np.asarray(a, kind, order="C")
        _check_axes(name, a.shape, rank)
        if not a.size:
            return self.empty(0, kind), a.shape
        if isinstance(a, np.ndarray):
            return cuda.to_device(a.reshape(-1), self.stream), a.shape
        return a.reshape(a.size), a.shape

    def empty(self, size, kind):
        """Memory for elements, at least one: what is read of an empty array does not count."""
        return cuda.device_array(max(1, size), kind, stream=self.stream)

    def copy(self, a):
        made = self.empty(a.size, a.dtype)
        made.copy_to_device(a, stream=self.stream)
        return made

    def host(self, a, shape):
        """A copy on the host."""
        return a.copy_to_host(stream=self.stream)[: math.prod(shape)].reshape(shape)

    def put(self, a, kind):
        """A copy of an array of the host."""
        return self.empty(0, kind) if not np.size(a) else cuda.to_device(np.asarray(a, kind, order="C").reshape(-1), self.stream)

    def launch(self, kernel, total, *args):
        """Start a kernel with a thread for each of so many elements, or for several."""
        threads = min({threads}, -(-total // 32)*32)
        if total:
            self.start(kernel, min(-(-total // threads), 4096), threads, args)

    def single(self, kernel, *args):
        """Start a kernel with one thread."""
        self.start(kernel, 1, 1, args)

    def collect(self, kernel, total, *args):
        """Start a kernel whose blocks add up what their threads have; how many there are."""
        blocks = min(-(-total // {threads}), {parts})
        if total:
            self.start(kernel, blocks, {threads}, args)
        return blocks

    def total(self, kernel, *args):
        """Start the one block that adds up what blocks have."""
        self.start(kernel, 1, {threads}, args)

    def start(self, kernel, blocks, threads, args):
        each = sum(a[0] for a in args if isinstance(a, tuple))  # memory of each thread
        while blocks > 1 and blocks*threads*each > 2**25:
            blocks //= 2
        args = [self.empty(blocks*threads*a[0], a[1]) if isinstance(a, tuple) else a for a in args]
        kernel[blocks, threads, self.stream](*args)

    def check(self):
        """Raise the error of the first check that has failed."""
        failed = int(self.counts.copy_to_host(stream=self.stream)[{status}])
        if failed != self.NONE:
            error, message = self.checks[failed - 1]
            raise error(message)

    def count(self, word):
        """An integer that a kernel has computed."""
        self.check()
        return int(self.counts.copy_to_host(stream=self.stream)[word])

    def number(self, word):
        """A real number that a kernel has computed."""
        return self.numbers.copy_to_host(stream=self.stream)[word]

    def store(self, words, word, value):
        words[word : word + 1].copy_to_device(np.array([value], words.dtype), stream=self.stream)

    def is_full(self):
        """Whether a tape was too short; then that is not so any more."""
        full = bool(self.count({full}))
        if full:
            self.store(self.counts, {full}, 0)
        return full

    def result(self, a, shape, kind=None):
        """An array as it is returned: on the device if an argument is, else on the host."""
        found = (a if self.there else a.copy_to_host(stream=self.stream))[: math.prod(shape)]
        return (found if kind is None else found.view(kind)).reshape(shape)
'''.lstrip("\n")

_TAPE = '''
class _Tape:
    """Values for the reverse of loops."""

    def __init__(self, device, kind):
        self.device, self.kind = device, kind
        self.data, self.used, self.room = device.empty(0, kind), 0, 0

    def reserve(self, more):
        """Make room for more."""
        if self.used + more > self.room:
            self.room = max(self.used + more, 2*self.room)
            longer = self.device.empty(self.room, self.kind)
            if self.used:
                kept = self.data[: self.used]
                longer[: self.used].copy_to_device(kept, stream=self.device.stream)
            self.data = longer

    def push(self, a, size):
        """Put an array on the end."""
        self.reserve(size)
        if size:
            place = self.data[self.used : self.used + size]
            place.copy_to_device(a, stream=self.device.stream)
        self.used += size

    def pop(self, size):
        """Take an array off the end."""
        self.used -= size
        return self.data[self.used : self.used + size] if size else self.device.empty(0, self.kind)
'''.lstrip("\n")

__all__ = ["cuda_array_parts"]
