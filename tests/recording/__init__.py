"""Ledgers as versions of the project left them, with jobs under way: the code of today has to take them up.

`PYTHONPATH=tests:include python -m recording` records the one of the version at hand into `ledgers/`, named by its revision; a migration
that is told apart from the last one recorded deserves a recording of its own.
"""
