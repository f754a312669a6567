"""The statements that apply a piece of an update, set by set.

Parameters: `job`, `first` and `beyond` (the piece), `vendor`, `wave`, `at_buffer` (1 when a quantity equal to the buffer
activates), `with_quantity` (0 when quantities are ignored), `visible` (when the app shows it, microseconds).
"""

from __future__ import annotations

from sqlalchemy import text

FIND_BY_SKU = text("""
    UPDATE job_item SET wave = 1, product_id = (
        SELECT id FROM product WHERE product.vendor_key = :vendor AND product.sku = job_item.sku)
    WHERE job_seq = :job AND number >= :first AND number < :beyond AND sku IS NOT NULL AND error IS NULL
""")
FIND_BY_BARCODE = text("""
    UPDATE job_item SET wave = 1, (product_id, error) = (
        SELECT max(product_id),
            CASE WHEN count(DISTINCT product_id) > 1 THEN 'barcode belongs to more than one product' END
        FROM barcode WHERE barcode.vendor_key = :vendor AND barcode.barcode = job_item.barcode)
    WHERE job_seq = :job AND number >= :first AND number < :beyond AND sku IS NULL AND error IS NULL
""")
REFUSE_UNKNOWN = text("""
    UPDATE job_item SET error = 'product not found in the catalog of the vendor'
    WHERE job_seq = :job AND number >= :first AND number < :beyond AND product_id IS NULL AND error IS NULL
""")
REPEATED = text("""
    SELECT 1 FROM job_item
    WHERE job_seq = :job AND number >= :first AND number < :beyond AND error IS NULL
    GROUP BY product_id HAVING count(*) > 1 LIMIT 1
""")
WAVES = text("""
    UPDATE job_item SET wave = ranked.wave
    FROM (
        SELECT number AS n, row_number() OVER (PARTITION BY product_id ORDER BY number) AS wave
        FROM job_item WHERE job_seq = :job AND number >= :first AND number < :beyond AND error IS NULL) AS ranked
    WHERE job_item.job_seq = :job AND job_item.number = ranked.n
""")
LAST_WAVE = text("""
    SELECT max(wave) FROM job_item
    WHERE job_seq = :job AND number >= :first AND number < :beyond AND error IS NULL
""")
# An explicit active=false wins; otherwise a quantity decides by the buffer; otherwise an explicit active=true.
APPLY = text("""
    UPDATE product SET
        price_milli = coalesce(i.price_milli, product.price_milli),
        sales_limit = coalesce(i.sales_limit, product.sales_limit),
        active = CASE
            WHEN i.active = 0 THEN 0
            WHEN i.quantity IS NOT NULL AND :with_quantity
                THEN i.quantity + :at_buffer > coalesce(product.sales_buffer, vendor.sales_buffer)
            ELSE coalesce(i.active, product.active) END
    FROM job_item AS i, vendor
    WHERE i.job_seq = :job AND i.number >= :first AND i.number < :beyond AND i.error IS NULL AND i.wave = :wave
        AND product.id = i.product_id AND vendor.id = :vendor
""")
SHOW = text("""
    INSERT INTO visible_change (visible_us, product_id, price_milli, active, sales_limit)
    SELECT :visible, id, price_milli, active, sales_limit FROM product
    WHERE id IN (
            SELECT product_id FROM job_item
            WHERE job_seq = :job AND number >= :first AND number < :beyond AND error IS NULL)
        AND (price_milli IS NOT app_price_milli OR active IS NOT app_active OR sales_limit IS NOT app_sales_limit
            OR EXISTS (SELECT 1 FROM visible_change AS c WHERE c.product_id = product.id))
""")
SINGLE_KEY = text("SELECT sku, barcode FROM job_item WHERE job_seq = :job")
EDIT = text("""
    UPDATE product SET price_milli = coalesce(:price, price_milli + 1000, 1000)
    WHERE id = (SELECT product_id FROM job_item WHERE job_seq = :job AND error IS NULL ORDER BY number LIMIT 1)
""")
EDIT_SHOWN = text("""
    INSERT INTO visible_change (visible_us, product_id, price_milli, active, sales_limit)
    SELECT :visible, id, price_milli, active, sales_limit FROM product
    WHERE id = (SELECT product_id FROM job_item WHERE job_seq = :job AND error IS NULL ORDER BY number LIMIT 1)
""")
