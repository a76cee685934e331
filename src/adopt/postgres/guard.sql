-- The trigger that old code meets: it sees writes of lease and guarded columns that do not raise the token.

--: step prepare function {guard}()
-- A write that raises the token is proven, and does not fire this. Any other write cannot change the
-- token{guard_comment}. If it takes a row without one of our leases, it becomes a hold of its own, whose token ends
-- in 9.
CREATE FUNCTION {guard}() RETURNS trigger
LANGUAGE plpgsql AS {quote}
DECLARE
  v_now   {until_type} := {clock};
  v_ours  boolean := coalesce(OLD.{token} % 10 = 0, false);
  v_live  boolean := coalesce(OLD.{until} > v_now, false);
  v_last  bigint := coalesce(OLD.{token}, 0);
  v_ended bigint := v_last - v_last % 10 + CASE WHEN v_last % 10 < 4 THEN 4 ELSE 14 END;
  v_taken bigint := v_last - v_last % 10 + CASE WHEN v_last % 10 < 9 THEN 9 ELSE 19 END;
--: if held
  v_was   record;
  v_is    record;
--: end
BEGIN
  NEW.{token} := OLD.{token};
  IF v_ours AND v_live AND {key_changed} THEN
    RAISE EXCEPTION '{table_text} %: its key cannot change while "%" holds it', {old_key_text}, OLD.{holder}
      USING ERRCODE = 'LH001';
  END IF;
  -- Inside a transaction that names the token, the holder writes what it likes and keeps its lease.
  IF v_ours AND current_setting('leasehold.token', true) = OLD.{token}::text AND NEW.{until} IS NOT NULL
     AND NEW.{holder} IS NOT DISTINCT FROM OLD.{holder} THEN
    IF NOT v_live AND NEW.{until} > v_now THEN
      NEW.{until} := OLD.{until};  -- an expired lease stays expired
    END IF;
    RETURN NEW;
  END IF;

  IF v_ours AND v_live THEN
--: if guarded
    IF ({old_guarded}) IS DISTINCT FROM ({new_guarded}) THEN
--: if skip
      RETURN NULL;
--: else
      RAISE EXCEPTION '{table_text} %: "%" holds it; to write {guarded_text} needs its token', {old_key_text}, OLD.{holder}
        USING ERRCODE = 'LH001', HINT = 'If the lease was yours, another holder has taken over: stop.';
--: end
    END IF;
--: end
    IF coalesce(NEW.{until} <= v_now, true) OR NEW.{holder} IS NULL
--: if final
       OR (SELECT {final} FROM (SELECT NEW.*) AS {alias})
--: end
    THEN
      -- A write that clears the columns, or finishes the row, ends the run of its holder.
      NEW.{until} := {free_until};
      NEW.{holder} := {free_holder_new};
      NEW.{token} := OLD.{token} + 5;
    ELSIF NEW.{holder} <> OLD.{holder} THEN
--: if skip
      RETURN NULL;
--: else
      RAISE EXCEPTION '{table_text} %: "%" holds it', {old_key_text}, OLD.{holder}
        USING ERRCODE = 'LH001', HINT = 'Claim it when it is free.';
--: end
    END IF;
    RETURN NEW;
  END IF;

  IF (NEW.{until}, NEW.{holder}) IS DISTINCT FROM (OLD.{until}, OLD.{holder}) THEN
    -- Code that knows these two columns takes, extends or gives back the row.
    IF coalesce(NEW.{until} <= v_now, true) THEN
      IF OLD.{until} IS NOT NULL AND v_ours THEN
        NEW.{token} := v_ended;
      END IF;
      NEW.{until} := {free_until};
      NEW.{holder} := {free_holder_new};
    ELSIF NOT v_live THEN
      NEW.{token} := v_taken;
    END IF;
