-- For a user's own connection, inside its own write transaction: ?1 the lock's name, ?2 the token of its holder or of
-- one of its shares.
SELECT CASE WHEN coalesce(s.token, k.token) <> ?2 THEN 'superseded'
            WHEN l.ended_at IS NULL THEN 'current'
            WHEN l.end_reason IN ('revoked', 'expired') THEN l.end_reason
            ELSE 'finished' END
  FROM main.leasehold_lock AS k
  LEFT JOIN main.leasehold_lock_share AS s ON s.name = k.name AND s.token = ?2
  LEFT JOIN main.leasehold_lease AS l ON l.id = coalesce(s.lease_id, k.lease_id)
 WHERE k.name = ?1 AND k.token > 0
