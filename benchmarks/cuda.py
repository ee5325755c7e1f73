"""Elementwise derivatives on a CUDA device, beside JAX, PyTorch and kernels by hand.

    python benchmarks/cuda.py [--size 100000000] [--dtype float64,float32] [--only quotient]

For each function the same run times, on arrays that stay on the device:

- symdiff's value and gradient (of the rotation, its Jacobian);
- a CUDA C++ kernel written by hand, common subexpressions shared, compiled by NVRTC with
  its default contraction;
- `jax.jit(jax.vmap(jax.value_and_grad(f)))`, and `torch.compile` of the same in
  `torch.func`, where they are installed.

The table gives microseconds of symdiff, what share of the bandwidth of a measured copy on
the device it reaches, and the time of the others over its own. Sizes are cut down to what
fits in three quarters of the free memory.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib.util
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symdiff import symgrad
from symdiff.runtime.cuda import driver, nvrtc
from symdiff.runtime.cuda.driver import Device, call

BLOCK = 1 << 16
"""Inputs are random in blocks of so many elements, which repeat."""
REPEATS = 20


# ------------------------------------------------------------------------ functions
# Each takes a module with sqrt, exp, log, sin, cos and erf, so that every peer can run it.
def quotient(m):
    return lambda x: (x**2 - 4) / (x - 2)


def black_scholes(m):
    def call_price(s, k, t, r, v):
        d1 = (m.log(s / k) + (r + v * v / 2) * t) / (v * m.sqrt(t))
        d2 = d1 - v * m.sqrt(t)
        a, b = (1 + m.erf(d1 / 2**0.5)) / 2, (1 + m.erf(d2 / 2**0.5)) / 2
        return s * a - k * m.exp(-r * t) * b

    return call_price


def lennard_jones(m):
    def energy(x, y, z):
        s6 = (0.81 / (x * x + y * y + z * z)) ** 3
        return 5.2 * (s6 * s6 - s6)

    return energy


def rotation(m):
    def rotate(a, b, c, x, y, z):
        t = m.sqrt(a * a + b * b + c * c)
        s, k, w = m.sin(t) / t, (1 - m.cos(t)) / t**2, m.cos(t)
        along = k * (a * x + b * y + c * z)
        return (
            w * x + s * (b * z - c * y) + along * a,
            w * y + s * (c * x - a * z) + along * b,
            w * z + s * (a * y - b * x) + along * c,
        )

    return rotate


def three_body(m):
    def energy(a, b, c, d, e, f, g, h, i):
        def pair(x, y, z):
            r2 = x * x + y * y + z * z
            return m.exp(-r2) - 1.3 / (r2 * r2 * r2 + 0.1)

        angle = (d - a) * (g - a) + (e - b) * (h - b) + (f - c) * (i - c)
        bonds = pair(d - a, e - b, f - c) + pair(g - a, h - b, i - c) + pair(g - d, h - e, i - f)
        return bonds + 0.2 * angle * angle

    return energy


@dataclass(frozen=True)
class Workload:
    """A function, its derivative by hand, and the ranges of its inputs.

    Attributes
    ----------
    make : gives the function for a module of elementary functions.
    hand : statements in CUDA C++ over `real` numbers; they read the inputs x0, x1, ...
        and write the outputs y0, y1, ...
    by : how many inputs are differentiated by, from the first.
    """

    make: Callable[[Any], Callable[..., Any]]
    ranges: tuple[tuple[float, float], ...]
    outputs: int
    hand: str
    jacobian: bool = False
    by: int = 0

    @property
    def name(self) -> str:
        return self.make.__name__

    @property
    def slopes(self) -> tuple[int, ...]:
        return tuple(range(self.by or len(self.ranges)))


_BLACK_SCHOLES = """
const real q = sqrt(x2), w = x4 * q, e = exp(-x3 * x2), o = real(0.5), i = real(0.7071067811865476);
const real d = (log(x0 / x1) + (x3 + o * x4 * x4) * x2) / w, c = d - w;
const real a = o * (1 + erf(d * i)), b = o * (1 + erf(c * i));
const real n = x0 * exp(-o * d * d) * real(0.3989422804014327);
y0 = x0 * a - x1 * e * b; y1 = a; y2 = -e * b; y3 = o * n * x4 / q + x3 * x1 * e * b;
y4 = x1 * x2 * e * b; y5 = n * q;
"""

_ROTATION = """
const real a = x0, b = x1, c = x2, x = x3, y = x4, z = x5;
const real t2 = a * a + b * b + c * c, t = sqrt(t2), w = cos(t), s = sin(t) / t;
const real k = (1 - w) / t2, ds = (w - s) / t2, dk = (s - 2 * k) / t2;
const real u = b * z - c * y, v = c * x - a * z, p = a * y - b * x;
const real l = a * x + b * y + c * z, kl = k * l, dl = dk * l;
const real f = -s * x + ds * u + dl * a, g = -s * y + ds * v + dl * b, h = -s * z + ds * p + dl * c;
y0 = f * a + k * x * a + kl; y1 = f * b + s * z + k * y * a; y2 = f * c - s * y + k * z * a;
y3 = g * a - s * z + k * x * b; y4 = g * b + k * y * b + kl; y5 = g * c + s * x + k * z * b;
y6 = h * a + s * y + k * x * c; y7 = h * b - s * x + k * y * c; y8 = h * c + k * z * c + kl;
"""

_THREE_BODY = """
const real px = x3 - x0, py = x4 - x1, pz = x5 - x2, qx = x6 - x0, qy = x7 - x1, qz = x8 - x2;
const real sx = x6 - x3, sy = x7 - x4, sz = x8 - x5;
const real p = px * px + py * py + pz * pz, q = qx * qx + qy * qy + qz * qz;
const real s = sx * sx + sy * sy + sz * sz;
const real ep = exp(-p), eq = exp(-q), es = exp(-s);
const real ip = 1 / (p * p * p + real(0.1)), iq = 1 / (q * q * q + real(0.1));
const real is = 1 / (s * s * s + real(0.1)), m = real(7.8), j = px * qx + py * qy + pz * qz;
const real fp = m * p * p * ip * ip - 2 * ep, fq = m * q * q * iq * iq - 2 * eq;
const real fs = m * s * s * is * is - 2 * es, k = real(0.4) * j;
y0 = ep + eq + es - real(1.3) * (ip + iq + is) + real(0.2) * j * j;
y4 = fp * px - fs * sx + k * qx; y5 = fp * py - fs * sy + k * qy; y6 = fp * pz - fs * sz + k * qz;
y7 = fq * qx + fs * sx + k * px; y8 = fq * qy + fs * sy + k * py; y9 = fq * qz + fs * sz + k * pz;
y1 = -y4 - y7; y2 = -y5 - y8; y3 = -y6 - y9;
"""

WORKLOADS = (
    Workload(quotient, ((2.5, 4),), 2, "y0 = (x0 * x0 - 4) / (x0 - 2); y1 = 1;"),
    Workload(
        black_scholes,
        ((80, 120), (80, 120), (0.1, 2), (0.01, 0.1), (0.1, 0.6)),
        6,
        _BLACK_SCHOLES,
    ),
    Workload(
        lennard_jones, ((0.8, 2),) * 3, 4,
        "const real r = 1 / (x0 * x0 + x1 * x1 + x2 * x2), u = real(0.81) * r, s = u * u * u;"
        "const real k = real(-31.2) * (2 * s * s - s) * r;"
        "y0 = real(5.2) * (s * s - s); y1 = k * x0; y2 = k * x1; y3 = k * x2;",
    ),
    Workload(rotation, ((0.2, 1),) * 3 + ((-1, 1),) * 3, 9, _ROTATION, jacobian=True, by=3),
    Workload(three_body, tuple((k, k + 0.9) for k in (0, 0, 0, 1, 0, 0, 0, 1, 0)), 10, _THREE_BODY),
)  # fmt: skip


# --------------------------------------------------------------------------- device
@dataclass(frozen=True)
class Buffer:
    """Elements in device memory, for whoever understands `__cuda_array_interface__`."""

    address: int
    size: int
    dtype: np.dtype[Any]

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"data": (self.address, False), "shape": (self.size,), "typestr": self.dtype.str,
                "strides": None, "version": 3, "stream": None}  # fmt: skip


class Bench:
    """Memory and clock of one device."""

    def __init__(self, device: Device) -> None:
        self.device, self.taken = device, []
        self.events = [ctypes.c_void_p(), ctypes.c_void_p()]
        for event in self.events:
            call("cuEventCreate", ctypes.byref(event), ctypes.c_uint(0))

    def free_bytes(self) -> int:
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        return free.value

    def empty(self, size: int, dtype: np.dtype[Any]) -> Buffer:
        self.taken.append(self.device.allocate(size * dtype.itemsize))
        return Buffer(self.taken[-1], size, dtype)

    def random(self, size: int, dtype: np.dtype[Any], low: float, high: float) -> Buffer:
        """Uniform numbers; the second and further blocks repeat the first."""
        made = self.empty(size, dtype)
        rng = np.random.default_rng(size)
        block = rng.uniform(low, high, min(BLOCK, size)).astype(dtype)
        self.device.upload(made.address, block.ctypes.data, block.nbytes, 0)
        done = block.size
        while done < size:
            part = min(done, size - done)
            self.copy(made.address + done * dtype.itemsize, made.address, part * dtype.itemsize)
            done += part
        return made

    def copy(self, target: int, source: int, size: int) -> None:
        call("cuMemcpyDtoDAsync_v2", ctypes.c_uint64(target), ctypes.c_uint64(source),
             ctypes.c_size_t(size), ctypes.c_void_p(0))  # fmt: skip

    def host(self, buffer: Buffer, count: int) -> np.ndarray:
        """The first elements, on the host."""
        made = np.empty(min(count, buffer.size), buffer.dtype)
        self.device.download(made.ctypes.data, buffer.address, made.nbytes, 0)
        return made

    def clear(self) -> None:
        for address in self.taken:
            self.device.free(address)
        self.taken.clear()

    def seconds(self, run: Callable[[], Any]) -> float:
        """The median time of what a call queues on the default stream."""
        run()
        times = []
        for _ in range(REPEATS):
            call("cuEventRecord", self.events[0], ctypes.c_void_p(0))
            run()
            call("cuEventRecord", self.events[1], ctypes.c_void_p(0))
            call("cuEventSynchronize", self.events[1])
            passed = ctypes.c_float()
            call("cuEventElapsedTime", ctypes.byref(passed), *self.events)
            times.append(passed.value / 1e3)
        return sorted(times)[len(times) // 2]

    def copy_bandwidth(self, size: int) -> float:
        """Bytes per second that a copy on the device reads and writes."""
        a, b = (self.empty(size, np.dtype(np.uint8)) for _ in range(2))
        found = 2 * size / self.seconds(lambda: self.copy(b.address, a.address, size))
        self.clear()
        return found


# ---------------------------------------------------------------------------- peers
def hand_text(work: Workload, dtype: str) -> str:
    """A translation unit with the kernel that was written by hand."""
    real = "float" if dtype == "float32" else "double"
    inputs, outputs = range(len(work.ranges)), range(work.outputs)
    params = [f"const {real}* __restrict__ p{k}" for k in inputs]
    params += [f"{real}* __restrict__ q{k}" for k in outputs]
    params.append("const long long n_")
    reads = "".join(f"        const real x{k} = p{k}[i_];\n" for k in inputs)
    writes = "".join(f"        q{k}[i_] = y{k};\n" for k in outputs)
    return (
        f"typedef {real} real;\n"
        f'extern "C" __global__ void __launch_bounds__(256) hand({", ".join(params)})\n{{\n'
        "    const long long first = (long long)blockIdx.x * 256 + threadIdx.x;\n"
        "    for (long long i_ = first; i_ < n_; i_ += (long long)gridDim.x * 256) {\n"
        f"{reads}        real {', '.join(f'y{k}' for k in outputs)};\n{work.hand}\n{writes}    }}\n}}\n"
    )


def hand_kernel(
    bench: Bench, work: Workload, inputs: Sequence[Buffer], outputs: Sequence[Buffer]
) -> Callable[[], None]:
    device, size = bench.device, inputs[0].size
    text = hand_text(work, inputs[0].dtype.name)
    code = nvrtc.machine_code(text, device.capability, contract=True)
    function = device.function(device.load(code.image), "hand")
    args = [ctypes.c_uint64(b.address) for b in (*inputs, *outputs)] + [ctypes.c_int64(size)]
    blocks = max(1, min(-(-size // 256), 8 * device.resident(function, 256)))
    return lambda: device.launch(function, blocks, 256, args, 0)


def symdiff_kernel(
    work: Workload, inputs: Sequence[Buffer], outputs: Sequence[Buffer]
) -> Callable[[], Any]:
    from throughput import slopes_text, written

    names = work.make(math).__code__.co_varnames[: len(inputs)]
    f = symgrad(work.make(math), target="cuda", wrt=tuple(names[k] for k in work.slopes))
    n = len(work.slopes)
    if work.jacobian:
        out: Any = tuple(tuple(outputs[k : k + n]) for k in range(0, len(outputs), n))
        params, by = ", ".join(names), [names[k] for k in work.slopes]
        lines, rows = slopes_text(by, len(outputs) // n, params)
        text = "\n    ".join([f"def slopes({params}):", *lines, f"return {rows}\n"])
        each = {f"slope{k}": f.diff(name) for k, name in enumerate(by)}
        slopes = symgrad(written(text, **each), target="cuda")
        return lambda: slopes(*inputs, out=out)
    out = (outputs[0], tuple(outputs[1:]) if n > 1 else outputs[1])
    return lambda: f.value_and_grad(*inputs, out=out)


def jax_time(work: Workload, size: int, dtype: str) -> float:
    """Seconds of JAX's value and gradient, or nan without JAX."""
    if importlib.util.find_spec("jax") is None:
        return math.nan
    import jax

    jax.config.update("jax_enable_x64", True)

    class Functions:
        sqrt, exp, log, sin, cos = jax.numpy.sqrt, jax.numpy.exp, jax.numpy.log, jax.numpy.sin, jax.numpy.cos  # fmt: skip
        erf = jax.scipy.special.erf

    derive = jax.jacrev if work.jacobian else jax.value_and_grad
    f = jax.jit(jax.vmap(derive(work.make(Functions), argnums=work.slopes)))
    rng = np.random.default_rng(0)
    arrays = [jax.numpy.asarray(rng.uniform(a, b, size).astype(dtype)) for a, b in work.ranges]
    return wall(lambda: jax.block_until_ready(f(*arrays)))


