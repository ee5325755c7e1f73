"""What the command line works on: an expression, or a function in a file or module."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import inspect
import keyword
import re
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from symdiff.codegen.source.modules.face import PLAIN, Face
from symdiff.errors import Location, SymdiffError
from symdiff.export.faces import face_of
from symdiff.frontend.formula.grammar import CONSTANTS
from symdiff.frontend.formula.parse import parse
from symdiff.ir.loop_program import LoopProgram
from symdiff.ir.program import Program

if TYPE_CHECKING:  # a formula needs none of what functions need
    from symdiff.api.function import SymbolicFunction

_FILE = re.compile(r"(.+\.py)(?::([^:\s]+))?")
_MODULE = re.compile(r"([^\W\d][\w.]*):([^\W\d]\w*)")


@dataclass(frozen=True, slots=True)
class Subject:
    """A captured program and how its user asked for it to be differentiated."""

    program: Any
    wrt: tuple[str, ...]
    dtype: str | None = None
    formula: bool = False
    accuracy: str = "high"
    check_domain: bool = True
    face: Face = PLAIN
    text: str = ""
    """The formula, if it is one."""

    @property
    def _title(self) -> str:
        return "the expression" if self.formula else self.program.name

    @property
    def has_arrays(self) -> bool:
        """Whether it is a program with arrays or loops."""
        return isinstance(self.program, LoopProgram)

    @property
    def params(self) -> tuple[str, ...]:
        """The names of the parameters."""
        p = self.program
        return tuple(q.name for q in p.params) if isinstance(p, LoopProgram) else p.params

    def variables(self, text: str | None) -> tuple[str, ...]:
        """The variables that `--wrt` names; without it, the default ones."""
        if text is None:
            if not self.wrt:
                raise SymdiffError(
                    f"{self._title} has no variables",
                    hint="name one with --wrt",
                )
            return self.wrt
        names = tuple(dict.fromkeys(n.strip() for n in text.split(",")))
        for name in names:
            if not name.isidentifier() or keyword.iskeyword(name):
                raise SymdiffError(f"--wrt: '{name}' is not the name of a variable")
            if name not in self.params and self.formula:
                what = (
                    f"'{name}' is a constant" if name in CONSTANTS else f"'{name}' does not occur"
                )
                raise SymdiffError(
                    f"--wrt: {what}",
                    hint=f"the variables are {', '.join(self.params) or 'none'}",
                )
            if name not in self.params:
                raise SymdiffError(
                    f"--wrt: {self.program.name} has no real parameter '{name}'",
                    hint=f"it has {', '.join(self.params) or 'none'}",
                )
        return names


def resolve(target: str, name: str | None = None) -> Subject:
    """The program that a target names.

    Parameters
    ----------
    target : `file.py:function`, `file.py`, `package.module:function` or an expression.
    name : what to call an expression; "f" if None.

    Raises
    ------
    SymdiffError : if it is none of these, or cannot be loaded or traced.
    """
    target = target.strip()
    if match := _FILE.fullmatch(target):
        return _subject(_function(_load_file(match[1]), match[2], match[1]), name)
    if match := _MODULE.fullmatch(target):
        return _subject(_function(_load_module(match[1]), match[2], match[1]), name)
    chosen = "f" if name is None else name
    if not chosen.isidentifier() or keyword.iskeyword(chosen):
        raise SymdiffError(f"--name: '{chosen}' is not a name for a function")
    program = parse(target, chosen)
    return Subject(program, program.params, None, True, text=target)


def _subject(function: SymbolicFunction, name: str | None) -> Subject:
    import numpy as np

    program = _raw(function)
    if name is not None:
        program = replace(program, name=name)
    options = function._options
    dtype = np.dtype(options.dtype).name if options.dtype is not None else None
    return Subject(
        program, function._wrt(), dtype, False, options.accuracy, options.check_domain,
        face_of(function),
    )  # fmt: skip


# ------------------------------------------------------------- several functions
@dataclass(frozen=True, slots=True)
class Skipped:
    """A function of a file that symdiff cannot differentiate, and why."""

    name: str
    reason: str


def functions(target: str, several: bool = False) -> list[SymbolicFunction | Skipped]:
    """The functions that a target names: one, or all public ones of a file or module; of one of
    several files there may be none.

    Raises
    ------
    SymdiffError : as `resolve`; also if the one function that is named cannot be traced.
    """
    from symdiff.api.function import SymbolicFunction
    from symdiff.api.transforms import symgrad

    target = target.strip()
    match = _FILE.fullmatch(target) or _MODULE.fullmatch(target)
    if match is None:
        return [of_formula(parse(target))]
    is_file = _FILE.fullmatch(target) is not None
    module = _load_file(match[1]) if is_file else _load_module(match[1])
    if match[2] is not None:
        chosen = _function(module, match[2], match[1])
        _checked(chosen)
        return [chosen]
    found: list[SymbolicFunction | Skipped] = []
    for name, value in vars(module).items():
        if name.startswith("_") or getattr(value, "__module__", None) != module.__name__:
            continue
        if inspect.isfunction(value) or isinstance(value, SymbolicFunction):
            try:
                found.append(_checked(symgrad(value)))
            except SymdiffError as error:
                found.append(Skipped(name, str(error)))
    if not found and not several:
        raise SymdiffError(f"{match[1]} has no functions")
    return found


def function(target: str) -> SymbolicFunction:
    """The one function, or expression, that a target names."""
    target = target.strip()
    if match := _FILE.fullmatch(target):
        return _checked(_function(_load_file(match[1]), match[2], match[1]))
    if match := _MODULE.fullmatch(target):
        return _checked(_function(_load_module(match[1]), match[2], match[1]))
    made = of_formula(parse(target))
    made.__doc__ = target
    return made


def variables(function: SymbolicFunction, text: str | None) -> tuple[str, ...] | None:
    """The variables that `--wrt` names; None without it."""
    if text is None:
        return None
    return Subject(_raw(function), function._wrt()).variables(text)


def _raw(function: SymbolicFunction) -> Program | LoopProgram:
    """The program as captured; of a derivative, as derived."""
    found: Program | LoopProgram = function._source.program(function._default_static())
    return found if isinstance(found, LoopProgram) else function.raw_program


def _checked(function: SymbolicFunction) -> SymbolicFunction:
    """The function, once it is known that it can be traced and differentiated."""
    if not _raw(function).outputs:
        raise SymdiffError(f"{function.__name__} returns no real value")
    if not function._wrt():
        raise SymdiffError(f"{function.__name__} has no real parameters")
    return function


def of_formula(program: Program, usual: Mapping[str, float] | None = None) -> SymbolicFunction:
    """A formula as a function; `usual` are ordinary values of parameters."""
    from symdiff.api.function import SymbolicFunction
    from symdiff.frontend import Parameters
    from symdiff.pipeline.derivation import Source
    from symdiff.pipeline.options import Options

    parameters = Parameters.of_formula(program.name, program.params)
    parameters.defaults.update(usual or {})
    return _checked(
        SymbolicFunction(Source(program.name, parameters, lambda *_: program), Options())
    )


# ---------------------------------------------------------------------- loading
def _load_file(path: str) -> ModuleType:
    file = Path(path)
    if not file.is_file():
        raise SymdiffError(f"{path}: there is no such file")
    name = (
        file.stem if file.stem.isidentifier() and file.stem not in sys.modules else "symdiff_target"
    )
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise SymdiffError(f"{path} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(file.resolve().parent))
    loader = spec.loader
    _run(lambda: loader.exec_module(module), path)
    return module


def _load_module(name: str) -> ModuleType:
    sys.path.insert(0, "")
    result: list[ModuleType] = []
    _run(lambda: result.append(importlib.import_module(name)), name)
    return result[0]


def _run(load: Any, what: str) -> None:
    """Import the user's code; what it prints goes to stderr."""
    try:
        with contextlib.redirect_stdout(sys.stderr):
            try:
                load()
            except ModuleNotFoundError as error:
                from symdiff.cli import stand_ins  # which imports NumPy

                if not stand_ins.install(error.name or ""):
                    raise
                _run(load, what)
    except SymdiffError:
        raise
    except SyntaxError as error:
        at = Location(
            error.filename or what, error.lineno or 1, error.offset or 1, error.text or ""
        )
        raise SymdiffError(str(error.msg), at) from None
    except (Exception, SystemExit) as error:
        frames = traceback.extract_tb(error.__traceback__)
        user = next((f for f in reversed(frames) if _is_users(f.filename)), None)
        place = Location(user.filename, user.lineno or 1, 1, user.line or "") if user else None
        kind = type(error).__name__
        raise SymdiffError(f"importing {what} raised {kind}: {error}", place) from None


