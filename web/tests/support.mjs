// Events, leases and attempts as the server sends them. Times are seconds after the start.
const begin = Date.UTC(2026, 0, 1, 12);
export const at = (seconds) => begin + seconds * 1000;
export const text = (seconds) => new Date(at(seconds)).toISOString();
export const holder = (name) => (name ? { name, host: 'web-1', pid: 1, tty: null } : null);

let ids = 0;
export const event = (seconds, kind, key, what, who, { before = '', detail = null } = {}) => ({
  id: (ids += 1), at: text(seconds), kind, key, what, token: null, holder: holder(who), previous_holder: holder(before), detail, mark: null,
});

export const lease = (seconds, kind, key, who, until, ttl = 3) => ({
  kind, key, state: 'running', token: null, holder: holder(who), ttl_seconds: ttl, since: text(seconds), heartbeat_at: text(seconds), until: text(until),
  ended_at: null, end_reason: null, end_detail: null, waiters: 0, store_now: text(seconds),
});

export const grant = (seconds, kind, key, who, { from = '', gap = null, cause = null, ended = null } = {}) => ({
  kind, key, state: ended === null ? 'running' : 'free', holder: holder(who), detail: null, since: text(seconds), until: null,
  ended_at: ended === null ? null : text(ended), end_reason: ended === null ? null : 'expired', end_detail: null, taken_from: holder(from), cause, gap_seconds: gap,
});

export const attempt = (number, outcome, who, started, ended) => ({
  number, token: null, outcome, holder: holder(who), started_at: text(started), ended_at: ended === null ? null : text(ended), error: null,
});
