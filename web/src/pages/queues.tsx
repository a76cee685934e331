// All queues: states, limits, oldest age, pace.
import type { JSX } from 'preact';
import { call } from '../api/call';
import { live, rowsOf, type Row } from '../api/live';
import { href, param } from '../base/router';
import { count, digits, short, visible } from '../base/text';
import { ms, second, seconds, span } from '../base/time';
import { ActButton, reason } from '../ui/act';
import { Text } from '../ui/fields';
import { Bar, Card, Empty, Loading, NoMatch, Title } from '../ui/parts';
import { State } from '../ui/state';
import { Table } from '../ui/table';

type Queue = Row<'queues'>;

export function limitsOf(queue: Queue): string {
  const limits = [
    queue.max_running !== null ? `at most ${queue.max_running} at once` : '',
    queue.max_per_group !== null ? `${queue.max_per_group} per group` : '',
    queue.rate_count !== null ? `${queue.rate_count} per ${seconds(queue.rate_period_seconds)}` : '',
  ];
  return limits.filter(Boolean).join(', ');
}

export function queueState(queue: Queue): [state: string, word: string] {
  if (queue.paused) return ['paused', 'paused'];
  switch (queue.wait?.reason) {
    case 'at_capacity':
      return ['blocked', 'at its limit'];
    case 'rate_limited':
      return ['deferred', 'rate spent'];
    case 'group_full':
      return ['blocked', 'group full'];
    case 'no_worker':
      return ['expired', 'no worker'];
    default:
      return queue.running > 0 ? ['running', 'working'] : ['idle', 'idle'];
  }
}

export function Queues(): JSX.Element {
  const text = param('q').toLowerCase();
  const all = rowsOf('queues').sort((a, b) => a.name.localeCompare(b.name));
  const queues = all.filter((queue) => queue.name.toLowerCase().includes(text));
  const failed = all.reduce((sum, queue) => sum + queue.failed, 0);
  return (
    <>
      <Title
        title="Queues"
        sub={`${count(all.length, 'queue')}, ${digits(all.reduce((sum, queue) => sum + queue.available, 0))} jobs available, ${digits(all.reduce((sum, queue) => sum + queue.running, 0))} running, ${digits(failed)} failed`}
      >
        {failed > 0 ? (
          <ActButton
            act="job.redrive"
            question={{
              title: `Retry ${count(failed, 'dead letter')}?`,
              text: 'Every failed job of every queue becomes available again, with fresh budgets.',
              act: 'Retry all',
              run: async () => `${count((await call('job.redrive', {})).redriven, 'job')} will run again`,
            }}
          >
            Retry all dead letters
          </ActButton>
        ) : null}
      </Title>
      <div class="filters">
        <Text name="q" label="Search" search placeholder="queue" />
      </div>
      <Card>
        {!live.queues.value.ready ? (
          <Loading />
        ) : all.length === 0 ? (
          <Empty text="There is no queue. Add a job, and work on it:" command={'leasehold job add mail \'{"to":"ann"}\'\nleasehold work mail -- ./send-mail'} />
        ) : queues.length === 0 ? (
          <NoMatch noun="queues" filters={['q']} />
        ) : (
          <Table
            label="Queues"
            rows={queues}
            keyOf={(queue) => queue.name}
            columns={[
              { name: 'Queue', cell: (queue) => <Name queue={queue} /> },
              { name: 'State', cell: (queue) => <State state={queueState(queue)[0]} word={queueState(queue)[1]} /> },
              { name: 'Jobs', wide: true, cell: (queue) => <Mix queue={queue} /> },
              { name: 'Available', number: true, cell: (queue) => jobs(queue, 'available', queue.available) },
              { name: 'Running', number: true, cell: (queue) => jobs(queue, 'running', queue.running) },
              { name: 'Deferred', number: true, wide: true, cell: (queue) => jobs(queue, 'deferred', queue.deferred + queue.blocked) },
              { name: 'Failed', number: true, cell: (queue) => jobs(queue, 'failed', queue.failed) },
              { name: 'Done/min', number: true, cell: (queue) => short(queue.completed_last_minute) },
              { name: 'Oldest', number: true, cell: (queue) => (queue.oldest_at ? span(second.value - ms(queue.oldest_at)) : '–') },
              { name: 'Workers', number: true, cell: (queue) => queue.workers },
              { name: 'Acts', bare: true, cell: (queue) => pauseButton(queue) },
            ]}
          />
        )}
      </Card>
    </>
  );
}

function Name({ queue }: { queue: Queue }): JSX.Element {
  const limits = limitsOf(queue);
  return (
    <span class="what">
      <a class="row-open" href={href('queue', { name: queue.name })}>
        {visible(queue.name)}
      </a>
      {limits ? <span class="who-where">{limits}</span> : null}
    </span>
  );
}

export function Mix({ queue }: { queue: Queue }): JSX.Element {
  return (
    <Bar
      label={`${queue.running} running, ${queue.available} available, ${queue.deferred} deferred, ${queue.blocked} blocked, ${queue.failed} failed`}
      parts={[['live', queue.running], ['wait', queue.available], ['later', queue.deferred + queue.blocked], ['warn', queue.expired], ['bad', queue.failed]]}
    />
  );
}

const jobs = (queue: Queue, state: string, number: number): JSX.Element =>
  number === 0 ? <span class="quiet">0</span> : <a href={href('jobs', { queue: queue.name, state })}>{short(number)}</a>;

export function pauseButton(queue: Queue): JSX.Element {
  const name = queue.name;
  return queue.paused ? (
    <ActButton act="queue.resume" class="small" label={`Resume ${name}`} run={async () => { await call('queue.resume', { name }); return `${name} runs again`; }}>
      Resume
    </ActButton>
  ) : (
    <ActButton
      act="queue.pause"
      class="small"
      label={`Pause ${name}`}
      question={{
        title: `Pause ${name}?`,
        text: 'No job of it is claimed until you resume it. Running jobs go on.',
        act: 'Pause',
        fields: [reason(false)],
        run: async ({ reason: why }) => {
          await call('queue.pause', why ? { name, reason: why } : { name });
          return `${name} is paused`;
        },
      }}
    >
      Pause
    </ActButton>
  );
}
