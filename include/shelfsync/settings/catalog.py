"""The catalog: runs, normalisation, suppression, rejections, exports and drift."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003
from typing import Annotated, Literal

from pydantic import Field, field_validator
from pydantic_settings import NoDecode

from shelfsync.settings.section import Section, items


class SyncSettings(Section):
    """The catalog runs."""

    vendors: Annotated[tuple[str, ...], NoDecode] = ()
    """The vendors to sync, comma-separated; empty: every vendor of the extract."""
    vendors_per_shard: int = Field(10, ge=1)
    """Vendors in a shard. A shard is one row of mapped tasks in Airflow."""
    shards_max: int = Field(32, ge=1)
    """Largest number of shards in a run. If there are more vendors, the shards become larger."""
    body_max_bytes: int = Field(100_000_000, ge=64)
    """Largest request body: 100 decimal megabytes, the safe reading of interface.md 8."""
    priority_split_skus: int = Field(1_000, ge=0)
    """A delta of at most so many SKUs is one request. A larger one is split: stop-sells first, then prices, then the rest."""
    delta_interval_s: float = Field(900.0, gt=0)
    """Seconds between two delta runs, as AIRFLOW__SHELFSYNC__DELTA_SCHEDULE has them: change both together. It schedules nothing. A forecast
    longer than this is a warning; if the ERP reports its changes, a vendor without one is compared again after it. In Airflow a delta waits
    for its jobs at most until the next one is due, with AIRFLOW__SHELFSYNC__DELTA_WATCH=changes at most a minute: a job that does not end
    keeps no other vendor waiting."""
    watch_s: float = Field(2.0, gt=0)
    """Seconds between two looks for changes: `shelfsync sync --watch`, and the watcher in Airflow."""
    job_deadline_s: float = Field(1800.0, gt=0)
    """A job that has not ended by then is unconfirmed; the next delta sends its SKUs again with the newest values."""
    poll_first_s: float = Field(20.0, gt=0)
    """Wait for the webhook before the first poll of a job. The wait doubles with each poll."""
    poll_max_s: float = Field(300.0, gt=0)
    """Longest wait between two polls of a job."""
    readback_requests_max: int = Field(3, ge=0)
    """shelfsync reads an unconfirmed job back from the platform's listing if that takes at most so many requests. A resend takes
    about three. 0: never."""
    downloads_at_once: int = Field(4, ge=1, le=16)
    """How many logs or exports of different vendors one step downloads at once, so that a slow one holds up no other vendor. 1: one after
    the other."""
    log_bytes_per_sku: int = Field(4096, ge=64)
    """The longest log of a job: so many bytes for each SKU sent, after decompression, and one MiB. A log that is longer is not read: the
    listing ends the job. A line has some 60 bytes; error texts are longer."""
    lease_s: float = Field(1200.0, gt=0)
    """Time without a heartbeat after which another process takes a vendor over. If the process has died, this happens at once.
    It must exceed the longest wait between two writes, SHELFSYNC_RATE_LIMIT__WAIT_MAX_S and one request: `shelfsync check` warns otherwise."""

    _split = field_validator("vendors", mode="before")(items)


class NormaliseSettings(Section):
    """How normalise reads raw values."""

    quantity_rounding: Literal["floor", "quarantine"] = "floor"
    """What happens to 3.4 pieces: `floor` makes it 3; `quarantine` does not send the row."""
    negative_quantity: Literal["zero", "quarantine"] = "zero"
    """What happens to a stock below zero: `zero` sends 0; `quarantine` does not send the row."""
    sales_limit_zero: Literal["left_out", "off_sale"] = "left_out"
    """What a sales limit of 0 means, which the platform does not take: `left_out` leaves the limit out and sends the rest of the row, so the
    platform keeps the last limit; `off_sale` does the same and sends active=false."""
    odd_keys: Literal["quarantine", "send"] = "quarantine"
    """What happens to a SKU or a campaign's id that is another one only to a machine: an invisible character, a spreadsheet's quotes, a letter
    of another script. `quarantine` does not send its row; `send` sends it. A SKU that the platform knows exactly so is always sent."""
    sku_length_max: int = Field(255, ge=1)
    """Longest SKU in characters; a longer one is quarantined."""


PIECES_MAX = 9_999_999_999
"""No quantity is larger."""
Pieces = Annotated[int, Field(ge=0, le=PIECES_MAX)]


class SuppressionSettings(Section):
    """The platform's sales buffers, as far as shelfsync knows them (docs/explanation/suppression.md)."""

    enabled: bool = True
    """Whether a quantity that changes nothing for a customer waits for the full sync. This needs a known sales buffer."""
    sales_buffer: Pieces | None = None
    """Sales buffer of every product without a more specific one. If unset, it is unknown, and every quantity is sent."""
    vendor_buffers: dict[str, Pieces] = Field(default_factory=dict)
    """Vendor -> buffer: `{"store-001": 2}`."""
    category_buffers: dict[str, Pieces] = Field(default_factory=dict)
    """Category (the ERP's column `category`) -> buffer; takes precedence over the vendor's. It names the buffer that the platform has. It
    reserves nothing: it only decides which changed quantities a delta sends (docs/explanation/suppression.md)."""
    buffers_file: Path | None = None
    """A CSV with the columns vendor, category, sku, sales_buffer; an empty cell matches any. Its line precedes a setting above that is as specific, or less."""
    at_buffer: Literal["activates", "deactivates"] = "activates"
    """Whether a quantity equal to the buffer activates the product. By the interface it does; other sources disagree."""


