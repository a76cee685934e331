// What only the store knows about the past: when an unwatched lease ran out, and how long its key was free.
import { call } from '../api/call';
import type { GrantInfo } from '../api/types';
import { ms } from '../base/time';
import { ranOut, type Grant, type History } from './history';

const most = 500;
const pages = 3;

/** Completes the history since then, which came from events. Those of jobs say all that is needed (jobs.ts). */
export async function learnPast(history: History, since: number): Promise<void> {
  let page: string | null = null;
  try {
    for (let i = 0; i < pages; i += 1) {
      const answer: { items: GrantInfo[]; next: string | null } = await call('lease.history', {
        since: new Date(since).toISOString(),
        max: most,
        ...(page ? { page } : {}),
      });
      for (const grant of answer.items) if (grant.kind !== 'job') complete(history, grant);
      page = answer.next;
      if (!page) return;
    }
  } catch {
    // Then the page has only the events.
  }
}

const near = (a: number, b: number): boolean => Math.abs(a - b) < 5;

/** What the store says counts more than what the page saw. */
export function complete(history: History, told: GrantInfo): void {
  const start = ms(told.since);
  const lane = history.lane(told.kind, told.key);
  const grant = lane.grants.find((one) => near(one.start, start));
  if (grant) completeGrant(grant, told);
  if (told.gap_seconds === null) return;
  const takeover = history.takeovers.find((one) => one.kind === told.kind && one.key === told.key && near(one.at, start));
  if (!takeover) return;
  takeover.gap = told.gap_seconds * 1000;
  takeover.ended = start - takeover.gap;
  if (takeover.cause === ranOut && told.cause === 'process gone') takeover.cause = told.cause;
  const before = takeover.fromGrant;
  if (before) before.end = Math.max(before.start, takeover.ended);
}

function completeGrant(grant: Grant, told: GrantInfo): void {
  grant.host ||= told.holder.host;
  grant.pid ??= told.holder.pid;
  if (told.ended_at && grant.end !== null) grant.end = Math.max(grant.start, ms(told.ended_at));
}
