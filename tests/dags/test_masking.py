"""A library may write a part of a secret in any form: none of it reaches a task's log, what it prints, XCom or a rendered field."""

from __future__ import annotations

import logging
import os
import sys
import traceback
import warnings
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from airflow.sdk.exceptions import AirflowException, AirflowFailException

from airflow_world import states
from shelfsync.errors import DataError, RunFailedError
from shelfsync.secret_mask import mask
from shelfsync_airflow.app import raised_to_airflow
from shelfsync_airflow.masking import mask_exits, masked_errors

if TYPE_CHECKING:
    from airflow_world import World

PASSWORD = "pä$$wort-kanarienvogel/4711"
PARTS = [PASSWORD[9:18], quote(PASSWORD, safe="")[2:14], quote(PASSWORD, safe="")[-14:], PASSWORD[5:]]
"""Half of the password, of its form with percent signs, and of both ends: Airflow's masking knows none of them."""
CHARACTERS = "kanarienv"

DRIVER = '''
import logging, sys, warnings
import pandas as pd

PARTS = {parts!r}

class Broken(pd.DataFrame):
    """Its rows are in a connection that breaks."""

    @property
    def columns(self):
        try:
            raise OSError(f"handshake of {{PARTS[0]}}")
        except OSError as error:
            raise RuntimeError(f"cannot connect as ***:{{PARTS[1]}}@erp") from error

def read(frame):
    log = logging.getLogger("driver")
    log.warning("login with %s", PARTS[1])
    try:
        raise OSError(PARTS[0])
    except OSError:
        log.exception("once more")
    print("driver:", PARTS[2])
    print("driver:", PARTS[3], file=sys.stderr)
    return Broken(frame) if {breaks} else frame
'''


@pytest.mark.slow
@pytest.mark.parametrize(
    "breaks", [False, True], ids=["a run that succeeds", "an error that no part of shelfsync knows"]
)
def test_no_part_of_a_secret_leaves_a_task(
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    breaks: bool,
) -> None:
    hook = tmp_path / "driver.py"
    hook.write_text(DRIVER.format(parts=PARTS, breaks=breaks), "utf-8")
    monkeypatch.setenv("SHELFSYNC_ERP__MAPPING", f"{hook}:read")
    monkeypatch.setenv("SHELFSYNC_PROMOTIONS__URL", f"postgresql://u:{quote(PASSWORD, safe='')}@127.0.0.1:1/x")
    ended = states(world.run("catalog_full_sync"))
    assert ended["check"] == {"failed" if breaks else "success"}
    printed = capfd.readouterr()
    shown = {"log": caplog.text, "output": printed.out, "errors": printed.err}
    assert "driver" in shown["log"], "the texts of the driver are there"
    assert "***" in shown["log"]
    if breaks:
        assert "RuntimeError: cannot connect as" in shown["log"]
    home = Path(os.environ["AIRFLOW_HOME"])
    kept = {str(file): file.read_bytes().decode("utf-8", "replace") for file in home.rglob("*") if file.is_file()}
    assert any(name.endswith("airflow.db") for name in kept), "XCom and rendered fields are in it"
    for name, text in (shown | kept).items():
        assert not [part for part in PARTS if part in text], name
        assert CHARACTERS not in text, name


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process whose settings have the secret."""
    monkeypatch.setattr(sys, "stdout", sys.stdout)
    monkeypatch.setattr(sys, "stderr", sys.stderr)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    make = logging.getLogRecordFactory()
    mask.add([PASSWORD])
    mask_exits()
    mask_exits()
    yield
    logging.setLogRecordFactory(make)


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("part", PARTS)
def test_a_record_with_an_error_keeps_its_traceback_without_the_part(
    caplog: pytest.LogCaptureFixture, part: str
) -> None:
    log = logging.getLogger("driver")
    log.error("once %s", "more", exc_info=OSError(part))
    log.info("%d of it", 3)
    log.warning("in a mapping: %(part)s", {"part": part})
    first, third = caplog.text, caplog.records[-1].getMessage()
    assert "once more" in first
    assert "OSError: ***" in first
    assert part not in first
    assert third.startswith("in a mapping: ***")


@pytest.mark.parametrize("part", PARTS)
def test_a_warning_is_shown_without_the_part(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, part: str
) -> None:
    shown: list[str] = []
    monkeypatch.setattr(warnings, "showwarning", lambda message, *_, **__: shown.append(str(message)))
    request.getfixturevalue("known")
    warnings.showwarning(f"an old option: {part}", UserWarning, "driver.py", 1)
    warnings.showwarning("an old option", UserWarning, "driver.py", 1)
    assert shown[0].startswith("an old option: ***")
    assert shown[1] == "an old option"


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("part", PARTS)
def test_an_error_of_a_library_is_replaced_and_an_ordinary_one_is_not(part: str) -> None:
    with pytest.raises(AirflowException) as caught, masked_errors():
        raise RuntimeError(f"cannot connect: {part}")
    assert str(caught.value).startswith("RuntimeError: cannot connect: ***")
    assert part not in "".join(traceback.format_exception(caught.value))
    with pytest.raises(KeyError) as ordinary, masked_errors():
        raise KeyError("sku")
    assert ordinary.traceback


@pytest.mark.usefixtures("known")
def test_errors_of_shelfsync_keep_their_kind_and_lose_the_cause() -> None:
    for error, kind in (
        (RunFailedError("it failed"), RunFailedError),
        (DataError("it is wrong"), AirflowFailException),
    ):
        with pytest.raises(kind) as caught, raised_to_airflow():
            raise error from OSError(PARTS[0])
        assert str(caught.value).startswith("it ")
        assert PARTS[0] not in "".join(traceback.format_exception(caught.value))
