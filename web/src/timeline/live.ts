// The history of this page: fed by events and leases as they come, and once by the events before.
import { signal } from '@preact/signals';
import { call } from '../api/call';
import { greetings, live, onEvent, onLeases, type Row } from '../api/live';
import { ms, storeNow } from '../base/time';
import type { Event, LeaseInfo } from '../api/types';
import { History } from './history';
import { learnJobs } from './jobs';
import { learnPast } from './past';

export const history = new History();
/** Counts up when the history has changed. */
export const version = signal(0);
/** The queue of a job whose lease was seen; a lease only names the job. */
export const queueOfJob = new Map<string, string>();

const longest = 3 * 3_600_000;
interface Shown {
  kind: string;
  key: string;
  who: string;
  job: string;
  since: number;
}
const shownAt = new Map<string, Shown>();
/** Until the first rows are here, a lease may be older than the page. */
let watching = false;

/** The session that has an item or is one; else the holder. */
export function ownerOf(lease: LeaseInfo): string {
  if (lease.kind === 'session') return lease.key;
  if (lease.kind !== 'item') return lease.holder.name;
  if (lease.session) return lease.session;
  for (const one of live.leases.peek().rows.values()) {
    if (one.kind === 'session' && one.since === lease.since && one.holder.name === lease.holder.name) return one.key;
  }
  return lease.holder.name;
}

/** If there is only one queue, a job is in it. */
function queueOf(job: string): string | undefined {
  const queues = live.queues.peek().rows;
  if (queues.size === 1 && !queueOfJob.has(job)) for (const name of queues.keys()) queueOfJob.set(job, name);
  return queueOfJob.get(job);
}

function see(lease: Row<'leases'>): void {
  const key = lease.kind === 'job' ? queueOf(lease.key) : lease.key;
  if (key === undefined) return;
  const who = ownerOf(lease);
  const since = ms(lease.since);
  const job = lease.kind === 'job' ? lease.key : '';
  // The lease of a worker is older than most of its jobs: then the job began just now.
  const isOld = job !== '' && watching && !shownAt.has(lease.row) && since < storeNow() - 2000;
  history.seeLease(lease, key, who, isOld ? storeNow() : since);
  shownAt.set(lease.row, { kind: lease.kind, key, who, job, since });
}

function lose(row: string): void {
  const shown = shownAt.get(row);
  if (!shown) return;
  shownAt.delete(row);
  history.loseLease(shown.kind, shown.key, shown.who, shown.job, shown.since, storeNow());
}

let asked = 0;
let asking = false;
/** Asks for all jobs whose queue is unknown together, at most every two seconds. */
async function learnQueues(): Promise<void> {
  const unknown = [...live.leases.peek().rows.values()].filter((lease) => lease.kind === 'job' && !queueOfJob.has(lease.key));
  if (unknown.length === 0 || asking || Date.now() - asked < 2000) return;
  asked = Date.now();
  asking = true;
  try {
    const { items } = await call('job.list', { state: 'running', max: 200 });
    for (const job of items) queueOfJob.set(String(job.id), job.queue);
    if (queueOfJob.size > 20_000) queueOfJob.clear();
    for (const lease of live.leases.peek().rows.values()) if (lease.kind === 'job') see(lease);
    version.value += 1;
  } catch {
    // The next change asks again.
  } finally {
    asking = false;
  }
}

/** Events of the stream wait while older ones are being asked for: a grant would stay open if its end came first. */
let loading = 0;
const waiting: Event[] = [];

let learning = 0;
function takeEvent(event: Event): void {
  if (loading > 0) {
    waiting.push(event);
    return;
  }
  const before = history.takeovers.length;
  if (!history.addEvent(event)) return;
  version.value += 1;
  // The store knows the gap, even if the page has not seen the lease or the job.
  if (history.takeovers.length > before && learning === 0) learning = window.setTimeout(() => void learnLater(event), 2500);
}

async function learnLater(event: Event): Promise<void> {
  if (event.kind !== 'job' || history.since(ms(event.at)).some((one) => one.kind !== 'job')) await learnPast(history, ms(event.at) - 1000);
  await learnJobs(history);
  version.value += 1;
  learning = 0;
}

let started = false;
/** Starts to keep the history; a second call does nothing. */
export async function startHistory(): Promise<void> {
  if (started) return;
  started = true;
  onEvent(takeEvent);
  onLeases((put, gone, full) => {
    if (full) {
      const names = new Set(put.map((lease) => lease.row));
      for (const row of [...shownAt.keys()]) if (!names.has(row) && !live.leases.peek().rows.has(row)) lose(row);
    }
    // A takeover is a row that changes its holder: the old grant ends before the new one begins.
    for (const lease of put) {
      const shown = shownAt.get(lease.row);
      if (shown && Math.abs(shown.since - ms(lease.since)) > 5) lose(lease.row);
    }
    for (const lease of put) see(lease);
    for (const row of gone) lose(row);
    history.forget(storeNow() - longest);
    version.value += 1;
    void learnQueues();
  });
  greetings.subscribe((times) => {
    if (times > 1) void loadEvents().then(() => (version.value += 1));
  });
  await loadEvents();
  await learnPast(history, storeNow() - longest);
  for (const lease of live.leases.peek().rows.values()) see(lease);
  version.value += 1;
  await learnQueues();
  watching = true;
  await learnJobs(history);
  version.value += 1;
}

/** The newest two thousand events, or those of three hours. */
async function loadEvents(): Promise<void> {
  const events: Event[] = [];
  let page: string | null = null;
  loading += 1;
  try {
    for (let i = 0; i < 4; i += 1) {
      const answer: { items: Event[]; next: string | null } = await call('event.list', page ? { max: 500, page } : { max: 500 });
      events.push(...answer.items);
      page = answer.next;
      const oldest = answer.items[0];
      if (!page || !oldest || ms(oldest.at) < storeNow() - longest) break;
    }
  } catch {
    // Without rights to events the picture begins now.
  }
  events.sort((a, b) => a.id - b.id);
  for (const event of events) history.addEvent(event);
  loading -= 1;
  if (loading === 0) for (const event of waiting.splice(0)) takeEvent(event);
}
