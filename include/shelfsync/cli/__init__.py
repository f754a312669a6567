"""The command line: the same steps as the DAGs, without Airflow. One command a file; `app` gathers them.

Exit codes: 0 all well · 1 unexpected · 2 some vendors failed · 3 fix the configuration · 4 fix the data · 5 try again later · 6 a newer
run has gone past this one · 7 a person has paused sending ·
8 a plan is no longer what would be sent. `--json` prints one JSON document on standard output; everything for people goes to standard error.
"""

from __future__ import annotations

from shelfsync.cli.app import app, main

__all__ = ["app", "main"]
