"""The guards: each finds the rows of a delta that look like an accident, and why.

A guard is a pure function in the file of its name: it gets a `Case` and yields `Finding`s. `apply_guards` runs them all, in order.
"""
