"""What a guard holds, and what persons decide about it: one mechanism for every subject whose changes are held.

A subject (the catalog, promotions) finds what to hold and writes it with its rows. It registers what differs in `subject.Subject`: how its
rows are read, divided by other thresholds, and sent. Everything else is here: state, evidence, decisions, expiry, questions.
"""
