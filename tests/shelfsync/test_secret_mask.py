from __future__ import annotations

import base64
import io
import json
import logging
import os
import string
import subprocess
import sys
from typing import Any
from urllib.parse import quote, quote_plus, unquote

import pytest
import sqlalchemy as sa
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel, SecretStr

from shelfsync import errors, logs
from shelfsync.catalog.ledger.tables import vendor_run
from shelfsync.erp import address
from shelfsync.errors import ConfigurationError
from shelfsync.secret_mask import MASK, PART, Masker, in_address, mask
from shelfsync.settings import Settings, read_settings
from shelfsync.settings.reading import secrets

SECRET = "kaNary/7+x%2Q=&zz9-5f"
SIGNS = string.ascii_letters + string.digits + "/+%&=@:;!?#$*()[]{}|~^äß'\"` <>\\-_.,"
SECRETS = st.text(SIGNS, min_size=PART, max_size=60).filter(lambda text: len(text.strip()) >= PART)
WAYS = {
    "as it is": str,
    "percent signs": lambda text: quote(text, safe=""),
    "small percent signs": lambda text: quote(text, safe="").replace("%2F", "%2f").replace("%3D", "%3d"),
    "percent signs of a path": quote,
    "percent signs of SQLAlchemy": lambda text: quote(text, safe=" +"),
    "percent signs of a form": quote_plus,
    "percent signs of an address in an address": lambda text: quote(quote(text, safe=""), safe=""),
    "hexadecimal": lambda text: text.encode().hex(),
    "hexadecimal in capitals": lambda text: text.encode().hex().upper(),
    "decoded": unquote,
    "repr": lambda text: repr(text)[1:-1],
    "repr of bytes": lambda text: repr(text.encode())[2:-1],
    "JSON": lambda text: json.dumps(text)[1:-1],
    "JSON of a repr's text": lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    "host": str.lower,
    "cut behind": lambda text: text[:-1] if len(text) > PART else text,
    "cut before": lambda text: text[1:] if len(text) > PART else text,
}


def parts(text: str) -> set[str]:
    return {text[at : at + PART] for at in range(len(text) - PART + 1)}


@pytest.mark.slow
@given(st.lists(SECRETS, min_size=1, max_size=5), st.sampled_from(sorted(WAYS)), st.text(max_size=20), st.data())
def test_no_eight_characters_of_a_secret_leave_in_any_way_that_a_library_writes_it(several, way, around, data):
    masker = Masker()
    masker.add(several)
    written = WAYS[way](data.draw(st.sampled_from(several)))
    shown = masker(f"{around}{written}{around[::-1]}")
    assert not parts(written) & (parts(shown) - parts(around) - parts(around[::-1]))
    assert MASK in shown or len(written) < PART


@given(SECRETS, st.text(string.ascii_letters, max_size=5))
def test_a_user_and_a_secret_in_base64_are_masked_as_basic_authentication_has_them(secret, user):
    masker = Masker()
    masker.add([secret])
    header = base64.b64encode(f"{user}:{secret}".encode()).decode()
    assert len(header) - len(masker(header).replace(MASK, "")) >= len(base64.b64encode(secret.encode())) - PART


ESCAPED = {
    "repr of UTF-16": lambda text: repr(text.encode("utf-16-le"))[2:-1],
    "repr of UTF-16, the other end first": lambda text: repr(text.encode("utf-16-be"))[2:-1],
    "repr of UTF-16 with its mark": lambda text: repr(text.encode("utf-16"))[2:-1],
    "repr of UTF-32": lambda text: repr(text.encode("utf-32-le"))[2:-1],
    "JSON of a repr of UTF-16": lambda text: json.dumps(repr(text.encode("utf-16-le"))[2:-1])[1:-1],
    "UTF-16 read as Latin-1": lambda text: text.encode("utf-16-le").decode("latin-1"),
    "UTF-16 with percent signs": lambda text: quote(text.encode("utf-16-le"), safe=""),
    "a code of JSON for each character": lambda text: "".join(f"\\u{ord(one):04x}" for one in text),
    "octal, as PostgreSQL writes bytes": lambda text: "".join(f"\\{one:03o}" for one in text.encode()),
    "a percent sign for each byte": lambda text: "".join(f"%{one:02X}" for one in text.encode()),
    "and again": lambda text: "".join(f"%25{one:02x}" for one in text.encode()),
    "a code of HTML for each character": lambda text: "".join(f"&#{ord(one)};" for one in text),
    "a code of XML for each character": lambda text: "".join(f"&amp;#x{ord(one):x};" for one in text),
}
PLAIN_SECRETS = st.text(SIGNS.replace("\\", ""), min_size=PART, max_size=40).filter(lambda text: text == text.strip())


