"""Why a CSV does not have the columns or rows that the settings expect, by the shape of its beginning: the cause and the setting by their names.

A reading asks only after it has failed, and the answer replaces the error; it never changes what is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.erp import packed_files, proposed_fixed_widths
from shelfsync.erp.proposed_delimiter import SHOWN, shape_of
from shelfsync.erp.text import ESCAPING
from shelfsync.errors import ConfigurationError, DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shelfsync.erp.address import FoundFile
    from shelfsync.erp.proposed_delimiter import Shape
    from shelfsync.errors import ShelfsyncError

DELIMITER = "SHELFSYNC_ERP__CSV_DELIMITER"
HEADER_ROW = "SHELFSYNC_ERP__HEADER_ROW"
QUOTING = "SHELFSYNC_ERP__CSV_QUOTING"
FIXED_WIDTH = "SHELFSYNC_ERP__FIXED_WIDTH"
_HEAD_BYTES = 2**16
_CHARACTERS = 60


def likely_cause(
    found: FoundFile, delimiter: str, encoding: str, header_row: int, *, quoted: bool
) -> ShelfsyncError | None:
    """The error that names the cause, for a file that is read with these settings; None if its beginning shows none."""
    text, whole = beginning(found, encoding)
    shape = shape_of(text, whole=whole)
    if shape is None or proposed_fixed_widths.is_inside_numbers(shape.delimiter, text):
        return _fixed_widths(found, proposed_fixed_widths.of(text, whole=whole))
    if shape.delimiter != delimiter:
        return _other_delimiter(found, shape, delimiter, header_row)
    if shape.header is not None and shape.header != header_row:
        return ConfigurationError(
            HEADER_ROW,
            f"is {header_row}, and line {shape.header} of {found.name} looks like the names of its columns:"
            f" {_line(shape.names, shape.delimiter)}{_above(shape, header_row)}",
            f"Set it to {shape.header}. {_sniff(found)}",
        )
    if shape.trailing:
        cells = f"so it has {len(shape.names)} cells and each row has {shape.width}"
        return DataError(
            f"The line with the names of {found.name} ends with {_word(delimiter)}, {cells}. Nothing was sent; let the ERP write both alike."
        )
    if quoted and not shape.quoted:
        return ConfigurationError(
            QUOTING,
            f"is standard, and {found.name} has quotes that do not enclose cells",
            f"If the ERP never quotes a cell, set it to none. {_sniff(found)}",
        )
    return _without_names(found, shape) if shape.header is None else None


def beginning(found: FoundFile, encoding: str) -> tuple[str, bool]:
    """The beginning of the file as text, empty if it cannot be read, and whether it is all of it."""
    try:
        with packed_files.open_unpacked(found) as binary:
            head = binary.read(_HEAD_BYTES)
        return head.decode(encoding, ESCAPING), len(head) < _HEAD_BYTES
    except (*packed_files.CUT, ValueError, LookupError, DataError, ConfigurationError):
        return "", True


def _fixed_widths(found: FoundFile, places: proposed_fixed_widths.Places | None) -> ConfigurationError | None:
    if places is None:
        return None
    return ConfigurationError(
        FIXED_WIDTH,
        f"is not set, and {found.name} seems to have columns of fixed width: {', '.join(places.names)}",
        f"Name their places. {_sniff(found)}",
    )


def _without_names(found: FoundFile, shape: Shape) -> DataError:
    begins = _line(shape.rows[0][1], shape.delimiter) if shape.rows else "nothing"
    return DataError(
        f"No line at the beginning of {found.name} looks like the names of its columns; it begins with {begins}. Nothing was sent; let the ERP"
        " write the names in one line."
    )


def _other_delimiter(found: FoundFile, shape: Shape, delimiter: str, header_row: int) -> ConfigurationError:
    also = f", and {HEADER_ROW} to {shape.header}" if shape.header not in {None, header_row} else ""
    where = f"line {shape.header}" if shape.header is not None else "its lines"
    names = _line(shape.names or (shape.rows[0][1] if shape.rows else ()), shape.delimiter)
    return ConfigurationError(
        DELIMITER,
        f"is {_word(delimiter)}, and {found.name} seems to have {_word(shape.delimiter)}, in {where}: {names}{_above(shape, header_row)}",
        f"Set it to {_word(shape.delimiter)}{also}. {_sniff(found)}",
    )


def _above(shape: Shape, header_row: int) -> str:
    """What stands above the line with the names."""
    if shape.sep_line is not None:
        return f"; line {shape.sep_line} (sep=) is for Excel alone"
    return "; above it is a title" if shape.header is not None and shape.header > header_row else ""


def _word(delimiter: str) -> str:
    return SHOWN.get(delimiter, repr(delimiter))


def _line(cells: Sequence[str], delimiter: str) -> str:
    return repr(delimiter.join(cells)[:_CHARACTERS])


def _sniff(found: FoundFile) -> str:
    return f"`shelfsync sniff {found.readable}` proposes all settings."
