// Syncs: a cell per chunk by its state, rows per second, time left.
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { live, rowsOf, type Row } from '../api/live';
import { href, param } from '../base/router';
import { count, digits, short, visible } from '../base/text';
import { ms, second, span } from '../base/time';
import { Text } from '../ui/fields';
import { Bar, Card, Empty, Loading, NoMatch, Title, When } from '../ui/parts';
import { State } from '../ui/state';
import { Table } from '../ui/table';

type ChunkSet = Row<'chunks'>;

/** What the page saw of each set: two looks are enough to compute rows per second and the time left. */
const looks = signal(new Map<string, { at: number; rows: number; done: number }[]>());

export function noteSets(): void {
  const now = second.value;
  for (const set of rowsOf('chunks')) {
    const list = looks.peek().get(set.name) ?? [];
    const done = set.completed + set.skipped;
    const last = list[list.length - 1];
    if (!last || now - last.at > 2000) list.push({ at: now, rows: set.rows, done });
    while (list.length > 2 && now - (list[0]?.at ?? now) > 90_000) list.shift();
    looks.peek().set(set.name, list);
  }
}

export function paceOf(set: ChunkSet): { rows: number; left: number } | null {
  const list = looks.peek().get(set.name) ?? [];
  const first = list[0];
  const last = list[list.length - 1];
  if (!first || !last || last.at - first.at < 3000 || set.state !== 'running') return null;
  const seconds = (last.at - first.at) / 1000;
  const chunks = (last.done - first.done) / seconds;
  const open = set.total - set.completed - set.skipped - set.exhausted;
  return { rows: (last.rows - first.rows) / seconds, left: chunks > 0 ? (open / chunks) * 1000 : NaN };
}

export function setParts(set: ChunkSet): [string, number][] {
  return [['good', set.completed], ['quiet', set.skipped], ['live', set.running], ['warn', set.expired], ['bad', set.exhausted], ['later', set.deferred], ['wait', set.available]];
}

export const percent = (set: ChunkSet): number => (set.total === 0 ? 0 : Math.floor(((set.completed + set.skipped) / set.total) * 100));

export function Syncs(): JSX.Element {
  void second.value;
  noteSets();
  const all = rowsOf('chunks').sort((a, b) => Number(b.state === 'running') - Number(a.state === 'running') || a.name.localeCompare(b.name));
  const sets = all.filter((set) => set.name.toLowerCase().includes(param('q').toLowerCase()));
  return (
    <>
      <Title title="Syncs" sub={`${count(all.length, 'set')}, ${all.filter((set) => set.state === 'running').length} at work`} />
      <div class="filters">
        <Text name="q" label="Search" search placeholder="set" />
      </div>
      <Card>
        {!live.chunks.value.ready ? (
          <Loading />
        ) : all.length === 0 ? (
          <Empty text="There is no sync. Plan one, and start a loader:" command={'leasehold chunk plan orders --range 1..2000000 --size 50000\nleasehold chunk run orders -- ./load'} />
        ) : sets.length === 0 ? (
          <NoMatch noun="sets" filters={['q']} />
        ) : (
          <Table
            label="Syncs"
            rows={sets}
            keyOf={(set) => set.name}
            columns={[
              { name: 'Set', cell: (set) => <a class="row-open" href={href('sync', { name: set.name })}>{visible(set.name)}</a> },
              { name: 'State', cell: (set) => <State state={set.state} word={set.state === 'partial' ? set.summary : set.state} /> },
              { name: 'Progress', cell: (set) => <Progress set={set} /> },
              { name: 'Chunks', number: true, cell: (set) => `${digits(set.completed + set.skipped)} / ${digits(set.total)}` },
              { name: 'Running', number: true, cell: (set) => set.running },
              { name: 'Rows', number: true, cell: (set) => short(set.rows) },
              { name: 'Rows/s', number: true, cell: (set) => { const pace = paceOf(set); return pace ? short(Math.round(pace.rows)) : '–'; } },
              { name: 'Left', number: true, cell: (set) => { const pace = paceOf(set); return pace && !Number.isNaN(pace.left) ? span(pace.left) : '–'; } },
              { name: 'Planned', number: true, wide: true, cell: (set) => <When at={ms(set.planned_at)} /> },
            ]}
          />
        )}
      </Card>
    </>
  );
}

function Progress({ set }: { set: ChunkSet }): JSX.Element {
  return (
    <span class="progress">
      <Bar parts={setParts(set)} label={`${percent(set)} % done`} />
      <b class="num">{percent(set)} %</b>
    </span>
  );
}
