-- Rows that are sessions: one of their columns names the thing that a session has. A trigger on the sessions enforces
-- that a thing has one session, so that ordinary INSERTs and UPDATEs obey this rule, too. A thing's token is in the
-- thing's own row. Lock order: session, thing, other sessions with SKIP LOCKED.

--: if add_token
--: step prepare column {things}
--: down ALTER TABLE {things} DROP COLUMN {token}
-- The number of the latest claim. Its last digit says what became of it: 0 held, 3 released, 4 expired.
ALTER TABLE {things} ADD COLUMN {token} bigint;
--: end

--: step prepare function {thing_of}({holds_type})
-- The key of what a name means; NULL if nothing has that name.
CREATE FUNCTION {thing_of}(p_name {holds_type}) RETURNS {key_type}
LANGUAGE sql STABLE AS {quote}
  SELECT t.{thing_key} FROM {things} AS t
   WHERE p_name IN ({names_t})
   ORDER BY p_name = t.{first_name} DESC NULLS LAST LIMIT 1
{quote};

--: step prepare function {exclusive}()
-- One session per {things_text}, by any of its names, and no heartbeat in the future. A silent session loses it.
CREATE FUNCTION {exclusive}() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, {schema}, pg_temp AS {quote}
DECLARE
  v_holds boolean := (SELECT {active} FROM (SELECT NEW.*) AS {alias});
  v_held  boolean := false;
  v_key   {key_type};
  v_names {holds_type}[];
  v_other {sessions};
  v_lost  {sessions};
  v_now   {now_type} := {now};
BEGIN
  IF NEW.{heartbeat} > v_now THEN
    NEW.{heartbeat} := v_now;
  END IF;
  IF TG_OP = 'UPDATE' THEN
    v_held := OLD.{holds} IS NOT NULL AND (SELECT {active} FROM (SELECT OLD.*) AS {alias});
    IF v_held AND NEW.{id} <> OLD.{id} THEN
      RAISE EXCEPTION '{sessions_text}: session % has a claim: release it before you rename the session', OLD.{id}
        USING ERRCODE = 'LH001';
    END IF;
  END IF;
  -- Nothing new is claimed. (A heartbeat that comes too late claims the same thing anew.)
  IF v_holds IS NOT TRUE OR NEW.{holds} IS NULL OR v_held AND NEW.{holds} = OLD.{holds} AND (
       OLD.{heartbeat} > v_now - {ttl} OR NEW.{heartbeat} IS NOT DISTINCT FROM OLD.{heartbeat}) THEN
    RETURN NEW;
  END IF;

  -- Both things of a switch, in one order for all sessions.
  PERFORM FROM {things} AS t
    WHERE NEW.{holds} IN ({names_t}) OR v_held AND OLD.{holds} IN ({names_t})
    ORDER BY t.{thing_key} FOR UPDATE;
  v_key := {thing_of}(NEW.{holds});
  IF v_key IS NULL THEN
    IF v_held AND NEW.{holds} = OLD.{holds} THEN
      RETURN NEW;
    END IF;
    RAISE EXCEPTION '{sessions_text}: {holds_text} %: nothing in {things_text} has that name', NEW.{holds}
      USING ERRCODE = 'foreign_key_violation';
  END IF;
  SELECT ARRAY[{names_as_held}] INTO v_names FROM {things} AS t WHERE t.{thing_key} = v_key;
  v_now := {now};

  -- A session that has been silent for too long loses it, unless its row is being written at this moment.
  FOR v_lost IN
    SELECT {alias}.* FROM {sessions}
     WHERE {alias}.{holds} = ANY (v_names) AND {active} AND {alias}.{id} <> NEW.{id}
       AND ({alias}.{heartbeat} > v_now - {ttl}) IS NOT TRUE
     ORDER BY {alias}.{id} FOR UPDATE SKIP LOCKED
  LOOP
    UPDATE {sessions} SET
      {expire_set}
     WHERE {alias}.{id} = v_lost.{id};
--: if also_expire
    {also_expire};
--: end
  END LOOP;

  SELECT {alias}.* INTO v_other FROM {sessions}
   WHERE {alias}.{holds} = ANY (v_names) AND {active} AND {alias}.{id} <> NEW.{id}
   ORDER BY {alias}.{heartbeat} DESC NULLS LAST LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION '% is claimed by session %', NEW.{holds}, v_other.{id} USING
      ERRCODE = 'unique_violation', TABLE = '{table_text}', CONSTRAINT = '{index_text}',
      DETAIL = json_build_object(
        'outcome', CASE WHEN v_other.{heartbeat} > v_now - {ttl} THEN 'held' ELSE 'race' END,
        'held_by', v_other.{id},
        'heartbeat_age_seconds', floor({age_of_other}));
  END IF;
  RETURN NEW;