@given(PLAIN_SECRETS, st.sampled_from(sorted(ESCAPED)))
@example("0000000'\"", "JSON of a repr of UTF-16")
def test_a_secret_of_which_each_character_is_escaped_is_masked_as_a_whole(secret, way):
    masker = Masker()
    masker.add([secret])
    written = ESCAPED[way](secret)
    shown = masker(f"the driver sent {written}, no more")
    assert written not in shown
    assert MASK in shown
    assert len(shown) <= len("the driver sent ***, no more") + PART


ENCODED = {
    "UTF-16": lambda user, secret: f"{user}:{secret}".encode("utf-16-le"),
    "Latin-1": lambda user, secret: f"{user}:{secret}".encode("latin-1", "replace"),
    "with percent signs": lambda user, secret: f"{user}:{quote(secret, safe='')}".encode(),
    "in base64 once more": lambda user, secret: base64.b64encode(f"{user}:{secret}".encode()),
}


@given(SECRETS, st.text(string.ascii_letters, max_size=5), st.sampled_from(sorted(ENCODED)))
def test_a_secret_in_another_encoding_is_masked_in_base64_too(secret, user, way):
    masker = Masker()
    masker.add([secret])
    written = base64.b64encode(ENCODED[way](user, secret))
    for code in (written.decode(), written.decode().replace("+", "-").replace("/", "_")):
        shown = masker(code).replace(MASK, "")
        before = len(base64.b64encode(ENCODED[way](user, "")))
        assert len(shown) <= before + PART + 4, "what stands before it, and its last signs"


@pytest.mark.parametrize(
    "text", ["\\" * 5_000 + "%" * 5_000, "%25" * 5_000, "\x00" * 9_000, "a\\" * 5_000, "&amp;" * 5_000]
)
def test_signs_of_escapes_without_end_are_read_once(text):
    masker = Masker()
    masker.add([SECRET])
    assert masker(text) == text


@given(st.lists(SECRETS, max_size=4), st.text())
def test_a_text_without_a_secret_stays_as_it_is(several, text):
    masker = Masker()
    masker.add(several)
    if not any(parts(form.lower()) & parts(text.lower()) for form in masker.whole_forms()):
        assert masker(text) == text


def test_a_text_that_changes_its_length_in_small_letters_is_masked_in_its_place():
    masker = Masker()
    masker.add(["kanary77x"])
    assert masker("\u0130\u0130 kanary77x \u0130") == "\u0130\u0130 *** \u0130"


def test_a_short_or_ordinary_secret_makes_no_text_unreadable():
    masker = Masker()
    masker.add(["a", "17", "shelfsync", "w0rd", "postgres"])
    line = "run 17 of shelfsync: a store, postgres, aw0rdb; Run `shelfsync holds list`."
    assert masker(line) == line
    assert masker("postgresql://shelfsync:a@h postgres:postgres@h x:shelfsync@y pwd=w0rd") == (
        "postgresql://shelfsync:***@h postgres:***@h x:***@y pwd=***"
    )


def test_a_part_of_shelfsyncs_own_name_in_a_secret_hides_none_of_its_messages():
    masker = Masker()
    masker.add(["shelfsync_prod_2026"])
    line = "Fill in the connection shelfsync_platform, or run `shelfsync status`."
    assert masker(line) == line
    assert masker("is shelfsync_prod_2026 right?") == "is *** right?"


