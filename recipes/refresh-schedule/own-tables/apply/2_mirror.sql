-- Keeps refresh_schedule in step with leasehold.

-- The row as it should be. is_running: a caller has it. If that caller is dead, no row changes until another call
-- notices: compare locked_until with the clock.
CREATE OR REPLACE FUNCTION refresh_truth(r refresh_schedule) RETURNS refresh_schedule
LANGUAGE plpgsql STABLE AS $$
DECLARE
  s leasehold_internal.schedule_info;
BEGIN
  SELECT * INTO s FROM leasehold_internal.schedule_list(refresh_name(r.source));
  r.next_run_at := s.next_run_at;
  r.is_running := s.token IS NOT NULL;
  r.locked_by := s.holder;
  r.locked_until := s.expires_at;
  r.lock_token := s.token;
  r.last_run_at := coalesce(s.acquired_at, s.last_started_at, r.last_run_at);
  IF s.last_outcome = 'completed' THEN
    r.last_ok_at := s.last_finished_at;
    r.last_rows := s.last_counts::jsonb->>'rows';
    r.last_error := NULL;
  ELSIF s.last_outcome IN ('failed', 'lost') THEN
    r.last_error := coalesce(s.last_error, format('%s, by %s', s.last_outcome, s.last_holder));
  END IF;
  RETURN r;
END $$;

CREATE OR REPLACE FUNCTION mirror_refresh(p_source text) RETURNS void
LANGUAGE sql AS $$
  UPDATE refresh_schedule AS mine
     SET next_run_at = t.next_run_at, is_running = t.is_running, locked_by = t.locked_by,
         locked_until = t.locked_until, lock_token = t.lock_token, last_run_at = t.last_run_at,
         last_ok_at = t.last_ok_at, last_rows = t.last_rows, last_error = t.last_error
    FROM refresh_schedule AS r CROSS JOIN LATERAL refresh_truth(r) AS t
   WHERE r.source = p_source AND mine.source = r.source AND r IS DISTINCT FROM t
$$;

CREATE OR REPLACE FUNCTION refreshes_out_of_step() RETURNS SETOF text
LANGUAGE sql STABLE AS $$
  SELECT r.source FROM refresh_schedule AS r WHERE r IS DISTINCT FROM refresh_truth(r) ORDER BY 1
$$;

-- For use after commands that bypass these functions (leasehold recover, leasehold schedule trigger). Returns how many
-- rows were out of step.
CREATE OR REPLACE FUNCTION mirror_refreshes() RETURNS bigint
LANGUAGE sql AS $$
  SELECT count(*) FROM (SELECT mirror_refresh(s) FROM refreshes_out_of_step() AS s) AS mirrored
$$;