--: if held
  ELSE
    -- Code that does not know them is recognised by what else it writes.
    SELECT ({held_when}) AS held, ({held_until}) AS until, ({held_by})::text AS holder INTO v_is
      FROM (SELECT NEW.*) AS {alias};
    SELECT ({held_when}) AS held, ({held_until}) AS until, ({held_by})::text AS holder INTO v_was
      FROM (SELECT OLD.*) AS {alias};
    IF v_is.held AND (v_was.held IS NOT TRUE OR (v_is.until, v_is.holder) IS DISTINCT FROM (v_was.until, v_was.holder)) THEN
      NEW.{until} := {held_until_value};
      NEW.{holder} := coalesce(v_is.holder, 'unknown');
      IF NOT v_live THEN
        NEW.{token} := v_taken;
      END IF;
    ELSIF v_was.held AND v_is.held IS NOT TRUE AND OLD.{until} IS NOT NULL THEN
      NEW.{until} := {free_until};
      NEW.{holder} := {free_holder_new};
      NEW.{token} := CASE WHEN v_ours THEN v_ended ELSE OLD.{token} END;
    END IF;
--: end
  END IF;
--: if final
  IF NEW.{until} IS NOT NULL AND (SELECT {final} FROM (SELECT NEW.*) AS {alias}) THEN
    NEW.{until} := {free_until};
    NEW.{holder} := {free_holder_new};
    NEW.{token} := CASE WHEN v_ours THEN v_ended ELSE OLD.{token} END;
  END IF;
--: end
  IF NEW.{token} = v_taken AND ((v_ours AND OLD.{until} IS NOT NULL) OR v_last % 10 IN (4, 5)) THEN
    -- Its former holder may be writing at this moment, behind the fence.
    PERFORM FROM {table} WHERE {key_is_old} FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
      RAISE EXCEPTION '{table_text} %: "%" is writing behind its fence', {old_key_text}, OLD.{holder}
        USING ERRCODE = 'lock_not_available';
    END IF;
  END IF;
  RETURN NEW;
END {quote};

--: step cutover trigger {guard_trigger}
--: down DROP TRIGGER {guard_trigger} ON {table}
-- Sorts last, so that it sees what other triggers have written.
CREATE TRIGGER {guard_trigger} BEFORE UPDATE ON {table}
  FOR EACH ROW WHEN (
    coalesce(NEW.{token}, 0) <= coalesce(OLD.{token}, 0)
    AND ({old_watched}) IS DISTINCT FROM
        ({new_watched}))
  EXECUTE FUNCTION {guard}();

--: if held
--: step cutover trigger {insert_trigger}
--: down DROP TRIGGER {insert_trigger} ON {table}
-- Rows that code without tokens inserts as its own.
CREATE TRIGGER {insert_trigger} BEFORE INSERT ON {table}
  FOR EACH ROW EXECUTE FUNCTION {guard}();

--: step cutover rows {table}
--: down
-- Rows that code without tokens works on now keep their holder. The table's own triggers do not fire.
DO {quote}
DECLARE
  v_own     record;
  v_enable  text := '';
BEGIN
  FOR v_own IN
    SELECT t.tgname, CASE t.tgenabled WHEN 'A' THEN 'ENABLE ALWAYS' WHEN 'R' THEN 'ENABLE REPLICA' ELSE 'ENABLE' END AS as_was
      FROM pg_trigger AS t
     WHERE t.tgrelid = {table_literal}::regclass AND NOT t.tgisinternal AND t.tgparentid = 0 AND t.tgenabled <> 'D'
  LOOP
    EXECUTE format('ALTER TABLE {table_text} DISABLE TRIGGER %I', v_own.tgname);
    v_enable := v_enable || format('ALTER TABLE {table_text} %s TRIGGER %I;', v_own.as_was, v_own.tgname);
  END LOOP;
  UPDATE {table} SET
    {until} = coalesce({held_until}, {until_after_default}),
    {holder} = coalesce(({held_by})::text, 'unknown'),
    {token} = coalesce({alias}.{token}, 0) / 10 * 10 + CASE WHEN {alias}.{token} % 10 = 9 THEN 19 ELSE 9 END
   WHERE ({held_when}) AND {alias}.{until} IS NULL{not_final};
  EXECUTE v_enable;
END {quote};
--: end