def _is_users(path: str) -> bool:
    """Whether a frame is neither ours nor the import system's."""
    return "importlib" not in path and Path(path).parent != Path(__file__).parent


def _function(module: ModuleType, name: str | None, path: str) -> SymbolicFunction:
    """The function that is meant, traced."""
    from symdiff.api.function import SymbolicFunction
    from symdiff.api.transforms import symgrad

    decorated = {k: v for k, v in vars(module).items() if isinstance(v, SymbolicFunction)}
    plain = {
        k: v
        for k, v in vars(module).items()
        if inspect.isfunction(v) and v.__module__ == module.__name__ and not k.startswith("_")
    }
    if name is None:
        candidates: dict[str, Any] = decorated or plain
        if len(candidates) != 1:
            listed = ", ".join(candidates) or "none"
            raise SymdiffError(
                f"{path} does not say which function is meant",
                hint=f"write {path}:NAME; its functions are {listed}",
            )
        name = next(iter(candidates))
    found = getattr(module, name, None)
    if isinstance(found, SymbolicFunction):
        return found
    if isinstance(found, FunctionType):
        traced: SymbolicFunction = symgrad(found)
        return traced
    listed = ", ".join({**decorated, **plain}) or "none"
    problem = f"has no function '{name}'" if found is None else f"'{name}' is not a function"
    raise SymdiffError(f"{path}: {problem}", hint=f"its functions are {listed}")
