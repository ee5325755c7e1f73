"""The pictures of the gallery: the documentation's build runs the page, as its test does, and adds what it draws."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).parents[1]


def on_files(files: Any, *, config: Any) -> Any:
    """Add the SVG files that the commands of the page write."""
    sys.path.insert(0, str(ROOT))
    try:
        from tests import pages
    finally:
        sys.path.remove(str(ROOT))
    with tempfile.TemporaryDirectory() as folder:
        pages.run(ROOT / "docs" / "gallery.md", Path(folder))
        for path in sorted(Path(folder).glob("*.svg")):
            files.append(File.generated(config, f"images/{path.name}", content=path.read_bytes()))
    return files
