-- Guarding a user's own writes.

-- Inside your own transaction: raises if the token is no longer valid, and keeps the lock, or the share, from being
-- taken over, released or revoked until you commit.
CREATE FUNCTION leasehold.fence(name text, token bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = leasehold, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  sound boolean;
  why   text;
BEGIN
  sound := leasehold.require_durable_transaction();
  -- A grant of a lock is valid until its lease ends, and no other transaction can end the lease while this one has it
  -- locked. The row of the lock is not locked: shares of others come and go. At REPEATABLE READ and above the row lock
  -- fails with 40001 if the lease has changed since the snapshot, so an old snapshot never passes.
  PERFORM FROM leasehold.lease AS t
    WHERE t.id = leasehold.lock_lease_of(fence.name, fence.token) AND t.ended_at IS NULL FOR KEY SHARE;
  IF FOUND THEN
    RETURN;
  END IF;
  sound := leasehold.require_in_snapshot(fence.token);
  why := coalesce((leasehold.lock_lost(fence.name, fence.token, leasehold.now())).why, 'never granted');
  RAISE EXCEPTION 'lock "%": token % is not current (%)', fence.name, fence.token, why
    USING ERRCODE = 'LH001', DETAIL = why,
          HINT = 'Another holder may have taken over: give up this transaction and stop.';
END $$;
