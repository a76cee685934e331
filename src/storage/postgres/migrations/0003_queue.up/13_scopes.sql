-- The scope of each function: see grant_scope.

SELECT leasehold_internal.publish('produce', 'job_enqueue', 'job_enqueue_one', 'job_enqueue_each', 'job_enqueue_many');
SELECT leasehold_internal.publish('work', 'await_topic', 'job_claim', 'job_claim_each', 'job_heartbeat', 'job_fence',
  'job_settle', 'job_settle_each', 'job_settle_many', 'job_tidy', 'lease_open', 'lease_extend', 'lease_news',
  'lease_close');
SELECT leasehold_internal.expose('read', 'as_json');
SELECT leasehold_internal.tune('{lease_news}', 'enable_seqscan = off');
SELECT leasehold_internal.tune('{job_claim,job_claim_each}', 'enable_sort = off');
SELECT leasehold_internal.finish_migration(3);
