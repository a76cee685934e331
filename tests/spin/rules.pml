/* The rules that the properties stand on, each beside the broken form that `check` tries: a model that cannot tell
   the two apart proves nothing. "Promise N" is one of docs/semantics.md. */

/* Promise 1: state is derived. */
#define LIVE(row) (!row.ended && row.left > 0)

#define ONE_TICK_LESS(time) (time > 0 -> time - 1 : 0)

/* Promise 3: the key's last token + 1, or the store's clock in microseconds if that is more. */
#if defined TOKEN_WITHOUT_CLOCK || defined TOKEN_RESET_ON_RELEASE
#define NEXT_TOKEN(clock) (store.token + 1)
#elif defined TOKEN_WITHOUT_LAST
#define NEXT_TOKEN(clock) clock
#else
#define NEXT_TOKEN(clock) (store.token + 1 > clock -> store.token + 1 : clock)
#endif

/* Promise 3, what it assumes: the clock may be set back, but not behind a grant that was lost in an outage. */
#ifdef CLOCK_BEHIND_LOST_GRANT
#define CLOCK_MAY_BE_BEHIND true
#else
#define CLOCK_MAY_BE_BEHIND (store.token == greatest)
#endif

/* Promise 3: a key remembers its token after it was released. (The clock alone would make up for it, and is left out,
   too.) */
#ifdef TOKEN_RESET_ON_RELEASE
#define TOKEN_AFTER_RELEASE NONE
#else
#define TOKEN_AFTER_RELEASE store.token
#endif

/* Promises 4 and 5: only the current token extends, and only a lease that is live. */
#if defined HEARTBEAT_REVIVES
#define MAY_EXTEND(named) (named == store.token && !store.ended)
#elif defined HEARTBEAT_WITHOUT_TOKEN
#define MAY_EXTEND(named) LIVE(store)
#else
#define MAY_EXTEND(named) (named == store.token && LIVE(store))
#endif

/* Promises 4 and 5: the current token releases, also after expiry. */
#ifdef RELEASE_WITHOUT_TOKEN
#define MAY_RELEASE(named) (!store.ended)
#else
#define MAY_RELEASE(named) (named == store.token && !store.ended)
#endif

/* Promise 6: the acquire itself takes over what has expired, with no sweep; what is live is held. */
#if defined ACQUIRE_OVER_LIVE_LEASE
#define IS_HELD false
#elif defined TAKEOVER_NEEDS_SWEEP
#define IS_HELD (!store.ended)
#else
#define IS_HELD LIVE(store)
#endif

/* Promise 9: trust counts from before the request was sent, less a margin. The holder's clock is as slow as the margin
   allows for: a faster one only stops its holder sooner. */
#if defined TRUST_FROM_REPLY
#define TRUSTED(remaining, age) (remaining - MARGIN + DRIFT)
#define ON_ITS_WAY(trust) trust
#elif defined TRUST_WITHOUT_MARGIN
#define TRUSTED(remaining, age) (remaining - age + DRIFT)
#define ON_ITS_WAY(trust) ONE_TICK_LESS(trust)
#else
#define TRUSTED(remaining, age) (remaining - age - MARGIN + DRIFT)
#define ON_ITS_WAY(trust) ONE_TICK_LESS(trust)
#endif

/* Promise 13: a repeated acquire is reported what remains of its lease. */
#ifdef REPLAY_TELLS_TTL
#define TOLD_AGAIN TTL
#else
#define TOLD_AGAIN store.left
#endif

/* Promise 14: a write is let in with the current token of a lease that has not been ended, expired or not, ... */
#if defined FENCE_WITHOUT_TOKEN
#define FENCE_LETS_IN(named) (!store.ended)
#elif defined FENCE_FORGETS_END
#define FENCE_LETS_IN(named) (named == store.token)
#else
#define FENCE_LETS_IN(named) (named == store.token && !store.ended)
#endif

/* ... and no holder takes over until it has committed. */
#ifdef FENCE_KEEPS_NOBODY_OUT
#define FENCE_IS_OPEN false
#else
#define FENCE_IS_OPEN (open_fences > 0)
#endif

/* Promise 1: a lease runs out by itself. */
#ifdef LEASES_NEVER_EXPIRE
#define AFTER_A_TICK(left) left
#else
#define AFTER_A_TICK(left) ONE_TICK_LESS(left)
#endif

/* "What a lease cannot do": a revoked holder believes until its next heartbeat, and so does one whose grant an
   asynchronous standby lacks. They do not count as second holders; to count them is to demand too much. */
#ifdef NOBODY_BELIEVES_AFTER_REVOKE
#define REVOKED_IS_EXCUSED false
#else
#define REVOKED_IS_EXCUSED true
#endif
#ifdef NOTHING_IS_FORGOTTEN
#define FORGOTTEN_IS_EXCUSED false
#else
#define FORGOTTEN_IS_EXCUSED true
#endif
