-- What shelfsync wants to know of campaigns: one row for each campaign, store and product (docs/how-to/promotions.md has the columns).
-- Campaigns of the next two days are shown before they begin, and those that are over for a day.
SELECT
    campaign.code AS campaign,
    store.code AS vendor,
    product.item_code AS sku,
    campaign_price.amount AS price,             -- the final price while it lasts
    campaign.name AS name,
    campaign.starts_at AS start_time,
    campaign.ends_at AS end_time,
    'everybody' AS audience,                    -- the sample has no club
    'none' AS condition                         -- and no coupon
FROM erp.campaign
JOIN erp.campaign_price USING (campaign_id)
JOIN erp.product USING (product_id)
JOIN erp.store ON store.store_id = campaign.store_id OR campaign.store_id IS NULL
WHERE campaign.starts_at < now() + interval '2 days'
    AND campaign.ends_at > now() - interval '1 day'
ORDER BY campaign.code, store.code, product.item_code;
