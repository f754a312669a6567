"""A store's file that has rows of another store, which has a file of its own: the two may be exchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.errors import IncompleteExtractError, some_of

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from shelfsync.erp.address import FoundFile


def refuse(file: FoundFile, named: AbstractSet[str], own: str | None, of_files: AbstractSet[str | None]) -> None:
    """Raises IncompleteExtractError if its rows name another store that has a file.

    `named`: the platform's ids of the stores in the rows. `own`: that of the file's name. `of_files`: those of all files.
    """
    if others := sorted((named & of_files) - {own}):
        raise IncompleteExtractError(
            f"{file.name} has rows of vendor {some_of(map(repr, others))} in its column 'vendor', and its name is that of {file.vendor!r}."
            " Nothing of it was sent: they would get each other's prices. Let the ERP write each store's rows into its own file; if the"
            " column means something else, give it another name."
        )
