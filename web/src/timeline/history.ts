// Grants and takeovers over time, gathered from events and from live leases.
//
// Every grant of a lock, chunk, item, session or schedule has an event. Jobs are many, so they have one only if a worker
// died: their grants come from the leases that the page sees, and from the attempts of a job (jobs.ts).
import { ms } from '../base/time';
import type { Event, Holder, LeaseInfo } from '../api/types';

export interface Grant {
  kind: string;
  key: string;
  who: string;
  host: string;
  pid: number | null;
  start: number;
  /** Null while it is held. */
  end: number | null;
  /** How it ended: released, completed, expired, revoked …; "ended" if no event has said so yet. */
  how: string;
  /** When the lease would run out, as last seen; 0 if never seen. */
  until: number;
  ttl: number;
  beats: number[];
  /** The job, if this is a grant in a queue. */
  job: string;
}

export interface Takeover {
  at: number;
  kind: string;
  key: string;
  from: string;
  to: string;
  cause: string;
  /** When the lease of `from` ended: its expiry, or the end of its process; NaN if unknown. */
  ended: number;
  /** Milliseconds from there to the takeover; null if unknown. */
  gap: number | null;
  /** "3 jobs" */
  extent: string;
  fromGrant: Grant | null;
  toGrant: Grant | null;
}

/** A dead holder whose work is not taken over yet. */
interface Dead {
  who: string;
  /** When its lease ended; NaN if unknown. */
  at: number;
  cause: string;
  grant: Grant | null;
}

export interface Lane {
  kind: string;
  key: string;
  grants: Grant[];
  dead: Dead | null;
}

const begins = new Set(['acquired', 'claimed', 'reclaimed', 'transferred', 'switched', 'opened']);
const ends = new Set(['released', 'expired', 'revoked', 'completed', 'failed', 'exhausted', 'closed', 'lost', 'reset']);
const deaths = new Set(['expired', 'lost', 'revoked']);
const laneKinds = new Set(['lock', 'job', 'chunk', 'item', 'session', 'schedule', 'row']);
const kept = 2500;
export const ranOut = 'lease ran out';
/** A job's lease is shared by all jobs of its worker, so it says little about when this job began. */
const briefly = 2000;
/** The stream brings rows at most so late. */
const seenLate = 1500;

const nameOf = (holder: Holder | null): string => holder?.name ?? '';

/** The owner of an item is its session; the holder is only the session's process. */
function whoOf(event: Event): string {
  const session = event.kind === 'item' ? /^session (.+)$/.exec(event.detail ?? '') : null;
  if (session) return session[1] ?? '';
  return event.kind === 'session' ? event.key : nameOf(event.holder);
}

export class History {
  readonly lanes = new Map<string, Lane>();
  takeovers: Takeover[] = [];
  private lastEvent = 0;
  private readonly seen = new Set<number>();

  lane(kind: string, key: string): Lane {
    const id = `${kind}/${key}`;
    let lane = this.lanes.get(id);
    if (!lane) {
      lane = { kind, key, grants: [], dead: null };
      this.lanes.set(id, lane);
    }
    return lane;
  }

  /** True if the event changed the picture. An event may come twice. */
  addEvent(event: Event): boolean {
    if (this.seen.has(event.id) || !laneKinds.has(event.kind)) return false;
    this.seen.add(event.id);
    this.lastEvent = Math.max(this.lastEvent, event.id);
    const at = ms(event.at);
    const lane = this.lane(event.kind, event.key);
    if (event.kind === 'job') return this.addJobEvent(lane, event, at);
    // If a chunk is taken back, one event says so, and its next grant has an event of its own.
    const takenBack = event.kind === 'chunk' && event.what === 'reclaimed';
    if (begins.has(event.what) && !takenBack) this.begin(lane, event, at);
    else if (ends.has(event.what) || takenBack) this.finish(lane, event, at);
    else return false;
    return true;
  }

  private addJobEvent(lane: Lane, event: Event, at: number): boolean {
    if (event.what !== 'reclaimed') return false;
    const { extent, cause, ended } = takenBack(event.detail ?? '', at);
    const from = nameOf(event.previous_holder);
    const to = nameOf(event.holder);
    // What the page saw end just now may have ended well: the event says how many jobs were taken back.
    const known = lane.grants
      .filter((grant) => grant.who === from && (grant.end === null || Math.abs(grant.end - at) < 1500))
      .sort((a, b) => Number(b.end === null) - Number(a.end === null) || b.start - a.start);
    // A token is the store's time in microseconds when the grant began. Only an admin sees it.
    const token = event.token ?? 0;
    const end = Number.isNaN(ended) ? at : ended;
    const began = token > 1e15 ? token / 1000 : end - 400;
    const seen = known.some((grant) => token < 1e15 || Math.abs(grant.start - began) < briefly);
    if (!seen) known.unshift(this.put(lane, { who: from, start: Math.min(began, end), end }));
    known.splice(Number.parseInt(extent, 10) || known.length);
    for (const grant of known) {
      grant.end = Math.max(grant.start, end);
      grant.how = 'expired';
    }
    const grant = known[0] ?? null;
    this.takeovers.push({
      // Without a holder, no claim took the jobs back: they still wait for one.
      at, kind: 'job', key: lane.key, from, to, cause, extent, ended, gap: to ? gapBetween(ended, at) : null, fromGrant: grant,
      toGrant: null,
    });
    return true;
  }

