"""Preparation for machines, DAG to DAG; nothing here prints.

`target`           operations of processors in addition to those of the DAG
`lower`            + - * / neg sqrt, comparisons, select, libm
`newton`           one Newton correction where a library's function errs by several units
`quotients`      the integer of `x // y`
`reciprocals`      quotients of one denominator by its reciprocal
`factoring`        products and quotients with few operations
`fast`             fast mode
`moving`          functions that move with the direction of rounding
`latency`          whether a processor would wait for results
`compensated/`     values with their rounding errors
`double_double/`   real numbers as pairs of doubles
`loops/`           programs with arrays and loops
"""
