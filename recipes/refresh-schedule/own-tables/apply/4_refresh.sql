-- The functions that a handler calls. Both lock the row of refresh_schedule first, like an UPDATE does before its
-- trigger calls leasehold: the same order everywhere, so there are no deadlocks.

-- The reason for a refusal. Any other outcome is an error, and an error is never a reason to run.
CREATE OR REPLACE FUNCTION refresh_refusal(p_source text, a leasehold_internal.schedule_answer) RETURNS jsonb
LANGUAGE plpgsql AS $$
BEGIN
  CASE
    -- busy: its lease has expired, but it is writing at this moment.
    WHEN a.outcome IN ('held', 'busy') THEN
      RETURN jsonb_build_object('acquired', false, 'reason', 'locked', 'holder', a.holder, 'host', a.host,
                                'since', a.acquired_at, 'frees_at', a.expires_at);
    WHEN a.outcome = 'not_due' THEN
      RETURN jsonb_build_object('acquired', false, 'reason', 'not_due', 'next_run_at', a.next_run_at);
    WHEN a.outcome = 'paused' THEN
      RETURN jsonb_build_object('acquired', false, 'reason', 'paused', 'since', a.paused_at, 'why', a.paused_reason);
    ELSE
      RAISE EXCEPTION 'source "%" is not in leasehold (%): run apply.sql again', p_source, a.outcome;
  END CASE;
END $$;

-- Due and free, in one step: {"acquired": true, "token": ..., "url": ...}; or {"acquired": false, "reason": ...}, which
-- is locked, not_due, paused or unknown. p_now: even if it is not due, but never beside another run.
CREATE OR REPLACE FUNCTION acquire_refresh_lock(
  p_source text, p_holder text DEFAULT session_user, p_now boolean DEFAULT false, p_host text DEFAULT '',
  p_pid bigint DEFAULT 0
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  r      refresh_schedule;
  a      leasehold_internal.schedule_answer;
  answer jsonb;
BEGIN
  SELECT * INTO r FROM refresh_schedule WHERE source = p_source FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN jsonb_build_object('acquired', false, 'reason', 'unknown');
  END IF;
  a := leasehold_internal.schedule_acquire(refresh_name(p_source), p_holder, p_now, host => p_host, pid => p_pid);
  IF a.outcome = 'granted' THEN
    answer := jsonb_build_object('acquired', true, 'token', a.token, 'url', r.url, 'expires_at', a.expires_at,
                                 'lost_by', a.lost_holder);
  ELSE
    answer := refresh_refusal(p_source, a);
  END IF;
  -- Also after a refusal: the call may have recorded the previous run as lost.
  PERFORM mirror_refresh(p_source);
  RETURN answer;
END $$;

-- The verdict: frees the source, and sets when it is due again. Raises an error if another caller has taken over, which
-- rolls back the rows of the same transaction. It may be repeated.
CREATE OR REPLACE FUNCTION finish_refresh(
  p_source text, p_token bigint, p_ok boolean, p_error text DEFAULT NULL, p_rows bigint DEFAULT NULL
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  a leasehold_internal.schedule_answer;
BEGIN
  PERFORM FROM refresh_schedule WHERE source = p_source FOR NO KEY UPDATE;
  a := leasehold_internal.schedule_settle(refresh_name(p_source), p_token, p_ok, coalesce(p_error, ''),
                                 jsonb_build_object('rows', p_rows)::text);
  IF a.outcome <> 'settled' THEN
    RAISE EXCEPTION 'the refresh of "%" is no longer yours: %', p_source, coalesce(a.why, a.outcome)
      USING ERRCODE = 'LH001';
  END IF;
  PERFORM mirror_refresh(p_source);
  RETURN jsonb_build_object('ok', p_ok, 'rows', p_rows, 'next_run_at', a.next_run_at);
END $$;
