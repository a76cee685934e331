// One schedule: its rule in words, the next five occurrences, and what every run did.
import type { JSX } from 'preact';
import { useSignal } from '@preact/signals';
import { call } from '../api/call';
import { live } from '../api/live';
import { useAct, usePages } from '../api/resource';
import type { RunInfo } from '../api/types';
import { href, param } from '../base/router';
import { visible } from '../base/text';
import { exact, moment, ms, seconds, span } from '../base/time';
import { ActButton, reason } from '../ui/act';
import { Card, Empty, Fact, Loading, Moment, More, Show, Title, When, Who } from '../ui/parts';
import { Remaining, Ring } from '../ui/ring';
import { State } from '../ui/state';
import { Table } from '../ui/table';
import { ruleOf } from './rule';
import { RunNow, Strip } from './schedules';

export function SchedulePage(): JSX.Element {
  const name = param('name');
  const schedule = live.schedules.value.rows.get(name);
  const next = useAct('schedule.next', { name, max: 5 }, ['schedules'], 60_000);
  if (!schedule) {
    return (
      <>
        <Title title={name || 'Schedule'} />
        {live.schedules.value.ready ? <Empty text={`There is no schedule "${visible(name)}".`} command={`leasehold schedule run ${name || 'refresh'} --every 10m-15m -- ./refresh`} /> : <Loading />}
      </>
    );
  }
  const held = schedule.held_by;
  return (
    <>
      <Title title={name} sub={<><State state={schedule.state} /> {visible(ruleOf(schedule))}{schedule.pause_reason ? ` · ${visible(schedule.pause_reason)}` : ''}</>}>
        <RunNow schedule={schedule} />
        <PauseOne name={name} paused={schedule.paused_at !== null} />
      </Title>
      {held ? (
        <Card>
          <div class="running">
            <Ring until={ms(held.until)} ttl={(held.ttl_seconds ?? 0) * 1000} />
            <Who holder={held.holder} />
            <span>runs since <When at={held.since} /></span>
            <span>lease <Remaining until={ms(held.until)} /></span>
          </div>
        </Card>
      ) : null}
      <div class="two">
        <Card title="Next occurrences">
          <Show of={next.value}>
            {(data) => (
              <ol class="next">
                {(data.items.length > 0 ? data.items : [{ at: schedule.next_run_at }]).map((one) => (
                  <li key={one.at}>
                    <span class="num" title={exact(ms(one.at))}>{moment(ms(one.at))}</span> <span class="quiet"><When at={one.at} future /></span>
                  </li>
                ))}
              </ol>
            )}
          </Show>
        </Card>
        <Card title="Settings">
          <dl class="facts">
            <Fact label="lease lasts">{seconds(schedule.ttl_seconds)}</Fact>
            <Fact label="missed runs">{schedule.misfire}, after {seconds(schedule.misfire_after_seconds)}</Fact>
            <Fact label="jitter">{schedule.jitter_seconds > 0 ? seconds(schedule.jitter_seconds) : 'none'}</Fact>
            <Fact label="queue">{schedule.queue ? <a href={href('queue', { name: schedule.queue })}>{visible(schedule.queue)}</a> : '–'}</Fact>
          </dl>
        </Card>
      </div>
      <Runs name={name} version={schedule.last?.occurrence ?? ''} />
    </>
  );
}

function PauseOne({ name, paused }: { name: string; paused: boolean }): JSX.Element {
  return paused ? (
    <ActButton act="schedule.resume" run={async () => { await call('schedule.resume', { name }); return `${name} goes on`; }}>
      Resume
    </ActButton>
  ) : (
    <ActButton
      act="schedule.pause"
      question={{
        title: `Pause ${name}?`,
        text: 'No run begins until you resume it. A run in progress goes on.',
        act: 'Pause',
        fields: [reason(false)],
        run: async ({ reason: why }) => { await call('schedule.pause', why ? { name, reason: why } : { name }); return `${name} is paused`; },
      }}
    >
      Pause
    </ActButton>
  );
}

function Runs({ name, version }: { name: string; version: string }): JSX.Element {
  const pages = useSignal(1);
  const runs = usePages<'schedule.history', RunInfo>('schedule.history', { name, max: 50 }, pages.value, ['schedules']);
  return (
    <Card title="Runs" aside={<Strip name={name} version={version} />}>
      <Show of={runs.value}>
        {({ items, next }) =>
          items.length === 0 ? (
            <p class="quiet">It has not run yet.</p>
          ) : (
            <>
              <Table
                label="Runs"
                rows={items}
                keyOf={(run) => run.occurrence}
                columns={[
                  { name: 'Occurrence', cell: (run) => <Moment at={run.occurrence} /> },
                  { name: 'Outcome', cell: (run) => <State state={run.outcome} /> },
                  { name: 'Cause', cell: (run) => visible(run.cause) },
                  { name: 'Took', number: true, cell: (run) => (run.took_seconds === null ? '–' : span(run.took_seconds * 1000)) },
                  { name: 'Holder', cell: (run) => <Who holder={run.holder} /> },
                  { name: 'Note', cell: (run) => <Note run={run} /> },
                ]}
              />
              <More next={next} onMore={() => { pages.value += 1; runs.again(); }} />
            </>
          )
        }
      </Show>
    </Card>
  );
}

function Note({ run }: { run: RunInfo }): JSX.Element {
  if (run.job_id) return <a class="row-open" href={href('job', { id: run.job_id })}>job {run.job_id}</a>;
  const counts = run.counts ? JSON.stringify(run.counts) : '';
  const text = run.error ?? run.reason ?? counts;
  return <span class={run.error ? 'bad-text' : 'quiet'}>{visible(text) || '–'}{run.missed > 0 ? `, ${run.missed} missed` : ''}</span>;
}
