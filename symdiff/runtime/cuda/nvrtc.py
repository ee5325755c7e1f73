"""From CUDA C++ to PTX or machine code, by NVIDIA's compiler; no device is needed.

Products are never contracted with sums (`--fmad=false`), so that a kernel rounds as on
the CPU; divisions and square roots are rounded correctly and subnormals kept, which are
the defaults.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from symdiff.errors import TargetError
from symdiff.runtime import cache

INSTALL = 'python -m pip install "symdiff[cuda]"'
OPTIONS = ("--std=c++17",)
OLDEST = (5, 0)
_USED = re.compile(
    r"Function properties for (\w+)\s+[^\d]*(\d+) bytes stack frame, (\d+) bytes spill stores"
)
_ENTRY = re.compile(r"Compiling entry function '(\w+)'.*?Used (\d+) registers", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Code:
    """Machine code of one architecture, and what its functions use.

    Attributes
    ----------
    image : what the driver loads.
    registers : of each kernel with all that it calls.
    spills : bytes that each function stores for lack of registers.
    """

    image: bytes
    registers: dict[str, int]
    spills: dict[str, int]


def compiler() -> Any:
    """NVIDIA's run-time compiler.

    Raises
    ------
    TargetError : if it is not installed.
    """
    try:
        from cuda.bindings import nvrtc

        nvrtc.nvrtcVersion()
    except (ImportError, RuntimeError, OSError) as error:
        reason = str(error).strip().splitlines()
        raise TargetError(
            f"CUDA kernels need NVIDIA's compiler NVRTC: {reason[0] if reason else type(error).__name__}",
            hint=INSTALL,
        ) from None
    return nvrtc


def ptx(text: str, cc: tuple[int, int], keep: bool = True) -> str:
    """The PTX of a translation unit for a compute capability."""
    return _compile(text, _architecture("compute", cc), keep)[0].rstrip(b"\0").decode()


def linkable(text: str, keep: bool = True) -> str:
    """The PTX of device functions that other code links to, for every device that the compiler
    knows."""
    oldest = divmod(min(compiler().nvrtcGetSupportedArchs()[1]), 10)
    architecture = _architecture("compute", oldest)
    made, _ = _compile(text, architecture, keep, more=("--relocatable-device-code=true",))
    return made.rstrip(b"\0").decode()


def machine_code(
    text: str, cc: tuple[int, int], keep: bool = True, *, contract: bool = False
) -> Code:
    """The code of a translation unit for devices of a compute capability; only with
    `contract` are products and sums contracted. For devices newer than the compiler it is
    PTX, from which the driver makes code."""
    known = compiler().nvrtcGetSupportedArchs()[1]
    newest = divmod(max(known), 10)
    kind, cc = ("compute", newest) if cc > newest else ("sm", cc)
    image, log = _compile(text, _architecture(kind, cc), keep, contract)
    registers = {name: int(count) for name, count in _ENTRY.findall(log)}
    spills = {name: int(count) for name, _, count in _USED.findall(log)}
    return Code(image, registers, spills)


def _architecture(kind: str, cc: tuple[int, int]) -> str:
    major, minor = cc
    if (major, minor) < OLDEST:
        raise TargetError(
            f"compute capability {major}.{minor} is older than {OLDEST[0]}.{OLDEST[1]}",
            hint="such as cc=(9, 0)",
        )
    return f"{kind}_{major}{minor}"


def _compile(
    text: str, architecture: str, keep: bool, contract: bool = False, more: Sequence[str] = ()
) -> tuple[bytes, str]:
    """What is compiled and what the compiler says of it; from disk if it was before."""
    nvrtc = compiler()
    options = [f"--gpu-architecture={architecture}", f"--fmad={str(contract).lower()}", *OPTIONS]
    options += more
    options += ["--ptxas-options=--verbose"] if architecture.startswith("sm_") else []
    key = cache.key("cuda", text, options, nvrtc.nvrtcVersion()[1:])
    stored = cache.load(key) if keep else None
    if stored is not None:
        log, _, code = stored[0].partition(b"\0")
        return code, log.decode()
    code, log_text = _run(nvrtc, text, architecture, options)
    if keep:
        cache.store(key, log_text.encode() + b"\0" + code, ())
    return code, log_text


def _run(nvrtc: Any, text: str, architecture: str, options: Sequence[str]) -> tuple[bytes, str]:
    def check(result: tuple[Any, ...]) -> Any:
        if int(result[0]):
            raise TargetError(f"NVRTC failed: {nvrtc.nvrtcGetErrorString(result[0])[1].decode()}")
        return result[1] if len(result) > 1 else None

    machine = architecture.startswith("sm_")
    program = check(nvrtc.nvrtcCreateProgram(text.encode(), b"symdiff.cu", 0, [], []))
    try:
        encoded = [o.encode() for o in options]
        status = nvrtc.nvrtcCompileProgram(program, len(encoded), encoded)
        log = b" " * check(nvrtc.nvrtcGetProgramLogSize(program))
        check(nvrtc.nvrtcGetProgramLog(program, log))
        said = log.decode(errors="replace").strip("\0 \n")
        if int(status[0]):
            name = nvrtc.nvrtcGetErrorString(status[0])[1].decode()
            raise TargetError(f"NVRTC cannot compile for {architecture}: {name}\n{said[:2000]}")
        size, get = (
            (nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN)
            if machine
            else (nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX)
        )
        code = b" " * check(size(program))
        check(get(program, code))
        return code, said
    finally:
        nvrtc.nvrtcDestroyProgram(program)
