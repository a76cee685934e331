-- The scope of each function: see grant_scope.

COMMENT ON FUNCTION leasehold.lock_show IS 'scope: read';
COMMENT ON FUNCTION leasehold.lock_list IS 'scope: read';
COMMENT ON FUNCTION leasehold.lock_holders IS 'scope: read';
COMMENT ON FUNCTION leasehold.lock_acquire IS 'scope: work';
COMMENT ON FUNCTION leasehold.lock_acquire_all IS 'scope: work';
COMMENT ON FUNCTION leasehold.lock_share IS 'scope: work';
COMMENT ON FUNCTION leasehold.lock_wait IS 'scope: work';
COMMENT ON FUNCTION leasehold.lock_wait_all IS 'scope: work';
COMMENT ON FUNCTION leasehold.lock_leave IS 'scope: work';
COMMENT ON FUNCTION leasehold.lock_leave_all IS 'scope: work';
COMMENT ON FUNCTION leasehold.lock_heartbeat IS 'scope: work';
COMMENT ON FUNCTION leasehold.lock_release IS 'scope: work';
COMMENT ON FUNCTION leasehold.fence IS 'scope: work';
COMMENT ON FUNCTION leasehold.lock_revoke IS 'scope: admin';

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA leasehold FROM PUBLIC;
