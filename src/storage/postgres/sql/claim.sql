-- Items and their claims. Pairs with sqlite/sql/claim.sql: same names, parameters, columns. The acts are functions of
-- postgres/migrations/0006_session: psql and C++ call the same ones.

-- record claim_answer
--   outcome outcome, why text?, key text, token int?, session_id text?, label text?, taken_at time?, progress_at time?,
--   created bool, replayed bool, previous_session text?, previous_holder text?, lease_id int?, holder text?,
--   host text?, boot_id text?, pid int?, process_start int?, tty text?, instance text?, ttl duration?,
--   acquired_at time?, heartbeat_at time?, expires_at time?, end_detail text?, store_now time

-- statement item_add write
-- takes key text, title text?, parent text?, metadata text?, conflicts texts, set_conflicts bool, depends_on texts,
--   set_depends_on bool, priority int?, note text?, author text
-- gives outcome outcome, why text?, other text?, store_now time
SELECT * FROM leasehold_internal.item_add(:key, :title, :parent, :metadata, :conflicts, :set_conflicts, :depends_on,
  :set_depends_on, :priority, :note, :author);

-- statement item_note write
-- takes key text, text text, author text
-- gives outcome outcome
SELECT leasehold_internal.item_note(:key, :text, :author) AS outcome;

-- statement item_notes read
-- takes key text
-- gives at time, author text, text text
SELECT * FROM leasehold_internal.item_notes(:key);

-- statement item_list read
-- takes key text?, state text?, parent text?, after_key text?, max int
-- gives key text, title text, parent text?, metadata text, conflicts text, depends_on text, waits_for text,
--   priority int, note_count int, state text, active_session_id text?, token int, created_at time, done_at time?,
--   done_by text?, session_id text?, label text?, taken_at time?, progress_at time?, holder text?, host text?, boot_id text?, pid int?, process_start int?,
--   tty text?, ttl duration?, acquired_at time?, heartbeat_at time?, expires_at time?, store_now time
SELECT * FROM leasehold_internal.item_list(:key, :state, :parent, :after_key, :max);

-- statement item_done write
-- takes key text, token int?, holder text, session_id text?, session_token int?, note text?
-- gives claim_answer
SELECT leasehold_internal.item_done(:key, :token, :holder, :session_id, :session_token, :note);

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

-- statement claim_next write
-- takes session_id text, session_token int, parent text?, request_id text
-- gives claim_answer
SELECT leasehold_internal.claim_next(:session_id, :session_token, :parent, :request_id);

-- Without the claim's token, the session's is the proof.
-- statement claim_release write
-- takes item text, session_id text, token int?, reason text, session_token int?
-- gives claim_answer
SELECT leasehold_internal.claim_release(:item, :session_id, :token, :reason, :session_token);

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

-- The label of the answer is the number of new paths.
-- statement path_take write
-- takes session_id text, session_token int, paths texts
-- gives claim_answer
SELECT leasehold_internal.path_take(:session_id, :session_token, :paths);

-- All of them, or only these. The label of the answer is the number of paths that the session had.
-- statement path_release write
-- takes session_id text, session_token int, paths texts, every bool
-- gives claim_answer
SELECT leasehold_internal.path_release(:session_id, :session_token, CASE WHEN NOT :every THEN :paths END);

-- Those of a session; or those in the way of a path, for another session than this one.
-- statement path_list read
-- takes session_id text?, rivals_of text?, after text?, max int
-- gives path text, session_id text, label text, token int, taken_at time, progress_at time, holder text, host text,
--   boot_id text, pid int, process_start int, tty text, ttl duration, acquired_at time, heartbeat_at time,
--   expires_at time, store_now time
SELECT * FROM leasehold_internal.path_list(:session_id, :rivals_of, :after, :max);
