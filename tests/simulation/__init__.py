"""The seeded simulation: whole days against the live sandbox on a virtual clock, with faults, deaths and two workers at once.

`python -m simulation --seeds N --start S` (with tests and include on the path); docs/internals/reliability.md lists what it checks.
"""
