"""The numerical core: from a table of numbers to fitted shape functions.

A fit goes through `columns` (bins and codes), `measures` and `chains` (the regularizer), `packing`
and `rowloops` (the rows), `losses` and `solvers`, and ends in `shapes`; `design` combines them.
`boosting` and `kernel_machines` are the other learners.  Modules import only from lower layers.
"""
