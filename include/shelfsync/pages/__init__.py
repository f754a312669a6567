"""Pages for people: what the ledger and the warehouse know, shown; decisions taken where somebody may take them.

Served inside Airflow's API server below /shelfsync/pages, behind its login. One page a file, gathered by `app.PAGES`.
"""
