-- Items and their claims. Pairs with sqlite/sql/claim.sql: same names, parameters, columns. The acts are functions of
-- postgres/migrations/0006_session: psql and C++ call the same ones.

-- record claim_answer
--   outcome outcome, why text?, key text, token int?, session_id text?, label text?, taken_at time?, progress_at time?,
--   created bool, replayed bool, previous_session text?, previous_holder text?, lease_id int?, holder text?,
--   host text?, boot_id text?, pid int?, process_start int?, tty text?, instance text?, ttl duration?,
--   acquired_at time?, heartbeat_at time?, expires_at time?, end_detail text?, store_now time

-- statement item_add write
-- takes key text, title text?, parent text?, metadata text?, conflicts texts, set_conflicts bool
-- gives outcome outcome, why text?, other text?, store_now time
SELECT * FROM leasehold_internal.item_add(:key, :title, :parent, :metadata, :conflicts, :set_conflicts);

-- statement item_list read
-- takes key text?, state text?, parent text?, after_key text?, max int
-- gives key text, title text, parent text?, metadata text, conflicts text, state text, is_working_on bool,
--   active_session_id text?, token int, created_at time, done_at time?, done_by text?, session_id text?, label text?,
--   taken_at time?, progress_at time?, holder text?, host text?, boot_id text?, pid int?, process_start int?,
--   tty text?, ttl duration?, acquired_at time?, heartbeat_at time?, expires_at time?, store_now time
SELECT * FROM leasehold_internal.item_list(:key, :state, :parent, :after_key, :max);

-- statement item_done write
-- takes key text, token int?, holder text
-- gives claim_answer
SELECT leasehold_internal.item_done(:key, :token, :holder);

-- statement item_reopen write
-- takes key text
-- gives outcome outcome
SELECT leasehold_internal.item_reopen(:key) AS outcome;

-- statement item_remove write
-- takes key text
-- gives claim_answer
SELECT leasehold_internal.item_remove(:key);

-- statement claim_take write
-- takes item text, session_id text, session_token int?, create bool
-- gives claim_answer
SELECT leasehold_internal.claim_take(:item, :session_id, :session_token, :create);

-- statement claim_release write
-- takes item text, session_id text, token int, reason text
-- gives claim_answer
SELECT leasehold_internal.claim_release(:item, :session_id, :token, :reason);

-- statement claim_switch write
-- takes from_item text, token int, to_item text, create bool
-- gives claim_answer
SELECT leasehold_internal.claim_switch(:from_item, :token, :to_item, :create);

-- Without a token it is an operator's act, and needs an operator's rights.
-- statement claim_transfer write
-- takes item text, to_session text, token int?, reason text
-- gives claim_answer
SELECT leasehold_internal.claim_transfer(:item, :to_session, :token, :reason);

-- An operator's act, without a token.
-- statement claim_revoke write
-- takes item text, reason text
-- gives claim_answer
SELECT leasehold_internal.claim_revoke(:item, :reason);

-- statement claim_list read
-- takes item text?, session_id text?, ended bool, max int, skip int
-- gives item text, title text, token int, session_id text, label text, taken_at time, ended_at time?,
--   end_reason text?, end_detail text?, progress_at time, holder text, host text, boot_id text, pid int,
--   process_start int, tty text, ttl duration, acquired_at time, heartbeat_at time, expires_at time, store_now time
SELECT * FROM leasehold_internal.claim_list(:item, :session_id, :ended, :max, :skip);
