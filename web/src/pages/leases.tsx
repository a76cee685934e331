// Leases with their holders and ends; and takeovers with both holders, the cause and the gap.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { live, rowsOf, type Row } from '../api/live';
import { useAct } from '../api/resource';
import { href, param, setQuery } from '../base/router';
import { count, visible } from '../base/text';
import { clock, ms, quarter, second, span } from '../base/time';
import type { Takeover } from '../timeline/history';
import { history, ownerOf, queueOfJob, startHistory, version } from '../timeline/live';
import { bestWindow, windows } from '../timeline/layout';
import { Timeline } from '../timeline/view';
import { gapWords, sentence } from '../timeline/words';
import { Choice, Select, Text } from '../ui/fields';
import { Card, Empty, hasFilter, Loading, NoMatch, Title, When, Who } from '../ui/parts';
import { Beats, Remaining, Ring } from '../ui/ring';
import { Kind, State } from '../ui/state';
import { Table } from '../ui/table';
import { Icon } from '../ui/icons';
import { revokeButton } from './revoke';

const kinds = ['lock', 'job', 'chunk', 'item', 'session', 'schedule', 'row'];
const choices = windows.map((one) => [String(one), one < 3600 ? `${one / 60} min` : `${one / 3600} h`] as const);
const most = 200;

function wantedLane(kind: string, key: string, holders: string[]): boolean {
  const text = param('q').toLowerCase();
  if (param('kind') && param('kind') !== kind) return false;
  if (param('holder') && !holders.includes(param('holder')) && holders.length > 0) return false;
  return !text || key.toLowerCase().includes(text) || holders.some((who) => who.toLowerCase().includes(text));
}

/** A lease expires without an event, so a row of the stream may still say that it is held. */
const stateOf = (lease: Row<'leases'>): string => (lease.state === 'running' && ms(lease.until) < quarter.value ? 'expired' : lease.state);

function wantedLease(lease: Row<'leases'>): boolean {
  if (param('state') && param('state') !== stateOf(lease)) return false;
  if (param('holder') && param('holder') !== lease.holder.name) return false;
  if (param('kind') && param('kind') !== lease.kind) return false;
  const text = param('q').toLowerCase();
  return !text || [lease.key, lease.holder.name, lease.holder.host, lease.session ?? ''].some((one) => one.toLowerCase().includes(text));
}

export function leaseHref(kind: string, key: string): string {
  switch (kind) {
    case 'job':
      return href('job', { id: key });
    case 'chunk':
      return href('sync', { name: key.slice(0, key.indexOf('/')), chunk: key.slice(key.indexOf('/') + 1) });
    case 'schedule':
      return href('schedule', { name: key });
    case 'item':
      return href('backlog', { item: key });
    case 'session':
      return href('backlog', { session: key });
    default:
      return href('leases', { kind, q: key });
  }
}

export function Leases(): JSX.Element {
  const chosen = useSignal<Takeover | null>(null);
  useEffect(() => void startHistory(), []);
  void version.value;
  const best = bestWindow(history, second.value);
  const window = Number(param('window') || best) * 1000;
  const end = Date.parse(param('at')) || 0;
  const leases = rowsOf('leases').filter(wantedLease);
  const expired = leases.filter((lease) => stateOf(lease) === 'expired').length;
  const takeovers = history.since((end || second.value) - window).filter((one) => !end || one.at <= end).filter((one) => wantedLane(one.kind, one.key, [one.from, one.to]));
  const zoom = (from: number, to: number): void => {
    const room = Math.max(2000, to - from) * 0.4;
    chosen.value = null;
    setQuery({ at: new Date(to + room).toISOString(), window: Math.ceil((to - from + 2 * room) / 1000) });
  };
  return (
    <>
      <Title
        title="Leases"
        sub={
          <>
            {count(leases.length - expired, 'lease')} held, {expired} expired ·{' '}
            {count(takeovers.length, 'takeover')} in {span(window)}{end ? ` before ${clock(end)}` : ''}
          </>
        }
      />
      <div class="filters">
        <Text name="q" label="Search" search placeholder="key, holder, host" />
        <Select name="kind" label="Kind" options={kinds} />
        <Select name="state" label="State" options={['running', 'expired']} />
        <Text name="holder" label="Holder" />
      </div>
      <Card
        title="Timeline"
        aside={
          <>
            <Choice name="by" label="Lanes" options={[['key', 'by key'], ['holder', 'by holder']]} />
            <Choice name="window" label="Window" options={choices} otherwise={String(best)} />
            {end ? <button class="small" onClick={() => setQuery({ at: '', window: '' })}>Back to now</button> : null}
          </>
        }
      >
        <Timeline grouping={param('by') === 'holder' ? 'holder' : 'key'} window={window} end={end} wanted={wantedLane} chosen={chosen.value} onChoose={(one) => (chosen.value = one)} onZoom={zoom} />
      </Card>
      <Takeovers all={takeovers} chosen={chosen.value} onChoose={(one) => (chosen.value = one)} />
      <Live leases={leases} />
    </>
  );
}

