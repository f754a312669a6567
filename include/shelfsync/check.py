"""check: everything that can be wrong with the configuration, found before anything is read in bulk or sent."""

from __future__ import annotations

import datetime as dt
import logging
import os
import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from partner_api.links import is_loopback_name
from shelfsync import display, logs
from shelfsync.alerts import heartbeat
from shelfsync.alerts.steps import send_due
from shelfsync.catalog import altered_values
from shelfsync.catalog.assortment.known_skus import KnownFiles, known_files, known_skus
from shelfsync.catalog.ledger import source_columns
from shelfsync.catalog.ledger import vendors as vendors_of_ledger
from shelfsync.catalog.snapshot import make_snapshot
from shelfsync.catalog.warehouse import quarantine
from shelfsync.erp import address, doubtful_columns
from shelfsync.erp.columns import Layout
from shelfsync.erp.files import FilesSource
from shelfsync.erp.open import open_promotions, open_source, promotion_settings_in_errors
from shelfsync.erp.vendor_ids import FILE, SETTING, VendorIds
from shelfsync.errors import ConfigurationError, ShelfsyncError, some_of, without_stop
from shelfsync.orders.steps.hand_over_channels import open_channel
from shelfsync.outages import erp_asked
from shelfsync.platform.credentials_check import (
    ASKED_MAX,
    VENDORS_ASKED,
    check_platform,
    is_known_good,
    unknown_vendors,
)
from shelfsync.promotions.schemas import RAW, REQUIRED
from shelfsync.rows import total_row
from shelfsync.rows.check_digit import is_gtin
from shelfsync.rows.quarantine_reason import NO_ROW, UNREADABLE, is_usable
from shelfsync.schemas import QUARANTINE
from shelfsync.settings.installation import tls_warning
from shelfsync.settings.misspelt_names import unknown_lines
from shelfsync.settings_file import read_file
from shelfsync.store import engine

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from shelfsync.catalog.column_reading import ColumnReadings
    from shelfsync.context import Context
    from shelfsync.settings import Settings

log = logging.getLogger(__name__)
in_report = logs.in_report(__name__)

SAMPLE_ROWS = 2000
"""How many rows of the ERP a check reads."""
_SHOWN = 10
_LIKE_GTIN = re.compile("[0-9]{8,14}")
_FILES_ASKED = 100
_FILES_AGE = dt.timedelta(days=2)


def check(context: Context, vendors: tuple[str, ...] = (), *, fresh: bool = True) -> dict[str, str]:
    """Database, ERP, platform, in this order; ConfigurationError in one line at the first that does not work.

    `vendors` are asked about first, so that a wrong one is found too; `fresh` asks the platform even when it answered lately. Returns the stores
    whose own files are broken, by the ERP's id, with the reason: a run goes on without them. An ERP without an answer is stored as an outage.
    """
    engine.check(context.engine)
    with erp_asked(context.engine, ends=False):
        broken = context.open_erp().check()
    for store, why in broken.items():
        in_report.warning("check: store %s fails alone, because its files are broken: %s", store, why)
    if not fresh and is_known_good(context, vendors):
        return broken
    names = (vendors or context.settings.sync.vendors)[:1] or _known_vendors(context)
    if not names:
        log.info("check: no vendor is known yet; the platform is asked for a token only")
    check_platform(context, vendors, names or (None,), known=_vendors_of_chain(context) if vendors else ())
    log.info("check: database, ERP and platform answer")
    return broken


def vendor_id_lines(context: Context, stores: Mapping[str, str | None]) -> list[str]:
    """Which of the ERP's `stores` is which vendor, and which are left out, if the settings name ids."""
    erp = context.settings.erp
    setting = SETTING if erp.vendor_ids_file is None else FILE
    named = VendorIds.of(erp).named()
    lines = {
        f"{setting}: ": [f"{ours} is {vendor}" for ours, vendor in stores.items() if vendor is not None],
        f"{setting} leaves out stores of the ERP: ": [ours for ours, vendor in stores.items() if vendor is None],
        f"{setting} names stores without a row in the ERP: ": [ours for ours in named if ours not in stores],
    }
    return [f"{line}{some_of(found, _SHOWN)}" for line, found in lines.items() if found] if named else []