END {quote};

--: step prepare function {sync}()
-- What a thing shows of its session follows every change of a session: {shown_text}.
CREATE FUNCTION {sync}() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, {schema}, pg_temp AS {quote}
DECLARE
  v_was   boolean := false;
  v_is    boolean := false;
  v_had   {key_type};
  v_has   {key_type};
  v_quiet boolean := false;  -- for so long that the claim had expired
BEGIN
  IF TG_OP <> 'INSERT' THEN
    v_was := (SELECT {active} FROM (SELECT OLD.*) AS {alias}) AND OLD.{holds} IS NOT NULL;
    v_quiet := (OLD.{heartbeat} > {now} - {ttl}) IS NOT TRUE;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    v_is := (SELECT {active} FROM (SELECT NEW.*) AS {alias}) AND NEW.{holds} IS NOT NULL;
  END IF;
  -- A claim lasts as long as its session is heard; a heartbeat that comes too late begins another.
  IF v_was AND v_is AND NEW.{holds} = OLD.{holds} AND NOT (v_quiet AND NEW.{heartbeat} > OLD.{heartbeat}) THEN
    RETURN NULL;
  END IF;
  v_had := CASE WHEN v_was THEN {thing_of}(OLD.{holds}) END;
  v_has := CASE WHEN v_is THEN {thing_of}(NEW.{holds}) END;
  IF v_had = v_has AND NOT v_quiet THEN
    RETURN NULL;  -- the same thing, by its other name
  END IF;
  IF v_was AND v_had IS DISTINCT FROM v_has THEN
    -- A fence on it ends first.
    PERFORM FROM {things} AS t WHERE t.{thing_key} = v_had FOR UPDATE;
    UPDATE {things} SET
      {clear_set}{token} = {token} + CASE WHEN v_quiet THEN 4 ELSE 3 END
     WHERE {thing_key} = v_had AND {token} % 10 = 0;
  END IF;
  IF v_has IS NOT NULL THEN
    UPDATE {things} SET
      {grant_set}{token} = {next_token}
     WHERE {thing_key} = v_has;
    IF NOT FOUND THEN
      RAISE EXCEPTION '{things_text}: row security or a trigger keeps % from changing %', current_user, v_has
        USING ERRCODE = 'insufficient_privilege';
    END IF;
  END IF;
  RETURN NULL;
END {quote};

--: step prepare function {keep_names}()
-- Undoes what other statements write into {shown_text}, and keeps the names of a thing that a session has.
CREATE FUNCTION {keep_names}() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, {schema}, pg_temp AS {quote}
DECLARE
  v_owner {id_type} := (
    SELECT {alias}.{id} FROM {sessions} WHERE {alias}.{holds} IN ({names_old}) AND {active}
     ORDER BY {alias}.{heartbeat} DESC NULLS LAST LIMIT 1);
BEGIN
  IF v_owner IS NOT NULL AND ROW({names_new}) IS DISTINCT FROM ROW({names_old}) THEN
    RAISE EXCEPTION '{things_text} %: session % has a claim on it, so its names cannot change', OLD.{thing_key}, v_owner
      USING ERRCODE = 'LH001';
  END IF;
--: if flag
  NEW.{flag} := v_owner IS NOT NULL;
--: end
--: if owner
  NEW.{owner} := v_owner;
--: end
  NEW.{token} := greatest(NEW.{token}, OLD.{token});
  RETURN NEW;
END {quote};

--: step prepare trigger {exclusive_trigger}
--: down DROP TRIGGER {exclusive_trigger} ON {sessions}
-- Sorts last, so that it sees what other triggers have written.
CREATE TRIGGER {exclusive_trigger} BEFORE INSERT OR UPDATE ON {sessions}
  FOR EACH ROW EXECUTE FUNCTION {exclusive}();

--: step prepare rows claims of {sessions}
--: down {restore_claims}
-- If several sessions have one thing, the session that was heard last keeps it. Names that mean nothing are cleared.
-- The ledger saves the old values for a revert. The table's own triggers do not fire.
DO {quote}
DECLARE
  v_switch text;
  v_off    text[];
  v_on     text[];
