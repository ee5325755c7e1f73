"""Python's syntax: a handler for each node that can be traced.

`statements`       statements
`for_while`        `for` and `while`
`try_except`       `try`: handlers run where plain Python raises
`match_case`       `match`, as branches
`expressions`      evaluating expressions
`comprehensions`   comprehensions and generator expressions
`operators`        operators on any two values
`attributes`       attribute access
`calls`            calls: inlined, known, or refused
`inlining`         programs inlined in a traced function
`containers`       elements, keys and positions of containers
`records`          objects of the user's classes
`special_methods`  operators, statements and Python's functions on objects
"""
