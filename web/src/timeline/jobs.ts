// Grants of jobs that ended before the page looked: the attempts of the jobs that were taken over lately.
import { call } from '../api/call';
import { ms, storeNow } from '../base/time';
import type { JobAttempt, JobInfo } from '../api/types';
import type { Grant, History, Takeover } from './history';

/** How many jobs this asks for: the picture has no room for more. */
const most = 16;
const recent = 3_600_000;

/** True if there was something to learn. */
export async function learnJobs(history: History, queueOfJob: Map<string, string>): Promise<boolean> {
  const since = storeNow() - recent;
  const open = history.since(since).filter((one) => one.kind === 'job' && one.toGrant === null);
  const queues = [...new Set(open.map((one) => one.key))];
  for (const queue of queues.slice(0, 4)) {
    try {
      const { items } = await call('job.list', { queue, max: 200 });
      const jobs = items.filter((job) => job.attempts > 1 && (job.finished_at === null || ms(job.finished_at) > since));
      await Promise.all(jobs.slice(0, most).map((job) => learn(history, job)));
      for (const job of jobs) queueOfJob.set(String(job.id), job.queue);
    } catch {
      // Then the page has only the events.
    }
  }
  return queues.length > 0;
}

async function learn(history: History, job: JobInfo): Promise<void> {
  const { items } = await call('job.attempts', { id: job.id });
  addAttempts(history, job.queue, String(job.id), items);
}

const died = (attempt: JobAttempt): boolean => attempt.outcome === 'expired' || attempt.outcome === 'returned';

/** A grant of this job that the page saw: it noticed begin and end a little late. */
const isSame = (grant: Grant, job: string, start: number, end: number | null): boolean =>
  grant.job === job && grant.start < (end ?? Infinity) + 1500 && (grant.end ?? Infinity) > start;

/** Completes the grants of a queue, and says where the arrows of its takeovers begin and end. */
export function addAttempts(history: History, queue: string, job: string, attempts: JobAttempt[]): void {
  const lane = history.lane('job', queue);
  let before: { attempt: JobAttempt; grant: Grant } | null = null;
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
    if (before && died(before.attempt)) tie(history.takeovers, before, grant, queue);
    before = { attempt, grant };
  }
}

function tie(takeovers: Takeover[], before: { attempt: JobAttempt; grant: Grant }, grant: Grant, queue: string): void {
  const at = before.grant.end ?? grant.start;
  const known = takeovers.find(
    (one) => one.kind === 'job' && one.key === queue && one.from === before.grant.who && Math.abs(one.at - at) < 50,
  );
  if (!known || known.toGrant) return;
  known.fromGrant = before.grant;
  known.toGrant = grant;
  known.to ||= grant.who;
  known.gap = Math.max(0, grant.start - at);
}
