"""`shelfsync check`: vendors and chain, as the platform knows them."""

from __future__ import annotations

import os

import psycopg
import pytest

from documents import data, error


@pytest.fixture
def stock(tmp_path):
    """Writes the ERP's file: one product for each of these stores."""

    def write(*stores):
        rows = "".join(f"{store},a,1,4,1\n" for store in stores)
        (tmp_path / "stock.csv").write_text(f"vendor,sku,price,quantity,active\n{rows}", encoding="utf-8")

    return write


def asked(sandbox):
    return [entry for entry in sandbox.journal()["entries"] if entry["operation"] != "token"]


@pytest.mark.slow
def test_each_vendor_of_the_erp_is_asked_for_once(run, sandbox, stock):
    stock("store-001", "nowhere")
    for _ in range(2):
        done = run("check")
        assert done.returncode == 0, done.stderr
        [line] = [line for line in done.stdout.splitlines() if "does not know" in line]
        assert line.startswith("warning: the platform does not know 1 of the ERP's 2 vendors: nowhere.")
        assert "SHELFSYNC_ERP__VENDOR_IDS" in line
    assert sum("/store-001/" in entry["route"] for entry in asked(sandbox)) == 1, "what it confirmed is remembered"


@pytest.mark.slow
def test_a_total_is_no_store_that_the_account_manager_should_enable(here, stock):
    stock("store-001", "nowhere", "Summe")
    warned = [line for line in here("check")[1].splitlines() if "does not know" in line]
    assert [line.split(". ")[0] for line in warned] == [
        "warning: the platform does not know 1 of the ERP's 3 vendors: nowhere",
        "warning: the platform does not know Summe, which may be a total of the ERP's list",
    ]
    assert "account manager" not in warned[1]


@pytest.mark.slow
def test_a_wrong_chain_is_found_although_nothing_was_ever_sent(run, stock):
    stock("store-001", "store-002")
    done = run("check", "--json", SHELFSYNC_PLATFORM__CHAIN="no-such-chain")
    assert done.returncode == 3
    assert error(done.stdout)["message"].startswith("SHELFSYNC_PLATFORM__CHAIN")
    assert "shelfsync sandbox fill" in error(done.stdout)["remedy"], "the stores of an ERP are not in a new sandbox"


@pytest.mark.slow
def test_a_wrong_vendor_of_a_known_chain_is_named_and_not_the_chain(run, stock):
    stock("store-001")
    assert run("check").returncode == 0
    done = run("check", "--vendor", "nowhere")
    assert done.returncode == 3
    assert "SHELFSYNC_PLATFORM__CHAIN" not in done.stderr
    assert "the platform does not know vendor 'nowhere'" in done.stderr


@pytest.mark.slow
def test_of_many_vendors_no_more_are_asked_for_than_the_allowance_bears(run, sandbox, stock):
    stock("store-001", *(f"v{number:02}" for number in range(25)))
    first, second, *_ = data(run("check", "--json").stdout)["warnings"]
    assert first.startswith("the platform does not know 14 of the ERP's 26 vendors: v00, v01, ")
    assert second.startswith("11 of the ERP's 26 vendors were not asked for yet")
    assert len(asked(sandbox)) <= 30


@pytest.mark.slow
def test_kilograms_that_go_off_sale_are_found_before_they_are_sent(here, tmp_path):
    (tmp_path / "stock.csv").write_text(
        "vendor,sku,price,quantity,active\nstore-001,a,1.99,0.75,1\nstore-001,b,1.99,2.5,1\nstore-001,c,1.99,4,1\n",
        encoding="utf-8",
    )
    warned = [line for line in here("check")[1].splitlines() if "quantities" in line]
    assert "\n".join(warned) == (
        "warning: of the quantities in the ERP's first 3 rows 1 are below one, are sent as 0 and go off sale (a: 0.75 -> 0)"
        " and 1 lose their fraction (b: 2.5 -> 2). If they are kilograms, send pieces or packs (docs/how-to/connecting-your-erp.md)"
    )
    (tmp_path / "stock.csv").write_text("vendor,sku,price,quantity,active\nstore-001,a,1,4.0,1\n", encoding="utf-8")
    assert "quantities" not in here("check")[1]


