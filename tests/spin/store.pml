/* The store: one key, and what the acts do to its row. An act is one step, as a transaction under the row's lock is. */

typedef Row {
  byte token;            /* of the latest grant */
  byte left;             /* ticks until expires_at; 0: run out */
  bool ended;            /* released or revoked; a takeover ends and grants in one step */
  byte opened_by;        /* whose present acquire opened the lease, by its request id; NOBODY: another */
  bool spent[HOLDERS];   /* the request id of the holder's present acquire belongs to a lease, ended or not */
  byte written           /* the guarded resource, in the same database: the token of its latest write */
}

Row store;
Row standby;             /* the store as it was when last replicated */
byte open_fences;        /* transactions that have passed the fence and not committed */

byte greatest = STALE;   /* token ever granted, also by a primary that was lost */

/* What the store's clock shows. A commit lies between two grants: unless set back, it is ahead of every token. */
#define AHEAD (greatest + 1)
#define SET_BACK STALE

/* Ghosts: they watch, no act asks them. */
bool over = true;        /* the latest lease has run out or ended */
bool tokens_rise = true, over_stays_over = true, no_stale_write = true;

byte each, new_store, new_standby;   /* within one step only */

#define RENUMBERED(kept) \
  (kept == NONE -> NONE : (kept == store.token -> new_store : (kept == standby.token -> new_standby : STALE)))

/* Keeps the model finite however many grants there are. A token that neither store has can never be current again, and
   such tokens are all alike: STALE. The others keep their order and close up. */
inline renumber_tokens() {
  new_standby = (standby.token == STALE -> STALE : STALE + 1);
  new_store = (store.token == standby.token -> new_standby : new_standby + 1);
  for (each : 0 .. HOLDERS - 1) {
    holder[each].token = RENUMBERED(holder[each].token);
    call[each].token = RENUMBERED(call[each].token);
    write[each].token = RENUMBERED(write[each].token)
  };
  late.token = RENUMBERED(late.token);
  store.written = (store.written == store.token -> new_store : STALE);
  standby.written = (standby.written == standby.token -> new_standby : STALE);
  greatest = (greatest == store.token -> new_store : new_store + 1);
  store.token = new_store;
  standby.token = new_standby
}

inline copy_row(from, to) {
  to.token = from.token;
  to.left = from.left;
  to.ended = from.ended;
  to.opened_by = from.opened_by;
  for (each : 0 .. HOLDERS - 1) { to.spent[each] = from.spent[each] };
  to.written = from.written;
  renumber_tokens()
}

/* Ends every act. A synchronous standby has the commit before anybody is reported of it. */
inline commit() {
  over_stays_over = !(over && LIVE(store));
  assert(over_stays_over);
  over = !LIVE(store);
#ifdef SYNCHRONOUS
  copy_row(store, standby)
#endif
}

/* Promise 3. */
inline grant(h, clock) {
  store.token = NEXT_TOKEN(clock);
  store.left = TTL;
  store.ended = false;
  store.opened_by = h;
  if
  :: h != NOBODY -> store.spent[h] = true
  :: else
  fi;
  tokens_rise = store.token > greatest;
  assert(tokens_rise);
  greatest = store.token;
  over = false;
  renumber_tokens()
}

/* Promises 6 and 13. A refusal is `held`, `busy` or, to a request id whose lease is over, `lost`. */
inline acquire(h, clock, outcome, named, remaining) {
  if
  :: h != NOBODY && store.opened_by == h && LIVE(store) ->
     outcome = granted; remaining = TOLD_AGAIN
  :: else ->
     if
     :: (h != NOBODY && store.spent[h]) || IS_HELD || FENCE_IS_OPEN -> outcome = refused; remaining = 0
     :: else -> grant(h, clock); outcome = granted; remaining = store.left
     fi
  fi;
  commit();
  named = (outcome == granted -> store.token : NONE)
}

/* Promise 5. It passes an open fence. */
inline heartbeat(outcome, named, remaining) {
  if
  :: MAY_EXTEND(named) -> store.left = TTL; outcome = granted; remaining = TTL
  :: else -> outcome = lost; named = NONE; remaining = 0
  fi;
  commit()
}

/* Promise 5. It waits for an open fence. Its holder has stopped before, whatever the answer. */
inline release(named) {
  if
  :: MAY_RELEASE(named) -> store.ended = true; store.left = 0; store.token = TOKEN_AFTER_RELEASE
  :: else
  fi;
  commit()
}
