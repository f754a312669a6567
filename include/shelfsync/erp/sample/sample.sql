-- What shelfsync wants to know, from the tables of a small retail ERP: one row for each product that a store sells.
-- Copy it and put your own tables in; only vendor and sku are required, and any other column may be left out.
SELECT
    store.code AS vendor,                                             -- as the platform calls the store
    product.item_code AS sku,                                         -- as the platform calls the product; text, zeros in front stay
    barcode.code AS barcode,                                          -- one of them is enough
    coalesce(price.amount, product.list_price) AS price,              -- of the store, else of the chain, else of the list
    coalesce(stock.quantity, 0) AS quantity,                          -- no booking yet: nothing there
    product.active AND listing.active AS active,
    coalesce(listing.max_per_order, product.max_per_order) AS max_sales_quantity,
    product.department AS category,                                   -- never sent; lets a guard see that a whole one vanished
    product.name AS name                                              -- never sent; our pages show it beside the SKU
FROM erp.listing
JOIN erp.store USING (store_id)
JOIN erp.product USING (product_id)
LEFT JOIN erp.barcode ON barcode.product_id = product.product_id AND barcode.is_main
LEFT JOIN (
    -- Stock is no column: it is what all bookings come to.
    SELECT store_id, product_id, sum(quantity) AS quantity
    FROM erp.stock_movement
    GROUP BY store_id, product_id
) AS stock ON stock.store_id = listing.store_id AND stock.product_id = listing.product_id
LEFT JOIN LATERAL (
    -- The one price that holds today; of several the most special, then the newest.
    SELECT candidate.amount
    FROM erp.price AS candidate
    WHERE candidate.product_id = listing.product_id
        AND (candidate.store_id = listing.store_id OR candidate.store_id IS NULL)
        AND candidate.valid_from <= current_date
        AND (candidate.valid_until >= current_date OR candidate.valid_until IS NULL)
    ORDER BY candidate.store_id IS NULL, candidate.valid_from DESC, candidate.price_id DESC
    LIMIT 1
) AS price ON true
ORDER BY store.code, product.item_code;
