"""Times JAX for another process: one JSON request a line on stdin, one answer on stdout.

The first line it prints is JAX's version. Requests, by `do`:

- `prepare`, with `name` and `size`: compile a workload for arrays of this size, drawn as
  `throughput.py` draws them; the answer is the first three elements of each result;
- `vector`, with `size`: the value and gradient of Rosenbrock's function of a vector;
- `scalar`, with `name`: the same for one number each, not mapped;
- `program`, with `name`: the derivatives of one of `examples/programs`, of the arguments that
  `programs_benchmark.py` draws; the answer is their elements, by blocks of at most 1000;
- `run`, with `repeat`: call what was prepared, the answer is the mean in seconds of the processor;
- `compile`, with `module` and `point`: processor seconds from importing a file with a function of
  `math` named `f` to its first value and gradient.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import sys
import time
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any

if hasattr(os, "sched_setaffinity"):  # one thread
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import erf, ndtr
from workloads import WORKLOADS, Workload

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))
jax.config.update("jax_enable_x64", True)
NAMES = SimpleNamespace(sin=jnp.sin, cos=jnp.cos, exp=jnp.exp, log=jnp.log, sqrt=jnp.sqrt, erf=erf)
BY_NAME = {w.name: w for w in WORKLOADS}


def derivatives(work: Workload) -> Any:
    """Values, derivatives row by row, and the second derivative, as a flat tuple."""
    f = work.under(NAMES)
    places = tuple(work.params.index(p) for p in work.by)

    def several(*x: Any) -> Any:
        rows = jax.jacfwd(lambda *v: jnp.stack(f(*v)), argnums=places)(*x)
        return (*f(*x), *(column[k] for k in range(work.outputs) for column in rows))

    def one(*x: Any) -> Any:
        value, slopes = jax.value_and_grad(f, argnums=places)(*x)
        if work.second is None:
            return (value, *slopes)
        k = work.params.index(work.second)
        return (value, *slopes, jax.grad(jax.grad(f, k), k)(*x))

    return several if work.outputs > 1 else one


def prepared(work: Workload, size: int) -> tuple[Any, list[Any]]:
    rng = np.random.default_rng(0)
    xs = [jnp.asarray(rng.uniform(*r, size)) for r in work.ranges]
    return jax.jit(jax.vmap(derivatives(work))).lower(*xs).compile(), xs


def valley(x: Any) -> Any:
    return jnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def twin(function: Any) -> Any:
    """A NumPy function, and those of its module that it calls, with JAX's names."""
    names = dict(function.__globals__)
    names |= {"np": jnp, "ndtr": ndtr}
    for key, value in function.__globals__.items():
        if isinstance(value, FunctionType) and value.__globals__ is function.__globals__:
            names[key] = FunctionType(value.__code__, names)
    return FunctionType(function.__code__, names)


def program(name: str) -> tuple[Any, list[Any]]:
    """The derivatives of a program, and its arguments."""
    module = importlib.import_module(f"programs.{name}")
    f = module.for_jax() if hasattr(module, "for_jax") else twin(module.function)
    given = list(inspect.signature(module.function).parameters)
    places = tuple(given.index(p) for p in module.WRT)
    if module.DERIVATIVE == "jacobian":
        derived = jax.jacfwd(f, argnums=places)
    else:
        one = jax.value_and_grad(lambda *a: jnp.sum(f(*a)), argnums=places)

        def derived(*a: Any) -> Any:
            return f(*a), one(*a)[1]

    arguments = jax.tree.map(jnp.asarray, list(module.data(np.random.default_rng(0))))
    return jax.jit(derived), arguments


def main() -> None:
    print(jax.__version__, flush=True)
    function: Any = None
    xs: list[Any] = []
    for line in sys.stdin:
        request = json.loads(line)
        answer: Any = None
        if request["do"] == "prepare":
            function, xs = prepared(BY_NAME[request["name"]], request["size"])
            answer = [[float(v) for v in o[:3]] for o in function(*xs)]
        elif request["do"] == "scalar":
            work = BY_NAME[request["name"]]
            xs = [float(sum(r)) / 2 for r in work.ranges]
            function = jax.jit(derivatives(work))
            answer = [float(o) for o in function(*xs)]
        elif request["do"] == "vector":
            xs = [jnp.linspace(0.0, 1.0, request["size"])]
            function = jax.jit(jax.value_and_grad(valley))
            answer = float(function(*xs)[0])
        elif request["do"] == "program":
            function, xs = program(request["name"])
            leaves = [np.ravel(v) for v in jax.tree.leaves(function(*xs))]
            answer = [[float(x) for x in v[:1000]] for v in leaves]
        elif request["do"] == "run":
            start = time.process_time()
            for _ in range(request["repeat"]):
                jax.block_until_ready(function(*xs))
            answer = (time.process_time() - start) / request["repeat"]
        elif request["do"] == "compile":
            text = Path(request["module"]).read_text()
            names: dict[str, Any] = {}
            exec(compile(text, request["module"], "exec"), names)
            names["math"] = NAMES
            start = time.process_time()
            places = tuple(range(len(request["point"])))
            jitted = jax.jit(jax.value_and_grad(names["f"], argnums=places))
            jax.block_until_ready(jitted(*request["point"]))
            answer = time.process_time() - start
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
