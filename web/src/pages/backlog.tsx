// The backlog: sessions and items by state and owner, whether a session is alive, and whether it makes progress.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { call } from '../api/call';
import { live, rowsOf, type Row } from '../api/live';
import { usePages } from '../api/resource';
import type { ItemInfo } from '../api/types';
import { href, param } from '../base/router';
import { count, visible } from '../base/text';
import { ms, second, span } from '../base/time';
import { ActButton, reason } from '../ui/act';
import { Select, Text } from '../ui/fields';
import { Card, Empty, hasFilter, More, Loading, NoMatch, Show, Title, When, Who } from '../ui/parts';
import { Remaining, Ring } from '../ui/ring';
import { State } from '../ui/state';
import { Table } from '../ui/table';

type Session = Row<'sessions'>;
const urgency = ['stale', 'active', 'idle', 'released'];

export function Backlog(): JSX.Element {
  const sessions = rowsOf('sessions');
  const alive = sessions.filter((session) => session.state === 'active' || session.state === 'idle').length;
  return (
    <>
      <Title title="Backlog" sub={`${count(alive, 'live session')}, ${sessions.filter((one) => one.state === 'stale').length} stale, ${sessions.reduce((sum, one) => sum + one.claims, 0)} items claimed`} />
      <div class="filters">
        <Text name="q" label="Search" search placeholder="item, session, label, host" />
        <Select name="state" label="Sessions" options={['active', 'idle', 'stale']} />
        <Select name="items" label="Items" options={['open', 'blocked', 'claimed', 'stale', 'done']} />
      </div>
      <Sessions sessions={sessions} />
      <Items />
    </>
  );
}

function Sessions({ sessions }: { sessions: Session[] }): JSX.Element {
  const text = (param('q') || param('session')).toLowerCase();
  const shown = sessions
    .filter((one) => one.state !== 'released' && (!param('state') || one.state === param('state')))
    .filter((one) => [one.id, one.label, one.holder.host, one.item ?? ''].some((part) => part.toLowerCase().includes(text)))
    .sort((a, b) => urgency.indexOf(a.state) - urgency.indexOf(b.state) || a.id.localeCompare(b.id));
  return (
    <Card title="Sessions">
      {!live.sessions.value.ready ? (
        <Loading />
      ) : shown.length === 0 ? (
        hasFilter('q', 'state', 'session') ? (
          <NoMatch noun="sessions" filters={['q', 'state', 'session']} />
        ) : (
          <Empty text="No session is open. Open one around an agent or a shell:" command="leasehold session run --id ann --label 'fixing the parser' -- bash" />
        )
      ) : (
        <Table
          label="Sessions"
          rows={shown}
          keyOf={(session) => session.row}
          rowClass={(session) => (session.state === 'stale' ? 'row-warn' : '')}
          columns={[
            { name: 'Left', bare: true, cell: (session) => <Ring until={ms(session.until)} ttl={session.ttl_seconds * 1000} /> },
            { name: 'Session', cell: (session) => <Name session={session} /> },
            { name: 'State', cell: (session) => <State state={session.state} word={session.parked_until ? 'parked' : session.state} /> },
            { name: 'Item', cell: (session) => (session.item ? <span>{visible(session.item)}{session.claims > 1 ? <span class="quiet"> and {session.claims - 1} more</span> : null}</span> : <span class="quiet">–</span>) },
            { name: 'Heartbeat', number: true, cell: (session) => <When at={session.heartbeat_at} /> },
            { name: 'Progress', number: true, cell: (session) => <When at={session.progress_at} /> },
            { name: 'Stale in', number: true, wide: true, cell: (session) => <Remaining until={ms(session.until)} /> },
            { name: 'Process', wide: true, cell: (session) => <Who holder={session.holder} /> },
            { name: 'Acts', bare: true, cell: (session) => <RevokeSession session={session} /> },
          ]}
        />
      )}
    </Card>
  );
}

function Name({ session }: { session: Session }): JSX.Element {
  return (
    <span class="what">
      <a class="row-open" href={href('leases', { kind: 'session', q: session.id })}>{visible(session.id)}</a>
      <span class="who-where">{visible([session.label, session.progress ?? '', session.codebase].filter(Boolean).join(' · '))}</span>
    </span>
  );
}

function RevokeSession({ session }: { session: Session }): JSX.Element {
  return (
    <ActButton
      act="session.revoke"
      class="small danger-quiet"
      label={`Revoke session ${session.id}`}
      question={{
        title: `Revoke session ${session.id}?`,
        text: `It ends, and its ${count(session.claims, 'item')} are free at once.`,
        act: 'Revoke',
        danger: true,
        fields: [reason(true)],
        run: async ({ reason: why }) => {
          await call('session.revoke', { id: session.id, reason: why ?? '' });
          return `session ${session.id} is revoked`;
        },
      }}
    >
      Revoke
    </ActButton>
  );
}

