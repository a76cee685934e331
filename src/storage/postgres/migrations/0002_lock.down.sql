DROP FUNCTION leasehold.lock_holders(text, bigint);
DROP FUNCTION leasehold.lock_show(text);
DROP FUNCTION leasehold.lock_list(text, boolean, bigint, bigint);
DROP FUNCTION leasehold.lock_info(leasehold.lock, timestamptz);
DROP TYPE leasehold.lock_info;
DROP FUNCTION leasehold.fence(text, bigint);
DROP FUNCTION leasehold.lock_revoke(text, text, bigint);
DROP FUNCTION leasehold.lock_revocable(text, bigint);
DROP FUNCTION leasehold.lock_release(text, bigint);
DROP FUNCTION leasehold.lock_release_rest(text, bigint);
DROP FUNCTION leasehold.lock_released_before(text, bigint, timestamptz);
DROP FUNCTION leasehold.lock_heartbeat(text, bigint, interval);
DROP FUNCTION leasehold.lock_lost(text, bigint, timestamptz);
DROP FUNCTION leasehold.lock_leave(text, text);
DROP FUNCTION leasehold.lock_leave_all(text[], text);
DROP FUNCTION leasehold.lock_wait_all(text[], text, text, interval, text, text, bigint, bigint, text, text);
DROP FUNCTION leasehold.lock_wait(text, text, text, interval, text, text, bigint, bigint, text, text);
DROP FUNCTION leasehold.lock_stand(text[], text, text, interval, text, text, bigint, bigint, text, text);
DROP FUNCTION leasehold.lock_standing(leasehold.lock[], text, text, text, boolean, timestamptz);
DROP FUNCTION leasehold.lock_take_places(
  leasehold.lock[], text, text, interval, text, text, bigint, bigint, text, text, timestamptz);
DROP FUNCTION leasehold.lock_share(
  text, text, interval, bigint, bigint, interval, text, text, text, bigint, bigint, text, text);
DROP FUNCTION leasehold.lock_share_give(
  leasehold.lock, leasehold.lease, bigint, bigint, interval, bigint[], timestamptz);
DROP FUNCTION leasehold.lock_share_asked_before(leasehold.lock, bigint, bigint, text, timestamptz);
DROP FUNCTION leasehold.lock_acquire_all(
  text[], text, interval, interval, text, text, text, bigint, bigint, text, text);
DROP FUNCTION leasehold.lock_acquire(text, text, interval, text, text, text, bigint, bigint, text, text, interval);
DROP FUNCTION leasehold.lock_contend(
  text[], text, interval, interval, text, text, text, bigint, bigint, text, text);
DROP FUNCTION leasehold.lock_give(
  leasehold.lock, leasehold.lease, bigint, interval, text[], boolean, timestamptz);
DROP FUNCTION leasehold.lock_end_seized(leasehold.lock[], text[], timestamptz);
DROP FUNCTION leasehold.lock_asked_before(leasehold.lock[], text, timestamptz);
DROP FUNCTION leasehold.lock_judge_shares(leasehold.lock, bigint, bigint, text, text, text, timestamptz);
DROP FUNCTION leasehold.lock_has_share(leasehold.lock, text, text, timestamptz);
DROP FUNCTION leasehold.lock_is_own(leasehold.lease, text, text, text);
DROP FUNCTION leasehold.lock_refused_by(bigint, text, leasehold.lock, timestamptz);
DROP FUNCTION leasehold.lock_seize_shares(leasehold.lock, timestamptz);
DROP FUNCTION leasehold.lock_judge_holder(leasehold.lock, text, text, text, timestamptz);
DROP FUNCTION leasehold.lock_end(bigint, text, text, text, text[], timestamptz);
DROP FUNCTION leasehold.lock_answer(text, text, leasehold.lock, text, bigint, boolean, timestamptz);
DROP FUNCTION leasehold.lock_told(leasehold.lock, text, timestamptz);
DROP FUNCTION leasehold.lock_lease_of(text, bigint);
DROP FUNCTION leasehold.lock_grants(leasehold.lock, timestamptz);
DROP FUNCTION leasehold.lock_wake(text[]);
DROP FUNCTION leasehold.lock_leave_line(text[], text, timestamptz, text);
DROP FUNCTION leasehold.lock_waiters_ahead(text, text, timestamptz);
DROP FUNCTION leasehold.lock_place_counts(bigint, timestamptz);
DROP FUNCTION leasehold.lock_lease(
  text, text, interval, text, text, text, bigint, bigint, text, text, timestamptz);
DROP FUNCTION leasehold.lock_rows(text[]);
DROP FUNCTION leasehold.lock_row(text);
DROP FUNCTION leasehold.lock_free_at(leasehold.lease, interval);
DROP FUNCTION leasehold.lock_share_words(bigint, bigint);
DROP FUNCTION leasehold.require_lock_permits(bigint, bigint);
DROP FUNCTION leasehold.require_lock_delay(interval);
DROP FUNCTION leasehold.require_lock_names(text[]);
DROP FUNCTION leasehold.require_lock_name(text);
DROP TABLE leasehold.waiter;
DROP TABLE leasehold.lock_share;
DROP TABLE leasehold.lock;
