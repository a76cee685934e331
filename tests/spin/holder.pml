/* Holders, their calls and their guarded writes. A pause needs no act of its own: a process that gets no turn while the
   clock ticks is a process under SIGSTOP, and an answer that its holder has not read yet is a late one. */

mtype = { nothing, acquire_it, heartbeat_it, release_it, granted, refused, lost, sent, fenced };

typedef Holder {
  byte token;            /* what it holds as far as it knows */
  byte trust;            /* ticks until trusted_until: it believes while there are any */
  bool asks;             /* its acquire has no answer yet: it may be repeated with the same request id */
  bool sound             /* ghost: what it trusts in was neither revoked nor forgotten by a failover */
}

typedef Call {           /* to the store, one at a time */
  mtype request;
  mtype answer;
  byte token;            /* that the request names, or the answer tells */
  byte age;              /* ticks since before the request was sent */
  byte trust;            /* what the answer is worth: less with every tick that it is on its way */
  bool sound
}

typedef Write { mtype stage; byte token }

Holder holder[HOLDERS];
Call call[HOLDERS];
Write write[HOLDERS];

/* A request whose sender no longer waits. It may still reach the store, much later. */
Call late;
byte late_by;            /* whose acquire it is, by its request id; NOBODY: an earlier one, or no acquire */

bool one_holder_at_a_time = true;

#define BELIEVES(h) (holder[h].trust > 0 && holder[h].sound)
#define WAITS(h) (call[h].request != nothing || call[h].answer != nothing)

inline stop_trusting(h) {
  holder[h].trust = 0;
  holder[h].sound = false
}

inline clear_call(h) {
  call[h].request = nothing;
  call[h].answer = nothing;
  call[h].token = NONE;
  call[h].age = 0;
  call[h].trust = 0;
  call[h].sound = false
}

inline send(h, what, named) {
  call[h].request = what;
  call[h].token = named
}

/* An id that is never sent again need not be remembered. A copy still under way then belongs to no
   acquire: no holder learns of its grant. */
inline retire_request_id(h) {
  holder[h].asks = false;
  store.spent[h] = false;
  standby.spent[h] = false;
  store.opened_by = (store.opened_by == h -> NOBODY : store.opened_by);
  standby.opened_by = (standby.opened_by == h -> NOBODY : standby.opened_by);
  late_by = (late_by == h -> NOBODY : late_by)
}

/* Promise 10: the connection broke, and whether the store was reached, the holder cannot tell. */
inline hang_up(h) {
  if
  :: LATE_REQUESTS && call[h].request != nothing && late.request == nothing ->
     late.request = call[h].request;
     late.token = call[h].token;
     late_by = (call[h].request == acquire_it -> h : NOBODY)
  :: else
  fi;
  clear_call(h)
}

inline forget_write(h) {
  write[h].stage = nothing;
  write[h].token = NONE
}

inline roll_back(h) {
  if
  :: write[h].stage == fenced -> open_fences--; forget_write(h)
  :: else
  fi
}

inline crash(h) {
  hang_up(h);
  retire_request_id(h);
  stop_trusting(h);
  holder[h].token = NONE;
  roll_back(h)
}

/* Promise 9, and what it is for. */
inline hear(h) {
  if
  :: call[h].answer == granted ->
     holder[h].token = call[h].token;
     holder[h].trust = call[h].trust;
     holder[h].sound = call[h].sound
  :: call[h].answer == lost -> stop_trusting(h); holder[h].token = NONE
  :: call[h].answer == refused
  fi;
  retire_request_id(h);
  clear_call(h);
  for (each : 0 .. HOLDERS - 1) {
    one_holder_at_a_time = one_holder_at_a_time && (each == h || !BELIEVES(each) || !BELIEVES(h))
  };
  assert(one_holder_at_a_time)
}

