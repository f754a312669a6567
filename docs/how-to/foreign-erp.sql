SELECT
    s.filiale AS vendor,                                  -- SHELFSYNC_ERP__VENDOR_IDS translates it
    s.artikel AS sku,                                     -- spaces around a CHAR are removed, zeros in front stay
    e.ean AS barcode,                                     -- the main one; a join with all would repeat the SKU
    p.vk_preis / p.preiseinheit AS price,                 -- the ERP may state a price per 100
    coalesce(b.menge, 0) AS quantity,                     -- kilograms are cut to whole ones
    s.gesperrt = 'N' AND p.vk_preis IS NOT NULL AS active, -- no price today: off sale, or the old price would stay
    a.max_abgabe AS max_sales_quantity,
    a.warengruppe AS category,
    a.ek_preis AS cost
FROM wawi.sortiment s
JOIN wawi.mandant m USING (mandant)                       -- each join has the whole key: numbers repeat in each company
JOIN wawi.filiale f USING (mandant, filiale)
JOIN wawi.artikel a USING (mandant, artikel)
LEFT JOIN wawi.artikel_ean e ON e.mandant = s.mandant AND e.artikel = s.artikel AND e.haupt_ean = 'J' AND e.geloescht = 'N'
LEFT JOIN LATERAL (                                       -- one price: the store's list of the best rank, else the base list
    SELECT vk_preis, preiseinheit
    FROM wawi.preis
    LEFT JOIN wawi.filial_preisliste l ON l.mandant = s.mandant AND l.filiale = s.filiale AND l.liste = preis.liste
        AND l.geloescht = 'N' AND m."Geschäftstag" BETWEEN l.gueltig_ab AND coalesce(l.gueltig_bis, 'infinity')
    WHERE preis.mandant = s.mandant AND preis.artikel = s.artikel AND preis.geloescht = 'N'
        AND m."Geschäftstag" BETWEEN preis.gueltig_ab AND coalesce(preis.gueltig_bis, 'infinity')
        AND (l.liste IS NOT NULL OR preis.liste = m.basisliste)
    ORDER BY l.rangfolge NULLS LAST, preis.gueltig_ab DESC
    LIMIT 1
) p ON true
LEFT JOIN LATERAL (                                       -- usable lots of this store, without what is reserved
    SELECT sum(c.menge - coalesce(r.menge, 0)) AS menge
    FROM wawi.charge c
    LEFT JOIN (
        SELECT mandant, filiale, artikel, charge, sum(menge) AS menge
        FROM wawi.reservierung WHERE storniert = 'N' GROUP BY mandant, filiale, artikel, charge
    ) r USING (mandant, filiale, artikel, charge)
    WHERE c.mandant = s.mandant AND c.filiale = s.filiale AND c.artikel = s.artikel AND c.geloescht = 'N'
        AND c.gesperrt = 'N' AND coalesce(c.mhd, 'infinity') >= m."Geschäftstag" + a.restlaufzeit
) b ON true
WHERE s.mandant = '001'                                   -- deleted rows stay out: what leaves the extract goes off sale
    AND 'J' NOT IN (s.geloescht, a.geloescht, f.geloescht);