def torch_time(work: Workload, size: int, dtype: str) -> float:
    """Seconds of PyTorch's compiled value and gradient, or nan without PyTorch."""
    if importlib.util.find_spec("torch") is None:
        return math.nan
    import torch

    if not torch.cuda.is_available():
        return math.nan
    derive = torch.func.jacrev if work.jacobian else torch.func.grad_and_value
    f = torch.compile(torch.func.vmap(derive(work.make(torch), argnums=work.slopes)))
    kind = getattr(torch, dtype)
    arrays = [
        torch.rand(size, device="cuda", dtype=kind) * (b - a) + a for a, b in work.ranges
    ]  # fmt: skip

    def run() -> None:
        f(*arrays)
        torch.cuda.synchronize()

    return wall(run)


def wall(run: Callable[[], Any]) -> float:
    """The median of the times of a call that waits for the device, in seconds."""
    run()
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2]


# ---------------------------------------------------------------------------- table
def compare(work: Workload, found: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> None:
    """Both compute the same thing, up to what the formula by hand loses."""
    for a, b in zip(found, expected, strict=True):
        loose = 1e-6 if a.dtype == np.float64 else 1e-2
        scale = float(np.max(np.abs(a)))
        assert np.allclose(a, b, rtol=loose, atol=loose * scale), work.name


def measure(bench: Bench, work: Workload, size: int, dtype: str, bandwidth: float) -> str:
    """One line of the table."""
    kind = np.dtype(dtype)
    count = len(work.ranges) + work.outputs
    size = min(size, int(0.75 * bench.free_bytes()) // (count * kind.itemsize))
    inputs = [bench.random(size, kind, a, b) for a, b in work.ranges]
    outputs = [bench.empty(size, kind) for _ in range(work.outputs)]
    ours = bench.seconds(symdiff_kernel(work, inputs, outputs))
    found = [bench.host(o, BLOCK) for o in outputs]
    hand = bench.seconds(hand_kernel(bench, work, inputs, outputs))
    compare(work, found, [bench.host(o, BLOCK) for o in outputs])
    bench.clear()
    others = [hand, jax_time(work, size, dtype), torch_time(work, size, dtype)]
    share = count * kind.itemsize * size / ours / bandwidth
    ratios = "".join(f" {t / ours:.2f}x |" if math.isfinite(t) else " - |" for t in others)
    return f"| {work.name} | {dtype} | {size} | {1e6 * ours:.1f} | {100 * share:.0f} % |{ratios}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Elementwise derivatives on a CUDA device.")
    parser.add_argument("--size", type=int, default=100_000_000)
    parser.add_argument("--dtype", default="float64,float32")
    parser.add_argument("--only", default="", help="names of functions, with commas")
    options = parser.parse_args(arguments)
    device = driver.device(0)
    with device.current():
        bench = Bench(device)
        bandwidth = bench.copy_bandwidth(min(1 << 30, bench.free_bytes() // 4))
        print(f"copy on the device: {bandwidth / 1e9:.0f} GB/s, read and written\n")
        print("| function | dtype | elements | symdiff, us | of the copy | hand | JAX | torch |")
        print("|---|---|---|---|---|---|---|---|")
        for dtype in options.dtype.split(","):
            for work in WORKLOADS:
                if not options.only or work.name in options.only.split(","):
                    print(measure(bench, work, options.size, dtype, bandwidth), flush=True)


if __name__ == "__main__":
    main()