def vendor_warnings(context: Context, stores: Mapping[str, str | None], vendors: tuple[str, ...] = ()) -> list[str]:
    """Vendors of the ERP's `stores` that the platform does not know; it is asked for each that it has not confirmed lately."""
    only = vendors or context.settings.sync.vendors
    found = sorted({name for name in stores.values() if name is not None and is_usable(name)})
    names = [name for name in found if not only or name in only]
    unknown, not_asked = unknown_vendors(context, names)
    lines = []
    words = total_row.words(unknown)
    unknown = [name for name in unknown if name not in words]
    if unknown:
        lines.append(
            f"the platform does not know {len(unknown)} of the ERP's {len(names)} vendors: {some_of(unknown, _SHOWN)}. Name their ids by"
            " SHELFSYNC_ERP__VENDOR_IDS, leave them out by SHELFSYNC_SYNC__VENDORS, or ask the account manager to enable them"
        )
    if words:
        lines.append(
            f"the platform does not know {some_of(words, _SHOWN)}, which may be a total of the ERP's list. A run of the whole ERP finds a total and"
            " quarantines it (docs/how-to/connecting-your-erp.md#by-files). If it is a store, name its id by SHELFSYNC_ERP__VENDOR_IDS"
        )
    if not_asked:
        lines.append(
            f"{not_asked} of the ERP's {len(names)} vendors were not asked for yet, because a check asks for {ASKED_MAX}; run it again"
        )
    return lines


def column_warnings(context: Context) -> list[str]:
    """Columns of the ERP that shelfsync does not read."""
    unused = context.open_erp().unused_columns()
    if not unused:
        return []
    return [
        f"shelfsync does not use {len(unused)} of the ERP's columns: {some_of(unused, _SHOWN)}. If one is meant, name it by SHELFSYNC_ERP__COLUMNS"
    ]


def file_warnings(context: Context) -> list[str]:
    """Files of the ERP that seem to be of another day."""
    settings = context.settings.erp
    found, lines = _found_files(context), []
    if (days := address.of_several_days(found)) is not None:
        lines.append(
            f"{address.FILES} has files of several days, {days[0].path!r} and {days[1].path!r}, and all of them are read. If the older ones are no"
            " parts of the stock, narrow the pattern or let the ERP move them away"
        )
    written = [time for file in found[-_FILES_ASKED:] if (time := file.written()) is not None]
    if written and (age := dt.datetime.now(dt.UTC) - max(written)) > _FILES_AGE:
        lines.append(
            f"the newest file at {address.shown(settings.files or '')} was written {age.days} days ago, at {display.minute(max(written))}. See"
            " whether the ERP still writes it, or whether it is a file of another day"
        )
    return lines


def _found_files(context: Context) -> list[address.FoundFile]:
    settings = context.settings.erp
    if settings.files is None or settings.source == "sql":
        return []
    return FilesSource(settings, Layout.of(settings)).found()


def lake_warnings(context: Context) -> list[str]:
    """Stores whose acknowledged state the lake has lost: it may be another ledger's lake, or somebody removes its files."""
    with context.engine.connect() as connection:
        found = vendors_of_ledger.current_baselines(
            connection, sorted(vendors_of_ledger.known_vendors(connection))[:_FILES_ASKED]
        )
    lost = [vendor for vendor, base in found.items() if not context.lake.exists(base.path)]
    if not lost:
        return []
    line = (
        f"the lake {context.lake.root} has no file of what the platform acknowledged for {len(lost)} of the {len(found)} stores that were looked at:"
        f" {some_of(lost, _SHOWN)}."
        " If a chain was renamed or the lake moved, move its files there before anything runs. Otherwise see who removes them: a run"
        " reads these values from the warehouse, and there may be files that only the lake has (docs/how-to/backup.md#a-file-of-the-lake-is-lost)"
    )
    return [line]


