"""A stranger's first file: what sniff prints is pasted into a shell, then check, plan and sync, and the platform equals the file."""

from __future__ import annotations

import json
import subprocess
from decimal import Decimal

import openpyxl
import pytest

from documents import data

pytestmark = pytest.mark.slow

GOODS = [
    ("100001", "Müller Käse", "1.49", 1200, True),
    ("100002", "Äpfel rot", "2.99", 30, True),
    ("100003", "Öl nativ", "12.95", 0, True),
    ("100004", "Whisky 18 J.", "1234.50", 2, True),
    ("100005", "Salz", "0.45", 300, False),
]
STORES = {"0101": "store-001", "0102": "store-002"}


def german(number: object) -> str:
    return f"{number:,}".translate(str.maketrans(",.", ".,"))


def csv_of_excel(path):
    rows = [
        f"{store};{sku};{name};{german(Decimal(price))};{german(pieces)};{'J' if active else 'N'}\r\n"
        for store in STORES
        for sku, name, price, pieces, active in GOODS
    ]
    text = "Filiale;Artikelnr;Bezeichnung;VK-Preis;Bestand;Aktiv\r\n" + "".join(rows)
    path.write_bytes(text.encode("cp1252"))


def workbook(path):
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Preise"
    sheet.append(["Preisliste"])
    sheet.append([])
    sheet.append(["Markt", "Artikel", "Bezeichnung", "Preis", "Menge", "Aktiv"])
    for store in STORES:
        for sku, name, price, pieces, active in GOODS:
            sheet.append([store, sku, name, float(price), pieces, active])
    book.create_sheet("Hinweise").append(["Stand März"])
    book.save(path)


def fixed_width(path):
    lines = [
        f"{store:<8}{sku:<9}{name:<16}{german(Decimal(price)):>9}{pieces:>7} {int(active)}\n"
        for store in STORES
        for sku, name, price, pieces, active in GOODS
    ]
    names = "FILIALE ARTIKEL  BEZEICHNUNG         PREIS BESTAND AKTIV\n"  # the last two stand beside their columns
    path.write_text(names + "".join(lines), encoding="utf-8")


def pasted(output: str, folder) -> dict[str, str]:
    """The settings that a program sees if a person pastes the block of sniff into a shell, and starts it elsewhere."""
    block = output.split("settings to paste")[1].split("\n\n", maxsplit=1)[0].partition("\n")[2]
    script = f"{block}\ncd /\nexec env -0"
    shell = subprocess.run(["bash", "-euc", script], env={}, cwd=folder, capture_output=True, text=True, check=True)
    found = dict(entry.split("=", 1) for entry in shell.stdout.split("\0") if "=" in entry)
    return {name: value for name, value in found.items() if name.startswith("SHELFSYNC_")}


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("Bestand März.csv", csv_of_excel),
        ("preise.xlsx", workbook),
        ("bestand.txt", fixed_width),
    ],
)
def test_a_file_is_on_the_platform_by_what_sniff_prints(here, sandbox, tmp_path, monkeypatch, name, write):
    write(tmp_path / name)
    monkeypatch.delenv("SHELFSYNC_ERP__FILES")
    code, output, errors = here("sniff", name)
    assert code == 0, errors
    settings = pasted(output, tmp_path)
    assert settings, output
    for setting, value in settings.items():
        monkeypatch.setenv(setting, value)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")  # as a scheduler does
    monkeypatch.setenv("SHELFSYNC_ERP__VENDOR_IDS", json.dumps(STORES))
    for words in (("sandbox", "fill"), ("check",), ("plan",), ("sync", "--full")):
        code, output, errors = here(*words)
        assert code == 0, (words, output, errors)
    assert data(here("quarantine", "--json")[1])["quarantined"] == []
    for vendor in STORES.values():
        shown = sandbox.products(vendor)
        for sku, _, price, pieces, active in GOODS:
            assert (shown[sku]["price"], shown[sku]["active"]) == (float(price), active and pieces > 0), (vendor, sku)
        sku, title, _, pieces, _ = GOODS[0]
        explained = " ".join(here("explain", vendor, sku)[1].split())
        assert f"{sku} ({title})" in explained
        assert f"quantity {pieces}" in explained
