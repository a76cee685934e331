/* The lease protocol, for `check` to try in every order of events. README.md says what is in and what is not.

     rules.pml    the rules, and how to break each of them
     store.pml    the row of one key, and the acts on it
     holder.pml   holders, their calls, their guarded writes
     world.pml    time, the operator, failover

   Safety has no bound on time, grants or faults: the states are finite in number because of a time only what is left of
   it is kept, and of tokens only their order. */

#ifndef HOLDERS
#define HOLDERS 2
#endif
#ifndef TTL
#define TTL 3              /* in ticks */
#endif
#ifndef LATE_REQUESTS
#define LATE_REQUESTS 1    /* a request may reach the store after its sender has given up */
#endif
#ifndef WRITES
#define WRITES 1           /* holders write to a resource behind the fence */
#endif

#define MARGIN 1           /* that trusted_until leaves, ... */
#define DRIFT 1            /* ... and ticks by which a holder's clock falls behind meanwhile */

#define NOBODY HOLDERS
#define NONE 0             /* no token */
#define STALE 1            /* a token of old */

/* Nothing need come to pass while faults go on for ever: where that is asked, they are counted. */
#ifdef FAULTS
byte faults_left = FAULTS;
#define FAULT_ALLOWED (faults_left > 0)
inline fault() { faults_left-- }
#else
#define FAULT_ALLOWED true
inline fault() { skip }
#endif

#include "rules.pml"
#include "store.pml"
#include "holder.pml"
#include "world.pml"

/* A key that was held before, and is free. */
init {
  atomic {
    store.token = STALE;
    store.ended = true;
    store.opened_by = NOBODY;
    store.written = STALE;
    copy_row(store, standby);
    forget_late_request();
    for (each : 0 .. HOLDERS - 1) {
      clear_call(each);
      forget_write(each);
      run HolderProcess(each);
      run Connection(each);
      run GuardedWrite(each)
    };
    run Straggler();
    run Clock();
    run Operator();
    run Replication()
  }
}

#ifdef FAULTS
/* A live lease whose token no holder knows or is about to read: its holder crashed. */
#define LEFT_BEHIND (LIVE(store) && holder[0].token != store.token && holder[1].token != store.token && \
                     call[0].token != store.token && call[1].token != store.token)

ltl free_key_is_taken { [] (!LIVE(store) -> <> LIVE(store)) }
ltl dead_holder_frees_key { [] (LEFT_BEHIND -> <> !LEFT_BEHIND) }
#endif