@pytest.mark.parametrize(
    "value",
    [
        f"s3://KEYKEY77:{quote(SECRET, safe='')}@bucket/stock.csv",
        f"s3://KEYKEY77:{SECRET.replace('?', '')}@bucket/a@b.csv",
        f"simplecache::s3://KEYKEY77:{quote(SECRET, safe='')}@bucket/{{vendor}}.csv",
        f"zip://*.csv::ftp://shop:{quote(SECRET, safe='')}@files.example/all.zip",
        f"postgresql://shop:{quote(SECRET, safe='')}@db/erp",
        f"postgresql://db/erp?user=shop&password={quote(SECRET, safe='')}",
        f"https://{quote(SECRET, safe='')}@files.example/stock.csv",
        f"https://files.example/stock.csv?sig={quote(SECRET, safe='')}&x=1",
        f"mssql+pyodbc:///?odbc_connect={quote_plus(f'DRIVER=x;UID=shop;PWD={{{SECRET}}};SERVER=db')}",
        f"sftp://shop:{quote(SECRET, safe='')}@files.example/out",
    ],
)
@pytest.mark.parametrize("declared", [True, False])
def test_the_secret_inside_an_address_is_found(value, declared):
    masker = Masker()
    masker.add(in_address(value, declared=declared))
    for text in (SECRET, quote(SECRET, safe=""), unquote(SECRET), value):
        assert not parts(SECRET) & parts(masker(f"The library writes {text}, no more"))


@pytest.mark.parametrize(
    "value",
    [
        "postgresql://shop@db.example:5432/erp?sslmode=verify-full&sslrootcert=/etc/ssl/company-root.pem",
        "s3://bucket-of-the-chain/a@b/stock.csv",
        "abfss://container-of-stock@account.example/stock.csv",
        "https://host.example:8443/stock@noon/file.csv",
        "/data/feed/{vendor}.csv",
        "SELECT k.sku, p.price FROM stock k JOIN prices p ON p.product_key=k.product_key",
        "DESCRIPTION=(ADDRESS=(HOST=h)(PORT=1521))",
    ],
)
def test_what_is_no_secret_in_an_address_stays_readable(value):
    assert list(in_address(value, declared=False)) == []


