// The store: its workers, events as they come, what was recovered, the findings of doctor, API tokens.
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { call } from '../api/call';
import { greetings, onEvent, rowsOf } from '../api/live';
import { useAct } from '../api/resource';
import type { Event, StoreReport } from '../api/types';
import { param } from '../base/router';
import { count, digits, roughly, visible } from '../base/text';
import { seconds } from '../base/time';
import { ActButton } from '../ui/act';
import { Text } from '../ui/fields';
import { Card, Empty, Fact, Moment, Show, Title, When, Who } from '../ui/parts';
import { Kind, State } from '../ui/state';
import { Table } from '../ui/table';
import { AuditLog, Tokens } from './access';

export function StorePage(): JSX.Element {
  const report = useAct('store.status', {}, [], 10_000);
  const data = report.value.data;
  return (
    <>
      <Title title="Store" sub={data ? `${data.backend}, schema version ${data.schema_version}` : undefined}>
        <ActButton
          act="store.recover"
          run={async () => {
            const found = await call('store.recover', {});
            report.again();
            return found.leases + found.locks === 0 ? 'No lease had expired.' : `${count(found.leases, 'lease')} and ${count(found.locks, 'lock')} recovered`;
          }}
        >
          Recover now
        </ActButton>
      </Title>
      <Show of={report.value}>{(status) => <Facts status={status} />}</Show>
      <Workers />
      <div class="two">
        <Events />
        <div>
          <Doctor />
          {data ? <Recovery status={data} /> : null}
        </div>
      </div>
      <Tokens />
      <AuditLog />
    </>
  );
}

function Facts({ status }: { status: StoreReport }): JSX.Element {
  return (
    <Card>
      <dl class="facts">
        <Fact label="leases held"><span class="large num">{digits(status.held_leases)}</span></Fact>
        <Fact label="expired"><span class="large num">{digits(status.expired_leases)}</span></Fact>
        <Fact label="ended, still kept"><span class="large num">{roughly(status.ended_leases)}</span></Fact>
        <Fact label="waiters"><span class="large num">{digits(status.waiters)}</span></Fact>
        <Fact label="events"><span class="large num">{roughly(status.events)}</span></Fact>
        <Fact label="jobs are kept">{kept(status.retention.keep_jobs_seconds)}</Fact>
        <Fact label="failed jobs">{kept(status.retention.keep_failed_seconds)}</Fact>
        <Fact label="history">{kept(status.retention.keep_history_seconds)}</Fact>
      </dl>
    </Card>
  );
}

const kept = (value: number | null): string => (value === null ? 'for ever' : seconds(value));

function Workers(): JSX.Element {
  const workers = rowsOf('workers').sort((a, b) => a.holder.name.localeCompare(b.holder.name));
  return (
    <Card title={`Workers (${workers.length})`}>
      {workers.length === 0 ? (
        <Empty text="No worker listens." command="leasehold work mail -- ./send-mail" />
      ) : (
        <Table
          label="Workers"
          rows={workers}
          keyOf={(worker) => worker.row}
          columns={[
            { name: 'Worker', cell: (worker) => <Who holder={worker.holder} /> },
            { name: 'Queues', cell: (worker) => visible(worker.queues.join(', ')) },
            { name: 'Running', number: true, cell: (worker) => `${worker.running} of ${worker.concurrency}` },
            { name: 'Heartbeat', number: true, cell: (worker) => <When at={worker.heartbeat_at} /> },
            { name: 'Started', number: true, wide: true, cell: (worker) => <When at={worker.since} /> },
          ]}
        />
      )}
    </Card>
  );
}

const most = 200;
const events = signal<Event[]>([]);

function Events(): JSX.Element {
  useEffect(() => {
    const stop = onEvent((event) => {
      if (!events.peek().some((one) => one.id === event.id)) events.value = [event, ...events.peek()].slice(0, most);
    });
    void call('event.list', { max: most })
      .then(({ items }) => {
        const known = new Map([...events.peek(), ...items].map((event) => [event.id, event]));
        events.value = [...known.values()].sort((a, b) => b.id - a.id).slice(0, most);
      })
      .catch(() => undefined);
    return stop;
  }, [greetings.value]);
  const text = param('q').toLowerCase();
  const shown = events.value.filter((event) => `${event.kind} ${event.key} ${event.what} ${event.holder?.name ?? ''}`.toLowerCase().includes(text));
  return (
    <Card title="Events" aside={<Text name="q" label="Search events" search placeholder="key, holder, what" />}>
      {shown.length === 0 ? (
        <Empty text={text ? 'No event of the newest 200 matches.' : 'Nothing has happened yet.'} command="leasehold events --follow" />
      ) : (
        <ol class="events events-box" tabIndex={0} aria-label="Events, the newest first">
          {shown.map((event) => (
            <li key={event.id}>
              <Moment at={event.at} /> <Kind kind={event.kind} /> <b>{visible(event.key)}</b> {visible(event.what)}{' '}
              {event.holder ? <span>by {visible(event.holder.name)}</span> : null}
              {event.previous_holder ? <span class="bad-text"> from {visible(event.previous_holder.name)}</span> : null}
              {event.detail ? <span class="quiet"> {visible(event.detail)}</span> : null}
            </li>
          ))}
        </ol>
      )}
    </Card>
  );
}

function Doctor(): JSX.Element {
  const doctor = useAct('store.doctor', {}, [], 120_000);
  return (
    <Card title="Doctor" aside={<button class="small" onClick={() => doctor.again()}>Check again</button>}>
      <Show of={doctor.value}>
        {(data) => (
          <ul class="lines">
            {data.items.map((finding) => (
              <li key={finding.what}>
                <State state={finding.level} /> {visible(finding.what)}
                {finding.advice ? <span class="quiet"> {visible(finding.advice)}</span> : null}
              </li>
            ))}
          </ul>
        )}
      </Show>
    </Card>
  );
}

const reasons: Record<string, string> = { process_gone: 'process gone', claim: 'a claim found it', recover: 'recover' };

function Recovery({ status }: { status: StoreReport }): JSX.Element {
  const { totals } = status.recovery;
  return (
    <Card title="Recovered">
      {totals.length === 0 ? (
        <p class="quiet">Nothing had to be recovered yet.</p>
      ) : (
        <Table
          label="Recovered"
          rows={totals}
          keyOf={(total) => total.reason}
          columns={[
            { name: 'By', cell: (total) => visible(reasons[total.reason] ?? total.reason) },
            { name: 'Leases', number: true, cell: (total) => digits(total.leases) },
            { name: 'Jobs', number: true, cell: (total) => digits(total.jobs) },
            { name: 'Chunks', number: true, cell: (total) => digits(total.chunks) },
            { name: 'Claims', number: true, cell: (total) => digits(total.claims) },
            { name: 'Last', number: true, cell: (total) => <When at={total.last_at} /> },
          ]}
        />
      )}
    </Card>
  );
}
