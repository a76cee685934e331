// Schedules: each rule in words, the next run, and the last fifty runs as a strip.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { call } from '../api/call';
import { live, rowsOf, type Row } from '../api/live';
import { useAct } from '../api/resource';
import type { RunInfo } from '../api/types';
import { href, param } from '../base/router';
import { count, visible } from '../base/text';
import { moment, ms, span } from '../base/time';
import { ActButton, reason } from '../ui/act';
import { Text } from '../ui/fields';
import { Card, Empty, Loading, NoMatch, Title, When } from '../ui/parts';
import { State, toneOf } from '../ui/state';
import { Table } from '../ui/table';
import { ruleOf } from './rule';

type Schedule = Row<'schedules'>;

export function Schedules(): JSX.Element {
  const all = rowsOf('schedules').sort((a, b) => a.name.localeCompare(b.name));
  const shown = all.filter((one) => one.name.toLowerCase().includes(param('q').toLowerCase()));
  const chosen = useSignal<ReadonlySet<string>>(new Set());
  const toggle = (name: string): void => {
    const next = new Set(chosen.value);
    if (!next.delete(name)) next.add(name);
    chosen.value = next;
  };
  return (
    <>
      <Title title="Schedules" sub={`${count(all.length, 'schedule')}, ${all.filter((one) => one.state === 'running').length} running, ${all.filter((one) => one.paused_at).length} paused`} />
      <div class="filters">
        <Text name="q" label="Search" search placeholder="schedule" />
      </div>
      <Card title="Schedules" aside={<Several names={[...chosen.value]} done={() => (chosen.value = new Set())} />}>
        {!live.schedules.value.ready ? (
          <Loading />
        ) : all.length === 0 ? (
          <Empty text="There is no schedule. Run something every ten to fifteen minutes:" command="leasehold schedule run refresh --every 10m-15m -- ./refresh" />
        ) : shown.length === 0 ? (
          <NoMatch noun="schedules" filters={['q']} />
        ) : (
          <Table
            label="Schedules"
            rows={shown}
            keyOf={(one) => one.name}
            choose={{ chosen: chosen.value, toggle, name: (one) => one.name }}
            columns={[
              { name: 'Schedule', cell: (one) => <Name schedule={one} /> },
              { name: 'State', cell: (one) => <State state={one.state} /> },
              { name: 'Last 50 runs', wide: true, cell: (one) => <Strip name={one.name} version={one.last?.occurrence ?? ''} /> },
              { name: 'Last', number: true, cell: (one) => <Last run={one.last} /> },
              { name: 'Next', number: true, cell: (one) => (one.paused_at ? <span class="quiet">paused</span> : <When at={one.next_run_at} future />) },
              { name: 'Acts', bare: true, cell: (one) => <RunNow schedule={one} /> },
            ]}
          />
        )}
      </Card>
    </>
  );
}

function Name({ schedule }: { schedule: Schedule }): JSX.Element {
  return (
    <span class="what">
      <a class="row-open" href={href('schedule', { name: schedule.name })}>{visible(schedule.name)}</a>
      <span class="who-where">{visible(ruleOf(schedule))}</span>
    </span>
  );
}

function Last({ run }: { run: RunInfo | null }): JSX.Element {
  if (!run) return <span class="quiet">–</span>;
  return (
    <span class="last">
      <State state={run.outcome} /> <When at={run.finished_at ?? run.started_at ?? run.occurrence} />
    </span>
  );
}

/** The oldest run is on the left. The height of a bar shows how long the run took; a dot is an occurrence without a run. */
export function Strip({ name, version }: { name: string; version: string }): JSX.Element {
  const runs = useAct('schedule.history', { name, max: 50 }, [], 0);
  const seen = useSignal(version);
  if (seen.peek() !== version) {
    seen.value = version;
    runs.again();
  }
  const items = [...(runs.value.data?.items ?? [])].reverse();
  const longest = Math.max(0.001, ...items.map((run) => run.took_seconds ?? 0));
  const bad = items.filter((run) => run.outcome === 'failed' || run.outcome === 'lost').length;
  return (
    <svg class="strip-runs" viewBox="0 0 250 26" width="250" height="26" role="img" aria-label={`${count(items.length, 'run')}, ${bad} failed or lost`}>
      {items.map((run, index) => {
        const size = run.outcome === 'skipped' ? 4 : 7 + ((run.took_seconds ?? 0) / longest) * 18;
        return (
          <rect key={run.occurrence} class={`fill-${toneOf(run.outcome)}`} x={(50 - items.length + index) * 5} y={26 - size} width="4" height={size} rx="1">
            <title>{`${moment(ms(run.occurrence))}: ${run.outcome}${run.took_seconds === null ? '' : `, ${span(run.took_seconds * 1000)}`}`}</title>
          </rect>
        );
      })}
    </svg>
  );
}

export function RunNow({ schedule }: { schedule: Schedule }): JSX.Element {
  return (
    <ActButton
      act="schedule.trigger"
      class="small"
      label={`Run now: ${schedule.name}`}
      disabled={schedule.paused_at !== null}
      run={async () => {
        await call('schedule.trigger', { name: schedule.name });
        return schedule.state === 'running' ? `${schedule.name} runs once more after this run` : `${schedule.name} is due now`;
      }}
    >
      Run now
    </ActButton>
  );
}

function Several({ names, done }: { names: string[]; done: () => void }): JSX.Element {
  const paused = rowsOf('schedules').filter((one) => names.includes(one.name) && one.paused_at).map((one) => one.name);
  const running = names.filter((name) => !paused.includes(name));
  if (names.length === 0) return <span class="quiet">Choose some to pause or resume them.</span>;
  return (
    <>
      <ActButton
        act="schedule.pause"
        class="small"
        disabled={running.length === 0}
        question={{
          title: `Pause ${count(running.length, 'schedule')}?`,
          text: visible(running.join(', ')),
          act: 'Pause',
          fields: [reason(false)],
          run: async ({ reason: why }) => {
            for (const name of running) await call('schedule.pause', why ? { name, reason: why } : { name });
            done();
            return `${count(running.length, 'schedule')} paused`;
          },
        }}
      >
        Pause {running.length}
      </ActButton>
      <ActButton
        act="schedule.resume"
        class="small"
        disabled={paused.length === 0}
        run={async () => {
          for (const name of paused) await call('schedule.resume', { name });
          done();
          return `${count(paused.length, 'schedule')} resumed`;
        }}
      >
        Resume {paused.length}
      </ActButton>
    </>
  );
}