  private put(lane: Lane, some: Partial<Grant>): Grant {
    const grant: Grant = {
      kind: lane.kind, key: lane.key, who: '', host: '', pid: null, start: 0, end: null, how: 'ended', until: 0, ttl: 0, beats: [],
      job: '', ...some,
    };
    lane.grants.push(grant);
    if (lane.grants.length > kept) lane.grants.splice(0, lane.grants.length - kept);
    return grant;
  }

  private begin(lane: Lane, event: Event, at: number): void {
    const who = whoOf(event);
    const taken = event.what === 'reclaimed' || event.previous_holder !== null;
    const open = lane.grants.filter((grant) => grant.end === null && grant.start < at);
    // Only a lock can have several holders. A lease may have begun before the grant: it may serve several.
    const single = lane.kind !== 'lock';
    if (taken || event.what === 'transferred' || event.what === 'switched') {
      for (const grant of open) {
        // The page saw its lease before this event came.
        if (grant.who === who && (grant.start === at || single)) continue;
        close(grant, at, taken ? 'expired' : 'released');
        if (taken) lane.dead = deadOf(grant, at, event.detail === 'process gone' ? 'process gone' : ranOut);
      }
    }
    const dead = lane.dead ?? (taken ? { who: nameOf(event.previous_holder), at: NaN, cause: ranOut, grant: null } : null);
    const same = lane.grants.find((one) => one.end === null && (Math.abs(one.start - at) < 5 || (single && one.who === who)));
    // The page saw its lease go before the events came: they say how it ended.
    const gone = same ? undefined : lane.grants.find((one) => one.how === 'ended' && one.who === who && Math.abs(one.start - at) < 5);
    if (gone) gone.end = null;
    const grant = same ?? gone ?? this.put(lane, { start: at });
    grant.who = who;
    grant.start = at;
    grant.host = event.holder?.host ?? grant.host;
    lane.dead = null;
    // If a session opens again under its name, that is no takeover.
    if (dead?.who && (dead.grant !== grant || taken) && lane.kind !== 'session') {
      this.takeovers.push({
        at, kind: lane.kind, key: lane.key, from: dead.who, to: who, cause: dead.cause, extent: '', ended: dead.at,
        gap: gapBetween(dead.at, at), fromGrant: dead.grant, toGrant: grant,
      });
    }
  }

  private finish(lane: Lane, event: Event, at: number): void {
    // The event of a chunk that is taken back names the next holder, whose lease the page may have seen before.
    const who = (event.what === 'reclaimed' ? '' : whoOf(event)) || nameOf(event.previous_holder);
    const candidates = lane.grants.filter((grant) => (grant.end === null || grant.how === 'ended') && grant.start <= at);
    const own = candidates.filter((one) => one.who === who);
    // A holder may take its own expired chunk back.
    const grant = (event.what === 'reclaimed' ? own.filter((one) => one.start < at) : own).pop() ?? candidates.pop() ?? null;
    const how = event.what === 'reclaimed' ? 'expired' : event.what;
    if (grant) close(grant, at, how);
    lane.dead = null;
    if (!deaths.has(how)) return;
    let cause = event.detail || ranOut;
    if (how === 'revoked') cause = `revoked${event.detail ? `: ${event.detail}` : ''}`;
    lane.dead = grant ? deadOf(grant, at, cause) : { who, at: cause === ranOut ? NaN : at, cause, grant };
  }

