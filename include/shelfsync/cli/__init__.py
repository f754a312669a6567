"""The command line: the same steps as the DAGs, without Airflow. One module a group of `shelfsync --help`; `app` gathers
them, and has the group of this machine.

The exit codes are `exit_codes.ExitCode`. `--json` prints one JSON document on standard output: `{"schema": 1, "data": ...}`, or
`{"schema": 1, "error": {"code", "message", "remedy"}}`. Errors, log lines and progress go to standard error.
"""

from __future__ import annotations

from shelfsync.cli.app import app, main

__all__ = ["app", "main"]
