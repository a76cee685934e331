-- For a user's own connection, inside its own write transaction: ?1 the schedule's name, ?2 the token of the run.
SELECT CASE WHEN r.outcome IS NULL AND l.ended_at IS NULL AND l.id IS NOT NULL THEN 'current'
            WHEN s.token <> ?2 THEN 'superseded'
            WHEN coalesce(r.outcome, 'lost') = 'lost' THEN 'expired'
            ELSE 'finished' END
  FROM main.leasehold_schedule AS s
  LEFT JOIN main.leasehold_schedule_run AS r ON r.schedule_id = s.id AND r.token = ?2
  LEFT JOIN main.leasehold_lease AS l ON l.id = r.lease_id
 WHERE s.name = ?1