def _that_may_hold_one(model: type[BaseModel], path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found = []
    for name, field in model.model_fields.items():
        kind = str(field.annotation)
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            found += _that_may_hold_one(field.annotation, (*path, name))
        elif SecretStr.__name__ in kind or name.endswith(("url", "proxy")) or ("file" in name and "str" in kind):
            found.append((*path, name))
    return [path for path in found if path[-1] != "file_format"]


HOLDERS = _that_may_hold_one(Settings)
CANARY = "Kanary77/kanary77+KanaryKanary%xyzw12"


def _values(name: str) -> list[str]:
    encoded = quote(CANARY, safe="")
    urls = [f"postgresql://shop:{encoded}@db/erp", f"https://u:{encoded}@h/x", f"https://h/x?token={encoded}"]
    urls += [f"s3://AKIDAKID77:{encoded}@bucket/x", f"sftp://shop:{encoded}@files/x"]
    return urls if name.endswith(("url", "proxy")) or "file" in name else [CANARY]


def test_every_setting_that_may_hold_a_secret_is_among_those_that_are_tried():
    names = {".".join(path) for path in HOLDERS}
    assert {"database_url", "erp.files", "erp.url", "webhook.secret", "orders.encryption_key", "platform.proxy"} < names
    assert {"promotions.files", "erp.changes_files", "erp.control_file", "lake_url", "platform.base_url"} < names


@pytest.mark.parametrize("path", HOLDERS, ids=".".join)
def test_every_setting_that_may_hold_a_secret_is_masked_at_every_exit(path, monkeypatch):
    for value in _values(path[-1]):
        monkeypatch.setenv("SHELFSYNC_" + "__".join(path).upper(), value)
        mask.forget()
        read_settings()
        texts = [CANARY, quote(CANARY), repr(CANARY), value, json.dumps({"x": CANARY}), CANARY[5:20], unquote(CANARY)]
        for text in texts:
            for exit_text in _exits(f"the library writes {text}"):
                assert MASK in exit_text
                assert not (parts(CANARY) | parts(quote(CANARY))) & parts(exit_text), exit_text


def _exits(text: str) -> list[str]:
    """The text as each exit shows it."""
    stream, root = io.StringIO(), logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        for form in ("text", "json"):
            logs.configure(form, logging.INFO, stream=stream)
            logging.getLogger("any").error("failed with %s", text, exc_info=ValueError(text))
    finally:
        root.handlers[:], root.level = handlers, level
    error = ConfigurationError("SETTING", text, text)
    caught = errors.in_one_line(ValueError(text))
    bound: Any = vendor_run.c.error.type.bind_processor(sa.create_engine("postgresql+psycopg://").dialect)
    return [stream.getvalue(), str(error), repr(error), error.problem, error.remedy, caught, bound(text)]


def test_a_setting_that_is_not_accepted_shows_no_secret(monkeypatch):
    monkeypatch.setenv("SHELFSYNC_PLATFORM__CLIENT_SECRET", CANARY)
    monkeypatch.setenv("SHELFSYNC_HOME", f"relative/{CANARY}")
    with pytest.raises(ConfigurationError) as caught:
        read_settings()
    assert not parts(CANARY) & parts(str(caught.value))


def test_secrets_are_found_in_what_a_source_gives_before_it_is_accepted():
    given = {"platform": {"client_secret": CANARY}, "erp": {"files": "s3://AKIDAKID77:xyz-12345@b/f"}, "sync": "{"}
    assert set(secrets(Settings, given)) >= {CANARY, "xyz-12345", "AKIDAKID77"}


@pytest.mark.parametrize(
    ("address", "found"),
    [("/srv/shelfsync/stores", []), ("./stores", []), ("/srv/u:hidden-88@h/hub", ["/srv/u:hidden-88@h/hub"])],
)
def test_a_folder_in_place_of_an_address_is_no_secret(address, found):
    assert list(secrets(Settings, {"orders": {"hand_over_url": address}})) == found


@pytest.mark.parametrize("routes", [[{"address": "slack://TokenTokenA/TokenTokenB"}], [{}, "json://u:TokenTokenB@h"]])
def test_secrets_are_found_in_routes_before_they_are_accepted(routes):
    assert "TokenTokenB" in set(secrets(Settings, {"alerts": {"routes": routes}}))


def test_a_librarys_text_about_an_object_store_is_masked(monkeypatch):
    monkeypatch.setenv("SHELFSYNC_ERP__FILES", "s3://KEYKEY77:canarysecret88@bucket/stock.csv")
    read_settings()
    text = address._reason(ValueError('Invalid bucket name "KEYKEY77:canarysecret88@bucket"'))
    assert "canarysecret88" not in text
    assert "KEYKEY77" not in text


@pytest.mark.slow
def test_what_a_process_prints_warns_of_and_ends_with_holds_no_secret():
    program = (
        "import sys, warnings; from shelfsync.secret_mask import mask_streams; from shelfsync.settings import read_settings\n"
        "mask_streams(); read_settings()\nprint('printed', 'canarysecret' + '88')\nwarnings.warn('warned canarysecret' + '88')\n"
        "try: raise KeyError('bucket canarysecret' + '88')\nexcept KeyError as e: raise ValueError('again canarysecret' + '88') from e"
    )
    environment = {**os.environ, "SHELFSYNC_PLATFORM__CLIENT_SECRET": "canarysecret88"}
    ended = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    assert ended.stdout == "printed ***\n"
    assert "warned ***" in ended.stderr
    assert "KeyError: 'bucket ***'" in ended.stderr
    assert "ValueError: again ***" in ended.stderr
    assert "canarysecret88" not in ended.stderr
