"""Alerts `platform_away` and `erp_away`: since when a service that does not answer counts as away."""

from __future__ import annotations

from alert_look import having, kinds, older
from shelfsync import outages


def test_an_outage_of_the_erp_opens_once_it_lasts_and_closes_with_the_next_answer(context):
    outages.failed(context.engine, outages.ERP, "no connection")
    assert kinds(context) == set(), "a repeat of the reading may heal it"
    older(context, "ledger.outage", "began_at", 2)
    assert kinds(context) == {("erp_away", "")}
    outages.answered(context.engine, outages.ERP)
    assert kinds(context) == set()


def test_a_source_of_promotions_that_the_settings_name_no_more_is_away_no_more(context):
    offers = having(context, "promotions", sql="SELECT 1")
    outages.failed(context.engine, outages.PROMOTIONS, "no connection")
    older(context, "ledger.outage", "began_at", 2)
    assert kinds(offers) == {("erp_away", outages.PROMOTIONS)}
    assert kinds(context) == set()
    with context.engine.connect() as connection:
        assert [row["ended_at"] is None for row in outages.lately(connection)] == [False], "the status has its end too"
