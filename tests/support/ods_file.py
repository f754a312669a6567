"""A workbook of LibreOffice for tests: as little of its format as a reader needs."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

ERROR = object()
"""A cell that holds #N/A."""

_SPACES = "\n".join(
    f'  xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
)


def write_ods(path: Path, rows: Iterable[Sequence[object]], sheet: str = "Stock") -> None:
    """Cells are texts, numbers, None or ERROR."""
    body = "".join(f"<table:table-row>{''.join(map(_cell, row))}</table:table-row>" for row in rows)
    content = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {_SPACES} office:version="1.3"><office:body><office:spreadsheet>'
        f'<table:table table:name="{sheet}">{body}</table:table></office:spreadsheet></office:body></office:document-content>'
    )
    manifest = '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" manifest:version="1.3"/>'
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", manifest)
        archive.writestr("content.xml", content)


def _cell(value: object) -> str:
    if value is None:
        return "<table:table-cell/>"
    if value is ERROR:
        return (
            '<table:table-cell table:formula="of:=NA()" office:value-type="string" office:string-value="">'
            "<text:p>#N/A</text:p></table:table-cell>"
        )
    if isinstance(value, (int, float)):
        return f'<table:table-cell office:value-type="float" office:value="{value!r}"/>'
    return f'<table:table-cell office:value-type="string"><text:p>{escape(str(value))}</text:p></table:table-cell>'
