"""Keeps ledger, inbox, rate limit, warehouse and lake bounded: removes rows and files older than their retention, unless a later step needs them.

`rules` defines which rows may be removed; `remove_expired` removes them, and the files of the lake that no row points to.
"""
