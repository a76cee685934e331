/* What happens around the holders: time, an operator, failover. */

inline tick() {
  for (each : 0 .. HOLDERS - 1) {
    holder[each].trust = ONE_TICK_LESS(holder[each].trust);
    holder[each].sound = holder[each].sound && holder[each].trust > 0;
    call[each].trust = ON_ITS_WAY(call[each].trust);
    call[each].sound = call[each].sound && call[each].trust > 0;
    call[each].age = (call[each].request != nothing && call[each].age < TTL -> call[each].age + 1 : call[each].age)
  };
  store.left = AFTER_A_TICK(store.left);
  standby.left = AFTER_A_TICK(standby.left);
  over = over || !LIVE(store)
}

proctype Clock() {
  do
  :: d_step { true -> tick(); printf("- a tick: %d left of the lease\n", store.left) }
  od
}

inline revoke() {
  for (each : 0 .. HOLDERS - 1) {
    holder[each].sound = holder[each].sound && !(REVOKED_IS_EXCUSED && holder[each].token == store.token);
    call[each].sound = call[each].sound && !(REVOKED_IS_EXCUSED && call[each].token == store.token)
  };
  store.ended = true;
  store.left = 0;
  commit()
}

/* Like a release, it waits for an open fence. */
proctype Operator() {
  do
  :: d_step { !store.ended && !FENCE_IS_OPEN && FAULT_ALLOWED ->
       printf("- the operator revokes the lease\n");
       fault(); revoke() }
  od
}

#define STANDBY_LACKS_COMMITS \
  (store.token != standby.token || store.left != standby.left || store.ended != standby.ended)

/* The standby takes over with what it has; open transactions are gone. */
inline fail_over() {
  for (each : 0 .. HOLDERS - 1) {
    holder[each].sound = holder[each].sound && !(FORGOTTEN_IS_EXCUSED && STANDBY_LACKS_COMMITS);
    call[each].sound = call[each].sound && !(FORGOTTEN_IS_EXCUSED && STANDBY_LACKS_COMMITS);
    roll_back(each)
  };
  copy_row(standby, store);
  over = !LIVE(store)
}

proctype Replication() {
  do
  :: d_step { STANDBY_LACKS_COMMITS || store.written != standby.written ->
       printf("- the standby catches up\n");
       copy_row(store, standby) }
  :: d_step { FAULT_ALLOWED ->
       fault(); fail_over();
       printf("- failover: token %d, %d left of its lease\n", store.token, store.left) }
  od
}