@pytest.mark.slow
@pytest.mark.parametrize("command", ["check", "plan"])
def test_columns_and_vendors_that_lead_nowhere_are_reported_before_anything_is_sent(here, tmp_path, command):
    (tmp_path / "stock.csv").write_text(
        "vendor,sku,price,stock_qty,active,brand\nstore-001,a,1,7,1,Acme\nnowhere,a,1,7,1,Acme\n", encoding="utf-8"
    )
    code, output, _ = here(command)
    warned = [line for line in output.splitlines() if line.startswith("warning: ")]
    assert code == 0, output
    assert warned[0].startswith("warning: the platform does not know 1 of the ERP's 2 vendors: nowhere.")
    assert warned[1] == (
        "warning: shelfsync does not use 2 of the ERP's columns: stock_qty, brand. If one is meant, name it by SHELFSYNC_ERP__COLUMNS"
    )


@pytest.mark.slow
def test_promotions_with_neither_audience_nor_condition_are_a_warning(here, monkeypatch, tmp_path):
    (tmp_path / "promotions.csv").write_text("campaign,sku,price,name,start_time,end_time\n", encoding="utf-8")
    assert "audience" not in here("check")[1]
    monkeypatch.setenv("SHELFSYNC_PROMOTIONS__FILES", str(tmp_path / "promotions.csv"))
    assert "warning: the source of the promotions has neither the column audience nor condition" in here("check")[1]
    monkeypatch.setenv("SHELFSYNC_PROMOTIONS__CONSTANTS", '{"audience": "everybody"}')
    assert "audience" not in here("check")[1]
    monkeypatch.setenv("SHELFSYNC_PROMOTIONS__FILES", str(tmp_path / "none.csv"))
    code, output, _ = here("check")
    assert (code, "warning: SHELFSYNC_PROMOTIONS__FILES" in output) == (0, True), output


@pytest.mark.slow
def test_rows_that_cannot_be_sent_are_found_before_they_are_planned(here, tmp_path):
    rows = "store-001,a,1,4,J\nstore-001,b,1,4,1\nstore-001,b,2,4,1\nstore-002,b,2,4,1\nstore-002,c,2,0.5,N\n"
    (tmp_path / "stock.csv").write_text(f"vendor,sku,price,quantity,active\n{rows}", encoding="utf-8")
    output = here("check")[1].splitlines()
    [rows], [values] = ([line for line in output if word in line] for word in ("quarantined", "left out"))
    advice = "Correct the SELECT or the files (docs/how-to/connecting-your-erp.md); `shelfsync plan` counts all rows"
    assert rows == (
        'warning: 2 of the ERP\'s first 5 rows cannot be sent and are quarantined: 2 sku_duplicate (sku "b" is in rows of this vendor'
        f" that differ, and which one is right is unknown). {advice}"
    )
    assert values == (
        "warning: 1 values of the ERP's first 5 rows are left out, and the rest of their rows is sent: 1 active_not_a_truth_value (active"
        f' "J" is no truth value (SHELFSYNC_ERP__TRUE_WORDS and FALSE_WORDS name others)). {advice}'
    )
    with (tmp_path / "stock.csv").open("a", encoding="utf-8") as file:
        file.write("store-001,d,1.0,4,1\nstore-001,d,1,4,true\n")
    planned = here("plan")[1]
    assert "vendor store-001: 2 rows are quarantined" in planned
    assert "vendor store-001: 1 rows repeat another one in every value, and count once" in planned


@pytest.mark.slow
def test_which_store_is_which_vendor_is_shown(here, tmp_path, monkeypatch):
    stores = "".join(f"{store},a,1,4,1\n" for store in ("ST01", "ST09"))
    (tmp_path / "stock.csv").write_text(f"vendor,sku,price,quantity,active\n{stores}", encoding="utf-8")
    monkeypatch.setenv("SHELFSYNC_ERP__VENDOR_IDS", '{"ST01": "store-001", "ST02": "store-002"}')
    code, output, _ = here("check")
    assert code == 0
    assert output.splitlines()[1:4] == [
        "SHELFSYNC_ERP__VENDOR_IDS: ST01 is store-001",
        "SHELFSYNC_ERP__VENDOR_IDS leaves out stores of the ERP: ST09",
        "SHELFSYNC_ERP__VENDOR_IDS names stores without a row in the ERP: ST02",
    ]


