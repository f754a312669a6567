"""What a person must know: a condition with a life, where its messages go, and the outbox that sends them.

Steps and `shelfsync.alert_conditions` find what is wrong now. Here is what becomes of it: one row a condition, however many runs meet it;
a message when it opens and when it closes; a person who has acknowledged it.
"""
