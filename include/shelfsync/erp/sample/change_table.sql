-- A table of what changed, fed by triggers: a worked example for the sample ERP, for the administrator of a PostgreSQL ERP.
-- It misses nothing: each change carries the number of its transaction, and shelfsync reads on from the oldest transaction that is still open.
-- Give shelfsync's user the right to read it: GRANT SELECT ON erp.change TO reader.
-- Remove old rows daily: DELETE FROM erp.change WHERE at < now() - interval '7 days'.
CREATE TABLE erp.change (
    store_id integer NOT NULL,
    product_id integer NOT NULL,
    xact xid8 NOT NULL DEFAULT pg_current_xact_id(),
    at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX change_xact ON erp.change (xact);
COMMENT ON TABLE erp.change IS 'Which product of which store changed, and in which transaction; read by changes.sql';

-- Of a listing or a booking: its store and its product. A removed row counts as well.
CREATE FUNCTION erp.note_listing() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO erp.change (store_id, product_id) VALUES (NEW.store_id, NEW.product_id);
    END IF;
    IF TG_OP <> 'INSERT' THEN
        INSERT INTO erp.change (store_id, product_id) VALUES (OLD.store_id, OLD.product_id);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON erp.listing FOR EACH ROW EXECUTE FUNCTION erp.note_listing();
CREATE TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON erp.stock_movement FOR EACH ROW EXECUTE FUNCTION erp.note_listing();

-- Of a price: its store, or every store that lists the product.
CREATE FUNCTION erp.note_price() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO erp.change (store_id, product_id)
        SELECT store_id, product_id FROM erp.listing
        WHERE product_id = NEW.product_id AND (NEW.store_id IS NULL OR store_id = NEW.store_id);
    END IF;
    IF TG_OP <> 'INSERT' THEN
        INSERT INTO erp.change (store_id, product_id)
        SELECT store_id, product_id FROM erp.listing
        WHERE product_id = OLD.product_id AND (OLD.store_id IS NULL OR store_id = OLD.store_id);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON erp.price FOR EACH ROW EXECUTE FUNCTION erp.note_price();

-- Of an article or its barcode: every store that lists it.
CREATE FUNCTION erp.note_product() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    INSERT INTO erp.change (store_id, product_id)
    SELECT store_id, product_id FROM erp.listing
    WHERE product_id = CASE WHEN TG_OP = 'DELETE' THEN OLD.product_id ELSE NEW.product_id END;
    IF TG_OP = 'UPDATE' AND OLD.product_id <> NEW.product_id THEN
        INSERT INTO erp.change (store_id, product_id) SELECT store_id, product_id FROM erp.listing WHERE product_id = OLD.product_id;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER note AFTER UPDATE ON erp.product FOR EACH ROW EXECUTE FUNCTION erp.note_product();
CREATE TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON erp.barcode FOR EACH ROW EXECUTE FUNCTION erp.note_product();