@pytest.mark.slow
def test_prices_of_a_binary_float_are_found_before_they_are_sent(here, tmp_path):
    (tmp_path / "stock.csv").write_text(f"vendor,sku,price\nstore-001,a,{0.57 * 100}\n", encoding="utf-8")
    assert (
        "warning: of the prices in the ERP's first 1 rows 1 lose what is after the third decimal (a: 56.99999999999999 -> 56.999)."
        " If the column is a binary float, round it to a decimal in the SELECT (docs/how-to/connecting-your-erp.md)"
    ) in here("check")[1].splitlines()


@pytest.mark.slow
def test_barcodes_with_a_wrong_check_digit_are_counted(here, tmp_path):
    codes = ("4006381333931", "4006381333932", "36000291452", "4711", "")
    rows = "".join(f"store-001,{place},{code},1.00\n" for place, code in enumerate(codes))
    (tmp_path / "stock.csv").write_text(f"vendor,sku,barcode,price\n{rows}", encoding="utf-8")
    output = here("check")[1]
    assert (
        "warning: 1 of 3 barcodes in the ERP's first 5 rows have no right check digit, such as '4006381333932'."
        in output
    )


@pytest.mark.slow
def test_a_name_that_no_setting_has_is_a_warning_of_check(process):
    checked = process("check", SHELFSYNC_SCOPE="demo-chain")
    line = "SHELFSYNC_SCOPE is set, and there is no such setting; the nearest is SHELFSYNC_RATE_LIMIT__SCOPE"
    assert checked.returncode == 0
    assert f"warning: {line}" in checked.stdout
    assert line in checked.stderr, "and of every command, before it begins"


@pytest.mark.slow
def test_a_new_ledger_beside_a_configured_platform_is_reported_until_it_has_a_vendor(here, monkeypatch, database_url):
    monkeypatch.setenv("SHELFSYNC_PLATFORM__BASE_URL", "https://platform.example")
    code, output, errors = here("holds", "list")
    assert (code, output) == (0, "no hold waits for a decision\n")
    (line,) = errors.splitlines()
    assert line.startswith("WARNING this ledger is new: it knows no vendor (PostgreSQL ")
    assert database_url.rpartition("/")[2].partition("?")[0] in line
    assert "SHELFSYNC_HOME" in line
    monkeypatch.setenv("SHELFSYNC_PLATFORM__BASE_URL", "http://127.0.0.1:1")
    assert here("holds", "list")[2] == "", "the sandbox of this machine begins with every ledger"


@pytest.mark.slow
def test_a_ledger_with_a_vendor_is_not_new(here, monkeypatch):
    assert here("sync", "--full")[0] == 0
    monkeypatch.setenv("SHELFSYNC_PLATFORM__BASE_URL", "https://platform.example")
    assert here("holds", "list")[2] == ""


def test_a_database_that_fails_in_the_middle_is_one_line_with_what_to_look_at(here, monkeypatch, database_url):
    assert here("status")[0] == 0
    impatient = f"{database_url}{'&' if '?' in database_url else '?'}options=-c%20lock_timeout%3D50"
    monkeypatch.setenv("SHELFSYNC_DATABASE_URL", impatient)
    with psycopg.connect(database_url.replace("+psycopg", "")) as other:
        other.execute("LOCK TABLE ledger.run IN ACCESS EXCLUSIVE MODE")
        code, printed, errors = here("status", "--json")
    assert (code, errors.count("\n")) == (5, 1), errors
    assert "the database of shelfsync failed: canceling statement due to lock timeout" in errors
    assert error(printed)["code"] == "try_again"


