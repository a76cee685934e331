-- For a user's own connection, inside its own write transaction: ?1 the item's key, ?2 the token of its claim.
SELECT CASE WHEN i.token <> ?2 THEN 'superseded'
            WHEN c.ended_at IS NULL AND l.ended_at IS NULL THEN 'current'
            WHEN coalesce(c.end_reason, l.end_reason) IN ('revoked', 'expired') THEN coalesce(c.end_reason, l.end_reason)
            ELSE 'finished' END
  FROM main.leasehold_item AS i
  JOIN main.leasehold_claim AS c ON c.item = i.key AND c.token = ?2
  JOIN main.leasehold_lease AS l ON l.id = c.lease_id
 WHERE i.key = ?1