def promotion_warnings(context: Context) -> list[str]:
    """A source of promotions with neither the column audience nor condition."""
    if not context.settings.promotions.configured:
        return []
    try:
        with promotion_settings_in_errors(context.settings):
            absent = open_promotions(context.settings, RAW, REQUIRED).absent_columns()
    except ShelfsyncError as error:  # the catalog is in order all the same
        return [str(error)]
    if not {"audience", "condition"} <= set(absent):
        return []
    consequence = (
        "the source of the promotions has neither the column audience nor condition, so every campaign is offered to every customer. If some"
        " are for club members, coupons, a minimum purchase or a mix, name the columns by SHELFSYNC_PROMOTIONS__COLUMNS; if none is, set"
        ' SHELFSYNC_PROMOTIONS__CONSTANTS={"audience": "everybody"} (docs/how-to/promotions.md)'
    )
    return [consequence]


def value_warnings(context: Context, columns: ColumnReadings | None = None) -> list[str]:
    """Rows that cannot be sent, and values that are sent with another number, in the first rows of the ERP. `columns` see these rows."""
    import pyarrow.compute as pc

    settings = context.settings
    try:
        with open_source(settings.erp.model_copy(update={"chunk_rows": SAMPLE_ROWS})).read() as extract:
            extract.look = None if columns is None else columns.look
            rows = next(iter(extract))
            changed = _changed_columns(context, extract.columns())
            extract.check_styles()
    except StopIteration:
        return []
    except ShelfsyncError as error:
        return [f"a run would fail, because of the ERP's first rows: {without_stop(error)}"]
    is_none = pc.starts_with(rows["sku"], NO_ROW).fill_null(False)
    beside, rows = rows.filter(is_none), rows.filter(pc.invert(is_none))
    faulty = _faulty(context, rows)
    unsendable, left_out = (faulty.filter(pc.equal(faulty["row_sent"], sent)) for sent in (False, True))
    digits = display.digits_of(settings.currency)
    changed_rows = altered_values.adjustments(
        rows.select(altered_values.COLUMNS), faulty, settings.normalise, digits=digits
    )
    found = {one.kind: one for one in changed_rows}
    advice = "Correct the SELECT or the files (docs/how-to/connecting-your-erp.md); `shelfsync plan` counts all rows"
    lines = changed
    if beside.num_rows:
        lines.append(
            f"beside the ERP's first {rows.num_rows:,} rows {beside.num_rows:,} lines are none, and shelfsync sends nothing of them, such as"
            f" {beside['sku'][0].as_py().removeprefix(NO_ROW)}"
        )
    broken = rows["sku"].filter(pc.and_(pc.is_null(rows["vendor"]), pc.starts_with(rows["sku"], UNREADABLE)))
    if len(broken):
        lines.append(
            f"{len(broken):,} of the ERP's first {rows.num_rows:,} rows cannot be read and are quarantined, such as"
            f" {broken[0].as_py().removeprefix(UNREADABLE)}. {advice}"
        )
    if unsendable.num_rows:
        lines.append(
            f"{unsendable.num_rows:,} of the ERP's first {rows.num_rows:,} rows cannot be sent and are quarantined: {_reasons(unsendable)}. {advice}"
        )
    codes = [code for code in rows["barcode"].to_pylist() if code and _LIKE_GTIN.fullmatch(code.strip())]
    if wrong := [code for code in codes if not is_gtin(code.strip().zfill(14))]:  # some ERPs leave out zeros in front
        lines.append(
            f"{len(wrong):,} of {len(codes):,} barcodes in the ERP's first {rows.num_rows:,} rows have no right check digit, such as {wrong[0]!r}. They"
            " are sent as they are. Compare one with the code on its product; if the column has codes of the ERP's own, do not map it to barcode"
        )
    if left_out.num_rows:
        lines.append(
            f"{left_out.num_rows:,} values of the ERP's first {rows.num_rows:,} rows are left out, and the rest of their rows is sent:"
            f" {_reasons(left_out)}. {advice}"
        )
    lines += doubtful_columns.lines(rows, settings.erp, digits=display.currency_digits())
    return lines + [
        f"of the {field} in the ERP's first {rows.num_rows:,} rows {' and '.join(parts)}. {advice}"
        for field, meaning, advice in _CHANGED
        if (
            parts := [
                f"{found[kind].rows:,} {what} ({found[kind].examples[0]})" for kind, what in meaning if kind in found
            ]
        )
    ]


