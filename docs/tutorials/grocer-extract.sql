SELECT
    s.code_mag AS vendor,                                       -- SHELFSYNC_ERP__VENDOR_IDS translates it
    printf('%06d', s.no_article) AS sku,                        -- the platform's code: six digits, as text
    c.gencod AS barcode,                                        -- the main one; a join with all would repeat the SKU
    CASE a.vendu_par                                            -- the platform sells packs of 250 g, the ERP kilograms
        WHEN 'K' THEN printf('%.3f', t.centimes / 400.0)
        ELSE printf('%d.%02d', t.centimes / 100, t.centimes % 100)
    END AS price,
    CAST(coalesce(m.total, 0) / CASE a.vendu_par WHEN 'K' THEN 0.25 ELSE 1 END AS INTEGER) AS quantity,
    CASE WHEN s.bloque = 'N' AND t.centimes IS NOT NULL THEN 1 ELSE 0 END AS active,
    a.rayon AS category                                         -- never sent; the guards look at it
FROM assortiment s
JOIN magasin g ON g.code_mag = s.code_mag AND g.ouvert = 'O'
JOIN article a ON a.no_article = s.no_article AND a.supprime = 'N' AND a.rayon <> 'consigne'
LEFT JOIN code_barres c ON c.no_article = s.no_article AND c.principal = 'O'
LEFT JOIN (
    SELECT code_mag, no_article, sum(quantite) AS total FROM mouvement GROUP BY code_mag, no_article
) m ON m.code_mag = s.code_mag AND m.no_article = s.no_article
LEFT JOIN tarif t ON t.rowid = (                                -- one price: the shop's, else the chain's; the newest of today
    SELECT p.rowid FROM tarif p
    WHERE p.no_article = s.no_article AND coalesce(p.code_mag, s.code_mag) = s.code_mag
        AND date('now') BETWEEN p.du AND coalesce(p.au, '9999-12-31')
    ORDER BY p.code_mag IS NULL, p.du DESC
    LIMIT 1
)
