-- What sessions call: claim, heartbeat, release, fence, and recover.

--: step prepare function {claim_types}
-- Claims a thing for a session, by any of its names; what the session had before is released.
-- outcome: granted, or a refusal: held, race (both name the holder){refusals_text}, not_found, unregistered.
-- holder is the row of the session that has it now.
CREATE FUNCTION {claim}(
  p_session {id_type}, p_name {holds_type}{claim_params},
  OUT outcome text, OUT token bigint, OUT held_by {id_type}, OUT heartbeat_age_seconds bigint,
  OUT heartbeat_age_human text, OUT holder {sessions})
LANGUAGE plpgsql AS {quote}
--: if shadowed
#variable_conflict use_column
--: end
DECLARE
  v_session {sessions};
  v_key     {key_type};
  v_had     {key_type};
  v_token   bigint;
  v_before  bigint;
  v_refused json;
  v_detail  text;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION '{sessions_text}: a claim needs READ COMMITTED, and this transaction is %',
      upper(current_setting('transaction_isolation')) USING ERRCODE = 'invalid_transaction_state';
  END IF;
  SELECT {alias}.* INTO v_session FROM {sessions} WHERE {alias}.{id} = p_session FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    outcome := 'unregistered';
    RETURN;
  END IF;
  v_key := {thing_of}(p_name);
  IF v_key IS NULL THEN
    outcome := 'not_found';
    RETURN;
  END IF;
--: if refuse
  outcome := {refuse};
  IF outcome IS NOT NULL THEN
    RETURN;
  END IF;
--: end
  v_had := (SELECT {thing_of}(v_session.{holds}) FROM (SELECT v_session.*) AS {alias} WHERE {active});
  v_before := (SELECT t.{token} FROM {things} AS t WHERE t.{thing_key} = v_had);
  BEGIN
    UPDATE {sessions} SET
      {claim_set}
     WHERE {alias}.{id} = p_session
    RETURNING {alias}.* INTO holder;
    IF NOT FOUND THEN
      RAISE EXCEPTION '{sessions_text}: row security or a trigger keeps % from changing session %', current_user, p_session
        USING ERRCODE = 'insufficient_privilege';
    END IF;
  EXCEPTION WHEN unique_violation THEN
    GET STACKED DIAGNOSTICS v_detail = PG_EXCEPTION_DETAIL;
    IF left(v_detail, 9) <> '{"outcome' THEN
      RAISE;  -- another rule of yours
    END IF;
    v_refused := v_detail;
    outcome := v_refused->>'outcome';
    held_by := v_refused->>'held_by';
    heartbeat_age_seconds := v_refused->>'heartbeat_age_seconds';
    heartbeat_age_human := {human_refused};
    SELECT {alias}.* INTO holder FROM {sessions} WHERE {alias}.{id} = (v_refused->>'held_by')::{id_type};
    RETURN;
  END;
  v_token := (SELECT t.{token} FROM {things} AS t WHERE t.{thing_key} = v_key);
  outcome := 'granted';
  token := v_token;
--: if also_claim_or_release
  -- The same claim once more.
  IF v_had = v_key AND v_token = v_before THEN
    RETURN;
  END IF;
--: if also_release
  IF v_had IS NOT NULL THEN
    {also_switch};
  END IF;
--: end
--: if also_claim
  {also_claim};
--: end
--: end
END {quote};

--: step prepare function {heartbeat_types}
-- Keeps a claim alive, and never revives one: a session that was silent for too long claims again.
CREATE FUNCTION {heartbeat_function}(
  p_name {holds_type}, p_token bigint, OUT outcome text, OUT why text, OUT held_by {id_type}, OUT until timestamptz)
LANGUAGE plpgsql AS {quote}
--: if shadowed
#variable_conflict use_column
--: end
DECLARE
  v_key     {key_type} := {thing_of}(p_name);
  v_session {sessions};
  v_token   bigint;
