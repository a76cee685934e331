-- For people in psql. Everything is computed when it is read.

-- Sessions that have not ended: holder, host, whether alive and whether working.
CREATE VIEW leasehold.active_sessions AS
  SELECT s.id AS session_id, s.label, l.holder, l.host, l.tty, l.pid, s.codebase, s.track, s.metadata,
         l.acquired_at AS opened_at, l.heartbeat_at, s.progress_at, s.progress,
         leasehold.whole_seconds(clock.moment - l.heartbeat_at) AS heartbeat_age_seconds,
         leasehold.whole_seconds(clock.moment - l.heartbeat_at) / 60 AS heartbeat_age_minutes,
         leasehold.ago(clock.moment - l.heartbeat_at) AS heartbeat_age_human,
         leasehold.whole_seconds(clock.moment - s.progress_at) AS progress_age_seconds,
         leasehold.ago(clock.moment - s.progress_at) AS progress_age_human,
         leasehold.whole_seconds(l.expires_at - clock.moment) AS seconds_until_stale,
         leasehold.session_state(l.ended_at, l.end_reason, l.expires_at, l.ttl, s.progress_at, s.parked_until,
                                  clock.moment) AS computed_status,
         leasehold.whole_seconds(l.ttl) AS stale_after_seconds, s.parked_until, h.claims, h.item,
         leasehold.whole_seconds(clock.moment - h.taken_at) / 60 AS claim_duration_minutes
    FROM leasehold.session AS s
    JOIN leasehold.lease AS l ON l.id = s.lease_id
   CROSS JOIN LATERAL (
     SELECT count(*) AS claims, (array_agg(c.item ORDER BY c.taken_at DESC, c.item))[1] AS item,
            max(c.taken_at) AS taken_at
       FROM leasehold.claim AS c WHERE c.lease_id = l.id AND c.end_reason IS NULL) AS h
   CROSS JOIN leasehold.now() AS clock(moment)
   WHERE l.ended_at IS NULL;

-- The backlog. is_working_on and active_session_id cannot differ from the claim: they are read from it.
CREATE VIEW leasehold.items AS
  SELECT i.key, i.title, i.parent, d.state, d.state = 'claimed' AS is_working_on,
         CASE d.state WHEN 'claimed' THEN c.session_id END AS active_session_id, s.label, l.holder, l.host, c.taken_at,
         leasehold.whole_seconds(clock.moment - c.taken_at) / 60 AS claim_duration_minutes, l.expires_at, i.done_at,
         i.done_by, i.created_at, i.token, i.metadata
    FROM leasehold.item AS i
    LEFT JOIN leasehold.claim AS c ON c.item = i.key AND c.ended_at IS NULL
    LEFT JOIN leasehold.lease AS l ON l.id = c.lease_id
    LEFT JOIN leasehold.session AS s ON s.lease_id = c.lease_id
   CROSS JOIN leasehold.now() AS clock(moment)
   CROSS JOIN LATERAL (
     SELECT leasehold.item_state(i.done_at, c.item IS NOT NULL, l.ended_at, l.expires_at, clock.moment) AS state) AS d;

-- Active claims, with their holders and when they become free; below zero: the session is stale.
CREATE VIEW leasehold.claims AS
  SELECT c.item, i.title, c.token, c.session_id, s.label, l.holder, l.host, l.tty, l.pid, c.taken_at,
         leasehold.whole_seconds(clock.moment - c.taken_at) / 60 AS claim_duration_minutes, l.heartbeat_at,
         leasehold.ago(clock.moment - l.heartbeat_at) AS heartbeat_age_human, s.progress_at,
         leasehold.ago(clock.moment - s.progress_at) AS progress_age_human, l.expires_at,
         leasehold.whole_seconds(l.expires_at - clock.moment) AS frees_in_seconds, l.id AS lease_id
    FROM leasehold.claim AS c
    JOIN leasehold.item AS i ON i.key = c.item
    LEFT JOIN leasehold.lease AS l ON l.id = c.lease_id
    LEFT JOIN leasehold.session AS s ON s.lease_id = c.lease_id
   CROSS JOIN leasehold.now() AS clock(moment)
   WHERE c.ended_at IS NULL;
