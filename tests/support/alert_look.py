"""What a look of the watch finds, for tests of conditions: open alerts, other settings, older rows."""

from __future__ import annotations

import dataclasses
import re

import sqlalchemy as sa

from shelfsync.alert_conditions import watch as alert_watch
from shelfsync.alerts.ledger import alerts
from shelfsync.chain_names_in_text import _DAGS
from shelfsync.pages.shell import for_buyers

PRODUCT = {"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}


_OF_PROGRAM = re.compile(rf"`|SHELFSYNC_|(?<!\w)--\w|\bvendors?\b|\b(?!(?:{'|'.join(_DAGS)})\b)[a-z]+(?:_[a-z]+)+\b")
"""What only the command line, the settings and the tables say. A DAG is called in Airflow as it is here."""


_OF_OTHERS = re.compile("'[^']*'|product.not.found.in.the.catalog.of.the.vendor")
"""What stands in quotes is of the ERP; the other is the platform's message, in a text or an address."""


_WITH_AN_ERROR = frozenset({"run_failed", "store_failed", "campaigns_failed", "platform_away", "erp_away"})
"""Kinds whose sentence ends with the error of a step or of a request, which names what an operator can use."""


def of_program(sentence):
    """What a page shows of this sentence that is no word for a buyer."""
    return _OF_PROGRAM.findall(_OF_OTHERS.sub("", for_buyers(sentence)))


def kinds(context):
    alert_watch.watch(context)
    with context.engine.connect() as connection:
        opened = alerts.open_alerts(connection)
    own = [row["message"] for row in opened if row["kind"] not in _WITH_AN_ERROR]
    words = {line: of_program(line) for line in own if of_program(line)}
    assert words == {}, "a page shows words of the program"
    return {(row["kind"], row["subject"]) for row in opened}


def revision(context, kind):
    with context.engine.connect() as connection:
        [row] = [row for row in alerts.open_alerts(connection) if row["kind"] == kind]
    return row["revision"]


def having(context, section, **settings):
    """The same with other settings of a section."""
    changed = getattr(context.settings, section).model_copy(update=settings)
    return dataclasses.replace(context, settings=context.settings.model_copy(update={section: changed}))


def with_alerts(context, **settings):
    return having(context, "alerts", **settings)


def older(context, table, column, minutes):
    with context.engine.begin() as connection:
        connection.execute(
            sa.text(f"UPDATE {table} SET {column} = {column} - make_interval(mins => :m)"), {"m": minutes}
        )


def lines(context):
    with context.engine.connect() as connection:
        return {row["kind"]: row["message"] for row in alerts.open_alerts(connection)}


def acknowledged(context):
    with context.engine.connect() as connection:
        return {row["kind"]: row["acknowledged_by"] for row in alerts.open_alerts(connection)}


def take_on(context):
    with context.engine.begin() as connection:
        alerts.acknowledge(connection, [row["alert_id"] for row in alerts.open_alerts(connection)], who="ada")
