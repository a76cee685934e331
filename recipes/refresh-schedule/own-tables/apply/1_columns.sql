-- New columns: the pause after a failure, the ttl of a refresh, and its holder.
ALTER TABLE refresh_schedule
  ADD COLUMN IF NOT EXISTS backoff_min  interval NOT NULL DEFAULT '20 minutes',
  ADD COLUMN IF NOT EXISTS backoff_max  interval NOT NULL DEFAULT '40 minutes',
  ADD COLUMN IF NOT EXISTS ttl          interval NOT NULL DEFAULT '5 minutes',
  ADD COLUMN IF NOT EXISTS locked_by    text,
  ADD COLUMN IF NOT EXISTS locked_until timestamptz,
  ADD COLUMN IF NOT EXISTS lock_token   bigint;

-- The name of a source's schedule in leasehold, where you may have others.
CREATE OR REPLACE FUNCTION refresh_name(p_source text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$ SELECT 'refresh:' || p_source $$;
