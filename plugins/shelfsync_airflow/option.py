"""One option of the section `[shelfsync]` of airflow.cfg, and how it is read for a chain."""

from __future__ import annotations

from typing import NamedTuple

from shelfsync.chosen_chain import chain_in_use

SECTION = "shelfsync"


class Option(NamedTuple):
    """One option as Airflow describes it: `kind` is string, integer or float."""

    default: str
    kind: str
    description: str
    example: str | None = None


def read_option(name: str, option: Option) -> str:
    """The option of the chain in use (`delta_schedule__north`), or the one of all chains."""
    from airflow.sdk.configuration import (
        conf,  # here, because Airflow reads all options while it makes this very object
    )

    whole = conf.get(SECTION, name, fallback=option.default)
    chain = chain_in_use()
    return str(whole if chain is None else conf.get(SECTION, f"{name}__{chain}", fallback=whole))
