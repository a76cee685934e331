-- The acts that `leasehold row` and C++ run. Here the key is the name of a thing, and the holder is a session.

--: step act write claim_key
SELECT CASE c.outcome WHEN 'race' THEN 'held' ELSE c.outcome END AS outcome, json_build_array(:key1)::text AS key, c.token,
       CASE WHEN c.outcome = 'granted'
            THEN (extract(epoch FROM {until_of_claimed}) * 1000000)::bigint END AS until_us,
       c.held_by::text AS held_by,
       CASE WHEN c.outcome IN ('held', 'race')
            THEN greatest(({ttl_seconds} - c.heartbeat_age_seconds) * 1000000, 0) END AS retry_us,
       CASE WHEN c.outcome = 'granted' THEN row_to_json(c.holder)::text END AS row
  FROM (SELECT 1) AS one
  LEFT JOIN {sessions} AS s ON s.{id} = CAST(:holder AS {id_type})
 CROSS JOIN LATERAL {claim}(CAST(:holder AS {id_type}), CAST(:key1 AS {holds_type}){kept_arguments}) AS c;

--: step act write heartbeat
-- For many things at once: rows of name and token.
SELECT json_build_array(asked.name)::text AS key, asked.token, h.outcome, h.why, h.held_by::text AS held_by,
       (extract(epoch FROM h.until) * 1000000)::bigint AS until_us
  FROM (VALUES :rows) AS asked(name, token)
 CROSS JOIN LATERAL {heartbeat_function}(asked.name::{holds_type}, asked.token::bigint) AS h;

--: step act write release
-- The same release again gets the same answer.
SELECT CASE WHEN t.{thing_key} IS NULL THEN 'not_found'
            WHEN t.{token} = CAST(:token AS bigint) + 3 THEN 'released'
            ELSE coalesce(nullif(r.outcome, 'not_held'), 'lost') END AS outcome,
       CASE WHEN t.{thing_key} IS NULL OR r.outcome = 'released' OR t.{token} = CAST(:token AS bigint) + 3 THEN NULL
            WHEN t.{token} / 10 <> CAST(:token AS bigint) / 10 THEN 'superseded'
            ELSE 'expired' END AS why,
       CASE WHEN r.outcome = 'lost' THEN l.holder::text END AS held_by
  FROM (SELECT 1) AS one
  LEFT JOIN {things} AS t ON t.{thing_key} = {thing_of}(CAST(:key1 AS {holds_type}))
  LEFT JOIN {leases} AS l ON l.key = coalesce({names_as_held})
  LEFT JOIN LATERAL {release}(l.holder, 'released', CAST(:token AS bigint)) AS r ON l.holder IS NOT NULL;

--: step act read show
SELECT json_build_array(l.key::text)::text AS key, l.state, l.holder::text AS holder,
       (extract(epoch FROM l.until) * 1000000)::bigint AS until_us, l.seconds_left, (to_jsonb(t) - {token_word})::text AS row
  FROM {leases} AS l JOIN {things} AS t ON t.{thing_key} = {thing_of}(l.key)
 WHERE t.{thing_key} = {thing_of}(CAST(:key1 AS {holds_type}));

--: step act read ls
SELECT json_build_array(l.key::text)::text AS key, l.state, l.holder::text AS holder,
       (extract(epoch FROM l.until) * 1000000)::bigint AS until_us, l.seconds_left, (to_jsonb(t) - {token_word})::text AS row
  FROM {leases} AS l JOIN {things} AS t ON t.{thing_key} = {thing_of}(l.key)
 WHERE CAST(:state AS text) IS NULL OR l.state = CAST(:state AS text)
 ORDER BY l.key LIMIT CAST(:max AS bigint) OFFSET CAST(coalesce(:skip, '0') AS bigint);

--: step act read statistics
SELECT state, count(*) AS rows FROM (SELECT state FROM {leases} LIMIT CAST(:most AS bigint)) AS counted GROUP BY state;

--: step act read fence
SELECT 'fenced' AS outcome FROM {fence}(CAST(:key1 AS {holds_type}), CAST(:token AS bigint));

--: step act write recover
SELECT json_build_array(r.{holds}::text)::text AS key, r.{id}::text AS held_by,
       (extract(epoch FROM {until_of_recovered}) * 1000000)::bigint AS expired_at_us
  FROM {recover}(make_interval(secs => CAST(:older_us AS bigint) / 1000000.0), CAST(:dry AS boolean)) AS r;