BEGIN
  IF v_key IS NULL THEN
    outcome := 'not_found';
    RETURN;
  END IF;
  -- The session's row first, then the clock: waiting for the row takes time.
  SELECT {alias}.* INTO v_session FROM {sessions}
   WHERE {alias}.{holds} IN (SELECT unnest(ARRAY[{names_as_held}]) FROM {things} AS t WHERE t.{thing_key} = v_key)
     AND {active} FOR NO KEY UPDATE;
  v_token := (SELECT t.{token} FROM {things} AS t WHERE t.{thing_key} = v_key);
  IF v_token = p_token AND v_session.{heartbeat} > {now} - {ttl} THEN
    UPDATE {sessions} SET {heartbeat} = {now} WHERE {alias}.{id} = v_session.{id}
    RETURNING {alias}.* INTO v_session;
    outcome := 'extended';
    until := {until_of_session};
  ELSE
    outcome := 'lost';
    why := {why};
  END IF;
  held_by := v_session.{id};
END {quote};

--: step prepare function {release_types}
-- Releases what a session has; with p_token only that claim. outcome: released, not_held, or lost and why.
CREATE FUNCTION {release}(
  p_session {id_type}, p_reason text DEFAULT 'released', p_token bigint DEFAULT NULL{release_params},
  OUT outcome text, OUT why text, OUT released {holds_type})
LANGUAGE plpgsql AS {quote}
--: if shadowed
#variable_conflict use_column
--: end
DECLARE
  v_session {sessions};
  v_token   bigint;
BEGIN
  SELECT {alias}.* INTO v_session FROM {sessions} WHERE {alias}.{id} = p_session FOR NO KEY UPDATE;
  IF v_session.{holds} IS NULL THEN
    outcome := 'not_held';
    RETURN;
  END IF;
  v_token := (SELECT t.{token} FROM {things} AS t WHERE t.{thing_key} = {thing_of}(v_session.{holds}));
  IF v_token IS DISTINCT FROM p_token AND p_token IS NOT NULL THEN
    outcome := 'lost';
    why := {why};
    RETURN;
  END IF;
  UPDATE {sessions} SET
    {release_set}
   WHERE {alias}.{id} = p_session;
  IF NOT FOUND THEN
    RAISE EXCEPTION '{sessions_text}: row security or a trigger keeps % from changing session %', current_user, p_session
      USING ERRCODE = 'insufficient_privilege';
  END IF;
--: if also_release
  {also_release};
--: end
  outcome := 'released';
  released := v_session.{holds};
END {quote};

--: step prepare function {recover_types}
-- Ends claims that expired at least p_older ago, and returns their sessions as they were. No claim needs this. p_dry
-- only looks.
CREATE FUNCTION {recover}(p_older interval DEFAULT '0', p_dry boolean DEFAULT false) RETURNS SETOF {sessions}
LANGUAGE plpgsql AS {quote}
DECLARE
  v_now  {now_type} := {now};
  v_lost {sessions};
  v_key  {key_type};
BEGIN
  FOR v_lost IN
    SELECT {alias}.* FROM {sessions}
     WHERE {alias}.{holds} IS NOT NULL AND {active}
       AND ({alias}.{heartbeat} > v_now - {ttl} - {older}) IS NOT TRUE
     ORDER BY {alias}.{id} FOR UPDATE SKIP LOCKED
  LOOP
    IF NOT p_dry THEN
      v_key := {thing_of}(v_lost.{holds});
      UPDATE {sessions} SET
        {expire_set}
       WHERE {alias}.{id} = v_lost.{id};
--: if also_expire
      {also_expire};
--: end
    END IF;
    RETURN NEXT v_lost;
  END LOOP;
END {quote};

--: step prepare function {fence_types}
-- For a transaction of the holder's own: no other session takes the thing over before it ends. Raises if the claim is
-- lost.
CREATE FUNCTION {fence}(p_name {holds_type}, p_token bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, {schema}, pg_temp AS {quote}
BEGIN
  PERFORM FROM {things} AS t
    WHERE t.{thing_key} = {thing_of}(p_name) AND t.{token} = p_token AND p_token % 10 = 0 FOR KEY SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION '{things_text}: the claim % of % is lost', p_token, p_name
      USING ERRCODE = 'LH001', HINT = 'Another session may have it by now: stop.';
  END IF;
END {quote};
