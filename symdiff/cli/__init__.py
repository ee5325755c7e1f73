"""The command line: `symdiff diff | simplify | compile | check | plot | show | cache`.

`commands`     the commands and their options
`targets`      what they work on: an expression, or a function in a file or module
`stand_ins`    for packages that are not installed, so that code written for them is read
`check/`       `symdiff check`: where the plain chain rule goes wrong, and what is right there
`plot`         `symdiff plot`: value, derivative and their errors near the bad points
"""
