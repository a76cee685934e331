-- Settings of queues, and rates.

CREATE FUNCTION leasehold.queue_set(
  name text, max_running bigint DEFAULT NULL, max_per_group bigint DEFAULT NULL, rate_count bigint DEFAULT NULL,
  rate_period interval DEFAULT NULL, default_ttl interval DEFAULT NULL, timeout interval DEFAULT NULL
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM leasehold_internal.queue_set(name, max_running, max_per_group, rate_count, rate_period, default_ttl, timeout);
END $$;

COMMENT ON FUNCTION leasehold.queue_set IS $doc$Sets the limits of a queue. NULL keeps a setting, 0 removes it.

name: of the queue.
max_running: at most so many of its jobs run at a time.
max_per_group: at most so many jobs of one group run at a time.
rate_count, rate_period: at most so many claims in this time.
default_ttl: of claims that name no ttl.
timeout: how long an attempt may take, for jobs without a limit of their own.

Errors: LH002, LH003.

Example:
SELECT leasehold.queue_set('mail', max_running => 4, rate_count => 100, rate_period => '1 minute');

Scope: admin.$doc$;

CREATE FUNCTION leasehold.queue_pause(name text, reason text DEFAULT NULL) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM leasehold_internal.queue_pause(name, true, reason);
END $$;

COMMENT ON FUNCTION leasehold.queue_pause IS $doc$Pauses a queue: running jobs go on, and no job is claimed until queue_resume.

name: of the queue.
reason: for people; a claim gets it as `why`.

Errors: LH002, LH003.

Example:
SELECT leasehold.queue_pause('mail', 'the mail server is down');

Scope: admin.$doc$;

CREATE FUNCTION leasehold.queue_resume(name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM leasehold_internal.queue_pause(name, false, NULL);
END $$;

COMMENT ON FUNCTION leasehold.queue_resume IS $doc$Ends the pause of a queue.

name: of the queue.

Errors: LH002.

Example:
SELECT leasehold.queue_resume('mail');

Scope: admin.$doc$;

CREATE FUNCTION leasehold.rate_take(
  name text, every interval DEFAULT NULL, burst bigint DEFAULT NULL, wait interval DEFAULT NULL, holder text DEFAULT NULL,
  OUT outcome text, OUT at timestamptz, OUT retry_at timestamptz, OUT store_now timestamptz
) LANGUAGE plpgsql AS $$
DECLARE
  h    leasehold_internal.holder := leasehold_internal.holder_of(holder);
  turn record;
BEGIN
  turn := leasehold_internal.rate_take(name, every, burst, wait, h.name, h.host);
  outcome := turn.outcome;
  at := turn.at;
  retry_at := turn.retry_at;
  store_now := turn.store_now;
END $$;

COMMENT ON FUNCTION leasehold.rate_take IS $doc$Takes a turn of a rate that all callers share: at most one call every so often. It does not block: sleep until `at` yourself.

name: of the rate; the first caller that names `every` creates it.
every: the time between two turns.
burst: turns that may follow each other at once after a quiet time.
wait: how far ahead your turn may lie; NULL: as far as it takes.

Answer:
at: when your turn is.

Outcomes:
granted: your turn is at `at`.
rate_limited: the next free turn is later than you would wait; try again at retry_at.
not_found: there is no such rate, and you named no `every`.

Errors: LH002, LH003.

Example:
SELECT outcome, at FROM leasehold.rate_take('orders-api', every => '750 milliseconds', wait => '10 seconds');

Scope: work.$doc$;

CREATE FUNCTION leasehold.rate_set(name text, every interval, burst bigint DEFAULT 1, OUT created boolean)
LANGUAGE plpgsql AS $$
BEGIN
  created := leasehold_internal.rate_set(name, every, burst);
END $$;

COMMENT ON FUNCTION leasehold.rate_set IS $doc$Creates or changes a rate.

name: of the rate.
every: the time between two turns.
burst: turns that may follow each other at once after a quiet time.

Answer:
created: false if the rate existed.

Errors: LH002, LH003.

Example:
SELECT created FROM leasehold.rate_set('orders-api', '1 second', burst => 5);

Scope: admin.$doc$;

CREATE FUNCTION leasehold.rate_remove(name text, OUT removed boolean) LANGUAGE plpgsql AS $$
BEGIN
  removed := leasehold_internal.rate_remove(name);
END $$;

COMMENT ON FUNCTION leasehold.rate_remove IS $doc$Removes a rate.

name: of the rate.

Answer:
removed: false if there was none.

Errors: LH002.

Example:
SELECT removed FROM leasehold.rate_remove('orders-api');

Scope: admin.$doc$;
