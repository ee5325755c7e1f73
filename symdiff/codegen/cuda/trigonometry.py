"""Sine, cosine and tangent of floats for CUDA, without a double-precision instruction.

CUDA's own reduce large arguments in double precision. Here an argument is reduced to
r = x - k*pi/2 with |r| <= pi/4 in floats: up to 2**16 by three fused multiplications with
the parts of pi/2, of which the first is exact; beyond that by the product of its mantissa
with the 96 bits of 2/pi that matter, in integers. r comes as a sum of two floats, so that
its rounding does not count; then Taylor polynomials.

Reference: M. H. Payne and R. N. Hanek, SIGNUM Newsletter 18 (1983).
"""

from __future__ import annotations

import math
from collections.abc import Collection
from fractions import Fraction

from symdiff.ir.functions import PI
from symdiff.lowering.double_double.functions import named
from symdiff.lowering.target import nearest_parts, nearest_single

_LIMIT = 65536
"""Up to this, arguments are reduced in floats."""
_WORDS = 8
"""Words of 2/pi, after one of zeros."""

SINGLE = {
    "sinf": "(k & 1 ? c : s) * (k & 2 ? -1.0f : 1.0f)",
    "cosf": "(k & 1 ? s : c) * ((k + 1) & 2 ? -1.0f : 1.0f)",
    "tanf": "k & 1 ? -c / s : s / c",
}
"""The functions of this file by their names in libm: what they are of the sine `s` and
cosine `c` of the reduced argument, of which `k` counts the quarter turns."""


def single_functions(names: Collection[str]) -> str:
    """The source of these functions, each as `symdiff_` and its name."""
    text = [_reduction(), _polynomials()]
    for name in names:
        text.append(
            f"static __device__ __noinline__ float symdiff_{name}(const float x)\n{{\n"
            "    float s, c;\n"
            "    const int k = symdiff_sincos(x, &s, &c);\n"
            f"    return {SINGLE[name]};\n}}\n"
        )
    return "\n".join(text)


def _parts(q: Fraction, count: int) -> list[str]:
    """Floats of falling size whose sum is q to 24 bits each."""
    return [f"{part.hex()}f" for part in nearest_parts(q, count, nearest_single)]


def _reduction() -> str:
    pi = named(PI)
    p1, p2, p3 = _parts(pi / 2, 3)
    high, low = _parts(pi / 2 / 2**63, 2)
    bits = int(2 / pi * 2 ** (32 * (_WORDS - 1)))
    words = ", ".join(f"0x{bits >> 32 * k & 0xFFFFFFFF:08x}u" for k in reversed(range(_WORDS)))
    return _REDUCTION.format(
        p1=p1, p2=p2, p3=p3, high=high, low=low, words=words, count=_WORDS,
        limit=f"{float(_LIMIT)}f", inverse=_parts(2 / pi, 1)[0],
    )  # fmt: skip


_REDUCTION = """\
static __device__ const unsigned int symdiff_two_over_pi[{count}] = {{{words}}};

static __device__ __noinline__ int symdiff_reduce_large(const float x, float* r, float* t)
{{
    const unsigned int bits = (unsigned int)__float_as_int(x);
    const unsigned int m = (bits & 0x7fffffu) | 0x800000u;
    const int start = (int)(bits >> 23 & 0xffu) - 150 - 2 + 32;
    const int word = start >> 5, shift = start & 31;
    unsigned int w[3];
    for (int j = 0; j < 3; j++) {{
        const unsigned long long both = (unsigned long long)symdiff_two_over_pi[word + j] << 32
            | symdiff_two_over_pi[word + j + 1];
        w[j] = (unsigned int)(both << shift >> 32);
    }}
    unsigned long long p = (unsigned long long)m * w[2];
    const unsigned int low = (unsigned int)p;
    p = (unsigned long long)m * w[1] + (p >> 32);
    const unsigned int middle = (unsigned int)p;
    const unsigned int top = m * w[0] + (unsigned int)(p >> 32);
    const unsigned long long part = (unsigned long long)top << 34
        | (unsigned long long)middle << 2 | low >> 30;
    int k = (int)(top >> 30) + (int)(part >> 63);
    const long long half = (long long)part >> 1;
    float f = (float)half;
    float g = (float)(half - (long long)f);
    if (x < 0.0f) {{
        k = -k;
        f = -f;
        g = -g;
    }}
    const float high = f * {high};
    const float rest = fmaf(f, {high}, -high) + fmaf(f, {low}, g * {high});
    *r = high + rest;
    *t = (high - *r) + rest;
    return k;
}}

static __device__ int symdiff_reduce(const float x, float* r, float* t)
{{
    if (fabsf(x) >= {limit}) return symdiff_reduce_large(x, r, t);
    const float k = rintf(x * {inverse});
    const float a = fmaf(-k, {p1}, x);
    const float p = -k * {p2};
    const float b = a + p;
    const float q = b - a;
    const float lost = (a - (b - q)) + (p - q);
    const float rest = fmaf(-k, {p3}, lost + fmaf(-k, {p2}, -p));
    *r = b + rest;
    *t = (b - *r) + rest;
    return (int)k;
}}
"""


def _polynomials() -> str:
    """Of r*r: (sin r - r)/r**3 and (cos r - 1)/r**2."""

    def horner(first: int, count: int) -> str:
        terms = [Fraction((-1) ** (k + 1), math.factorial(first + 2 * k)) for k in range(count)]
        text = f"{nearest_single(terms[-1]).hex()}f"
        for c in reversed(terms[:-1]):
            text = f"fmaf(z, {text}, {nearest_single(c).hex()}f)"
        return text

    return _POLYNOMIALS.format(sine=horner(3, 4), cosine=horner(2, 5))


_POLYNOMIALS = """\
static __device__ int symdiff_sincos(const float x, float* s, float* c)
{{
    if (!(fabsf(x) < __int_as_float(0x7f800000))) {{
        *s = *c = x - x;
        return 0;
    }}
    float r, t;
    const int k = symdiff_reduce(x, &r, &t);
    const float z = r * r;
    *s = r + fmaf(r * z, {sine}, t);
    *c = 1.0f + fmaf(z, {cosine}, -r * t);
    return k;
}}
"""
