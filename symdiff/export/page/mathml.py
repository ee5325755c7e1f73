"""Formulas as MathML, which browsers set as mathematics."""

from __future__ import annotations

from typing import Any

from sympy.printing.mathml import MathMLPresentationPrinter


class _Printer(MathMLPresentationPrinter):
    """SymPy's, with branches one below the other."""

    def _print_Piecewise(self, expr: Any) -> Any:
        """A brace, and in each row what holds where."""
        row, brace, table = (self.dom.createElement(tag) for tag in ("mrow", "mo", "mtable"))
        brace.appendChild(self.dom.createTextNode("{"))
        for name in ("fence", "stretchy", "symmetric"):
            brace.setAttribute(name, "true")
        brace.setAttribute("form", "prefix")
        row.appendChild(brace)
        for value, condition in expr.args:
            line = self.dom.createElement("mtr")
            for part in (value, condition):
                cell = self.dom.createElement("mtd")
                if part == True:  # noqa: E712 (SymPy's)
                    text = self.dom.createElement("mtext")
                    text.appendChild(self.dom.createTextNode("otherwise"))
                    cell.appendChild(text)
                else:
                    cell.appendChild(self._print(part))
                line.appendChild(cell)
            table.appendChild(line)
        row.appendChild(table)
        return row


def mathml(expression: Any) -> str:
    """A SymPy expression as presentation MathML, without the element around it."""
    printer = _Printer({"mul_symbol_mathml_numbers": "&#xB7;"})
    text: str = printer._print(expression).toxml()
    return text.replace("&amp;#xB7;", "\N{MIDDLE DOT}").replace("&amp;#", "&#")


__all__ = ["mathml"]
