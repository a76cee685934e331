-- For a user's own connection, inside its own write transaction: ?1 the job's id, ?2 the token of its attempt.
SELECT CASE WHEN g.token = ?2 AND l.ended_at IS NULL THEN 'current'
            WHEN s.outcome IN ('expired', 'returned') OR (s.outcome = 'cancelled' AND o.end_reason = 'expired') THEN 'expired'
            WHEN coalesce(g.token, t.token) IS NOT ?2 THEN 'superseded'
            WHEN l.end_reason = 'revoked' THEN 'revoked'
            WHEN s.outcome IS NULL THEN 'expired'
            ELSE 'finished' END
  FROM main.leasehold_job AS j
  LEFT JOIN main.leasehold_job_grant AS g ON g.job_id = j.id
  LEFT JOIN main.leasehold_settled AS s ON s.job_id = j.id AND s.token = ?2
  LEFT JOIN main.leasehold_lease AS o ON o.id = s.lease_id
  LEFT JOIN main.leasehold_settled AS t
    ON t.job_id = j.id AND t.token = (SELECT max(m.token) FROM main.leasehold_settled AS m WHERE m.job_id = j.id)
  LEFT JOIN main.leasehold_lease AS l ON l.id = coalesce(g.lease_id, t.lease_id)
 WHERE j.id = CAST(?1 AS INTEGER)
