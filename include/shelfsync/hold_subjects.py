"""What differs between the subjects whose changes are held: how the rows of a hold are read, divided and sent."""

from __future__ import annotations

from shelfsync.catalog.assortment import product_categories, product_names
from shelfsync.catalog.steps import holds as of_catalog
from shelfsync.catalog.steps.sync import deliver_holds
from shelfsync.decisions.state import Subject
from shelfsync.decisions.subject import HoldSubject
from shelfsync.promotions.guard import in_words
from shelfsync.promotions.steps import holds as of_promotions

CATALOG = HoldSubject(
    subject=Subject.CATALOG,
    facts=("change",),
    values=("price", "quantity", "active", "max_sales_quantity"),
    rows=of_catalog.rows,
    stake=of_catalog.stake_of,
    divide=of_catalog.divide,
    lock=of_catalog.lock,
    approved=of_catalog.approved,
    release=of_catalog.release,
    send=deliver_holds,
    effect=(
        "Everything else of this vendor has been sent. Approve: these values are sent."
        " Decline: they stay held until the ERP changes them."
    ),
    sent_shown=lambda hold: f"`shelfsync runs show {hold.run_id}` shows what was sent",
    categories=product_categories.categories,
    skus_of_category=product_categories.skus_of_category,
    names=product_names.of_skus,
)

PROMOTIONS = HoldSubject(
    subject=Subject.PROMOTIONS,
    facts=("discount", "window"),
    in_words=in_words,
    values=("price",),
    rows=of_promotions.rows,
    stake=of_promotions.stake_of,
    divide=of_promotions.divide,
    lock=of_promotions.lock,
    approved=of_promotions.approved,
    release=of_promotions.release,
    send=of_promotions.send,
    effect=(
        "Everything else of the campaign has been sent. Approve: the next run sends these discounts, within minutes."
        " Decline: the platform keeps what it has until the ERP changes them."
    ),
    sent_shown=lambda _hold: "`shelfsync promotions status` shows what was sent",
)
