-- The scope of each function: see grant_scope.

COMMENT ON FUNCTION leasehold.await_topic IS 'scope: work';
COMMENT ON FUNCTION leasehold.job_enqueue IS 'scope: work';
COMMENT ON FUNCTION leasehold.job_enqueue_one IS 'scope: work';
COMMENT ON FUNCTION leasehold.job_enqueue_each IS 'scope: work';
COMMENT ON FUNCTION leasehold.job_enqueue_plain IS 'scope: work';
COMMENT ON FUNCTION leasehold.job_claim IS 'scope: work';
COMMENT ON FUNCTION leasehold.job_claim_one IS 'scope: work';
COMMENT ON FUNCTION leasehold.job_claim_many IS 'scope: work';
COMMENT ON FUNCTION leasehold.job_claim_each IS 'scope: work';
COMMENT ON FUNCTION leasehold.job_heartbeat IS 'scope: work';
COMMENT ON FUNCTION leasehold.job_settle IS 'scope: work';
COMMENT ON FUNCTION leasehold.job_settle_each IS 'scope: work';
COMMENT ON FUNCTION leasehold.job_settle_plain IS 'scope: work';
COMMENT ON FUNCTION leasehold.job_settle_many IS 'scope: work';
COMMENT ON FUNCTION leasehold.job_settle_and_claim IS 'scope: work';
COMMENT ON FUNCTION leasehold.job_complete IS 'scope: work';
COMMENT ON FUNCTION leasehold.job_fail IS 'scope: work';
COMMENT ON FUNCTION leasehold.job_release IS 'scope: work';
COMMENT ON FUNCTION leasehold.job_snooze IS 'scope: work';
COMMENT ON FUNCTION leasehold.job_tidy IS 'scope: work';
COMMENT ON FUNCTION leasehold.lease_open IS 'scope: work';
COMMENT ON FUNCTION leasehold.lease_extend IS 'scope: work';
COMMENT ON FUNCTION leasehold.lease_news IS 'scope: work';
COMMENT ON FUNCTION leasehold.lease_close IS 'scope: work';

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA leasehold FROM PUBLIC;
