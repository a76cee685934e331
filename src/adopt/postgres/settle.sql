-- The acts of a holder on its row: heartbeat, complete, fail, release, fence. Each names the key and the token.

--: step prepare function {lost_types}
-- Why a token has no effect: the last digit of the row's token tells what became of its grant. The same verdict twice
-- gets the first answer again.
CREATE FUNCTION {lost}(
  {key_params}, p_token bigint, p_verdict text, OUT outcome text, OUT why text, OUT held_by text)
LANGUAGE plpgsql STABLE AS {quote}
DECLARE
  v_token bigint;
  v_until {until_type};
  v_holder text;
BEGIN
  IF p_token IS NULL OR p_token % 10 <> 0 THEN
    RAISE EXCEPTION '{table_text}: % is not the token of a grant', coalesce(p_token::text, 'NULL')
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  outcome := 'lost';
  SELECT {alias}.{token}, {alias}.{until}, {alias}.{holder} INTO v_token, v_until, v_holder
    FROM {table} WHERE {key_is};
  IF NOT FOUND THEN
    why := 'removed';
  ELSIF v_token = p_token THEN
    IF p_verdict <> 'extended' OR v_until > {clock} THEN
      RAISE EXCEPTION '{table_text}: row security or a trigger keeps % from writing %', current_user, {key_text}
        USING ERRCODE = 'insufficient_privilege';
    END IF;
    why := 'expired';
  ELSE
    why := CASE v_token - p_token WHEN 1 THEN 'finished' WHEN 2 THEN 'finished' WHEN 3 THEN 'finished'
                                  WHEN 4 THEN 'expired' WHEN 5 THEN 'revoked' ELSE 'superseded' END;
    IF (v_token - p_token, p_verdict) IN ((1, 'completed'), (2, 'failed'), (3, 'released')) THEN
      outcome := p_verdict;
      why := NULL;
    ELSIF v_until > {clock} THEN
      held_by := v_holder;
    END IF;
  END IF;
END {quote};

--: step prepare function {heartbeat_types}
-- Extends a live lease; an expired one stays expired. outcome: extended or lost (why, and the present holder).
CREATE FUNCTION {heartbeat}(
  {key_params}, p_token bigint, p_ttl interval DEFAULT '{ttl}',
  OUT outcome text, OUT why text, OUT held_by text, OUT until timestamptz)
LANGUAGE plpgsql SET leasehold.token = '' AS {quote}
DECLARE
  v_ttl   interval := {clamped_ttl};
  v_until {until_type};
BEGIN
  -- The row first, then the clock: waiting for the row takes time.
  PERFORM FROM {table} WHERE {key_is} AND {alias}.{token} = p_token AND p_token % 10 = 0 FOR NO KEY UPDATE;
  IF FOUND THEN
    PERFORM set_config('leasehold.token', p_token::text, true);
    UPDATE {table} SET
      {until} = greatest({alias}.{until}, {until_after_ttl})
     WHERE {key_is} AND {alias}.{until} > {clock}
    RETURNING {alias}.{until} INTO v_until;
    IF FOUND THEN
      outcome := 'extended';
      until := {v_until_moment};
--: if serial
      {also_heartbeat};
--: end
      RETURN;
    END IF;
  END IF;
  SELECT l.outcome, l.why, l.held_by INTO outcome, why, held_by FROM {lost}({key_args}, p_token, 'extended') AS l;
END {quote};

--: if verdicts
--: step prepare function {complete_types}
-- Finishes the row, also after expiry if it was not taken over. outcome: completed or lost.
CREATE FUNCTION {complete}(
  {key_params}, p_token bigint{complete_params}, OUT outcome text, OUT why text, OUT held_by text)
LANGUAGE plpgsql AS {quote}
--: if shadowed
#variable_conflict use_column
--: end
--: if also_complete
DECLARE
  v_row {table};
--: end
BEGIN
--: if also_complete
  SELECT {alias}.* INTO v_row FROM {table} WHERE {key_is} AND {alias}.{token} = p_token FOR NO KEY UPDATE;
--: end
  UPDATE {table} SET
    {complete_set}
   WHERE {key_is} AND {alias}.{token} = p_token AND p_token % 10 = 0;
  IF FOUND THEN
    outcome := 'completed';
--: if also_complete
    {also_complete};
--: end
    RETURN;
  END IF;
  SELECT l.outcome, l.why, l.held_by INTO outcome, why, held_by FROM {lost}({key_args}, p_token, 'completed') AS l;
END {quote};

--: step prepare function {fail_types}
-- Ends the row's run as failed. outcome: failed or lost.
CREATE FUNCTION {fail}(
  {key_params}, p_token bigint{fail_params}, OUT outcome text, OUT why text, OUT held_by text)
LANGUAGE plpgsql AS {quote}
--: if shadowed
#variable_conflict use_column
--: end
--: if also_fail
DECLARE
  v_row {table};
--: end
BEGIN
--: if also_fail
  SELECT {alias}.* INTO v_row FROM {table} WHERE {key_is} AND {alias}.{token} = p_token FOR NO KEY UPDATE;
--: end
  UPDATE {table} SET
    {fail_set}
   WHERE {key_is} AND {alias}.{token} = p_token AND p_token % 10 = 0;
  IF FOUND THEN
    outcome := 'failed';
--: if also_fail
    {also_fail};
--: end
    RETURN;
  END IF;
  SELECT l.outcome, l.why, l.held_by INTO outcome, why, held_by FROM {lost}({key_args}, p_token, 'failed') AS l;
END {quote};
--: end

--: step prepare function {release_types}
-- Gives the row back without a verdict. outcome: released or lost.
CREATE FUNCTION {release}(
  {key_params}, p_token bigint{release_params}, OUT outcome text, OUT why text, OUT held_by text)
LANGUAGE plpgsql AS {quote}
--: if shadowed
#variable_conflict use_column
--: end
--: if also_release
DECLARE
  v_row {table};
--: end
BEGIN
--: if also_release
  SELECT {alias}.* INTO v_row FROM {table} WHERE {key_is} AND {alias}.{token} = p_token FOR NO KEY UPDATE;
--: end
  UPDATE {table} SET
    {release_set}
   WHERE {key_is} AND {alias}.{token} = p_token AND p_token % 10 = 0;
  IF FOUND THEN
    outcome := 'released';
--: if also_release
    {also_release};
--: end
    RETURN;
  END IF;
  SELECT l.outcome, l.why, l.held_by INTO outcome, why, held_by FROM {lost}({key_args}, p_token, 'released') AS l;
END {quote};

--: step prepare function {fence_types}
-- In your own transaction: raises if the row is not yours any more; otherwise no other worker takes it over until you
-- commit.
CREATE FUNCTION {fence}({key_params}, p_token bigint) RETURNS void
LANGUAGE plpgsql AS {quote}
DECLARE
  v_why text;
BEGIN
  PERFORM FROM {table} WHERE {key_is} AND {alias}.{token} = p_token AND p_token % 10 = 0 FOR KEY SHARE;
  IF FOUND THEN
    RETURN;
  END IF;
  SELECT l.why INTO v_why FROM {lost}({key_args}, p_token, 'extended') AS l;
  RAISE EXCEPTION '{table_text} %: token % is not current (%)', {key_text}, p_token, v_why
    USING ERRCODE = 'LH001', DETAIL = v_why, HINT = 'Another holder may have taken over: roll back and stop.';
END {quote};
