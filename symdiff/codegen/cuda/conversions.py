"""Copies of arrays on a device that lie in any way and have any element types, as CUDA C++."""

from __future__ import annotations

from symdiff.codegen.cuda.thread_loop import ELEMENTS, TYPES, define

NAME = "symdiff_convert"


def print_conversion(source: str, target: str, rank: int) -> str:
    """A kernel that copies `n` elements between two arrays of `rank` axes: after their
    addresses and `n` it takes sizes, and the bytes from one element to the next along
    each axis, of the source and of the target."""
    assert source in ELEMENTS and target in ELEMENTS
    axes = range(rank)
    names = [f"{stem}{k}" for stem in ("n", "s", "t") for k in axes]
    params = [
        "const char* a",
        "char* b",
        "const long long n",
        *(f"const long long {m}" for m in names),
    ]
    lines = ["long long rest = g, from = 0, to = 0;"]
    for k in reversed(axes):
        lines += [
            f"const long long i{k} = rest % n{k};",
            f"rest /= n{k};",
            f"from += i{k} * s{k};",
            f"to += i{k} * t{k};",
        ]
    value = f"*(const {TYPES[source]}*)(a + from)"
    if target == "b1":
        value = f"{value} != 0"
    lines.append(f"*({TYPES[target]}*)(b + to) = ({TYPES[target]})({value});")
    first = "(long long)blockIdx.x * blockDim.x + threadIdx.x"
    step = "(long long)gridDim.x * blockDim.x"
    return define(
        f'extern "C" __global__ void __launch_bounds__(256) {NAME}',
        params,
        [
            f"for (long long g = {first}; g < n; g += {step}) {{",
            *(f"    {line}" for line in lines),
            "}",
        ],
    )


__all__ = ["NAME", "print_conversion"]
