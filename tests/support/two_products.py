"""Two products as the platform has them."""

from __future__ import annotations

PRODUCTS = [{"sku": sku, "barcodes": [], "title": sku, "price": 9.99, "active": True} for sku in ("a", "b")]
