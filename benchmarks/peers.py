"""What symdiff is timed beside: C compiled by gcc, and JAX in an interpreter that has it.

`SYMDIFF_JAX_PYTHON` names that interpreter; by default it is this one. Peers that are not
installed are left out.
"""

from __future__ import annotations

import ctypes
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from timing import Clock
from workloads import Workload

Arrays = Sequence[np.ndarray]

FLAGS = ("-O3", "-march=native", "-ffast-math", "-fopenmp-simd")
_VECTOR = ("sin", "cos", "exp", "log", "erf")


# ------------------------------------------------------------------------------ C
def source(work: Workload) -> str:
    """The loop over arrays. gcc joins a sine and a cosine of the same argument in one call
    that it cannot vectorise, so libm's functions are declared under other names."""
    outs = [f"o{k}" for k in range(work.results)]
    arguments = [f"const double *restrict p_{v}" for v in work.params]
    arguments += [f"double *restrict p_{v}" for v in outs]
    reads = "".join(f"double {v} = p_{v}[i_]; " for v in work.params)
    writes = "".join(f"p_{v}[i_] = {v}; " for v in outs)
    declared = "".join(
        f'double v_{f}(double) __asm__("{f}") __attribute__((const, simd("notinbranch")));\n'
        f"#define {f} v_{f}\n"
        for f in _VECTOR
    )
    return (
        f"#include <math.h>\n{declared}void kernel(long n_, {', '.join(arguments)}) {{\n"
        f"#pragma omp simd\nfor (long i_ = 0; i_ < n_; i_++) {{\n"
        f"{reads}double {', '.join(outs)};\n{work.c}\n{writes}}}}}\n"
    )


TRIAD = """void kernel(long n, const double *restrict a, const double *restrict b,
double *restrict c) { for (long i = 0; i < n; i++) c[i] = a[i] + 3.0*b[i]; }
"""


def called(function: Any, arrays: Arrays, out: Arrays, times: int = 1) -> None:
    """Call a C kernel, several times in a row with arguments that are converted once."""
    size = ctypes.c_long(arrays[0].size)
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*arrays, *out)]
    for _ in range(times):
        function(size, *pointers)


def gcc(text: str, folder: Path, *flags: str) -> tuple[Callable[..., Any], str] | None:
    """`kernel(arrays, out)` of a C text with a `kernel`, and its assembly; None without gcc.

    Linked apart, without -ffast-math: else loading the library would make this process take
    all subnormals for 0."""
    if shutil.which("gcc") is None:
        return None
    folder = Path(tempfile.mkdtemp(dir=folder))
    (folder / "kernel.c").write_text(text)
    for command in (
        ["gcc", *(flags or FLAGS), "-fPIC", "-save-temps", "-c", "kernel.c"],
        ["gcc", "-shared", "-o", "kernel.so", "kernel.o", "-lmvec", "-lm"],
    ):
        subprocess.run(command, cwd=folder, check=True)
    function = ctypes.CDLL(str(folder / "kernel.so")).kernel
    return functools.partial(called, function), next(folder.glob("*kernel.s")).read_text()


_PACKED = re.compile(r"^\s+v?(?:add|sub|mul|div|sqrt|max|min|fn?m(?:add|sub)\w*)pd\b", re.M)
_ALONE = re.compile(r"^\s+v?(?:add|sub|mul|div|sqrt|max|min|fn?m(?:add|sub)\w*)sd\b", re.M)


def packed(assembly: str) -> tuple[int, int]:
    """How many arithmetic instructions of an x86 assembly text work on registers full of
    doubles, and how many on one."""
    return len(_PACKED.findall(assembly)), len(_ALONE.findall(assembly))


# ---------------------------------------------------------------------------- JAX
class Jax:
    """A process that runs `jaxworker.py`, on one thread, one request at a time."""

    def __init__(self, process: subprocess.Popen[str], version: str) -> None:
        self.process, self.version = process, version

    @classmethod
    def start(cls) -> Jax | None:
        """The process; None where there is no JAX."""
        python = os.environ.get("SYMDIFF_JAX_PYTHON", sys.executable)
        worker = Path(__file__).with_name("jaxworker.py")
        try:
            process = subprocess.Popen(
                [python, str(worker)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, text=True,
            )  # fmt: skip
        except OSError:
            return None
        assert process.stdout is not None
        version = process.stdout.readline().strip()
        return cls(process, version) if version else None

    def ask(self, **request: Any) -> Any:
        """What the worker answers; see its docstring."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the JAX process ended at {request}")
        return json.loads(line)

    def clock(self, repeat: int = 1) -> Clock:
        return lambda: float(self.ask(do="run", repeat=repeat))

    def stop(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(timeout=30)
