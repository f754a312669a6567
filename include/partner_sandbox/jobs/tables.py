"""Jobs and, for updates, what became of each item."""

from __future__ import annotations

from sqlalchemy import JSON, Boolean, Column, ForeignKey, Index, Integer, Table, Text

from partner_sandbox.storage import metadata

job = Table(
    "job",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("job_id", Text, nullable=False, unique=True),
    Column("chain", Text, nullable=False),
    Column("vendor_key", Integer, comment="null for jobs of the whole chain"),
    Column("vendor", Text),
    Column("kind", Text, nullable=False, comment="update, export, creation, promotion"),
    Column("state", Text, nullable=False, comment="RECEIVING, QUEUED, IN_PROGRESS, COMPLETED, FAILED, DUPLICATE"),
    Column("created_us", Integer, nullable=False),
    Column("due_us", Integer, comment="when its next step falls due; null: never"),
    Column("finish_us", Integer, nullable=False, comment="when it is to be done"),
    Column("ended_us", Integer),
    Column("items", Integer, nullable=False, default=0),
    Column("refused", Integer, nullable=False, default=0),
    Column("address", Text, nullable=False, comment="the service's address as the request knew it"),
    Column("file", Text, comment="the name its log or export is fetched by"),
    Column("link_ends_us", Integer, comment="when the link stops working"),
    Column("link", Text, comment="an address to give instead of the real one"),
    Column("told", Boolean, nullable=False, default=False, comment="its event went out before it ended"),
    Column("payload", JSON, comment="what the job was asked, for kinds without items"),
    Column("result", JSON, comment="what came out besides the items"),
    Index("job_by_due", "due_us"),
    sqlite_autoincrement=True,
)

job_item = Table(
    "job_item",
    metadata,
    Column("job_seq", Integer, ForeignKey("job.seq"), primary_key=True),
    Column("number", Integer, primary_key=True, comment="position in the request, from 0"),
    Column("sku", Text),
    Column("barcode", Text, comment="padded to 14 digits"),
    Column("quantity", Integer, comment="compared with the buffer, then forgotten"),
    Column("price_milli", Integer),
    Column("active", Boolean),
    Column("sales_limit", Integer),
    Column("error", Text, comment="null while and when all is well"),
    Column("product_id", Integer, comment="found when the job runs"),
    Column("wave", Integer, comment="1 for the first item of a product within a piece, 2 for the next"),
    sqlite_with_rowid=False,
)