BEGIN
  {triggers_off}
  WITH held AS (
    SELECT {alias}.{id} AS id, {alias}.{holds} AS name, {thing_of}({alias}.{holds}) AS thing,
           {alias}.{heartbeat} AS heard
      FROM {sessions} WHERE {alias}.{holds} IS NOT NULL AND {active}
  ), cleared AS (
    SELECT h.id, h.name FROM held AS h
     WHERE h.thing IS NULL OR EXISTS (
       SELECT FROM held AS o
        WHERE o.thing = h.thing AND (coalesce(o.heard, {never}), o.id) > (coalesce(h.heard, {never}), h.id))
  ), saved AS (
    INSERT INTO {ledger} (table_name, place, kind, name, up)
    SELECT '{table_text}', 0, 'cleared claim', c.id::text, c.name::text FROM cleared AS c
    ON CONFLICT (table_name, kind, name) DO UPDATE SET up = excluded.up
  )
  UPDATE {sessions} SET {holds} = NULL FROM cleared AS c WHERE {alias}.{id} = c.id;
  {triggers_on}
END {quote};

--: step concurrently index {schema}.{index}
-- The rule of {exclusive_name} once more, for people and programs that look for an index.
CREATE UNIQUE INDEX CONCURRENTLY {index} ON {sessions} ({holds}) WHERE {index_where};

--: step cutover trigger {sync_trigger}
--: down DROP TRIGGER {sync_trigger} ON {sessions}
-- Sessions that claim, release and end.
CREATE TRIGGER {sync_trigger} AFTER UPDATE ON {sessions}
  FOR EACH ROW EXECUTE FUNCTION {sync}();

--: step cutover trigger {sync_trigger_rows}
--: down DROP TRIGGER {sync_trigger_rows} ON {sessions}
-- Sessions that come with a claim, and those that are deleted.
CREATE TRIGGER {sync_trigger_rows} AFTER INSERT OR DELETE ON {sessions}
  FOR EACH ROW EXECUTE FUNCTION {sync}();

--: step cutover trigger {keep_trigger}
--: down DROP TRIGGER {keep_trigger} ON {things}
-- Sorts last, so that it sees what other triggers have written.
CREATE TRIGGER {keep_trigger} BEFORE UPDATE ON {things}
  FOR EACH ROW WHEN (ROW({watched_new}) IS DISTINCT FROM ROW({watched_old}))
  EXECUTE FUNCTION {keep_names}();

--: step cutover rows flags of {things}
--: down {restore_flags}
-- Things show the sessions that have them now, and those claims get a token.
DO {quote}
DECLARE
  v_switch text;
  v_off    text[];
  v_on     text[];
BEGIN
  {triggers_off}
--: if shown
  WITH truth AS (
    SELECT t.{thing_key} AS key, {shown_t_json} AS before, {shown_s_json} AS after, s.id AS session
      FROM {things} AS t
      LEFT JOIN LATERAL (
        SELECT {alias}.{id} AS id FROM {sessions}
         WHERE {alias}.{holds} IN ({names_t}) AND {active} LIMIT 1) AS s ON true
     WHERE s.id IS NOT NULL OR {shown_any}
  ), saved AS (
    INSERT INTO {ledger} (table_name, place, kind, name, up, down)
    SELECT '{table_text}', 0, 'cleared flag', w.key::text, w.before::text, w.after::text
      FROM truth AS w WHERE w.before <> w.after
    ON CONFLICT (table_name, kind, name) DO UPDATE SET up = excluded.up, down = excluded.down
  )
  UPDATE {things} AS t SET {shown_set} FROM truth AS w WHERE t.{thing_key} = w.key AND w.before <> w.after;
--: end
  UPDATE {things} AS t SET {token} = {next_token}
   WHERE EXISTS (SELECT FROM {sessions} WHERE {alias}.{holds} IN ({names_t}) AND {active});
  {triggers_on}
END {quote};

--: step cutover check {sessions}
--: down
-- Checks the result.
DO {quote}
BEGIN
  PERFORM set_config('client_min_messages', 'notice', true);
  IF NOT EXISTS (SELECT FROM pg_index AS i WHERE i.indexrelid = '{schema_text}.{index_quoted_text}'::regclass
                    AND i.indisunique AND i.indisvalid) THEN
    RAISE EXCEPTION 'FAILED: the unique index {index_text} is missing or invalid';
  END IF;
  RAISE NOTICE 'SUCCESS: the unique index {index_text} exists';
  IF NOT EXISTS (SELECT FROM pg_trigger AS t WHERE t.tgrelid = '{sessions_text}'::regclass
                    AND t.tgname = '{sync_trigger_text}' AND t.tgenabled IN ('O', 'A')) THEN
    RAISE EXCEPTION 'FAILED: the trigger {sync_trigger_text} is missing or switched off';
  END IF;
  RAISE NOTICE 'SUCCESS: the trigger {sync_trigger_text} exists';
END {quote};
