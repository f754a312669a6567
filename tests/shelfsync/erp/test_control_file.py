"""The number of rows that the ERP writes beside its files."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shelfsync.erp.open import open_source
from shelfsync.errors import ConfigurationError, IncompleteExtractError
from shelfsync.settings import ErpSettings


@pytest.fixture
def erp(tmp_path):
    """A folder with two vendors, in CSV with a control file each, and in Parquet."""
    for number, rows in (("001", 3), ("002", 2)):
        (tmp_path / number).mkdir()
        (tmp_path / f"stock-store-{number}.csv").write_text("sku,price\n" + "".join(f"{i},1.5\n" for i in range(rows)))
        (tmp_path / f"stock-store-{number}.count").write_text(f"{rows}\n")
        parquet = pa.table({"sku": [f"{i:03}" for i in range(rows)], "price": [1.5] * rows})
        pq.write_table(parquet, tmp_path / number / "stock.parquet")
    return tmp_path


def error_of(**settings):
    with pytest.raises(ConfigurationError) as caught:
        open_source(ErpSettings(**settings)).check()
    return caught.value


@pytest.mark.parametrize("files", ["{erp}/001", "{erp}/{vendor}/*.parquet", "{erp}/00?/stock.parquet"])
def test_parts_of_which_one_may_be_missing_prove_nothing_without_a_control_file(erp, read, files):
    settings = {"files": files.replace("{erp}", str(erp)), "constants": {} if "{vendor}" in files else {"vendor": "v"}}
    alone = read(**settings)
    assert not alone.proof.complete
    assert "one may be missing" in alone.proof.how
    (erp / "all.count").write_text(str(len(alone.rows)))
    assert read(**settings, control_file=f"{erp}/all.count").proof.complete


def test_a_control_file_a_vendor_finds_the_vendor_that_is_short_and_the_one_that_is_missing(erp, read):
    settings = {"files": f"{erp}/stock-{{vendor}}.csv", "control_file": f"{erp}/stock-{{vendor}}.count"}
    assert read(**settings).proof.complete
    (erp / "stock-store-002.count").write_text("4")
    (erp / "stock-store-001.count").write_text("1")
    with pytest.raises(IncompleteExtractError, match=r"3 rows of vendor 'store-001' .* gives 1"):
        read(**settings)
    (erp / "stock-store-001.count").write_text("3")
    (erp / "stock-store-002.csv").unlink()
    with open_source(ErpSettings(**settings)).read() as extract:
        list(extract)
        assert extract.proof().complete
    [(vendor, why)] = extract.failed.items()
    assert vendor == "store-002"
    assert "'store-002' is in SHELFSYNC_ERP__CONTROL_FILE but not in SHELFSYNC_ERP__FILES" in why


def test_control_files_without_a_number_are_named(erp):
    settings = {"files": f"{erp}/stock-{{vendor}}.csv", "control_file": f"{erp}/stock-{{vendor}}.count"}
    for store in ("001", "002"):
        (erp / f"stock-store-{store}.count").write_text("three")
    error = error_of(**settings)
    assert error.setting == "SHELFSYNC_ERP__CONTROL_FILE"
    assert "'three'" in error.problem
    assert error_of(**{**settings, "control_file": f"{erp}/absent"}).setting == "SHELFSYNC_ERP__CONTROL_FILE"
    assert (
        error_of(files=f"{erp}/stock-store-001.csv", control_file="{vendor}").setting == "SHELFSYNC_ERP__CONTROL_FILE"
    )
