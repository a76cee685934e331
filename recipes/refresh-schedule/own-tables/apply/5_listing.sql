-- The table that is refreshed.

-- Sets first_seen_at of new listings, and last_seen_at of all. Fenced: raises an error if another caller has taken
-- over; until the caller commits, no other caller can take over. Returns how many rows it wrote.
CREATE OR REPLACE FUNCTION upsert_listings(p_source text, p_token bigint, p_listings jsonb) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  moment  timestamptz := clock_timestamp();
  written bigint;
BEGIN
  -- In the same order as the others: a DELETE of the source waits here, and not inside the fence.
  PERFORM FROM refresh_schedule WHERE source = p_source FOR KEY SHARE;
  PERFORM leasehold_internal.schedule_fence(refresh_name(p_source), p_token);
  INSERT INTO listing (source, listing_id, title, price, first_seen_at, last_seen_at)
  SELECT p_source, seen.id, seen.title, seen.price, moment, moment
    FROM jsonb_to_recordset(p_listings) AS seen(id text, title text, price numeric)
  ON CONFLICT (source, listing_id) DO UPDATE
     SET title = excluded.title, price = excluded.price, last_seen_at = excluded.last_seen_at;
  GET DIAGNOSTICS written = ROW_COUNT;
  RETURN written;
END $$;

-- first_seen_at is set once, also by programs that bypass the function.
CREATE OR REPLACE FUNCTION keep_first_seen_at() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  NEW.first_seen_at := OLD.first_seen_at;
  RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER keep_first_seen_at BEFORE UPDATE OF first_seen_at ON listing
  FOR EACH ROW EXECUTE FUNCTION keep_first_seen_at();
