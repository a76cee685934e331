// Is anything wrong? Warnings first, each a link; then what the store is doing.
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { live, rowsOf } from '../api/live';
import { useAct } from '../api/resource';
import { href } from '../base/router';
import { count, digits, roughly, short, visible } from '../base/text';
import { ms, second, span } from '../base/time';
import { history, startHistory, version } from '../timeline/live';
import { sentence } from '../timeline/words';
import { Bars } from '../ui/chart';
import { Icon } from '../ui/icons';
import { Bar, Card, Empty, Title, When } from '../ui/parts';
import { Kind } from '../ui/state';
import { useCompleted } from './totals';
import { warningsOf } from './warnings';

const steps = 30;
const stepSeconds = 10;

/** Completed jobs over time, as this page saw them: the store only counts those of the last minute. */
function usePace(): number[] {
  const pace = useSignal<number[]>([]);
  const total = rowsOf('queues').reduce((sum, queue) => sum + queue.completed_last_minute, 0);
  const slot = Math.floor(second.value / (stepSeconds * 1000));
  const last = useSignal(slot);
  useEffect(() => {
    const list = pace.peek();
    pace.value = slot === last.peek() && list.length > 0 ? [...list.slice(0, -1), total] : [...list, total].slice(-steps);
    last.value = slot;
  }, [slot, total]);
  return pace.value;
}

export function Overview(): JSX.Element {
  useEffect(() => void startHistory(), []);
  const report = useAct('store.status', {}, [], 10_000);
  const doctor = useAct('store.doctor', {}, [], 300_000);
  const now = second.value;
  const warnings = warningsOf(now, report.value.data, doctor.value.data?.items ?? []);
  const data = report.value.data;
  return (
    <>
      <Title title="Overview" sub={data ? `${data.backend} store, ${digits(data.held_leases + data.expired_leases)} leases, ${roughly(data.events)} events` : undefined} />
      <section class={`verdict ${warnings.length === 0 ? 'verdict-fine' : ''}`} aria-label="Is anything wrong?">
        {warnings.length === 0 ? (
          <p class="verdict-word">
            <Icon name="completed" /> {live.leases.value.ready ? 'Nothing is wrong.' : 'Looking …'}
          </p>
        ) : (
          <ul>
            {warnings.slice(0, 12).map((warning) => (
              <li key={warning.text} data-row={warning.text} tabIndex={-1}>
                <a class={`warning row-open warning-${warning.level}`} href={warning.href}>
                  <Icon name={warning.level === 'danger' ? 'failed' : 'danger'} />
                  <span>
                    <b>{visible(warning.text)}</b>
                    {warning.detail ? <small>{visible(warning.detail)}</small> : null}
                  </span>
                  <Icon name="arrow" class="warning-go" />
                </a>
              </li>
            ))}
          </ul>
        )}
      </section>
      <Numbers />
      <div class="two">
        <div>
          <Throughput />
          <QueueStrip />
        </div>
        <Takeovers />
      </div>
    </>
  );
}

function Numbers(): JSX.Element {
  const completed = useCompleted();
  const leases = rowsOf('leases');
  const expired = leases.filter((lease) => ms(lease.until) < second.value).length;
  // A worker of a program that only claims is not registered, but holds jobs.
  const holders = [...rowsOf('workers'), ...leases.filter((lease) => lease.kind === 'job')].map(({ holder }) => `${holder.name} ${holder.host} ${holder.pid}`);
  const queues = rowsOf('queues');
  const sum = (of: (queue: (typeof queues)[number]) => number): number => queues.reduce((all, queue) => all + of(queue), 0);
  const tiles: [title: string, value: number, where: string, sub: string][] = [
    ['Leases held', leases.length - expired, href('leases'), `${expired} expired`],
    ['Jobs running', sum((queue) => queue.running), href('jobs', { state: 'running' }), `${short(sum((queue) => queue.available))} available`],
    ['Done per minute', sum((queue) => queue.completed_last_minute), href('queues'), completed ? `${completed} in all` : ''],
    ['Workers', new Set(holders).size, href('store'), 'registered or busy'],
    ['Sessions', rowsOf('sessions').filter((session) => session.state === 'active' || session.state === 'idle').length, href('backlog'), `${count(rowsOf('sessions').reduce((all, session) => all + session.claims, 0), 'item')} claimed`],
    ['Syncs at work', rowsOf('chunks').filter((set) => set.state === 'running').length, href('syncs'), `of ${rowsOf('chunks').length}`],
  ];
  return (
    <div class="tiles">
      {tiles.map(([title, value, where, sub]) => (
        <a key={title} class="tile" href={where}>
          <span>{title}</span>
          <b class="num">{short(value)}</b>
          <small>{sub}</small>
        </a>
      ))}
    </div>
  );
}

function Throughput(): JSX.Element {
  const pace = usePace();
  const padded = [...Array<number>(steps - pace.length).fill(0), ...pace];
  return (
    <Card title="Jobs done per minute" aside={<span class="quiet">since this page was opened</span>}>
      <Bars label="Jobs completed in the minute before" values={padded} tone="live" from={`${span(steps * stepSeconds * 1000)} ago`} to="now" />
    </Card>
  );
}

function Takeovers(): JSX.Element {
  void version.value;
  const now = second.value;
  const minutes = 30;
  const all = history.since(now - minutes * 60_000);
  const values = Array<number>(steps).fill(0);
  for (const one of all) {
    const index = steps - 1 - Math.floor((now - one.at) / ((minutes * 60_000) / steps));
    if (index >= 0 && index < steps) values[index] = (values[index] ?? 0) + 1;
  }
  return (
    <Card title="Takeovers" aside={<a href={href('leases')}>all on the timeline</a>}>
      <Bars label="Takeovers" values={values} tone="bad" from={`${minutes}m ago`} to="now" />
      <ul class="lines">
        {all.slice(0, 8).map((one) => (
          <li key={`${one.key}${one.from}${one.at}`}>
            <Kind kind={one.kind} /> {sentence(one)} <span class="quiet"><When at={one.at} /></span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function QueueStrip(): JSX.Element {
  const queues = rowsOf('queues').sort((a, b) => b.available + b.running - a.available - a.running);
  return (
    <Card title="Queues" aside={<a href={href('queues')}>all {queues.length}</a>}>
      {queues.length === 0 ? (
        <Empty text="There is no queue. Add a job, and work on it:" command={'leasehold job add mail \'{"to":"ann"}\'\nleasehold work mail -- ./send-mail'} />
      ) : (
        <ul class="strip">
          {queues.slice(0, 8).map((queue) => (
            <li key={queue.name}>
              <a href={href('queue', { name: queue.name })}>{visible(queue.name)}</a>
              <Bar
                label={`${queue.name}: ${queue.running} running, ${queue.available} available, ${queue.deferred} deferred, ${queue.failed} failed`}
                parts={[['live', queue.running], ['wait', queue.available], ['later', queue.deferred + queue.blocked], ['warn', queue.expired], ['bad', queue.failed]]}
              />
              <span class="quiet num">
                {short(queue.running)} running · {short(queue.available)} available
                {queue.oldest_at ? ` · oldest ${span(second.value - ms(queue.oldest_at))}` : ''}
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