class RejectionSettings(Section):
    """What the platform rejects: the meaning of its reasons, and the retries of what it rejects for now."""

    reason_keywords: dict[Literal["for_now", "unknown_sku", "invalid_value"], tuple[str, ...]] = Field(
        default_factory=dict
    )
    """Keywords in this platform's reasons by their meaning: `{"unknown_sku": ["artikel fehlt"]}`. They precede the built-in ones."""
    retry_first_s: float = Field(900.0, gt=0)
    """Longest wait before the first retry of a SKU that is rejected for now; up to a quarter less, by the SKU. It doubles with each retry."""
    retry_max_s: float = Field(86_400.0, gt=0)
    """Longest wait between two retries."""
    account_manager: str | None = Field(None, pattern=r"^[^@\s]+@[^@\s]+$")
    """The mail address of the platform's account manager: the page Rejections prepares a letter to it. Unset: it prepares none."""


Action = Literal["resend", "report", "ignore"]


class ExportSettings(Section):
    """The platform's own assortment file (interface.md 4.4)."""

    deadline_s: float = Field(3600.0, gt=0)
    """An export that has not ended by then has failed; the next run requests a new one."""
    file_max_bytes: int = Field(512 * 1024 * 1024, ge=1)
    """Largest export file that shelfsync reads, after decompression: one vendor's assortment."""


class DriftSettings(Section):
    """What shelfsync does about drift, by its cause.

    resend: the next delta sends the value again. report: warehouse.drift and the run's report have it. ignore: only
    warehouse.drift has it.
    """

    never_sent: Action = "report"
    """The next delta sends it anyway: it differs from what was acknowledged."""
    rejected: Action = "report"
    """With `resend`, the next delta sends a rejected value once more."""
    held: Literal["report", "ignore"] = "report"
    """Only a person can release a held change, so `resend` is not possible."""
    acknowledged_not_applied: Action = "resend"
    """The platform accepted it, and its export still shows the value before."""
    changed_on_platform: Action = "resend"
    """The export shows a value that shelfsync never sent."""
    export_older_than_change: Action = "ignore"
    """The platform wrote the export before the change."""
    unknown: Action = "resend"
    """The cause cannot be concluded."""
    propagation_s: float = Field(1800.0, ge=0)
    """Time that a change needs to show (interface.md 8: 15 minutes; integrators saw 30). A younger change is no drift."""
    second_look: bool = True
    """Whether the export DAG exports a vendor once more, after this time, if a value was accepted too late to show."""
    resends_max: int = Field(3, ge=0)
    """Drift that returns after so many resends becomes a rejection: another user of the platform changes the value. 0: at once."""
    resends_window_days: float = Field(7.0, gt=0)
    """Days for which a resend counts."""


class WarehouseSettings(Section):
    """Retention of the warehouse."""

    outcome_months: int = Field(13, ge=1)
    """Whole months of per-SKU outcomes and of the baseline's history that stay, besides the current month."""
