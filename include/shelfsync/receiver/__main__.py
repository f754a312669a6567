"""`python -m shelfsync.receiver`: the webhook receiver, by the settings of the environment. A chain of several has one of its own: SHELFSYNC_CHAIN names it."""

from __future__ import annotations

import logging
import sys

from shelfsync import logs, metrics
from shelfsync.chains import chain_names, chain_that_was_alone
from shelfsync.chosen_chain import chain_in_use, choose
from shelfsync.errors import ShelfsyncError
from shelfsync.file_access import keep_private
from shelfsync.receiver.server import serve
from shelfsync.required_chain import require_chain
from shelfsync.secret_mask import mask_streams
from shelfsync.settings import read_settings
from shelfsync.settings_file import read_file


def main() -> int:
    """The process's exit code."""
    keep_private()
    mask_streams()
    try:
        if chain_in_use() is None:  # the address that the platform knows goes on for the chain that was alone
            choose(chain_that_was_alone(read_file()))
        settings = read_settings()
        require_chain(settings.chain, chain_names())
        logs.configure(settings.log_format, logging.INFO, text="%(asctime)s %(levelname)s %(name)s: %(message)s")
        page = metrics.Prometheus(settings.metrics.prefix, settings.chain) if settings.metrics.readers else None
        sinks: list[metrics.Sink] = [] if page is None else [page]
        sinks += settings.metrics.sinks(settings.chain)
        if sinks:
            metrics.use(metrics.Several(*sinks))
        serve(settings, page)
    except ShelfsyncError as error:
        print(error, file=sys.stderr)  # noqa: T201  one line for a person
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