function Items(): JSX.Element {
  const state = param('items') as ItemInfo['state'] | '';
  const pages = useSignal(1);
  const items = usePages<'item.list', ItemInfo>('item.list', { max: 100, ...(state ? { state } : {}) }, pages.value, ['events', 'sessions']);
  const text = (param('q') || param('item')).toLowerCase();
  const matches = (item: ItemInfo): boolean => [item.key, item.title, item.session ?? ''].some((part) => part.toLowerCase().includes(text));
  return (
    <Card title="Items">
      <Show of={items.value}>
        {(data) => {
          const shown = data.items.filter(matches);
          if (shown.length === 0 && !data.next) {
            return hasFilter('q', 'items', 'item') ? (
              <NoMatch noun="items" filters={['q', 'items', 'item']} />
            ) : (
              <Empty text="The backlog is empty. Add an item:" command="leasehold item add SD-1 --title 'Parse nested comments'" />
            );
          }
          return (
            <>
              <Table
                label="Items"
                rows={shown}
                keyOf={(item) => item.key}
                rowClass={(item) => (item.state === 'stale' ? 'row-warn' : '')}
                columns={[
                  { name: 'Item', cell: (item) => <ItemName item={item} /> },
                  { name: 'State', cell: (item) => <State state={item.state} /> },
                  { name: 'Owner', cell: (item) => <Owner item={item} /> },
                  { name: 'Frees in', number: true, cell: (item) => (item.held_by ? <Remaining until={ms(item.held_by.until)} /> : '–') },
                  { name: 'Heartbeat', number: true, wide: true, cell: (item) => <When at={item.held_by?.heartbeat_at} /> },
                  { name: 'Waits for', wide: true, cell: (item) => visible(item.waits_for.join(', ')) || '–' },
                  { name: 'Priority', number: true, wide: true, cell: (item) => item.priority },
                  { name: 'Acts', bare: true, cell: (item) => <ItemActs item={item} after={items.again} /> },
                ]}
              />
              <More next={data.next} onMore={() => { pages.value += 1; items.again(); }} />
            </>
          );
        }}
      </Show>
    </Card>
  );
}

function ItemName({ item }: { item: ItemInfo }): JSX.Element {
  return (
    <span class="what">
      <a class="row-open" href={href('leases', { kind: 'item', q: item.key })}>{visible(item.key)}</a>
      <span class="who-where">{visible(item.title)}{item.note_count > 0 ? ` · ${count(item.note_count, 'note')}` : ''}</span>
    </span>
  );
}

function Owner({ item }: { item: ItemInfo }): JSX.Element {
  if (!item.session) return item.done_by ? <span>done by {visible(item.done_by)}</span> : <span class="quiet">–</span>;
  const since = item.held_by?.taken_at ?? item.held_by?.since;
  return (
    <span class="who">
      <span class="who-name">{visible(item.session)}</span>
      <span class="who-where">{since ? `for ${span(second.value - ms(since))}` : ''}</span>
    </span>
  );
}

function ItemActs({ item, after }: { item: ItemInfo; after: () => void }): JSX.Element | null {
  if (item.state === 'done') return null;
  const others = rowsOf('sessions').filter((one) => (one.state === 'active' || one.state === 'idle') && one.id !== item.session).map((one) => one.id);
  return (
    <span class="row-acts">
      <ActButton
        act="claim.assign"
        class="small"
        disabled={others.length === 0}
        label={`Hand over ${item.key}`}
        question={{
          title: `Hand ${item.key} over`,
          text: item.session ? `${visible(item.session)} loses it, and is told at its next act.` : 'The session gets it at once.',
          act: 'Hand over',
          fields: [{ name: 'to', label: 'To the session', required: true, list: others, value: others[0] ?? '' }, reason(false)],
          run: async ({ to, reason: why }) => {
            await call('claim.assign', { key: item.key, to_session: to ?? '', ...(why ? { reason: why } : {}) });
            after();
            return `${item.key} belongs to ${to}`;
          },
        }}
      >
        Hand over
      </ActButton>
      {item.session ? (
        <ActButton
          act="claim.revoke"
          class="small danger-quiet"
          label={`Revoke ${item.key}`}
          question={{
            title: `Revoke the claim of ${item.key}?`,
            text: `${visible(item.session)} loses it, and the next session can take it at once.`,
            act: 'Revoke',
            danger: true,
            fields: [reason(true)],
            run: async ({ reason: why }) => { await call('claim.revoke', { key: item.key, reason: why ?? '' }); after(); return `${item.key} is free`; },
          }}
        >
          Revoke
        </ActButton>
      ) : null}
    </span>
  );
}
