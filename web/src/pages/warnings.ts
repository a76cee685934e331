// The warnings about the store: each says what is wrong, and links to the page that shows it.
import type { Finding, StoreReport } from '../api/types';
import { rowsOf } from '../api/live';
import { href } from '../base/router';
import { count, digits } from '../base/text';
import { ms, span } from '../base/time';

export interface Warning {
  level: 'danger' | 'advice';
  text: string;
  detail: string;
  href: string;
}

/** A job that waits for longer than this is worth a look. */
const oldJob = 10 * 60_000;
/** A lease that expired longer ago than this is a warning: the next caller takes most leases over sooner. */
const lateBy = 2000;

export function warningsOf(now: number, report: StoreReport | undefined, findings: Finding[]): Warning[] {
  return [...ofLeases(now), ...ofQueues(now), ...ofPeople(), ...ofSchedules(now), ...ofSyncs(), ...ofStore(report, findings)].sort(
    (a, b) => Number(b.level === 'danger') - Number(a.level === 'danger'),
  );
}

function ofLeases(now: number): Warning[] {
  const expired = rowsOf('leases').filter((lease) => ms(lease.until) < now - lateBy);
  if (expired.length === 0) return [];
  const oldest = Math.min(...expired.map((lease) => ms(lease.until)));
  return [
    {
      level: 'danger',
      text: `${count(expired.length, 'lease')} expired and not taken over`,
      detail: `${names(expired.map((lease) => `${lease.kind} ${lease.key}`))}; the first ran out ${span(now - oldest)} ago`,
      href: href('leases', { state: 'expired' }),
    },
  ];
}

function ofQueues(now: number): Warning[] {
  const warnings: Warning[] = [];
  for (const queue of rowsOf('queues')) {
    if (queue.failed > 0) {
      warnings.push({
        level: 'danger',
        text: `${count(queue.failed, 'dead letter')} in ${queue.name}`,
        detail: 'their budgets are spent: retry them, or remove them',
        href: href('jobs', { queue: queue.name, state: 'failed' }),
      });
    }
    const waits = queue.available + queue.expired;
    if (waits > 0 && queue.workers === 0 && queue.running === 0) {
      warnings.push({
        level: 'advice',
        text: `no worker for ${queue.name}`,
        detail: `${count(waits, 'job')} ${waits === 1 ? 'waits' : 'wait'}; ${queue.asked_at ? `a worker last asked ${span(now - ms(queue.asked_at))} ago` : 'no worker has ever asked'}`,
        href: href('queue', { name: queue.name }),
      });
    } else if (queue.oldest_at && now - ms(queue.oldest_at) > oldJob && !queue.paused) {
      warnings.push({
        level: 'advice',
        text: `the oldest job of ${queue.name} waits for ${span(now - ms(queue.oldest_at))}`,
        detail: queue.wait?.text ?? '',
        href: href('queue', { name: queue.name }),
      });
    }
    if (queue.paused) {
      warnings.push({ level: 'advice', text: `${queue.name} is paused`, detail: queue.pause_reason ?? '', href: href('queue', { name: queue.name }) });
    }
  }
  return warnings;
}

function ofPeople(): Warning[] {
  const stale = rowsOf('sessions').filter((session) => session.state === 'stale');
  if (stale.length === 0) return [];
  return [
    {
      level: 'advice',
      text: `${count(stale.length, 'stale session')}`,
      detail: names(stale.map((session) => session.id)),
      href: href('backlog', { state: 'stale' }),
    },
  ];
}

function ofSchedules(now: number): Warning[] {
  return rowsOf('schedules').flatMap((schedule): Warning[] => {
    const where = href('schedule', { name: schedule.name });
    if (schedule.state === 'expired') return [{ level: 'danger', text: `the run of ${schedule.name} fell silent`, detail: '', href: where }];
    if (schedule.state === 'due' && now - ms(schedule.next_run_at) > Math.max(60_000, schedule.misfire_after_seconds * 1000)) {
      return [{ level: 'danger', text: `${schedule.name} missed its time`, detail: `due ${span(now - ms(schedule.next_run_at))} ago; does any process run it?`, href: where }];
    }
    if (schedule.last && ['failed', 'lost'].includes(schedule.last.outcome)) {
      return [{ level: 'advice', text: `the last run of ${schedule.name} ${schedule.last.outcome === 'lost' ? 'was lost' : 'failed'}`, detail: schedule.last.error ?? '', href: where }];
    }
    return [];
  });
}

function ofSyncs(): Warning[] {
  return rowsOf('chunks')
    .filter((set) => set.exhausted > 0)
    .map((set) => ({
      level: 'danger' as const,
      text: `${count(set.exhausted, 'exhausted chunk')} in ${set.name}`,
      detail: set.summary,
      href: href('sync', { name: set.name, state: 'exhausted' }),
    }));
}

function ofStore(report: StoreReport | undefined, findings: Finding[]): Warning[] {
  const warnings: Warning[] = findings
    .filter((finding) => finding.level !== 'fine')
    .map((finding) => ({ level: finding.level as Warning['level'], text: `doctor: ${finding.what}`, detail: finding.advice ?? '', href: href('store') }));
  const stale = report?.recovery.stale_now;
  if (stale && stale.leases > 100) {
    warnings.push({ level: 'advice', text: `${digits(stale.leases)} leases could be recovered`, detail: 'claims do it by themselves', href: href('store') });
  }
  return warnings;
}

const names = (all: string[]): string => (all.length > 3 ? `${all.slice(0, 3).join(', ')} and ${all.length - 3} more` : all.join(', '));