@pytest.mark.slow
def test_a_store_whose_file_is_broken_is_named_and_the_others_are_in_order(here, monkeypatch, tmp_path):
    monkeypatch.setenv("SHELFSYNC_ERP__FILES", str(tmp_path / "{vendor}.csv"))
    (tmp_path / "stock.csv").unlink()
    (tmp_path / "store-001.csv").write_text("sku,price,quantity,active\na,1,4,1\n", encoding="utf-8")
    (tmp_path / "store-002.csv").write_text("article,price\na,1\n", encoding="utf-8")
    code, output, _ = here("check")
    assert code == 9, output
    [line] = [line for line in output.splitlines() if line.startswith("store store-002 fails: ")]
    assert "store-002.csv' has no column 'sku'" in line
    code, output, _ = here("sync")
    assert code == 9, output
    assert "1 accepted" in output
    assert "vendor store-002 failed at extract: " in output


GERMAN = {
    "SHELFSYNC_ERP__COLUMNS": '{"vendor": "Filiale", "sku": "Artikel", "price": "Preis", "quantity": "Bestand", "active": "Aktiv"}',
    "SHELFSYNC_ERP__VENDOR_IDS": '{"0101": "store-001"}',
    "SHELFSYNC_ERP__DECIMAL_MARK": ",",
    "SHELFSYNC_ERP__THOUSANDS_MARK": ".",
    "SHELFSYNC_ERP__CSV_DELIMITER": ";",
    "SHELFSYNC_ERP__MINUS": "any",
    "SHELFSYNC_ERP__NULL_WORDS": '["NULL"]',
    "SHELFSYNC_ERP__TRUE_WORDS": '["J"]',
}


@pytest.mark.slow
@pytest.mark.parametrize("command", ["check", "plan"])
def test_what_was_understood_of_each_column_is_shown(here, tmp_path, command, monkeypatch):
    for name, value in GERMAN.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "stock.csv").write_text(
        "Filiale;Artikel;Preis;Bestand;Aktiv\n0101;a;1.299,90;3-;J\n0101;b;4,99;NULL;J\n0101;c;ask;7;J\n0102;d;1,00;1;J\n",
        encoding="utf-8",
    )
    code, output, errors = here(command, "--json")
    assert code == 0, errors
    columns = {one.pop("column"): one for one in data(output)["columns"]}
    assert columns["price"] == {
        "source": "Preis",
        "rows": 4,
        "empty": 0,
        "not_read": 1,
        "cell": "1.299,90",
        "value": "1299.9",
        "smallest": "1",
        "largest": "1299.9",
        "style": "decimal mark ,, thousands mark .",
    }
    quantity, vendor = columns["quantity"], columns["vendor"]
    assert (quantity["cell"], quantity["value"], quantity["empty"], quantity["style"]) == ("3-", "-3", 1, None)
    assert (vendor["cell"], vendor["value"], vendor["not_read"]) == ("0101", "store-001", 1)
    shown = here(command)[1]
    assert "understood of the" in shown
    assert "4 rows" in shown
    [line] = [line for line in shown.splitlines() if "1.299,90" in line]
    assert [cell.strip() for cell in line.split("│")[1:-1]][:5] == ["price", "Preis", "0", "1", "1.299,90"]


@pytest.mark.parametrize(
    ("text", "setting"),
    [
        ("vendor;sku;price\nstore-001;a;1,89\n", "SHELFSYNC_ERP__CSV_DELIMITER: is ','"),
        ("Stock\n\nvendor,sku,price\nstore-001,a,1.89\n", "SHELFSYNC_ERP__HEADER_ROW: is 1, and line 3"),
    ],
)
def test_check_and_plan_name_the_cause_of_a_file_that_cannot_be_read(here, tmp_path, text, setting):
    (tmp_path / "stock.csv").write_text(text, encoding="utf-8")
    for arguments in (("check",), ("plan", "--full")):
        code, _, errors = here(*arguments)
        assert code == 3
        assert setting in errors


@pytest.mark.slow
def test_check_asks_for_no_store_that_is_a_name_of_a_column_or_a_total(here, sandbox, tmp_path):
    rows = "vendor,sku,price\nstore-001,a,1.89\n"
    (tmp_path / "stock.csv").write_text(
        f"{rows}{rows}Total,,3.78\n".replace("001,a,1.89\nT", "001,b,1.89\nT"), encoding="utf-8"
    )
    code, out, errors = here("check")
    assert code == 0, errors
    assert not [entry for entry in asked(sandbox) if "/vendor/" in entry["route"] or "Total" in entry["route"]]
    assert "the names of the columns again" in out + errors


