-- The scope of each function: see grant_scope.

COMMENT ON FUNCTION leasehold.schedule_state IS 'scope: read';
COMMENT ON FUNCTION leasehold.schedule_outcome IS 'scope: read';
COMMENT ON FUNCTION leasehold.schedule_due IS 'scope: read';
COMMENT ON FUNCTION leasehold.schedule_list IS 'scope: read';
COMMENT ON FUNCTION leasehold.schedule_history IS 'scope: read';
COMMENT ON FUNCTION leasehold.schedule_next IS 'scope: read';
COMMENT ON FUNCTION leasehold.schedule_ensure IS 'scope: work';
COMMENT ON FUNCTION leasehold.schedule_acquire IS 'scope: work';
COMMENT ON FUNCTION leasehold.schedule_heartbeat IS 'scope: work';
COMMENT ON FUNCTION leasehold.schedule_settle IS 'scope: work';
COMMENT ON FUNCTION leasehold.schedule_complete IS 'scope: work';
COMMENT ON FUNCTION leasehold.schedule_fail IS 'scope: work';
COMMENT ON FUNCTION leasehold.schedule_release IS 'scope: work';
COMMENT ON FUNCTION leasehold.schedule_fence IS 'scope: work';
COMMENT ON FUNCTION leasehold.schedule_trigger IS 'scope: work';
COMMENT ON FUNCTION leasehold.schedule_fire IS 'scope: work';
COMMENT ON FUNCTION leasehold.schedule_set IS 'scope: admin';
COMMENT ON FUNCTION leasehold.schedule_pause IS 'scope: admin';
COMMENT ON FUNCTION leasehold.schedule_resume IS 'scope: admin';
COMMENT ON FUNCTION leasehold.schedule_rename IS 'scope: admin';
COMMENT ON FUNCTION leasehold.schedule_remove IS 'scope: admin';
COMMENT ON FUNCTION leasehold.schedule_sweep IS 'scope: admin';

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA leasehold FROM PUBLIC;