def _changed_columns(context: Context, columns: source_columns.Columns) -> list[str]:
    """What differs from the columns of the last run, and what a run does then. `columns` are those of the first file, or of the SELECT."""
    policy = context.settings.erp.changed_columns
    if policy == "ignore" or len(_found_files(context)) > 1:  # each file may have some of the columns
        return []
    with context.engine.connect() as connection:
        changes = source_columns.differences(connection, columns)
    then = {"report": "", "hold": ": the next run holds the changes", "stop": ": the next run sends nothing"}[policy]
    return [f"{source_columns.sentence(changes, 'check')}{then}"] if changes else []


def _reasons(faulty: pa.Table) -> str:
    """How many rows (QUARANTINE schema) have each reason, with the message of the first."""
    import pyarrow.compute as pc

    return ", ".join(
        f"{count['counts']:,} {count['values']} ({faulty['message'][pc.index(faulty['reason'], count['values']).as_py()]})"
        for count in pc.value_counts(faulty["reason"]).to_pylist()
    )


def _faulty(context: Context, rows: pa.Table) -> pa.Table:
    """What cannot be sent of RAW rows of several stores, in QUARANTINE schema."""
    import pyarrow as pa
    import pyarrow.compute as pc

    settings, whole = context.settings, rows.num_rows < SAMPLE_ROWS
    found = []
    for store in pc.unique(rows["vendor"].drop_null()).to_pylist():
        theirs = rows.filter(pc.equal(rows["vendor"], store))
        with context.engine.connect() as connection:
            files = known_files(connection, [store]).get(store, KnownFiles(store, None, None))
        known = known_skus(context, files, whole=whole)
        found.append(make_snapshot(theirs, settings.normalise, key=settings.platform.item_key, known=known).quarantine)
    return pa.concat_tables([QUARANTINE.empty_table(), *found])


_CHANGED = (
    (
        "prices",
        (("price_cut", "lose what is after the third decimal"),),
        "If the column is a binary float, round it to a decimal in the SELECT (docs/how-to/connecting-your-erp.md)",
    ),
    (
        "prices",
        (("price_finer", "have more decimals than the currency (SHELFSYNC_CURRENCY) and are sent so"),),
        "A spreadsheet may show 7.995 as 8.00: round them in the ERP if customers shall pay what it shows",
    ),
    (
        "quantities",
        (
            ("quantity_lost", "are below one, are sent as 0 and go off sale"),
            ("quantity_floored", "lose their fraction"),
        ),
        "If they are kilograms, send pieces or packs (docs/how-to/connecting-your-erp.md)",
    ),
)
"""The field, what happens to each kind of adjusted value, and what helps."""


def warnings(context: Context) -> list[str]:
    """What stops no catalog and is wrong all the same: orders without a store, a receiver without TLS, rows that name no vendor, no route.

    ConfigurationError: a route of alerts is wrong.
    """
    send_due.check_routes(context)
    exposed = tls_warning(context.settings.webhook)
    with context.engine.connect() as connection:
        nameless = quarantine.unusable_lines(quarantine.unusable_of_last(connection))
    return [
        *unknown_lines(),
        *_orders(context.settings),
        *([] if exposed is None else [exposed]),
        *nameless,
        *no_route(context.settings),
        *_no_limit_of_stillness(context.settings),
        *_no_heartbeat(context.settings),
        *_short_lease(context.settings),
    ]