function Takeovers({ all, chosen, onChoose }: { all: Takeover[]; chosen: Takeover | null; onChoose: (one: Takeover | null) => void }): JSX.Element | null {
  if (all.length === 0) return null;
  const shown = all.slice(0, 6);
  if (chosen && !shown.includes(chosen)) shown.unshift(chosen);
  return (
    <Card title="Takeovers" aside={<span class="quiet">the newest {shown.length} of {all.length}</span>}>
      <ol class="stories">
        {shown.map((one) => (
          <li key={`${one.key}${one.from}${one.at}`} class={one === chosen ? 'story story-chosen' : 'story'} title={sentence(one)}>
            <button class="story-act" onClick={() => onChoose(one === chosen ? null : one)}>
              <span class="story-what">
                <Kind kind={one.kind} />
                <b>{visible(one.key)}</b>
              </span>
              <span class="story-from">
                <Icon name="failed" />
                {visible(one.from)}
              </span>
              <span class="story-why">
                <span class="story-cause">{visible([one.cause, one.extent].filter(Boolean).join(' · '))}</span>
                <svg class="story-arrow" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
                  <path d="M0 4H97" />
                </svg>
                <span class="story-gap">{gapWords(one)}</span>
              </span>
              <span class="story-to">
                <Icon name="arrow" />
                {one.to ? visible(one.to) : 'not taken yet'}
              </span>
              <span class="story-when">
                <When at={one.at} />
              </span>
            </button>
          </li>
        ))}
      </ol>
    </Card>
  );
}

function Live({ leases }: { leases: Row<'leases'>[] }): JSX.Element {
  const table = live.leases.value;
  // Only the list of locks counts the waiters.
  const locks = useAct('lock.list', { only_held: true, max: 500 }, ['leases'], 3000);
  const waiting = new Map(locks.value.data?.items.map((lock) => [lock.name, lock.waiters]));
  const waitersOf = (lease: Row<'leases'>): number => (lease.kind === 'lock' ? (waiting.get(lease.key) ?? lease.waiters) : lease.waiters);
  const sorted = [...leases].sort((a, b) => a.kind.localeCompare(b.kind) || a.key.localeCompare(b.key, 'en', { numeric: true }));
  const filtered = hasFilter('q', 'kind', 'state', 'holder');
  return (
    <Card title="Held now" aside={table.truncated ? <span class="quiet">the first 2,000 to expire</span> : null}>
      {leases.length === 0 ? (
        !table.ready ? (
          <Loading />
        ) : filtered ? (
          <NoMatch noun="leases" filters={['q', 'kind', 'state', 'holder']} />
        ) : (
          <Empty text="Nothing is held. Hold something:" command="leasehold lock run deploy -- sleep 60" />
        )
      ) : (
        <Table
          label="Leases"
          rows={sorted.slice(0, most)}
          keyOf={(lease) => lease.row}
          rowClass={(lease) => (stateOf(lease) === 'expired' ? 'row-warn' : '')}
          columns={[
            { name: 'Left', bare: true, cell: (lease) => <Ring until={ms(lease.until)} ttl={(lease.ttl_seconds ?? 0) * 1000} /> },
            { name: 'What', cell: (lease) => <What lease={lease} /> },
            { name: 'State', cell: (lease) => <State state={stateOf(lease)} word={stateOf(lease) === 'running' ? 'held' : stateOf(lease)} /> },
            { name: 'Frees in', number: true, cell: (lease) => <Remaining until={ms(lease.until)} /> },
            { name: 'Holder', cell: (lease) => <Owner lease={lease} /> },
            { name: 'Held for', wide: true, cell: (lease) => <span class="num">{span(second.value - ms(lease.since))}</span> },
            { name: 'Heartbeats', wide: true, cell: (lease) => <Beats beats={beatsOf(lease)} start={ms(lease.since)} /> },
            { name: 'Waiting', number: true, cell: (lease) => (waitersOf(lease) > 0 ? <b class="waiters">{waitersOf(lease)}</b> : <span class="quiet">0</span>) },
            { name: 'Acts', bare: true, cell: (lease) => revokeButton(lease) },
          ]}
        />
      )}
      {sorted.length > most ? <p class="note">The first {most} of {sorted.length} are shown. Search to see others.</p> : null}
    </Card>
  );
}

function What({ lease }: { lease: Row<'leases'> }): JSX.Element {
  const queue = lease.kind === 'job' ? queueOfJob.get(lease.key) : undefined;
  return (
    <span class="what">
      <Kind kind={lease.kind} />
      <a class="row-open" href={leaseHref(lease.kind, lease.key)}>
        {visible(queue ? `${queue} ${lease.key}` : lease.key)}
      </a>
      {lease.label ? <span class="who-where">{visible(lease.label)}</span> : null}
    </span>
  );
}

/** The owner of an item is its session, and the holder only the session's process. */
function Owner({ lease }: { lease: Row<'leases'> }): JSX.Element {
  if (lease.kind !== 'item') return <Who holder={lease.holder} />;
  return <Who holder={{ ...lease.holder, name: ownerOf(lease) }} />;
}

function beatsOf(lease: Row<'leases'>): number[] {
  const job = lease.kind === 'job' ? lease.key : '';
  const key = job ? (queueOfJob.get(job) ?? '') : lease.key;
  const grants = history.lanes.get(`${lease.kind}/${key}`)?.grants ?? [];
  const beats = grants.filter((grant) => grant.end === null && grant.job === job && grant.who === ownerOf(lease)).pop()?.beats ?? [];
  return beats.length > 0 ? beats : [ms(lease.heartbeat_at)];
}
