"""Keeps ledger, inbox, rate limit, warehouse and lake bounded: removes rows and files older than their retention, unless a later step needs them.

`rules` defines what may be removed, `prune` removes rows, `sweep` removes files of the lake that no row points to, `remove_expired` does all of it.
"""
