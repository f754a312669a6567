-- What changed in the sample ERP since a transaction, from the table that change_table.sql makes. For SHELFSYNC_ERP__CHANGES_SQL_FILE, with
-- CHANGES_KIND number, CHANGES_COLUMN xact and CHANGES_OVERLAP 0.
-- No change is numbered higher than the oldest transaction that is still open, so the next reading begins before all that may yet commit.
-- A listing that was removed comes once more, off sale.
WITH changed AS (
    SELECT store_id, product_id, max(xact::text::numeric) AS xact, max(at) AS changed_at
    FROM erp.change
    WHERE xact >= CAST(CAST(:since AS text) AS xid8)
    GROUP BY store_id, product_id
)
SELECT
    store.code AS vendor,
    product.item_code AS sku,
    barcode.code AS barcode,
    coalesce(price.amount, product.list_price) AS price,
    coalesce(stock.quantity, 0) AS quantity,
    coalesce(product.active AND listing.active, false) AS active,
    coalesce(listing.max_per_order, product.max_per_order) AS max_sales_quantity,
    product.department AS category,
    product.name AS name,
    changed.changed_at,                                               -- for the figures of freshness
    least(changed.xact, pg_snapshot_xmin(pg_current_snapshot())::text::numeric) AS xact
FROM changed
JOIN erp.store USING (store_id)
JOIN erp.product USING (product_id)
LEFT JOIN erp.listing USING (store_id, product_id)
LEFT JOIN erp.barcode ON barcode.product_id = changed.product_id AND barcode.is_main
LEFT JOIN LATERAL (
    SELECT sum(movement.quantity) AS quantity
    FROM erp.stock_movement AS movement
    WHERE movement.store_id = changed.store_id AND movement.product_id = changed.product_id
) AS stock ON true
LEFT JOIN LATERAL (
    SELECT candidate.amount
    FROM erp.price AS candidate
    WHERE candidate.product_id = changed.product_id
        AND (candidate.store_id = changed.store_id OR candidate.store_id IS NULL)
        AND candidate.valid_from <= current_date
        AND (candidate.valid_until >= current_date OR candidate.valid_until IS NULL)
    ORDER BY candidate.store_id IS NULL, candidate.valid_from DESC, candidate.price_id DESC
    LIMIT 1
) AS price ON true
