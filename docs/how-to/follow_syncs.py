"""Two DAGs of your own beside shelfsync's: one loads the ERP's copy and wakes a delta, one waits for the end of a sync.

In an installation of several chains, an asset has the chain behind its name: shelfsync_catalog_synced__north.
"""

from __future__ import annotations

import datetime as dt

from airflow.sdk import Asset, dag, get_current_context, task


@dag(schedule="*/10 * * * *", start_date=dt.datetime(2025, 1, 1, tzinfo=dt.UTC), catchup=False)
def load_erp_copy() -> None:
    @task(outlets=[Asset("shelfsync_erp_changes")])
    def load() -> None:
        """Loads what the ERP changed into the tables that shelfsync reads. Its success starts catalog_delta_sync."""

    load()


@dag(
    schedule=[Asset("shelfsync_catalog_synced")],
    start_date=dt.datetime(2025, 1, 1, tzinfo=dt.UTC),
    catchup=False,
    max_active_runs=1,
)
def print_price_labels() -> None:
    @task
    def print_labels() -> list[int]:
        """Reads what these runs of shelfsync changed, such as from warehouse.sku_outcome, and prints it."""
        events = get_current_context()["triggering_asset_events"]
        return [event.extra["run"] for of_asset in events.values() for event in of_asset]

    print_labels()


load_erp_copy()
print_price_labels()
