-- What a handler calls. Both lock the row of refresh_schedule first, as an UPDATE of it does before its trigger goes to
-- leasehold: one order for all, so nobody waits in a circle.

-- Why not. Closed: anything else is an error, and an error is never a reason to run.
CREATE OR REPLACE FUNCTION refresh_refusal(p_source text, a leasehold.schedule_answer) RETURNS jsonb
LANGUAGE plpgsql AS $$
BEGIN
  CASE
    -- busy: his lease has run out, but this very moment he is writing.
    WHEN a.outcome IN ('held', 'busy') THEN
      RETURN jsonb_build_object('acquired', false, 'reason', 'locked', 'holder', a.holder, 'host', a.host,
                                'since', a.acquired_at, 'frees_at', a.expires_at);
    WHEN a.outcome = 'not_due' THEN
      RETURN jsonb_build_object('acquired', false, 'reason', 'not_due', 'next_run_at', a.next_run_at);
    WHEN a.outcome = 'paused' THEN
      RETURN jsonb_build_object('acquired', false, 'reason', 'paused', 'since', a.paused_at, 'why', a.paused_reason);
    ELSE
      RAISE EXCEPTION 'source "%" is not in leasehold (%): apply.sql brings it back', p_source, a.outcome;
  END CASE;
END $$;

-- Due and free, in one step: {"acquired": true, "token": ..., "url": ...}; or {"acquired": false, "reason": ...}, which
-- is locked, not_due, paused or unknown. p_now: whatever the schedule says, but never beside another one.
CREATE OR REPLACE FUNCTION acquire_refresh_lock(
  p_source text, p_holder text DEFAULT session_user, p_now boolean DEFAULT false, p_host text DEFAULT '',
  p_pid bigint DEFAULT 0
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  r      refresh_schedule;
  a      leasehold.schedule_answer;
  answer jsonb;
BEGIN
  SELECT * INTO r FROM refresh_schedule WHERE source = p_source FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN jsonb_build_object('acquired', false, 'reason', 'unknown');
  END IF;
  a := leasehold.schedule_acquire(refresh_name(p_source), p_holder, p_now, host => p_host, pid => p_pid);
  IF a.outcome = 'granted' THEN
    answer := jsonb_build_object('acquired', true, 'token', a.token, 'url', r.url, 'expires_at', a.expires_at,
                                 'lost_by', a.lost_holder);
  ELSE
    answer := refresh_refusal(p_source, a);
  END IF;
  -- Also where it was refused: it may have noticed that the one before is lost.
  PERFORM mirror_refresh(p_source);
  RETURN answer;
END $$;

-- The verdict: frees the source, and says when it is due again. Raises when it is not the caller's any more, so that
-- what the same transaction has written is not written either. Said twice, it is said once.
CREATE OR REPLACE FUNCTION finish_refresh(
  p_source text, p_token bigint, p_ok boolean, p_error text DEFAULT NULL, p_rows bigint DEFAULT NULL
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  a leasehold.schedule_answer;
BEGIN
  PERFORM FROM refresh_schedule WHERE source = p_source FOR NO KEY UPDATE;
  a := leasehold.schedule_finish(refresh_name(p_source), p_token, p_ok, coalesce(p_error, ''),
                                 jsonb_build_object('rows', p_rows)::text);
  IF a.outcome <> 'finished' THEN
    RAISE EXCEPTION 'the refresh of "%" is not yours any more: %', p_source, coalesce(a.why, a.outcome)
      USING ERRCODE = 'LH001';
  END IF;
  PERFORM mirror_refresh(p_source);
  RETURN jsonb_build_object('ok', p_ok, 'rows', p_rows, 'next_run_at', a.next_run_at);
END $$;
