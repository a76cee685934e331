-- A verdict and the next claim in one call and one commit: for psql and other languages.

-- Each has its own answer, as if they were called one after the other: a verdict that comes too late does not stop the
-- claim, and an empty queue does not undo the verdict. The claim can use the place that the verdict frees. Wrong
-- arguments of either raise, and then nothing has happened.
CREATE FUNCTION leasehold.job_settle_and_claim(
  job_id        bigint,
  token         bigint,
  verdict       text,
  queue         text,
  result        bytea    DEFAULT NULL,
  error         text     DEFAULT NULL,
  retryable     boolean  DEFAULT true,
  delay         interval DEFAULT NULL,
  ttl           interval DEFAULT NULL,
  holder        text     DEFAULT session_user,
  request_id    text     DEFAULT NULL,
  host          text     DEFAULT '',
  boot_id       text     DEFAULT '',
  pid           bigint   DEFAULT 0,
  process_start bigint   DEFAULT 0,
  tty           text     DEFAULT '',
  instance      text     DEFAULT '',
  OUT settled   leasehold.job_settled,
  OUT claimed   leasehold.job_claimed
) LANGUAGE plpgsql AS $$
BEGIN
  settled := leasehold.job_settle(job_id, token, verdict, result, error, retryable, delay);
  SELECT c.* INTO claimed
    FROM leasehold.job_claim(queue, 1, ttl, holder, request_id, host, boot_id, pid, process_start, tty, instance) AS c;
END $$;