proctype HolderProcess(byte h) {
  do
  :: d_step { !WAITS(h) && holder[h].token == NONE ->
       printf("- holder %d asks for the key\n", h);
       retire_request_id(h); holder[h].asks = true; send(h, acquire_it, NONE) }
  :: d_step { !WAITS(h) && holder[h].asks ->
       printf("- holder %d asks again, with the same request id\n", h);
       send(h, acquire_it, NONE) }
  :: d_step { !WAITS(h) && holder[h].token != NONE ->
       printf("- holder %d sends a heartbeat\n", h);
       send(h, heartbeat_it, holder[h].token) }
  :: d_step { !WAITS(h) && holder[h].token != NONE ->
       printf("- holder %d stops, and sends a release\n", h);
       stop_trusting(h); send(h, release_it, holder[h].token); holder[h].token = NONE }
  :: d_step { call[h].answer != nothing ->
       printf("- holder %d hears: %e, and may trust it for %d ticks\n", h, call[h].answer, call[h].trust);
       hear(h) }
  :: d_step { WAITS(h) && FAULT_ALLOWED ->
       printf("- holder %d loses its connection\n", h);
       fault(); hang_up(h) }
  :: d_step { FAULT_ALLOWED && (WAITS(h) || holder[h].token != NONE || holder[h].asks) ->
       printf("- holder %d crashes\n", h);
       fault(); crash(h) }
     /* It has looked at its clock. Before the write arrives, anything may happen. */
  :: d_step { WRITES && holder[h].trust > 0 && write[h].stage == nothing ->
       printf("- holder %d sends a write\n", h);
       write[h].stage = sent; write[h].token = holder[h].token }
  od
}

/* The store tells what remains of the lease; here it becomes what that is worth to the holder. */
inline tell(h) {
  call[h].request = nothing;
  call[h].trust = (TRUSTED(call[h].trust, call[h].age) > 0 -> TRUSTED(call[h].trust, call[h].age) : 0);
  call[h].age = 0;
  call[h].sound = call[h].trust > 0;
  printf("- the store answers holder %d: %e, token %d\n", h, call[h].answer, call[h].token)
}

/* The store's side of a connection. */
proctype Connection(byte h) {
  do
  :: d_step { call[h].request == acquire_it ->
       acquire(h, AHEAD, call[h].answer, call[h].token, call[h].trust); tell(h) }
  :: d_step { call[h].request == acquire_it && CLOCK_MAY_BE_BEHIND ->
       acquire(h, SET_BACK, call[h].answer, call[h].token, call[h].trust); tell(h) }
  :: d_step { call[h].request == heartbeat_it ->
       heartbeat(call[h].answer, call[h].token, call[h].trust); tell(h) }
  :: d_step { call[h].request == release_it && !FENCE_IS_OPEN ->
       printf("- the release of holder %d arrives\n", h);
       release(call[h].token); clear_call(h) }
  od
}

inline forget_late_request() {
  late.request = nothing;
  late.answer = nothing;
  late.token = NONE;
  late.trust = 0;
  late_by = NOBODY
}

/* Requests whose sender has gone: they arrive, or they do not. */
proctype Straggler() {
  do
  :: d_step { late.request == acquire_it ->
       acquire(late_by, AHEAD, late.answer, late.token, late.trust);
       printf("- a late acquire arrives: %e\n", late.answer);
       forget_late_request() }
  :: d_step { late.request == heartbeat_it ->
       heartbeat(late.answer, late.token, late.trust);
       printf("- a late heartbeat arrives: %e\n", late.answer);
       forget_late_request() }
  :: d_step { late.request == release_it && !FENCE_IS_OPEN ->
       printf("- a late release arrives\n");
       release(late.token); forget_late_request() }
  :: d_step { late.request != nothing ->
       printf("- a late request is lost\n");
       forget_late_request() }
  od
}

/* Promise 14: a transaction that asks the fence, then writes and commits. */
proctype GuardedWrite(byte h) {
  do
  :: d_step { write[h].stage == sent && FENCE_LETS_IN(write[h].token) ->
       printf("- the write of holder %d, token %d, passes the fence\n", h, write[h].token);
       write[h].stage = fenced; open_fences++ }
  :: d_step { write[h].stage == sent && !FENCE_LETS_IN(write[h].token) ->
       printf("- the write of holder %d, token %d, is refused\n", h, write[h].token);
       forget_write(h) }
  :: d_step { write[h].stage == fenced ->
       printf("- the write of holder %d, token %d, commits\n", h, write[h].token);
       no_stale_write = write[h].token == store.token && !store.ended && write[h].token >= store.written;
       assert(no_stale_write);
       store.written = write[h].token;
       open_fences--;
       forget_write(h);
       commit() }
  od
}
