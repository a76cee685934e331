// Grants of jobs that the page did not see: the attempts of the jobs that were taken over lately.
import { call } from '../api/call';
import { ms, storeNow } from '../base/time';
import type { JobAttempt } from '../api/types';
import { endOf, gapBetween, type Grant, type History, type Takeover } from './history';

/** How many jobs this asks for: the picture has no room for more. */
const most = 16;
const recent = 3_600_000;

/** Takeovers that the attempts of their jobs have confirmed. */
const sure = new WeakSet<Takeover>();

/** Asks for the attempts of jobs that were taken over: they say to the millisecond who had the job, and when. */
export async function learnJobs(history: History): Promise<void> {
  const since = storeNow() - recent;
  const open = history.since(since).filter((one) => one.kind === 'job' && !sure.has(one));
  if (open.length === 0) return;
  const jobs = new Map(open.filter((one) => one.fromGrant?.job).map((one) => [one.fromGrant?.job ?? '', one.key]));
  try {
    // What the page took for the job may be the one before, if it did not see this one.
    const from = Math.min(...open.map((one) => endOf(one))) - 1000;
    const { items } = await call('lease.history', { kind: 'job', since: new Date(from).toISOString(), max: 500 });
    for (const told of items) {
      const end = ms(told.ended_at);
      const same = open.find((one) => one.from === told.holder.name && Math.min(Math.abs(endOf(one) - end), Math.abs(one.at - end)) < 50);
      if (same) jobs.set(told.key, same.key);
    }
    await Promise.all([...jobs].slice(-most).map(([id, queue]) => learn(history, queue, Number(id))));
  } catch {
    // Then the page has only the events.
  }
}

async function learn(history: History, queue: string, id: number): Promise<void> {
  const { items } = await call('job.attempts', { id });
  addAttempts(history, queue, String(id), items);
}

const died = (attempt: JobAttempt): boolean => attempt.outcome === 'expired' || attempt.outcome === 'returned';

/** A grant of this job that the page saw: it noticed begin and end a little late. */
const isSame = (grant: Grant, job: string, start: number, end: number | null): boolean =>
  grant.job === job && grant.start < (end ?? Infinity) + 1500 && (grant.end ?? Infinity) > start;

/** Completes the grants of a queue, and says where the arrows of its takeovers begin and end. */
export function addAttempts(history: History, queue: string, job: string, attempts: JobAttempt[]): void {
  const lane = history.lane('job', queue);
  let before: { grant: Grant; end: number } | null = null;
  for (const attempt of [...attempts].sort((a, b) => a.number - b.number)) {
    const start = ms(attempt.started_at);
    const who = attempt.holder?.name ?? '';
    const end = attempt.ended_at ? ms(attempt.ended_at) : null;
    let grant = lane.grants.find((one) => one.who === who && (Math.abs(one.start - start) < 5 || isSame(one, job, start, end)));
    if (!grant) {
      grant = { kind: 'job', key: queue, who, host: attempt.holder?.host ?? '', pid: attempt.holder?.pid ?? null, start, end: null, how: '', until: 0, ttl: 0, beats: [], job };
      lane.grants.push(grant);
    }
    grant.job = job;
    // The page took it for another grant: what it saw of that one does not count.
    if (Math.abs(grant.start - start) > 2000) Object.assign(grant, { until: 0, beats: [] });
    grant.start = start;
    grant.end = end;
    grant.how = died(attempt) ? 'expired' : attempt.outcome;
    if (end !== null && died(attempt)) {
      const takeover = takeoverOf(history.takeovers, grant, end, queue);
      // The attempt ends when a claim took the job back; the event says since when it was free.
      if (takeover && !Number.isNaN(takeover.ended)) grant.end = Math.max(start, takeover.ended);
    }
    if (before) tie(history, before, grant, queue);
    before = end !== null && died(attempt) ? { grant, end } : null;
  }
}

const takeoverOf = (takeovers: Takeover[], dead: Grant, at: number, queue: string): Takeover | undefined =>
  takeovers.find((one) => one.kind === 'job' && one.key === queue && one.from === dead.who && Math.abs(one.at - at) < 50);

/** Several jobs may be taken back at once: the first that is seen shows where the arrow leads. */
function tie(history: History, before: { grant: Grant; end: number }, grant: Grant, queue: string): void {
  const known = takeoverOf(history.takeovers, before.grant, before.end, queue);
  if (!known || sure.has(known) || (known.toGrant && known.toGrant !== grant)) return;
  sure.add(known);
  const guess = known.fromGrant;
  if (guess && guess !== before.grant && guess.job && guess.how === 'expired') guess.how = 'ended';
  if (guess && guess !== before.grant && !guess.job) {
    const lane = history.lane('job', queue);
    lane.grants = lane.grants.filter((one) => one !== guess);
  }
  known.fromGrant = before.grant;
  known.toGrant = grant;
  known.to ||= grant.who;
  known.gap = gapBetween(known.ended, grant.start);
}
