"""Standalone modules, and functions as text.

`scalar`     modules of functions of numbers, and what their docstring says
`companions` modules as files, and the file of functions that they share
`measured`   how accurate a module is, for its docstring
`loops`      functions with arrays and loops: formulas, sources, modules and reports
`faces`      how functions of modules are called
`page/`      the report of a function as a page of HTML
`files`      writing what the user names: through what is there, whole or not at all
"""