def test_check_reports_files_of_another_day(here, monkeypatch, tmp_path):
    for day in ("2026-01-01", "2026-01-02"):
        path = tmp_path / f"day-{day}.csv"
        path.write_text("vendor,sku,price\nstore-001,a,1.89\n", encoding="utf-8")
        os.utime(path, (1_767_312_000, 1_767_312_000))
    monkeypatch.setenv("SHELFSYNC_ERP__FILES", str(tmp_path / "day-*.csv"))
    code, out, errors = here("check")
    assert code == 0, errors
    assert "has files of several days" in out + errors
    assert "at 2026-01-02 00:00 UTC" in out + errors


@pytest.mark.parametrize(
    "words",
    [
        ("sync", "--vendor", "store-001", "--vendor", "0101"),
        ("plan", "--vendor", "0101"),
        ("explain", "0101", "a"),
        ("pause", "0101"),
        ("orders", "list", "--vendor", "0101"),
        ("sandbox", "order", "0101"),
    ],
)
def test_the_erps_id_of_a_store_is_answered_with_the_platforms(here, monkeypatch, words):
    monkeypatch.setenv("SHELFSYNC_ERP__VENDOR_IDS", '{"0101": "store-001", "0102": "store-002"}')
    code, output, _ = here(*words, "--json")
    assert code == 3
    assert error(output)["message"] == "VENDOR: '0101' is the ERP's id of the store that the platform calls 'store-001'"
    assert error(output)["remedy"] == "Write store-001."


@pytest.mark.slow
def test_a_mistyped_vendor_is_answered_with_those_that_resemble_it(here, stock, monkeypatch):
    stock("store-001", "store-002")
    code, _, errors = here("sync", "--vendor", "stroe-001")
    assert (code, "meant?" in errors) == (3, False), "none is known yet"
    assert here("sync")[0] in {0, 2, 9}
    assert "Is 'store-001'" in here("sync", "--vendor", "stroe-001")[2]
    assert "meant?" not in here("sync", "--vendor", "nowhere")[2]
    monkeypatch.setenv("SHELFSYNC_ERP__VENDOR_IDS", '{"store-001": "0101", "store-002": "store-002"}')
    assert "does not know vendor '0101' (the ERP's store 'store-001')" in here("check", "--vendor", "0101")[2]


def test_a_file_of_ids_that_cannot_be_read_stops_no_pause(here, monkeypatch):
    monkeypatch.setenv("SHELFSYNC_ERP__VENDOR_IDS_FILE", "gone.csv")
    assert here("pause", "store-001", "--force", "--reason", "stocktaking")[0] == 0


def test_a_lease_shorter_than_the_wait_for_the_rate_limit_is_named(here, stock, monkeypatch):
    stock("store-001")

    def named():
        return [line for line in here("check")[1].splitlines() if "SHELFSYNC_SYNC__LEASE_S" in line]

    assert named() == []
    monkeypatch.setenv("SHELFSYNC_SYNC__LEASE_S", "900")
    [line] = named()
    assert line.startswith("warning: ")
    assert "SHELFSYNC_RATE_LIMIT__WAIT_MAX_S" in line


@pytest.mark.slow
def test_a_role_of_the_receiver_that_an_older_version_made_is_named(here, stock, engine):
    stock("store-001")
    role = f"older_{os.getpid()}"
    with engine.begin() as connection:
        connection.exec_driver_sql(f"CREATE ROLE {role} LOGIN")
        connection.exec_driver_sql(f"GRANT USAGE ON SCHEMA inbox, ledger TO {role}")
        connection.exec_driver_sql(f"GRANT INSERT (body) ON inbox.event TO {role}")
    try:
        code, output, _ = here("check", "--json")
        assert code == 0
        (line,) = [line for line in data(output)["warnings"] if role in line]
        assert "inbox.event, inbox.refusal, ledger.picking_result" in line
        assert here("inbox", "grant", role)[0] == 0
        assert role not in here("check", "--json")[1]
    finally:
        with engine.begin() as connection:
            connection.exec_driver_sql(f"DROP OWNED BY {role}")
            connection.exec_driver_sql(f"DROP ROLE {role}")
