"""Formulas as short as a person would write them.

`simplify`      the short form of a formula: the pass
`window_by_window`  one formula from the top: a window of rational operations at a time
`candidates`    what is tried for one window: by other functions, sums apart and together
`frame`         a window of a formula as a quotient of polynomials in generators
`writer`        from quotients of polynomials to the shortest formula that is found
`polynomials`   polynomials, written as short as is found
`products`      products: what they are as formulas, and about how long they get
`pieces`        small pieces of writing: products of powers, signs, numbers
`costs`         how long formulas are, and how many may be tried
`check`         whether a shorter formula equals what it replaces, at points, in ball arithmetic
`related_functions`  complements in sums, gamma functions of shifted arguments, odd functions
`absolute`      absolute values and signs: `x*sign(x)` is `abs(x)`
`one_angle`     functions of one angle, written by each of the others
`waves`         products of sines and cosines as sums of them
`directions`    exponents and angles that are multiples of one another
`radicals`      roots: their squares are their radicands, in both directions
`known_bases`   powers and logarithms of numbers, by fewer of them
`on_domain`     forms that are equal on the domain of a function
`familiar`      formulas in the functions that people know, before anything is shortened
`truth`         conditions of branches, as short as they get
`decimals`      literals of programs as people wrote them
"""
