"""Compile LLVM IR text to object code for this processor, and link object code.

Nothing here knows about expressions. Object code is a plain `bytes` that may be
kept on disk and linked in another process of the same machine.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import platform
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import llvmlite.binding as llvm

from symdiff.errors import TargetError
from symdiff.process.locks import Lock, whole_at_forks
from symdiff.process.undisturbed import undisturbed

T = TypeVar("T")
_lock = Lock(whole=True)
"""Of LLVM, which must not be forked in the middle of anything."""
if (_own := getattr(getattr(llvm.ffi.lib, "_lock", None), "_lock", None)) is not None:
    whole_at_forks(_own)  # what llvmlite holds for each call


@contextlib.contextmanager
def _llvm() -> Iterator[None]:
    """While LLVM is used. llvmlite takes its own lock in Python, where the exception of a signal
    (Ctrl-C) may come between taking it and the statement that releases it: so it is held here
    meanwhile, and released as often as it was taken."""
    with _lock:
        if _own is None:
            yield
            return
        nested = _own._is_owned()
        while not _own.acquire(timeout=_CHECKED):
            if _is_left(_own):
                _own._at_fork_reinit()
        try:
            yield
        finally:
            _own.release()
            while not nested and _own._is_owned():
                _own.release()


def _apart(work: Callable[[], T]) -> T:
    """What uses LLVM, where no signal comes between. A signal that came while an object of
    llvmlite is disposed of would have it disposed of twice."""
    if _own is not None and _own._is_owned():  # called by what llvmlite runs
        return work()
    return undisturbed(work)


_CHECKED = 0.2
"""Seconds after which one who waits for llvmlite looks whether its lock is used at all."""


def _is_left(lock: Any) -> bool:
    """Whether the thread that holds llvmlite's lock is not in llvmlite any more: a signal came
    while it took or released it, so that it would hold it for ever. (It does not enter
    llvmlite by this module meanwhile, as the one who asks holds `_lock`.)"""
    holder = re.search(r"owner=(\d+)", repr(lock))
    frame = sys._current_frames().get(int(holder[1])) if holder else None
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] == "llvmlite":
            return False
        frame = frame.f_back
    return holder is not None and holder[1] != "0"


@dataclass(frozen=True, slots=True)
class Host:
    """What kernels are compiled for.

    Attributes
    ----------
    cpu, features : LLVM's name of the processor and its features.
    bits : width of a SIMD register.
    isa : letter of the instruction set in the names of libmvec's functions, or "".
    version : of LLVM and llvmlite.
    """

    cpu: str
    features: str
    bits: int
    isa: str
    version: str


@functools.cache
def host() -> Host:
    """The processor and the C library of this process."""
    features = llvm.get_host_cpu_features()
    bits, isa = 128, ""
    if features.get("avx512f") and features.get("avx512dq"):
        bits, isa = 512, "e"
    elif features.get("avx2"):
        bits, isa = 256, "d"
    if not _libraries()[1]:
        isa = ""
    version = ".".join(map(str, llvm.llvm_version_info)) + "/" + _llvmlite_version()
    return Host(llvm.get_host_cpu_name(), features.flatten(), bits, isa, version)


def has_flags() -> bool:
    """Whether compiled code can read the processor's flags of floating-point exceptions."""
    return platform.machine().lower() in ("x86_64", "amd64")


def _llvmlite_version() -> str:
    import llvmlite

    return str(llvmlite.__version__)


@functools.cache
def _libraries() -> tuple[tuple[ctypes.CDLL, ...], ctypes.CDLL | None]:
    """Where C functions are looked up, and libmvec if there is one."""
    names: tuple[str | None, ...] = (None, "libm.so.6")
    if sys.platform == "win32":
        names = ("ucrtbase",)
    found = []
    for name in names:
        try:
            found.append(ctypes.CDLL(name))
        except OSError:
            continue
    vector = None
    if sys.platform == "linux":
        try:
            vector = ctypes.CDLL("libmvec.so.1")
        except OSError:
            vector = None
    return tuple(found), vector


_defined: dict[str, int] = {}
_families: dict[str, Callable[[str], int | None]] = {}


def define_symbol(name: str, address: int) -> None:
    """Make a C function of this process callable from kernels by name."""
    _defined[name] = address


def define_family(prefix: str, address: Callable[[str], int | None]) -> None:
    """Have functions whose names begin alike made when they are first called for."""
    _families[prefix] = address


def symbol(name: str) -> int | None:
    """The address of a C function, or None."""
    if name in _defined:
        return _defined[name]
    for family, address in _families.items():
        if name.startswith(family):
            return address(name)
    libraries, vector = _libraries()
    if name.startswith("_ZGV"):
        libraries = (vector,) if vector is not None else ()
    for library in libraries:
        try:
            return ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        except AttributeError:
            continue
    return None


def publish(names: Iterable[str]) -> None:
    """Let code that others compile in this process call these C functions by name."""
    for name in names:
        if (address := symbol(name)) is not None:
            llvm.add_symbol(name, address)


@functools.cache
def _initialize() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


def _machine(opt: int) -> Any:
    _initialize()
    target = llvm.Target.from_default_triple()
    h = host()
    return target.create_target_machine(cpu=h.cpu, features=h.features, opt=opt, jit=True)


def compile_object(text: str, opt: int = 2, tidy: bool = False) -> bytes:
    """Object code of a module; `tidy` is for code that has variables in memory and loops."""

    def compiled() -> bytes:
        with _llvm():
            machine = _machine(opt)
            module = llvm.parse_assembly(text)
            module.triple = llvm.get_process_triple()
            if tidy:
                _tidy(module, machine)
            return bytes(machine.emit_object(module))

    return _apart(compiled)


def _tidy(module: Any, machine: Any) -> None:
    """LLVM's passes, without those that vectorise or unroll loops."""
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=1)
    options.loop_vectorization = options.slp_vectorization = False
    options.loop_unrolling = options.loop_interleaving = False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)


def assembly(text: str, opt: int = 2, tidy: bool = False) -> str:
    """The assembly of a module, for people and tests."""

    def printed() -> str:
        with _llvm():
            machine = _machine(opt)
            module = llvm.parse_assembly(text)
            if tidy:
                _tidy(module, machine)
            return str(machine.emit_assembly(module))

    return _apart(printed)


def _linked(code: bytes, externals: Mapping[str, int]) -> Any:
    with _llvm():
        for name, address in externals.items():
            llvm.add_symbol(name, address)
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine(2))
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
        return engine


class Linked:
    """Object code in memory; its functions are valid as long as this lives.

    `externals` are the C functions that the code calls; after a `?`, those that it
    may call, if the processor has no instruction for an intrinsic. `attached` and `helpers`
    are other code whose address it received, and that lives as long.
    """

    attached: object = None

    def __init__(self, code: bytes, externals: Iterable[str]) -> None:
        self.helpers: list[object] = []
        addresses: dict[str, int] = {}
        for name in externals:
            address = symbol(name.removeprefix("?"))
            if address is None and name.startswith("?"):
                continue
            if address is None:
                raise TargetError(f"the C library of this system has no function {name}")
            addresses[name.removeprefix("?")] = address
        self._engine = _apart(lambda: _linked(code, addresses))

    def address(self, name: str) -> int:
        """The address of a function or global variable."""
        with _llvm():
            found = self._engine.get_function_address(name)
            return int(found or self._engine.get_global_value_address(name))
