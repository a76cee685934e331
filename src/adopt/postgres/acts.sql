-- The acts that `row` runs. Each calls a function of the user's schema, so that there is one implementation.

--: if claimable_next
--: step act write claim
SELECT {claimed_key_json} AS key, c.{token} AS token, {c_until_us} AS until_us, to_jsonb(c)::text AS row,
       'granted' AS outcome
  FROM {claim}(CAST(:holder AS {holder_type}), CAST(:max AS integer), {act_ttl}) AS c;
--: end

--: if refused_selects
--: step act read refused
-- Why a claim got nothing, although a row waits.
SELECT outcome, held_by, retry_us FROM (
  {refused_selects}
) AS r ORDER BY place LIMIT 1;
--: end

--: step act write claim_key
SELECT k.outcome, {act_key_json} AS key, k.token,
       CASE WHEN k.outcome = 'granted' THEN (extract(epoch FROM k.until) * 1000000)::bigint END AS until_us,
       k.held_by,
       CASE WHEN k.outcome <> 'granted'
            THEN greatest((extract(epoch FROM k.until - clock_timestamp()) * 1000000)::bigint, 0) END AS retry_us,
       CASE WHEN k.outcome = 'granted' THEN to_jsonb(k.claimed)::text END AS row
  FROM {claim_key}({act_keys}, CAST(:holder AS {holder_type}), {act_ttl}) AS k;

--: step act write heartbeat
-- One order for all, so that two callers cannot deadlock.
SELECT {asked_key_json} AS key, asked.token, h.outcome, h.why, h.held_by,
       (extract(epoch FROM h.until) * 1000000)::bigint AS until_us
  FROM (SELECT * FROM (VALUES :rows) AS v({asked_names}, token) ORDER BY {asked_order}) AS asked
 CROSS JOIN LATERAL {heartbeat}({asked_keys}, CAST(asked.token AS bigint), {act_ttl}) AS h;

--: if verdicts
--: step act write complete
SELECT outcome, why, held_by FROM {complete}({act_keys}, CAST(:token AS bigint){complete_values});

--: step act write fail
SELECT outcome, why, held_by FROM {fail}({act_keys}, CAST(:token AS bigint){act_error}{fail_values});
--: end

--: step act write release
SELECT outcome, why, held_by FROM {release}({act_keys}, CAST(:token AS bigint){release_values});

--: step act write fence
SELECT 'fenced' AS outcome FROM {fence}({act_keys}, CAST(:token AS bigint));

--: step act write expire_now
-- For `leasehold adopt try`, which rolls it back.
SELECT set_config('leasehold.token', CAST(:token AS text), true);
UPDATE {table} SET {until} = {just_expired} WHERE {act_key_is} AND {alias}.{token} = CAST(:token AS bigint);
SELECT set_config('leasehold.token', '', true);

--: step act write recover
SELECT {recovered_key_json} AS key, c.{holder} AS held_by, {c_until_us} AS expired_at_us
  FROM {recover}(CAST(:older_us AS bigint) * interval '1 microsecond', CAST(:dry AS boolean)) AS c;

--: step act read statistics
-- Up to :most rows under a lease, and as many without one, which the small indexes find in a table of any size.
SELECT state, count(*) AS rows FROM (
  --: if eligible_index
  (SELECT CASE WHEN {alias}.{until} > {clock} THEN 'running' ELSE 'expired' END AS state
     FROM {table} WHERE {until} IS NOT NULL{not_final_index} LIMIT CAST(:most AS bigint))
  UNION ALL
  (SELECT CASE WHEN false THEN NULL
            {state_of_waiting}ELSE 'available' END
     FROM {table} WHERE {eligible_index_where} LIMIT CAST(:most AS bigint))
  --: else
  (SELECT state FROM {leases} LIMIT CAST(:most AS bigint))
  --: end
) AS counted
GROUP BY state;

--: step act read show
SELECT {c_key_json} AS key, l.state, c.{holder} AS holder, c.{token} AS token, {c_until_us} AS until_us,
       l.seconds_left, (to_jsonb(c) - {token_word})::text AS row
  FROM {leases} AS l JOIN {table} AS c ON {c_is_l}
 WHERE {act_c_key_is};

--: step act read ls
SELECT {c_key_json} AS key, l.state, c.{holder} AS holder, c.{token} AS token, {c_until_us} AS until_us,
       l.seconds_left, (to_jsonb(c) - {token_word})::text AS row
  FROM {leases} AS l JOIN {table} AS c ON {c_is_l}
 WHERE CAST(:state AS text) IS NULL OR l.state = CAST(:state AS text)
 ORDER BY {c_keys} LIMIT CAST(:max AS bigint) OFFSET CAST(coalesce(:skip, '0') AS bigint);
