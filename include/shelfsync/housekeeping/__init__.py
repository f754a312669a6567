"""Keeps ledger, inbox, budget, warehouse and lake bounded: what is older than its retention goes, what a later step needs stays.

`rules` says what may go, `prune` removes rows, `sweep` removes files of the lake that no row points to, `keep_house` does all of it.
"""
