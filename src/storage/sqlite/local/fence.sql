-- For a user's own connection, inside its own write transaction: ?1 the lock's name, ?2 the token.
SELECT CASE WHEN k.token <> ?2 THEN 'superseded'
            WHEN l.ended_at IS NULL THEN 'current'
            WHEN l.end_reason IN ('revoked', 'expired') THEN l.end_reason
            ELSE 'finished' END
  FROM main.leasehold_lock AS k JOIN main.leasehold_lease AS l ON l.id = k.lease_id
 WHERE k.name = ?1
