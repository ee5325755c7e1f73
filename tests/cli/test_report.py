"""`symdiff report` and `report().html()`: what stands on the page, and how a browser shows it."""

from __future__ import annotations

import html
import json
import math
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import click.testing
import numpy as np
import pytest

from symdiff import symgrad
from symdiff.cli.commands import main
from symdiff.errors import TargetError

pytest.importorskip("jinja2")
pytest.importorskip("pygments")

TEXT = '''
import math


def ratio(x):
    """One minus the cosine, <over> the square."""
    return (1 - math.cos(x)) / x**2 if x < 3 else math.fabs(x)
'''
BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)


class Reader(HTMLParser):
    """Checks that elements are closed, and collects the text of each section."""

    VOID = frozenset(("meta", "line", "circle", "path", "rect", "mspace"))

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.sections: dict[str, str] = {}
        self.outside: list[str] = []
        self.now = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.outside += [v for k, v in attrs if k in ("src", "href") and v]
        if tag == "section":
            self.now = given["id"] or ""
            self.sections[self.now] = ""
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.now:
            self.sections[self.now] += data


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert not reader.open
    return reader


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    (folder / "model.py").write_text(TEXT)
    out = folder / "report.html"
    target = f"{folder / 'model.py'}:ratio"
    result = click.testing.CliRunner().invoke(main, ["report", target, "-o", str(out)])
    assert result.exit_code == 0, result.output
    return out


@pytest.mark.slow
def test_what_stands_on_it(page: Path) -> None:
    text = page.read_text()
    reader = read(text)
    assert not reader.outside and "@import" not in text and "url(" not in text
    s = reader.sections
    assert list(s) == ["function", "before", "after", "findings", "errors", "accuracy",
                       "operations", "graph", "code"]  # fmt: skip
    assert "math.fabs(x)" in s["function"]
    assert "x = 0" in s["findings"] and "with 1/2, 0, -1/12" in s["findings"]
    assert "near x = 0" in s["errors"] and "near-singular" in s["accuracy"]
    assert "def ratio_grad" in s["code"] and "@njit" in s["code"]
    assert "<over>" not in text and html.escape("<over>") in text
    assert "otherwise" in s["before"] and "<mfrac>" in text


@pytest.mark.slow
def test_an_expression_is_shown_as_it_was_given(tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    result = click.testing.CliRunner().invoke(
        main, ["report", "(x**2 - 4)/(x - 2)", "-o", str(out)]
    )
    assert result.exit_code == 0, result.output
    text = out.read_text()
    assert '<p class="soft">(x**2 - 4)/(x - 2)</p>' in text and "one of its derivatives" not in text


def test_errors_are_those_that_are_measured(page: Path) -> None:
    """Of the plain chain rule many points lie at the top, of symdiff none above the line of half
    the digits."""
    figure = re.search(r'<svg viewBox="0 0 640 260".*?</svg>', page.read_text(), re.S)
    assert figure is not None
    drawn = re.findall(r'<circle class="(\w+) \w+" cx="[\d.]+" cy="([\d.]+)"', figure[0])
    half = re.search(r'class="half"[^>]* y1="([\d.]+)"', figure[0])
    assert half is not None
    naive = [float(y) for who, y in drawn if who == "naive"]
    ours = [float(y) for who, y in drawn if who == "ours"]
    assert len(naive) == len(ours) > 200
    assert sum(y < float(half[1]) for y in naive) > 100
    assert min(ours) > float(half[1]) + 20


@pytest.mark.slow
def test_other_functions() -> None:
    def total(v):
        s = 0.0
        for k in range(len(v)):
            s = 0.9 * s + math.sin(v[k])
        return s

    f = symgrad(total)
    f.grad(np.ones(3))
    s = read(f.report().html()).sections
    assert "errors" not in s and "0.9" in s["after"] and "total_grad" in s["code"]

    two = symgrad(lambda x, y: (np.sin(x * y) / (x * y), x - y), verify=False)
    s = read(two.report().html()).sections
    assert "near x = 0" in s["errors"]


@pytest.mark.slow
def test_without_a_file_and_with_another_kind(page: Path) -> None:
    target = f"{page.parent / 'model.py'}:ratio"
    runner = click.testing.CliRunner()
    printed = runner.invoke(main, ["report", target]).output
    assert printed.startswith("ratio(x)") and "filled: x = 0" in printed
    wrong = runner.invoke(main, ["report", target, "-o", "a.pdf"])
    assert wrong.exit_code == 2 and "*.html" in wrong.output


def test_what_it_needs_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(TargetError, match="Jinja2") as error:
        symgrad(lambda x: x * x).report().html()
    assert 'pip install "symdiff[report]"' in str(error.value)


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="there is no browser")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_shows_it(page: Path, tmp_path: Path, scheme: str) -> None:
    """On a phone nothing is wider than the screen; formulas are set; ink stands out from paper."""
    script = """
    <script>addEventListener("load", () => {
      document.body.style.width = "360px";
      const paper = getComputedStyle(document.body);
      const wide = [...document.body.children].filter(e => e.scrollWidth > 360).length;
      const sums = c => c.match(/\\d+/g).slice(0, 3).reduce((a, b) => a + +b, 0);
      document.title = JSON.stringify({wide,
        ink: sums(paper.color), paper: sums(paper.backgroundColor),
        fraction: document.querySelector("mfrac").getBoundingClientRect().height,
        dots: document.querySelectorAll("circle").length,
        keyword: sums(getComputedStyle(document.querySelector(".code .k")).color)});
    })</script>"""
    copy = tmp_path / "page.html"
    copy.write_text(page.read_text().replace("</body>", f"{script}</body>"))
    dark = ["--force-dark-mode"] if scheme == "dark" else []
    assert BROWSER is not None
    run = subprocess.run(
        [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}/u",
         *dark, "--virtual-time-budget=2000", "--dump-dom", copy.as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    found = re.search(r"<title>(\{.*?\})</title>", run.stdout)
    assert found is not None, run.stderr[-500:]
    seen = json.loads(html.unescape(found[1]))
    assert seen["wide"] == 0 and seen["fraction"] > 20 and seen["dots"] > 400
    assert (seen["ink"] > seen["paper"] + 300) == (scheme == "dark")
    assert abs(seen["keyword"] - seen["paper"]) > 150
