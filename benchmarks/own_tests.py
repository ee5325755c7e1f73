"""Which tests are a pass's own: its cases in `tests/passes/text`, and the files of tests about it.

A pass is a module, or a folder where the modules are its parts. Files of tests are told by their names,
wherever they lie below `tests`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXTS = "tests/passes/test_texts.py"
Own = tuple[str, str]
"""Names of texts, and of files of tests: what follows `test_`, with `*` for anything, and with a folder in front where
names stand twice."""

OWN: dict[str, Own] = {
    "passes/guards": (
        "guards filled rounded_to_zero formulas",
        "guards guards_of_* joint_guards equal_guards shortcuts clamped_quantities first_terms",
    ),
    "passes/cancel": (
        "cancel cancel-value literals like_powers shared_exponential branch_sides",
        "cancel residues shared_exponential branch_sides removable",
    ),
    "passes/cancel/branch_sides": ("branch_sides", "branches_that_meet"),
    "passes/cancel/signsquares": ("signsquares", "kinks"),
    "passes/complete": (
        "complete bands regroup surfaces closed_forms pinned_forms branched_forms corners powers",
        "complete surfaces removable",
    ),
    "passes/complete/powers": ("corners", "powers_at_zero"),
    "passes/complete/taylor": ("guards", "guards first_terms"),
    "passes/analysis": (
        "assume complete guards error_test overflow cancel",
        "parts_of_passes complete guards",
    ),
    "passes/analysis/quadratic": ("stabilise", "quadratic fewer_operations"),
    "passes/analysis/flat_regions": ("guards", "flat_denominators"),
    "passes/analysis/underflow": ("", "underflow second_tier"),
    "passes/analysis/magnitude": ("error_test overflow", "parts_of_passes error_test"),
    "passes/differentiate": ("differentiate pushforward", ""),
    "passes/leibniz": ("leibniz", ""),
    "passes/stabilise": ("stabilise stabilise-value", "quadratic cancel"),
    "passes/simplify": (
        "simplify readable like_terms decimals known_bases as_exponentials as_powers as_roots"
        " logarithms_apart in_phase shifted truth",
        "passes/simplify compare parts_of_passes round_trip textbooks readable_formulas",
    ),
    "passes/accuracy/bounds": ("error_test loop_tiers", "error_test"),
    "passes/accuracy/overflow": ("overflow loop_tiers", "second_tier"),
    "passes/accuracy/residual": ("compensate", "compensate second_tier"),
    "passes/accuracy/flagged": ("compensate cancelling_sums gather_fractions", "compensate"),
    "passes/accuracy/one_signed": ("", "fewer_operations error_bounds"),
    "passes/accuracy/lossy": ("loop_tiers", "vanishing_sums lost_digits"),
    "lowering/loops/eliminations": ("eliminations", "solver_corrections routines"),
    "passes/accuracy/loop_tiers": ("", "error_bounds vanishing_sums"),
    "loops/simplify": ("", "loops/simplify/block_by_block loops/simplify/parts"),
    "loops/simplify/block_by_block": (
        "formulas slopes stabilise norm_slopes",
        "loops/simplify/block_by_block",
    ),
    "lowering/loops/chains": ("tabulate promote copies deltas", "loops/simplify/block_by_block"),
    "loops/simplify/vanishing": ("norm_slopes", "hessians_of_carried_arrays norm_kinks"),
    "loops/simplify/norm_slopes": (
        "settled",
        "hessians_of_carried_arrays norm_kinks guards_of_norms",
    ),
    "loops/simplify/sums_of_squares": ("formulas", "guards_of_norms guards_of_sums"),
    "loops/simplify/only_where_read": ("", "branches_not_taken"),
    "loops/simplify/guarded_points": ("", "guards_of_sums"),
    "loops/simplify/undefined_ties": ("", "kinks_of_arrays signs_and_places"),
}
"""By modules and folders below `symdiff`. A module that is not here has those of its folder; besides, each has the
text and the file of tests of its name."""


def own(module: Path) -> tuple[list[str], list[str]]:
    """The names of texts, and the files of tests, of a module below the root."""
    inside = module.with_suffix("").relative_to("symdiff")
    name = inside.name if inside.name != "__init__" else inside.parent.name
    exact = OWN.get(inside.as_posix())
    texts, files = exact or next(
        (OWN[p.as_posix()] for p in inside.parents if p.as_posix() in OWN), ("", "")
    )
    known = {p.stem for p in (ROOT / "tests/passes/text").glob("*.ir")}
    names = texts.split() + ([name] if name in known else [])
    found = [f for pattern in files.split() for f in _files(pattern)]
    found += [f for f in _files(name) if f.startswith(("tests/passes/", "tests/loops/"))]
    return list(dict.fromkeys(names)), list(dict.fromkeys(found))


def _files(pattern: str) -> Iterator[str]:
    *folder, name = pattern.split("/")
    for path in sorted((ROOT / "tests").joinpath(*folder).rglob(f"test_{name}.py")):
        yield path.relative_to(ROOT).as_posix()


def commands(module: Path) -> list[list[str]]:
    """What pytest is asked for a module, one after the other."""
    texts, files = own(module)
    every = ["-m", "slow or not slow"]
    cases = [[TEXTS, *every, "-k", " or ".join(f"{n}-" for n in texts)]] if texts else []
    return [*cases, *([files] if files else [])]
