"""What is said of a function, and how accurate it is.

`report`      what was cancelled, filled and rewritten; kinks, branches, operation counts
`certify`     the accuracy of a compiled function, measured against proven values
`naive`       the plain chain rule, evaluated term by term, and its faults
"""
