// One queue: its states, limits and workers, why its oldest job waits, and its errors grouped by message.
import type { JSX } from 'preact';
import { call } from '../api/call';
import { live, rowsOf, type Row } from '../api/live';
import { useAct } from '../api/resource';
import { href, param } from '../base/router';
import { count, digits, visible } from '../base/text';
import { ms, second, seconds, span } from '../base/time';
import { ActButton } from '../ui/act';
import { Card, Empty, Fact, Loading, Moment, Show, Title, When, Who } from '../ui/parts';
import { State } from '../ui/state';
import { Table } from '../ui/table';
import { enqueueQuestion } from './enqueue';
import { useCompleted } from './totals';
import { limitsOf, Mix, pauseButton, queueState } from './queues';
import type { JobError } from '../api/types';

type Row_ = Row<'queues'>;

export function QueuePage(): JSX.Element {
  const name = param('name');
  const queue = live.queues.value.rows.get(name);
  const completed = useCompleted(name);
  if (!queue) {
    return (
      <>
        <Title title={name || 'Queue'} />
        {live.queues.value.ready ? <Empty text={`There is no queue "${visible(name)}". The first job creates it:`} command={`leasehold job add ${name || 'mail'} '{}'`} /> : <Loading />}
      </>
    );
  }
  const [state, word] = queueState(queue);
  return (
    <>
      <Title title={queue.name} sub={<><State state={state} word={word} /> {visible(queue.pause_reason ?? limitsOf(queue))}</>}>
        <ActButton act="job.enqueue" class="primary" question={() => enqueueQuestion(name)}>Add a job</ActButton>
        {pauseButton(queue)}
        <Purge queue={queue} />
      </Title>
      {queue.wait ? <p class="because"><b>Why does it wait?</b> {visible(queue.wait.text)}</p> : null}
      <Card title="Jobs" aside={<a href={href('jobs', { queue: name })}>show the jobs</a>}>
        <Mix queue={queue} />
        <dl class="facts queue-facts">
          {(['running', 'available', 'deferred', 'blocked', 'expired', 'failed'] as const).map((one) => (
            <Fact key={one} label={one}>
              <a class="large num" href={href('jobs', { queue: name, state: one })}>{digits(queue[one])}</a>
            </Fact>
          ))}
          <Fact label="completed in all"><span class="large num">{completed || '–'}</span></Fact>
          <Fact label="done per minute"><span class="large num">{digits(queue.completed_last_minute)}</span></Fact>
          <Fact label="failed or expired per minute"><span class="large num">{digits(queue.failed_last_minute)}</span></Fact>
        </dl>
      </Card>
      <div class="two">
        <Limits queue={queue} />
        <Workers name={name} />
      </div>
      <Errors name={name} />
    </>
  );
}

function Limits({ queue }: { queue: Row_ }): JSX.Element {
  return (
    <Card title="Settings" aside={<SetLimits queue={queue} />}>
      <dl class="facts">
        <Fact label="at most at once">{queue.max_running ?? 'any number'}</Fact>
        <Fact label="per group">{queue.max_per_group ?? 'any number'}</Fact>
        <Fact label="rate">{queue.rate_count === null ? 'none' : `${queue.rate_count} per ${seconds(queue.rate_period_seconds)}`}</Fact>
        <Fact label="lease lasts">{queue.default_ttl_seconds === null ? 'as the worker says' : seconds(queue.default_ttl_seconds)}</Fact>
        <Fact label="time limit">{queue.timeout_seconds === null ? 'none' : seconds(queue.timeout_seconds)}</Fact>
        <Fact label="oldest job">{queue.oldest_at ? span(second.value - ms(queue.oldest_at)) : '–'}</Fact>
        <Fact label="next is due"><When at={queue.next_due_at} future /></Fact>
        <Fact label="a worker asked"><When at={queue.asked_at} /></Fact>
      </dl>
    </Card>
  );
}

const numberOrNull = (text: string | undefined): number | null => (text ? Number(text) : null);

