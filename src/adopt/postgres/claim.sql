-- Claims: the next rows, or one by its key.

--: if claimable_next
--: step prepare function {claim_types}
-- Claims the next rows, each under a lease of its own. No row: nothing can be claimed now.
CREATE FUNCTION {claim}(p_holder {holder_type}, p_max integer DEFAULT 1, p_ttl interval DEFAULT '{ttl}')
RETURNS SETOF {table}
LANGUAGE plpgsql AS {quote}
--: if shadowed
#variable_conflict use_column
--: end
DECLARE
  v_ttl interval := {clamped_ttl};
--: if also_claim
  v_row {table};
--: end
--: if also_expire
  v_expired {table};
--: end
--: if serial
  v_serial record;
--: end
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION '{table_text}: a claim needs READ COMMITTED, and this transaction is %',
      upper(current_setting('transaction_isolation')) USING ERRCODE = 'invalid_transaction_state';
  END IF;
  IF coalesce(p_holder::text, '') = '' THEN
    RAISE EXCEPTION '{table_text}: a claim needs the name of its holder' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  -- Expired leases end first, so that their rows can be claimed again.
--: if also_expire
  FOR v_expired IN
    SELECT {alias}.* FROM {table}
     WHERE {alias}.{until} <= (SELECT {clock}){not_final}
     ORDER BY {alias}.{until} LIMIT 10 FOR UPDATE SKIP LOCKED
  LOOP
    UPDATE {table} SET
      {expire_set}
     WHERE {key_is_expired};
    {also_expire};
  END LOOP;
--: else
  UPDATE {table} SET
    {expire_set}
   WHERE {key_row} IN (
    SELECT {key_columns} FROM {table}
     WHERE {alias}.{until} <= (SELECT {clock}){not_final}
     ORDER BY {alias}.{until} LIMIT 10 FOR UPDATE SKIP LOCKED);
--: end
--: if serial
  -- One row at a time: the transaction that has locked the row decides.
  SELECT * INTO v_serial FROM {serial_table} FOR UPDATE;
  IF v_serial.{serial_until} > {serial_clock} THEN
    RETURN;
  END IF;
  p_max := least(p_max, 1);
--: end
  FOR v_count IN 1 .. p_max LOOP
