"""How a text for people names what is a chain's own: its variables, DAGs, connections and commands."""

from __future__ import annotations

import re

from shelfsync.chain_settings import OWN_SECTIONS, OWN_SETTINGS
from shelfsync.chosen_chain import MARK, keeps_names, variables_of

_DAGS = (
    "alerts_watch",
    "assortment_export",
    "catalog_delta_sync",
    "catalog_full_sync",
    "catalog_holds",
    "catalog_recover",
    "catalog_urgent_sync",
    "orders_fulfilment",
    "orders_history",
    "promotions_recover",
    "promotions_sync",
)
_OWN = re.compile(
    rf"\bSHELFSYNC_((?:{'|'.join(section.upper() for section in OWN_SECTIONS)})__\w+"
    + "".join(f"|{section}__{name}".upper() for section, names in OWN_SETTINGS.items() for name in names)
    + r")\b"
)
_BY_NAME = re.compile(rf"(?<!#)\b({'|'.join(_DAGS)}|shelfsync_(?:platform|erp|webhook))\b(?!{MARK})")
_COMMAND = re.compile(r"(`|\bnext: )shelfsync (?!--chain|chains\b)")


def own_names(text: str, chain: str | None) -> str:
    """The text with the variables, DAGs, connections and commands of this chain, where it names those of an installation without chains.

    Another chain's would not be read, so who follows such a text would change nothing, or another chain.
    """
    if chain is None:
        return text
    text = _COMMAND.sub(rf"\1shelfsync --chain {chain} ", _OWN.sub(rf"{variables_of(chain)}\1", text))
    return text if _BY_NAME.search(text) is None or keeps_names(chain) else _BY_NAME.sub(rf"\1{MARK}{chain}", text)