function SetLimits({ queue }: { queue: Row_ }): JSX.Element {
  return (
    <ActButton
      act="queue.set"
      class="small"
      question={() => ({
        title: `Limits of ${queue.name}`,
        act: 'Set',
        text: 'An empty field removes the limit.',
        fields: [
          { name: 'max_running', label: 'Jobs at once', type: 'number', value: String(queue.max_running ?? '') },
          { name: 'max_per_group', label: 'Jobs at once per group', type: 'number', value: String(queue.max_per_group ?? '') },
        ],
        run: async (values) => {
          await call('queue.set', { name: queue.name, max_running: numberOrNull(values['max_running']), max_per_group: numberOrNull(values['max_per_group']) });
          return `${queue.name} has new limits`;
        },
      })}
    >
      Change
    </ActButton>
  );
}

function Purge({ queue }: { queue: Row_ }): JSX.Element {
  const waiting = queue.available + queue.deferred + queue.blocked;
  return (
    <ActButton
      act="queue.purge"
      class="danger-quiet"
      disabled={waiting === 0}
      question={{
        title: `Cancel ${count(waiting, 'waiting job')} of ${queue.name}?`,
        text: 'Every waiting job is cancelled. Running jobs go on.',
        act: 'Cancel them',
        danger: true,
        run: async () => `${count((await call('queue.purge', { name: queue.name })).purged, 'job')} cancelled`,
      }}
    >
      Cancel all waiting
    </ActButton>
  );
}

function Workers({ name }: { name: string }): JSX.Element {
  const workers = rowsOf('workers').filter((worker) => worker.queues.includes(name) || worker.queues.includes('*'));
  return (
    <Card title="Workers">
      {workers.length === 0 ? (
        <Empty text="No worker listens to this queue." command={`leasehold work ${name} -- ./handle`} />
      ) : (
        <Table
          label="Workers"
          rows={workers}
          keyOf={(worker) => worker.row}
          columns={[
            { name: 'Worker', cell: (worker) => <Who holder={worker.holder} /> },
            { name: 'Running', number: true, cell: (worker) => `${worker.running} of ${worker.concurrency}` },
            { name: 'Heartbeat', number: true, cell: (worker) => <When at={worker.heartbeat_at} /> },
          ]}
        />
      )}
    </Card>
  );
}

interface Group {
  text: string;
  times: number;
  latest: JobError;
}

/** Errors that differ only in their numbers are one group. */
export function grouped(errors: JobError[]): Group[] {
  const groups = new Map<string, Group>();
  for (const error of errors) {
    const text = error.error.replace(/\b(0x)?[0-9a-f]*\d[0-9a-f]*\b/gi, '#').slice(0, 300);
    const group = groups.get(text);
    if (!group) groups.set(text, { text, times: 1, latest: error });
    else {
      group.times += 1;
      if (error.at > group.latest.at) group.latest = error;
    }
  }
  return [...groups.values()].sort((a, b) => b.times - a.times);
}

function Errors({ name }: { name: string }): JSX.Element {
  const errors = useAct('job.errors', { queue: name, max: 200 }, ['queues']);
  return (
    <Card title="Errors, grouped by message">
      <Show of={errors.value}>
        {(data) =>
          data.items.length === 0 ? (
            <p class="quiet">No job of this queue has failed lately.</p>
          ) : (
            <Table
              label="Errors"
              rows={grouped(data.items)}
              keyOf={(group) => group.text}
              columns={[
                { name: 'Error', cell: (group) => <code>{visible(group.text)}</code> },
                { name: 'Times', number: true, cell: (group) => group.times },
                { name: 'Latest', number: true, cell: (group) => <Moment at={group.latest.at} /> },
                { name: 'Job', number: true, cell: (group) => <a class="row-open" href={href('job', { id: group.latest.id })}>{group.latest.id}</a> },
              ]}
            />
          )
        }
      </Show>
    </Card>
  );
}

