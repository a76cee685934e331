-- The scope of each function: see grant_scope.

COMMENT ON FUNCTION leasehold.ago IS 'scope: read';
COMMENT ON FUNCTION leasehold.whole_seconds IS 'scope: read';
COMMENT ON FUNCTION leasehold.session_state IS 'scope: read';
COMMENT ON FUNCTION leasehold.session_list IS 'scope: read';
COMMENT ON FUNCTION leasehold.item_state IS 'scope: read';
COMMENT ON FUNCTION leasehold.item_list IS 'scope: read';
COMMENT ON FUNCTION leasehold.claim_list IS 'scope: read';
COMMENT ON FUNCTION leasehold.session_open IS 'scope: work';
COMMENT ON FUNCTION leasehold.session_heartbeat IS 'scope: work';
COMMENT ON FUNCTION leasehold.session_park IS 'scope: work';
COMMENT ON FUNCTION leasehold.session_close IS 'scope: work';
COMMENT ON FUNCTION leasehold.item_add IS 'scope: work';
COMMENT ON FUNCTION leasehold.item_done IS 'scope: work';
COMMENT ON FUNCTION leasehold.item_reopen IS 'scope: work';
COMMENT ON FUNCTION leasehold.claim_take IS 'scope: work';
COMMENT ON FUNCTION leasehold.claim_take_own IS 'scope: work';
COMMENT ON FUNCTION leasehold.claim_release IS 'scope: work';
COMMENT ON FUNCTION leasehold.claim_fence IS 'scope: work';
COMMENT ON FUNCTION leasehold.claim_switch IS 'scope: work';
COMMENT ON FUNCTION leasehold.claim_hand_over IS 'scope: work';
COMMENT ON FUNCTION leasehold.claim_transfer IS 'scope: work';
COMMENT ON FUNCTION leasehold.session_revoke IS 'scope: admin';
COMMENT ON FUNCTION leasehold.item_remove IS 'scope: admin';
COMMENT ON FUNCTION leasehold.claim_assign IS 'scope: admin';
COMMENT ON FUNCTION leasehold.claim_take_for IS 'scope: admin';
COMMENT ON FUNCTION leasehold.claim_revoke IS 'scope: admin';

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA leasehold FROM PUBLIC;
