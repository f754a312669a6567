-- Warenwirtschaft einer Lebensmittelkette. Mehrere Mandanten teilen sich eine Datenbank; jede Nummer gilt nur in ihrem Mandanten.
CREATE SCHEMA wawi;
SET search_path TO wawi;

CREATE TABLE mandant (
    mandant       CHAR(3) PRIMARY KEY,
    name          VARCHAR(60) NOT NULL,
    basisliste    CHAR(6) NOT NULL,
    "Geschäftstag" DATE NOT NULL
);

CREATE TABLE filiale (
    mandant       CHAR(3) NOT NULL REFERENCES mandant,
    filiale       CHAR(4) NOT NULL,
    bezeichnung   VARCHAR(60) NOT NULL,
    geloescht     CHAR(1) NOT NULL DEFAULT 'N' CHECK (geloescht IN ('J', 'N')),
    PRIMARY KEY (mandant, filiale)
);

CREATE TABLE artikel (
    mandant       CHAR(3) NOT NULL REFERENCES mandant,
    artikel       CHAR(18) NOT NULL,
    bezeichnung   VARCHAR(80) NOT NULL,
    warengruppe   CHAR(5) NOT NULL,
    mengeneinheit CHAR(3) NOT NULL CHECK (mengeneinheit IN ('STK', 'KG')),
    restlaufzeit  INTEGER NOT NULL DEFAULT 0,
    max_abgabe    INTEGER,
    ek_preis      NUMERIC(13, 4),
    geloescht     CHAR(1) NOT NULL DEFAULT 'N' CHECK (geloescht IN ('J', 'N')),
    PRIMARY KEY (mandant, artikel)
);

CREATE TABLE artikel_ean (
    mandant       CHAR(3) NOT NULL,
    artikel       CHAR(18) NOT NULL,
    ean           CHAR(14) NOT NULL,
    haupt_ean     CHAR(1) NOT NULL CHECK (haupt_ean IN ('J', 'N')),
    geloescht     CHAR(1) NOT NULL DEFAULT 'N' CHECK (geloescht IN ('J', 'N')),
    PRIMARY KEY (mandant, ean),
    FOREIGN KEY (mandant, artikel) REFERENCES artikel
);

CREATE TABLE sortiment (
    mandant       CHAR(3) NOT NULL,
    filiale       CHAR(4) NOT NULL,
    artikel       CHAR(18) NOT NULL,
    gesperrt      CHAR(1) NOT NULL DEFAULT 'N' CHECK (gesperrt IN ('J', 'N')),
    geloescht     CHAR(1) NOT NULL DEFAULT 'N' CHECK (geloescht IN ('J', 'N')),
    PRIMARY KEY (mandant, filiale, artikel),
    FOREIGN KEY (mandant, filiale) REFERENCES filiale,
    FOREIGN KEY (mandant, artikel) REFERENCES artikel
);

CREATE TABLE preisliste (
    mandant       CHAR(3) NOT NULL REFERENCES mandant,
    liste         CHAR(6) NOT NULL,
    bezeichnung   VARCHAR(60) NOT NULL,
    PRIMARY KEY (mandant, liste)
);

-- Welche Liste in welcher Filiale gilt, von Tag bis Tag. Die kleinste Rangfolge gewinnt; danach gilt die Basisliste des Mandanten.
CREATE TABLE filial_preisliste (
    mandant       CHAR(3) NOT NULL,
    filiale       CHAR(4) NOT NULL,
    liste         CHAR(6) NOT NULL,
    rangfolge     INTEGER NOT NULL,
    gueltig_ab    DATE NOT NULL,
    gueltig_bis   DATE,
    geloescht     CHAR(1) NOT NULL DEFAULT 'N' CHECK (geloescht IN ('J', 'N')),
    PRIMARY KEY (mandant, filiale, liste, gueltig_ab),
    FOREIGN KEY (mandant, filiale) REFERENCES filiale,
    FOREIGN KEY (mandant, liste) REFERENCES preisliste
);

CREATE TABLE preis (
    mandant       CHAR(3) NOT NULL,
    liste         CHAR(6) NOT NULL,
    artikel       CHAR(18) NOT NULL,
    gueltig_ab    DATE NOT NULL,
    gueltig_bis   DATE,
    vk_preis      NUMERIC(13, 4) NOT NULL,
    preiseinheit  INTEGER NOT NULL DEFAULT 1,
    geloescht     CHAR(1) NOT NULL DEFAULT 'N' CHECK (geloescht IN ('J', 'N')),
    PRIMARY KEY (mandant, liste, artikel, gueltig_ab),
    FOREIGN KEY (mandant, liste) REFERENCES preisliste,
    FOREIGN KEY (mandant, artikel) REFERENCES artikel
);

CREATE TABLE charge (
    mandant       CHAR(3) NOT NULL,
    filiale       CHAR(4) NOT NULL,
    artikel       CHAR(18) NOT NULL,
    charge        CHAR(10) NOT NULL,
    mhd           DATE,
    menge         NUMERIC(13, 3) NOT NULL,
    gesperrt      CHAR(1) NOT NULL DEFAULT 'N' CHECK (gesperrt IN ('J', 'N')),
    geloescht     CHAR(1) NOT NULL DEFAULT 'N' CHECK (geloescht IN ('J', 'N')),
    PRIMARY KEY (mandant, filiale, artikel, charge),
    FOREIGN KEY (mandant, filiale, artikel) REFERENCES sortiment
);

CREATE TABLE reservierung (
    mandant       CHAR(3) NOT NULL,
    beleg         CHAR(10) NOT NULL,
    position      INTEGER NOT NULL,
    filiale       CHAR(4) NOT NULL,
    artikel       CHAR(18) NOT NULL,
    charge        CHAR(10) NOT NULL,
    menge         NUMERIC(13, 3) NOT NULL,
    storniert     CHAR(1) NOT NULL DEFAULT 'N' CHECK (storniert IN ('J', 'N')),
    PRIMARY KEY (mandant, beleg, position),
    FOREIGN KEY (mandant, filiale, artikel, charge) REFERENCES charge
);
