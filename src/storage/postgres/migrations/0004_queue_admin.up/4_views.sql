-- For people: bytes that are not text are shown escaped.
CREATE FUNCTION leasehold.readable(bytes bytea) RETURNS text
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN convert_from(bytes, 'UTF8');
EXCEPTION WHEN character_not_in_repertoire OR untranslatable_character THEN
  RETURN encode(bytes, 'escape');
END $$;

-- For people in psql. Quick for a job by its id, and with ORDER BY id DESC LIMIT; job_list is quick for every state.
-- (The clock is in FROM: among the columns it would keep the planner from inlining the view.)
CREATE VIEW leasehold.jobs AS
  SELECT p.id, p.queue, leasehold.job_state(p.place, p.due_at, p.outcome, l.expires_at, clock.moment) AS state,
         p.priority, (SELECT count(s.lease_id) FROM leasehold.settled AS s WHERE s.job_id = p.id)
                     + (p.place = 'leased')::integer AS attempts,
         l.holder, p.created_at, p.due_at, l.heartbeat_at, l.expires_at, p.finished_at,
         (SELECT e.body FROM leasehold.error AS e WHERE e.job_id = p.id ORDER BY e.token DESC LIMIT 1) AS error,
         (SELECT leasehold.readable(j.payload) FROM leasehold.job AS j WHERE j.id = p.id) AS payload,
         l.holder AS locked_by, l.expires_at AS locked_until,
         (SELECT j.schedule FROM leasehold.job AS j WHERE j.id = p.id) AS schedule,
         (SELECT j.occurrence FROM leasehold.job AS j WHERE j.id = p.id) AS occurrence
    FROM leasehold.job_place AS p
   CROSS JOIN leasehold.now() AS clock(moment)
    LEFT JOIN LATERAL (
      SELECT t.holder, t.heartbeat_at, t.expires_at FROM leasehold.lease AS t
       WHERE t.id = p.lease_id LIMIT 1) AS l ON true;

COMMENT ON FUNCTION leasehold.job_state IS 'scope: read';
COMMENT ON FUNCTION leasehold.readable IS 'scope: read';
COMMENT ON FUNCTION leasehold.job_show IS 'scope: read';
COMMENT ON FUNCTION leasehold.job_list IS 'scope: read';
COMMENT ON FUNCTION leasehold.job_body IS 'scope: read';
COMMENT ON FUNCTION leasehold.job_attempts IS 'scope: read';
COMMENT ON FUNCTION leasehold.job_errors IS 'scope: read';
COMMENT ON FUNCTION leasehold.queue_list IS 'scope: read';
COMMENT ON FUNCTION leasehold.job_cancel IS 'scope: work';
COMMENT ON FUNCTION leasehold.job_retry IS 'scope: work';
COMMENT ON FUNCTION leasehold.job_redrive IS 'scope: admin';
COMMENT ON FUNCTION leasehold.job_remove IS 'scope: admin';
COMMENT ON FUNCTION leasehold.job_prune IS 'scope: admin';
COMMENT ON FUNCTION leasehold.job_prune_preview IS 'scope: admin';
COMMENT ON FUNCTION leasehold.queue_set IS 'scope: admin';
COMMENT ON FUNCTION leasehold.queue_pause IS 'scope: admin';
COMMENT ON FUNCTION leasehold.queue_purge IS 'scope: admin';

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA leasehold FROM PUBLIC;
