-- The scope of each function: see grant_scope.

COMMENT ON FUNCTION leasehold.chunk_state IS 'scope: read';
COMMENT ON FUNCTION leasehold.chunk_set_list IS 'scope: read';
COMMENT ON FUNCTION leasehold.chunk_list IS 'scope: read';
COMMENT ON FUNCTION leasehold.rate_list IS 'scope: read';
COMMENT ON FUNCTION leasehold.chunk_plan IS 'scope: work';
COMMENT ON FUNCTION leasehold.chunk_plan_range IS 'scope: work';
COMMENT ON FUNCTION leasehold.chunk_plan_begin IS 'scope: work';
COMMENT ON FUNCTION leasehold.chunk_plan_add IS 'scope: work';
COMMENT ON FUNCTION leasehold.chunk_plan_sweep IS 'scope: work';
COMMENT ON FUNCTION leasehold.chunk_plan_end IS 'scope: work';
COMMENT ON FUNCTION leasehold.chunk_claim IS 'scope: work';
COMMENT ON FUNCTION leasehold.chunk_heartbeat IS 'scope: work';
COMMENT ON FUNCTION leasehold.chunk_fence IS 'scope: work';
COMMENT ON FUNCTION leasehold.chunk_settle IS 'scope: work';
COMMENT ON FUNCTION leasehold.chunk_complete IS 'scope: work';
COMMENT ON FUNCTION leasehold.chunk_fail IS 'scope: work';
COMMENT ON FUNCTION leasehold.chunk_release IS 'scope: work';
COMMENT ON FUNCTION leasehold.chunk_skip IS 'scope: work';
COMMENT ON FUNCTION leasehold.chunk_tie_job IS 'scope: work';
COMMENT ON FUNCTION leasehold.loader_open IS 'scope: work';
COMMENT ON FUNCTION leasehold.loader_extend IS 'scope: work';
COMMENT ON FUNCTION leasehold.loader_close IS 'scope: work';
COMMENT ON FUNCTION leasehold.rate_take IS 'scope: work';
COMMENT ON FUNCTION leasehold.chunk_skip_open IS 'scope: admin';
COMMENT ON FUNCTION leasehold.chunk_reset IS 'scope: admin';
COMMENT ON FUNCTION leasehold.chunk_set_settings IS 'scope: admin';
COMMENT ON FUNCTION leasehold.chunk_set_remove IS 'scope: admin';
COMMENT ON FUNCTION leasehold.chunk_sweep IS 'scope: admin';
COMMENT ON FUNCTION leasehold.rate_set IS 'scope: admin';
COMMENT ON FUNCTION leasehold.rate_remove IS 'scope: admin';

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA leasehold FROM PUBLIC;
