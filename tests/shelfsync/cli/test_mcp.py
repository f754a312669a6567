"""`shelfsync mcp` in a process of its own, and the real client of its package over standard input and output."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

import canaries
from shelfsync.cli.mcp import ROWS_MAX, TOOLS, _short

ROOT = Path(__file__).resolve().parents[3]
WEBHOOK_SECRET = "kumquat-lantern-orbit-9217"
"""Of the agents' process alone: nothing else knows it for a secret."""


def environment(settings):
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith(("SHELFSYNC_", "AIRFLOW_"))},
        "SHELFSYNC_HOME": str(settings.home),
        "SHELFSYNC_DATABASE_URL": settings.database_url.get_secret_value(),
        "SHELFSYNC_LAKE_URL": settings.lake_url,
        "SHELFSYNC_PLATFORM__BASE_URL": settings.platform.base_url,
        "SHELFSYNC_PLATFORM__CHAIN": "demo-chain",
        "SHELFSYNC_PLATFORM__CLIENT_ID": "demo-client",
        "SHELFSYNC_PLATFORM__CLIENT_SECRET": "demo-secret",
        "SHELFSYNC_WEBHOOK__SECRET": WEBHOOK_SECRET,
        "SHELFSYNC_ERP__URL": settings.erp.url.get_secret_value(),
        "SHELFSYNC_ERP__SQL": settings.erp.sql,
        "PYTHONPATH": str(ROOT / "include"),
    }


def asked(settings, errors, *calls):
    """What the server lists, and its answer to each call: (is it an error, text)."""

    async def session():
        process = StdioServerParameters(
            command=sys.executable, args=["-m", "shelfsync", "mcp"], env=environment(settings)
        )
        async with (
            stdio_client(process, errlog=errors) as (reading, writing),
            ClientSession(reading, writing) as client,
        ):
            await client.initialize()
            tools = (await client.list_tools()).tools
            answers = [await client.call_tool(name, given) for name, given in calls]
            return tools, [(answer.is_error, answer.content[0].text) for answer in answers]

    return asyncio.run(session())


@pytest.mark.slow
def test_an_agent_reads_what_the_commands_print_and_changes_nothing(shop, tmp_path):
    world = shop.world
    world.erp.put("store-001", "a", "1000.00")
    world.sync()
    (hold,) = world.app.holds.listed("open")
    world.app.pause("vendor", "store-002", why=f"somebody pasted {WEBHOOK_SECRET}", who="ada")

    def rows():
        names = (
            "ledger.hold",
            "ledger.decision",
            "ledger.switch",
            "ledger.run",
            "ledger.job",
            "ledger.alert",
            "ledger.baseline",
        )
        with world.app.context.engine.connect() as connection:
            return [connection.execute(sa.text(f"SELECT * FROM {name} ORDER BY 1, 2")).all() for name in names]

    before, requests = rows(), len(world.platform.journal()["entries"])
    calls = [
        ("status", {}),
        ("explain", {"vendor": "store-001", "sku": "a"}),
        ("holds", {}),
        ("holds", {"state": "any"}),
        ("rejections", {}),
        ("rejections", {"vendor": "store-001"}),
        ("runs", {"limit": 1}),
        ("run", {"number": 1}),
        ("alerts", {"closed": True}),
        ("run", {"number": 4711}),
        ("approve", {"number": 1}),
    ]
    with (tmp_path / "errors.log").open("w") as errors:
        tools, answers = asked(world.settings, errors, *calls)

    assert [tool.name for tool in tools] == ["status", "explain", "holds", "rejections", "runs", "run", "alerts"]
    for tool in tools:
        assert "It reads and changes nothing." in tool.description
        assert tool.annotations.read_only_hint
    documents = [json.loads(text)["data"] for failed, text in answers[:9] if not failed]
    assert len(documents) == 9, answers
    status, explained, held, *_ = documents
    assert [row["vendor"] for row in status["vendors"]] == ["store-001", "store-002", "store-003"]
    assert "orders" not in status
    assert "the hold expires" in explained["sentence"]
    assert [one["hold_id"] for one in held["holds"]] == [hold["hold_id"]]
    assert documents[6]["runs"][0]["run_id"] == 2
    assert answers[9][0]
    assert "4711" in answers[9][1]
    assert answers[10][0], "there is no such tool"
    seen: list[str] = []
    for _, text in answers:
        canaries.look("an answer", text, seen)
    assert seen == []
    assert "somebody pasted ***" in answers[0][1]
    assert WEBHOOK_SECRET not in str(answers)
    assert rows() == before
    assert len(world.platform.journal()["entries"]) == requests


@pytest.mark.slow
def test_it_migrates_no_database(world, empty_database_url, tmp_path):
    from pydantic import SecretStr

    settings = world.settings.model_copy(update={"database_url": SecretStr(empty_database_url)})
    with (tmp_path / "errors.log").open("w") as errors:
        _, ((failed, text),) = asked(settings, errors, ("status", {}))
    assert failed
    assert "Run `shelfsync check` with this version first" in text
    engine = sa.create_engine(empty_database_url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.connect() as connection:
        assert connection.execute(sa.text("SELECT to_regnamespace('ledger')")).scalar_one() is None
    engine.dispose()


def test_no_tool_is_named_after_an_act_or_an_order():
    assert {tool.__name__ for tool in TOOLS} == {"status", "explain", "holds", "rejections", "runs", "run", "alerts"}


def test_a_long_list_is_cut_at_every_depth_and_the_rest_counted():
    left = {}
    long = [*range(ROWS_MAX + 3)]
    assert _short({"rows": long, "few": [1], "of": [{"inner": long}, {"inner": long}]}, left) == {
        "rows": long[:ROWS_MAX],
        "few": [1],
        "of": [{"inner": long[:ROWS_MAX]}, {"inner": long[:ROWS_MAX]}],
    }
    assert left == {"rows": 3, "of.inner": 6}
