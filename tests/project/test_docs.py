"""The documentation is whole: links, navigation, examples, and what is told of the tables."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

from symdiff import symgrad
from symdiff.ir import OPS, Op
from tests import pages, supported

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))


@pytest.mark.sampled(40)
@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_examples_run(page: Path, tmp_path: Path) -> None:
    expected = sum(
        block.body.count("  # -> ") + len(re.findall(r"^\$ ", block.body, flags=re.M))
        for block in pages.blocks(page)
        if block.language in ("python", "console")
    )
    assert pages.run(page, tmp_path) >= expected


OPTIONAL = [
    p for p in PAGES if re.search("```py\nimport (jax|numpy)", p.read_text(encoding="utf-8"))
]
"""Pages with examples of PyTorch and JAX, which need not be installed."""


@pytest.mark.slow
@pytest.mark.parametrize("page", OPTIONAL, ids=lambda p: p.stem)
def test_examples_of_optional_libraries_run(page: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("jax").config.update("jax_enable_x64", False)
    copy = tmp_path / page.name
    copy.write_text(page.read_text(encoding="utf-8").replace("```py\n", "```python\n"))
    assert pages.run(copy, tmp_path) > sum("  # -> " in b.body for b in pages.blocks(page))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_links_lead_somewhere(page: Path) -> None:
    whole = page.read_text(encoding="utf-8")
    drawn = {f"images/{name}" for name in re.findall(r"^\$ .* -o (\S+)$", whole, flags=re.M)}
    text = re.sub(r"```.*?```", "", whole, flags=re.S)
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)(#[^)]*)?\)", text):
        file = page.parent / target if target else page
        assert file.exists() or target in drawn, f"{page.name}: {target} does not exist"
        if anchor:
            headings = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), flags=re.M)
            slugs = {re.sub(r"[^\w\- ]", "", h).strip().lower().replace(" ", "-") for h in headings}
            assert anchor[1:] in slugs, f"{page.name}: {target}{anchor}"


def test_every_page_is_in_the_navigation_once() -> None:
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    listed = re.findall(r"^ +- .*: (\w+\.md)$", nav, flags=re.M)
    assert sorted(listed) == [p.name for p in PAGES]


def _kink_rows() -> list[str]:
    """The table of kinks as the function table gives it."""

    def label(op: Op) -> str:
        short = [n.removeprefix("builtins.").replace("numpy.", "np.") for n in op.names]
        return ", ".join(f"`{n}`" for n in short)

    return [f"| {label(op)} | {op.kink_rule} |" for op in OPS.values() if op.kink_rule and op.names]


def test_the_table_of_kinks_is_that_of_the_functions() -> None:
    text = (DOCS / "conventions.md").read_text(encoding="utf-8")
    section = text.partition("## Kinks")[2].partition("\n### ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    assert rows == _kink_rows(), "the table should be:\n" + "\n".join(_kink_rows())


def test_every_rule_of_a_kink_is_in_the_table() -> None:
    listed = "\n".join(_kink_rows())
    assert [op.name for op in OPS.values() if op.kink_rule and op.kink_rule not in listed] == []


def test_the_map_of_the_folders_is_that_of_the_package() -> None:
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    section = text.partition("## A map of the folders")[2].partition("\n## ")[0]
    listed = re.findall(r"^\| `([\w./]+)` \|", section, flags=re.M)
    package = ROOT / "symdiff"
    found = [p.name for p in package.glob("*.py")]
    found += [f"{p.parent.name}/" for p in package.glob("*/__init__.py")]
    assert sorted(listed) == sorted(found)


def test_the_page_of_supported_names_is_that_of_the_tables() -> None:
    written = (DOCS / "supported.md").read_text(encoding="utf-8")
    if supported.versions() not in written:
        pytest.skip("another NumPy or SciPy")
    assert written == supported.page(), "python -m tests.supported > docs/supported.md"


def test_files_that_the_architecture_names_exist() -> None:
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w/]+\.py)`", text))
    assert named
    assert [n for n in named if not (ROOT / "symdiff" / n).exists()] == []


def test_the_layers_are_those_that_are_checked() -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = config["tool"]["importlinter"]["contracts"][0]["layers"]
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    assert "\n".join(layers) in text


CHECKED_IN = ROOT / "examples" / "checked_in"
MEASURED = re.compile(r"(mean|_grad:|average:) .*")
"""What depends on the processor's library."""


@pytest.mark.sampled
@pytest.mark.parametrize("name", ["call_price", "morse", "average"])
def test_modules_are_shown_as_they_are_written(name: str, tmp_path: Path) -> None:
    """`symdiff compile` in `examples/checked_in` writes them again."""
    spec = importlib.util.spec_from_file_location("models", CHECKED_IN / "models.py")
    assert spec is not None and spec.loader is not None
    models = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(models)
    symgrad(getattr(models, name)).save(tmp_path / "kernels.py")
    written = (tmp_path / "kernels.py").read_text(encoding="utf-8")
    kept = (CHECKED_IN / f"{name}_kernels.py").read_text(encoding="utf-8")
    assert MEASURED.sub("", kept) == MEASURED.sub("", written), "write examples/checked_in again"
    assert kept.rstrip() in (DOCS / "modules.md").read_text(encoding="utf-8")


def test_the_companion_of_the_shown_modules_holds_what_they_import() -> None:
    companion = (CHECKED_IN / "symdiff_pairs.py").read_text(encoding="utf-8")
    for path in CHECKED_IN.glob("*_kernels.py"):
        imported = re.search(r"from symdiff_pairs import \(?([^)]*)", path.read_text("utf-8"))
        names = re.findall(r"\w+", imported[1]) if imported else []
        assert all(f"\ndef {n}(" in companion for n in names if n != "from"), path.name
