-- The ERP of a small French grocer, for the tutorials: four shops, 90 articles. SQLite reads it.
CREATE TABLE magasin (          -- shops
    code_mag    TEXT PRIMARY KEY,
    nom         TEXT NOT NULL,
    ouvert      TEXT NOT NULL CHECK (ouvert IN ('O', 'N'))
);
CREATE TABLE article (
    no_article  INTEGER PRIMARY KEY,
    libelle     TEXT NOT NULL,
    rayon       TEXT NOT NULL,
    vendu_par   TEXT NOT NULL CHECK (vendu_par IN ('P', 'K')),  -- piece, kilogram
    supprime    TEXT NOT NULL DEFAULT 'N' CHECK (supprime IN ('O', 'N'))
);
CREATE TABLE code_barres (      -- barcodes; an article may have several
    gencod      TEXT PRIMARY KEY,
    no_article  INTEGER NOT NULL REFERENCES article,
    principal   TEXT NOT NULL CHECK (principal IN ('O', 'N'))
);
CREATE TABLE assortiment (      -- which shop sells what
    code_mag    TEXT NOT NULL REFERENCES magasin,
    no_article  INTEGER NOT NULL REFERENCES article,
    bloque      TEXT NOT NULL DEFAULT 'N' CHECK (bloque IN ('O', 'N')),
    PRIMARY KEY (code_mag, no_article)
);
CREATE TABLE tarif (            -- prices in cents; code_mag NULL: for the whole chain
    no_article  INTEGER NOT NULL REFERENCES article,
    code_mag    TEXT REFERENCES magasin,
    centimes    INTEGER NOT NULL,
    du          TEXT NOT NULL,  -- valid from
    au          TEXT            -- valid until
);
CREATE TABLE mouvement (        -- stock is the sum of these
    code_mag    TEXT NOT NULL REFERENCES magasin,
    no_article  INTEGER NOT NULL REFERENCES article,
    quantite    NUMERIC NOT NULL
);

INSERT INTO magasin VALUES ('M1', 'Lille', 'O'), ('M2', 'Lyon', 'O'), ('M3', 'Nantes', 'O'), ('M4', 'Nice', 'N');
INSERT INTO article
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 90)
SELECT
    i,
    CASE WHEN i > 88 THEN 'Consigne' ELSE 'Article ' || i END,
    CASE WHEN i > 88 THEN 'consigne' ELSE substr('cremerie epicerie fruits   hygiene  boissons ', 1 + 9 * (i % 5), 9) END,
    CASE WHEN i % 5 = 2 AND i < 20 THEN 'K' ELSE 'P' END,
    'N'
FROM n;
UPDATE article SET rayon = trim(rayon);
INSERT INTO code_barres SELECT '376' || substr('0000000000' || no_article, -10), no_article, 'O' FROM article;
INSERT INTO code_barres SELECT '300' || substr('0000000000' || no_article, -10), no_article, 'N' FROM article WHERE no_article % 30 = 7;
INSERT INTO assortiment SELECT code_mag, no_article, 'N' FROM magasin, article;
INSERT INTO tarif SELECT no_article, NULL, 99 + 20 * (no_article % 40), '2026-01-01', NULL FROM article;
INSERT INTO tarif SELECT no_article, 'M2', 79 + 20 * (no_article % 40), '2026-01-01', NULL FROM article WHERE no_article % 10 = 0;
INSERT INTO tarif SELECT no_article, NULL, 49, '2025-01-01', '2025-12-31' FROM article WHERE no_article % 7 = 0;
INSERT INTO mouvement SELECT code_mag, no_article, 10 + no_article % 25 FROM assortiment;
INSERT INTO mouvement SELECT code_mag, no_article, -3 FROM assortiment WHERE no_article % 3 = 0;
INSERT INTO mouvement SELECT code_mag, a.no_article, -0.75 FROM assortiment JOIN article a USING (no_article) WHERE a.vendu_par = 'K';