--: if also_claim
    UPDATE {table} SET
      {claim_set}
     WHERE {key_row} = (
      SELECT {key_columns} FROM {table}
       WHERE {eligible}
       ORDER BY {order} LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING {alias}.* INTO v_row;
--: if row_security
    IF NOT FOUND AND row_security_active({table_literal}::regclass) AND NOT EXISTS (
         SELECT FROM pg_policy AS p
          WHERE p.polrelid = {table_literal}::regclass AND p.polcmd IN ('w', '*')
            AND (0 = ANY (p.polroles) OR EXISTS (
                  SELECT FROM unnest(p.polroles) AS r(oid) WHERE pg_has_role(r.oid, 'USAGE')))) THEN
      RAISE EXCEPTION '{table_text}: row security lets % update no row', current_user
        USING ERRCODE = 'insufficient_privilege';
    END IF;
--: end
    EXIT WHEN NOT FOUND;
    {also_claim};
    RETURN NEXT v_row;
--: else
    RETURN QUERY
    UPDATE {table} SET
      {claim_set}
     WHERE {key_row} = (
      SELECT {key_columns} FROM {table}
       WHERE {eligible}
       ORDER BY {order} LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING {alias}.*;
--: if row_security
    IF NOT FOUND AND row_security_active({table_literal}::regclass) AND NOT EXISTS (
         SELECT FROM pg_policy AS p
          WHERE p.polrelid = {table_literal}::regclass AND p.polcmd IN ('w', '*')
            AND (0 = ANY (p.polroles) OR EXISTS (
                  SELECT FROM unnest(p.polroles) AS r(oid) WHERE pg_has_role(r.oid, 'USAGE')))) THEN
      RAISE EXCEPTION '{table_text}: row security lets % update no row', current_user
        USING ERRCODE = 'insufficient_privilege';
    END IF;
--: end
    EXIT WHEN NOT FOUND;
--: end
  END LOOP;
END {quote};
--: end

--: step prepare function {claim_key_types}
-- Claims one row by its key. outcome: granted, held (by whom, and until when),{claim_key_outcomes} or not_found.
CREATE FUNCTION {claim_key}(
  {key_params}, p_holder {holder_type}, p_ttl interval DEFAULT '{ttl}',
  OUT outcome text, OUT token bigint, OUT held_by text, OUT until timestamptz, OUT claimed {table})
LANGUAGE plpgsql AS {quote}
--: if shadowed
#variable_conflict use_column
--: end
DECLARE
  v_now {until_type};
  v_ttl interval := {clamped_ttl};
  v_row {table};
--: if also_expire
  v_expired {table};
--: end
--: if serial
  v_serial record;
--: end
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION '{table_text}: a claim needs READ COMMITTED, and this transaction is %',
      upper(current_setting('transaction_isolation')) USING ERRCODE = 'invalid_transaction_state';
  END IF;
  IF coalesce(p_holder::text, '') = '' THEN
    RAISE EXCEPTION '{table_text}: a claim needs the name of its holder' USING ERRCODE = 'invalid_parameter_value';
  END IF;
--: if insert_columns
  -- A lock that is not in the table yet is free.
  INSERT INTO {table} ({insert_columns}) VALUES ({insert_values}) ON CONFLICT ({key_names}) DO NOTHING;
--: end
  -- The row first, then the clock: waiting for the row takes time.
  SELECT {alias}.* INTO v_row FROM {table} WHERE {key_is} FOR NO KEY UPDATE;
  IF NOT FOUND THEN
--: if row_security
    IF EXISTS (SELECT FROM {table} WHERE {key_is}) THEN
      RAISE EXCEPTION '{table_text}: row security lets % not update %', current_user, {key_text}
        USING ERRCODE = 'insufficient_privilege';
    END IF;
--: end
    outcome := 'not_found';
    RETURN;
  END IF;
  v_now := {clock};
  IF v_row.{until} > v_now THEN
    outcome := 'held';
    held_by := v_row.{holder};
    until := {row_until_moment};
    RETURN;
  END IF;
  IF v_row.{until} IS NOT NULL{and_not_free} OR v_row.{token} % 10 IN (4, 5) THEN
    -- The last holder, expired or revoked, may be writing at this moment, behind the fence: then the claim is refused.
    PERFORM FROM {table} WHERE {key_is} FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
      outcome := 'held';
      held_by := v_row.{holder};
      until := clock_timestamp();
      RETURN;
    END IF;
  END IF;
  IF v_row.{until} IS NOT NULL{and_not_free} THEN
--: if also_expire
    v_expired := v_row;
--: end
    UPDATE {table} SET
      {expire_set}
     WHERE {key_is}{not_final};
--: if also_expire
    IF FOUND THEN
      {also_expire};
    END IF;
--: end
  END IF;
--: if serial
  SELECT * INTO v_serial FROM {serial_table} FOR UPDATE;
  IF v_serial.{serial_until} > {serial_clock} THEN
    outcome := 'held';
    held_by := v_serial.{serial_holder};
    until := {serial_until_moment};
    RETURN;
  END IF;
--: end
  UPDATE {table} SET
    {claim_set}
   WHERE {key_is}{and_claimable}
  RETURNING {alias}.* INTO claimed;
  IF FOUND THEN
    outcome := 'granted';
    token := claimed.{token};
    until := {claimed_until_moment};
--: if also_claim
    v_row := claimed;
    {also_claim};
--: end
    RETURN;
  END IF;
  claimed := NULL;
--: if why_not
  SELECT {why_not} INTO outcome, until FROM {table} WHERE {key_is};
--: end
  IF outcome IS NULL THEN
    RAISE EXCEPTION '{table_text}: row security or a trigger keeps % from claiming %', current_user, {key_text}
      USING ERRCODE = 'insufficient_privilege';
  END IF;
END {quote};
