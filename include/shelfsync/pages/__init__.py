"""Pages for the operator: they show ledger and warehouse. A user with the right to decide decides holds there.

Served inside Airflow's API server below /shelfsync/pages, behind its login. `app.PAGES` names them.
"""
