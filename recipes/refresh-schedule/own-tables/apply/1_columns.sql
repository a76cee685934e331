-- What a row says in addition: the pause after a failure, how long a refresh may be silent, and who has it.
ALTER TABLE refresh_schedule
  ADD COLUMN IF NOT EXISTS backoff_min  interval NOT NULL DEFAULT '20 minutes',
  ADD COLUMN IF NOT EXISTS backoff_max  interval NOT NULL DEFAULT '40 minutes',
  ADD COLUMN IF NOT EXISTS lease        interval NOT NULL DEFAULT '5 minutes',
  ADD COLUMN IF NOT EXISTS locked_by    text,
  ADD COLUMN IF NOT EXISTS locked_until timestamptz,
  ADD COLUMN IF NOT EXISTS lock_token   bigint;

-- A source's schedule in leasehold, beside others that you may have.
CREATE OR REPLACE FUNCTION refresh_name(p_source text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$ SELECT 'refresh:' || p_source $$;
