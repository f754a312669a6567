"""The steps of promotions: extract, plan (prepare, commit), deliver, confirm (acknowledge), report; the wait between is of platform.jobs.

`report.recover` finishes what earlier runs left open. `status` shows the state, and takes decisions.
"""
