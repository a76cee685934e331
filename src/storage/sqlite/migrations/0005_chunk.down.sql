-- Jobs that wait for a set go back to their queues.
INSERT INTO leasehold_ready (queue, priority, job_id, last_token, attempt, solo, job_group, by_group)
SELECT j.queue, j.priority, j.id, coalesce((SELECT max(s.token) FROM leasehold_settled AS s WHERE s.job_id = j.id), 0),
       (SELECT count(s.lease_id) FROM leasehold_settled AS s WHERE s.job_id = j.id), 0, j.job_group,
       j.job_group IS NOT NULL
  FROM leasehold_blocked AS b JOIN leasehold_job AS j ON j.id = b.job_id
 WHERE b.after_id < 0
   AND NOT EXISTS (SELECT 1 FROM leasehold_blocked AS o WHERE o.job_id = b.job_id AND o.after_id <> b.after_id);
DELETE FROM leasehold_blocked WHERE after_id < 0;

DROP TABLE leasehold_rate;
DROP TABLE leasehold_chunk;
DROP TABLE leasehold_chunk_set;
