"""Derivatives of programs with arrays and loops: blocks to blocks."""