def no_route(settings: Settings) -> list[str]:
    """A line, if the alerts of a chain in operation reach no person; a platform on this machine is a trial."""
    if settings.alerts.routes or not _is_elsewhere(settings.platform.base_url):
        return []
    return [
        "SHELFSYNC_ALERTS__ROUTES names no route, so no person gets a message about an alert (docs/how-to/alarms.md)"
    ]


def _no_limit_of_stillness(settings: Settings) -> list[str]:
    """A chain in operation that no alert tells of an ERP whose file or copy is renewed no more."""
    if settings.alerts.unchanged_minutes is not None or not _is_elsewhere(settings.platform.base_url):
        return []
    return [
        "SHELFSYNC_ALERTS__UNCHANGED_MINUTES is not set, so an ERP whose file or copy is renewed no more raises no alert (docs/how-to/alarms.md)"
    ]


def _no_heartbeat(settings: Settings) -> list[str]:
    """A chain that no monitor watches, in an installation that has a monitor for all."""
    if settings.chain is None or settings.alerts.heartbeat is not None:
        return []
    for_all = heartbeat.SETTING in os.environ or "heartbeat" in read_file().get("alerts", {})
    return (
        [f"{heartbeat.SETTING} is not set for this chain: each needs a monitor's check of its own"] if for_all else []
    )


def _short_lease(settings: Settings) -> list[str]:
    """A lease that ends while its holder waits for the rate limit, so that another process repeats the work."""
    lease_s, wait_s = settings.sync.lease_s, settings.rate_limit.wait_max_s
    line = (
        f"SHELFSYNC_SYNC__LEASE_S is {lease_s:g} s, and a request may wait {wait_s:g} s for the rate limit, so another process would take over"
        " a store that is at work. Set it above SHELFSYNC_RATE_LIMIT__WAIT_MAX_S"
    )
    return [line] if lease_s <= wait_s else []


def new_ledger_warning(context: Context) -> str | None:
    """Where the ledger is, if it knows no vendor although the settings name a platform beyond this machine: it may be the wrong one."""
    if not _is_elsewhere(context.settings.platform.base_url):
        return None
    with context.engine.connect() as connection:
        if vendors_of_ledger.is_any_known(connection):
            return None
    url = context.engine.url
    where = f"PostgreSQL {url.host}:{url.port}/{url.database}"
    if context.settings.database_url is None:
        where = f"the PostgreSQL in {context.settings.home}"
    return (
        f"this ledger is new: it knows no vendor ({where}). If shelfsync has run before, name its folder by SHELFSYNC_HOME"
        " or its database by SHELFSYNC_DATABASE_URL"
    )


def _is_elsewhere(base_url: str | None) -> bool:
    """Whether an address is that of another machine; one that is none is reported elsewhere."""
    try:
        host = urlsplit(base_url or "").hostname
    except ValueError:
        return False
    return host is not None and not is_loopback_name(host)


def _orders(settings: Settings) -> list[str]:
    """The first order would be an alarm."""
    orders = settings.orders
    if orders.owes_orders and not orders.hands_over:
        error = ConfigurationError(
            "SHELFSYNC_ORDERS__HAND_OVER",
            "is not set, so an order reaches no store",
            "Set it to the way to your stores, or to none where they learn of orders elsewhere (docs/how-to/orders.md).",
        )
        return [str(error)]
    try:
        if channel := open_channel(settings):
            channel.close()
    except ConfigurationError as error:
        return [str(error)]
    return []


def _vendors_of_chain(context: Context) -> list[str]:
    """The vendors that the ledger or the settings name."""
    with context.engine.connect() as connection:
        return sorted(
            {*vendors_of_ledger.known_vendors(connection), *VendorIds.of(context.settings.erp).vendors().values()}
        )


def _known_vendors(context: Context) -> tuple[str, ...]:
    """A few vendors, first those with a recently accepted request: the platform may have closed any one of them to shelfsync, and no other."""
    with context.engine.connect() as connection:
        return tuple(vendors_of_ledger.lately_acknowledged(connection, most=VENDORS_ASKED))
