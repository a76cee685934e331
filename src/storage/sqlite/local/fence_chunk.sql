-- For a user's own connection, inside its own write transaction: ?1 the set's name, ?2 the chunk's key, ?3 the token.
SELECT CASE WHEN c.token <> ?3 THEN 'superseded'
            WHEN l.ended_at IS NULL AND l.id IS NOT NULL THEN 'current'
            WHEN l.end_reason IN ('revoked', 'expired') THEN l.end_reason
            WHEN c.ended_as IN ('expired', 'returned') THEN 'expired'
            ELSE 'finished' END
  FROM main.leasehold_chunk_set AS s
  JOIN main.leasehold_chunk AS c ON c.set_id = s.id
  LEFT JOIN main.leasehold_lease AS l ON l.id = c.lease_id
 WHERE s.name = ?1 AND c.key = ?2
