"""Chains, their clients and tokens, their vendors."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, ForeignKey, Integer, Table, Text, UniqueConstraint

from partner_sandbox.storage import metadata

chain = Table(
    "chain",
    metadata,
    Column("chain", Text, primary_key=True),
    Column("enabled", Boolean, nullable=False, comment="false: 404 Platform Not Found"),
    Column("creation_enabled", Boolean, nullable=False, comment="inside the pilot of product creation"),
)

client = Table(
    "client",
    metadata,
    Column("client_id", Text, primary_key=True),
    Column("client_secret", Text, nullable=False),
    Column("chain", Text, ForeignKey("chain.chain"), nullable=False),
)

token = Table(
    "token",
    metadata,
    Column("token", Text, primary_key=True),
    Column("chain", Text, ForeignKey("chain.chain"), nullable=False),
    Column("client_id", Text, comment="null for a static token of the portal"),
    Column("issued_us", Integer, nullable=False),
    Column("expires_us", Integer, comment="null: never"),
)

vendor = Table(
    "vendor",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("chain", Text, ForeignKey("chain.chain"), nullable=False),
    Column("vendor", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("external_partner_config_id", Text, comment="the partner's own store identifier"),
    Column("sales_buffer", Integer, nullable=False, comment="for products without a buffer of their own"),
    Column("status", Text, nullable=False, comment="OPEN, CLOSED_TODAY, CLOSED_UNTIL, CHECKIN"),
    Column("closed_reason", Text),
    Column("closed_until", Text),
    UniqueConstraint("chain", "vendor"),
)