  /**
   * Notes what a lease looks like now; `key` of a job is its queue. Two shares of one lock differ by their holder. A worker
   * has one lease for all its jobs, so for a job, `began` is when the page first saw it.
   */
  seeLease(lease: LeaseInfo, key: string, who: string, began: number): void {
    const lane = this.lane(lease.kind, key);
    const job = lease.kind === 'job' ? lease.key : '';
    const known = (one: Grant): boolean => one.who === who && one.job === job && (job !== '' || Math.abs(one.start - began) < 5);
    const open = lane.grants.filter((one) => one.end === null);
    let grant = open.find(known);
    // An item is held by the lease of its session, which began earlier.
    if (!job) grant ??= open.find((one) => one.who === who) ?? (lease.kind === 'item' ? open.pop() : undefined);
    if (!grant) {
      if (!job && lane.grants.some((one) => one.end !== null && known(one))) return;
      grant = this.put(lane, { who, start: began, job });
      if (job) this.tieJob(lane, grant);
      if (job) inTurn(lane, grant);
    }
    grant.host = lease.holder.host;
    grant.pid = lease.holder.pid;
    grant.until = ms(lease.until);
    grant.ttl = (lease.ttl_seconds ?? 0) * 1000;
    const beat = ms(lease.heartbeat_at);
    if (beat > (grant.beats[grant.beats.length - 1] ?? grant.start) + 20) grant.beats.push(beat);
    if (grant.beats.length > 400) grant.beats.splice(0, 100);
  }

  /** The events of a queue do not name its jobs: a grant follows the one of a dead holder of the same job. */
  private tieJob(lane: Lane, grant: Grant): void {
    const before = lane.grants.filter((one) => one.job === grant.job && one !== grant && one.how === 'expired' && one.end !== null).pop();
    if (!before || before.end === null) return;
    const end = before.end;
    const takeover = this.takeovers.find(
      (one) => one.kind === 'job' && one.key === lane.key && one.from === before.who && one.toGrant === null && Math.abs(endOf(one) - end) < briefly,
    );
    if (!takeover) return;
    takeover.to ||= grant.who;
    takeover.fromGrant = before;
    takeover.toGrant = grant;
    takeover.gap ??= gapBetween(takeover.ended, grant.start);
  }

  /** The lease is gone. For all kinds but jobs, an event says how it ended. */
  loseLease(kind: string, key: string, who: string, job: string, start: number, now: number): void {
    for (const grant of this.lane(kind, key).grants) {
      const same = job ? grant.job === job : Math.abs(grant.start - start) < 5;
      if (same && grant.end === null && grant.who === who) {
        close(grant, now, 'ended');
        if (job) for (const next of this.lane(kind, key).grants) if (next.who === who && next.job !== job) inTurn(this.lane(kind, key), next);
      }
    }
  }

  /** The takeovers since then, the newest first. */
  since(time: number): Takeover[] {
    return this.takeovers.filter((one) => one.at >= time).sort((a, b) => b.at - a.at);
  }

  forget(before: number): void {
    this.takeovers = this.takeovers.filter((one) => one.at >= before);
    for (const [id, lane] of this.lanes) {
      lane.grants = lane.grants.filter((grant) => grant.end === null || grant.end >= before);
      if (lane.grants.length === 0) this.lanes.delete(id);
    }
  }
}

/** The page sees the end of a job late: if its worker has begun the next one meanwhile, it ended there. */
function inTurn(lane: Lane, next: Grant): void {
  for (const one of lane.grants) {
    const late = one.how === 'ended' && one.end !== null && one.start < next.start ? one.end - next.start : 0;
    if (one.who === next.who && one.job !== next.job && late > 0 && late < seenLate) one.end = next.start;
  }
}

function close(grant: Grant, at: number, how: string): void {
  // A page that saw the lease go noticed it later than the store did.
  if (grant.end === null || grant.how === 'ended') grant.end = at;
  grant.how = how;
}

/**
 * If a lease ran out, it ended at its expiry, not at the moment when the next holder noticed. If the page has not seen the
 * lease, only the store knows when that was (past.ts).
 */
function deadOf(grant: Grant, at: number, cause: string): Dead {
  if (cause !== ranOut) return { who: grant.who, at, cause, grant };
  const known = grant.until > 0 && grant.until <= at;
  if (known) grant.end = grant.until;
  return { who: grant.who, at: known ? grant.until : NaN, cause, grant };
}

/** "3 jobs, process gone" or "3 jobs, free for 5160 ms": what the event of a queue says of the jobs that it got back. */
function takenBack(detail: string, at: number): { extent: string; cause: string; ended: number } {
  const [extent = '', why = ''] = detail.split(', ');
  const free = /^free for (\d+) ms$/.exec(why);
  if (free) return { extent, cause: ranOut, ended: at - Number(free[1]) };
  return { extent, cause: why || ranOut, ended: why ? at : NaN };
}

export const gapBetween = (ended: number, taken: number): number | null => (Number.isNaN(ended) ? null : Math.max(0, taken - ended));
/** When the grant of the holder before ends in the picture. */
export const endOf = (one: Takeover): number => (Number.isNaN(one.ended) ? one.at : one.ended);
