// One sync: a cell per chunk, and the history of the selected chunk.
import type { JSX } from 'preact';
import { useSignal } from '@preact/signals';
import { call } from '../api/call';
import { live } from '../api/live';
import { useAct, usePages } from '../api/resource';
import type { ChunkInfo, ChunkDetails } from '../api/types';
import { param, setQuery } from '../base/router';
import { count, digits, pretty, short, visible } from '../base/text';
import { ms, second, span } from '../base/time';
import { ActButton, reason } from '../ui/act';
import { Select } from '../ui/fields';
import { Card, Empty, Fact, Moment, More, NoMatch, Show, Title, When, Who } from '../ui/parts';
import { Remaining } from '../ui/ring';
import { State, toneOf } from '../ui/state';
import { Icon } from '../ui/icons';
import { noteSets, paceOf, percent } from './syncs';

const states = ['available', 'deferred', 'running', 'expired', 'completed', 'skipped', 'exhausted'];

export function SyncPage(): JSX.Element {
  const name = param('name');
  void second.value;
  noteSets();
  const set = live.chunks.value.rows.get(name);
  const pages = useSignal(2);
  const state = param('state') as ChunkInfo['state'] | '';
  const chunks = usePages<'chunk.list', ChunkInfo>('chunk.list', { set: name, max: 500, ...(state ? { state } : {}) }, pages.value, ['chunks', 'leases']);
  const pace = set ? paceOf(set) : null;
  return (
    <>
      <Title
        title={name}
        sub={set ? <><State state={set.state} word={set.summary} /> {percent(set)} %, {digits(set.completed + set.skipped)} of {count(set.total, 'chunk')}, {short(set.rows)} rows{pace ? `, ${short(Math.round(pace.rows))} rows/s` : ''}{pace && !Number.isNaN(pace.left) ? `, ${span(pace.left)} left` : ''}</> : undefined}
      >
        <ActButton
          act="chunk.reset"
          disabled={!set || set.exhausted === 0}
          question={{
            title: `Reset the ${set?.exhausted ?? 0} exhausted chunks of ${name}?`,
            text: 'They are loaded again from their saved cursors, with fresh budgets.',
            act: 'Reset',
            run: async () => `${count((await call('chunk.reset', { set: name, which: 'failed' })).reset, 'chunk')} reset`,
          }}
        >
          Reset the exhausted
        </ActButton>
      </Title>
      <Card title="Chunks, in plan order" aside={<Select name="state" label="State" options={states} />}>
        <Show of={chunks.value}>
          {({ items, next }) =>
            items.length === 0 ? (
              state ? <NoMatch noun="chunks" filters={['state']} /> : <Empty text="This set has no chunks." command={`leasehold chunk plan ${name} --range 1..100000 --size 1000`} />
            ) : (
              <>
                <Cells chunks={items} />
                <Legend />
                <More next={next} onMore={() => { pages.value += 4; chunks.again(); }} />
              </>
            )
          }
        </Show>
      </Card>
      {param('chunk') ? <Chunk key={param('chunk')} set={name} chunk={param('chunk')} /> : <p class="quiet">Choose a chunk to read its story.</p>}
    </>
  );
}

function Cells({ chunks }: { chunks: ChunkInfo[] }): JSX.Element {
  return (
    <ul class="cells" aria-label="Chunks">
      {chunks.map((chunk) => (
        <li key={chunk.key}>
          <button
            class={`cell tone-${toneOf(chunk.state)} cell-${chunk.state}`}
            data-row={chunk.key}
            aria-pressed={param('chunk') === chunk.key}
            title={`${chunk.key}: ${chunk.state}${chunk.holder ? `, ${chunk.holder.name}` : ''}`}
            aria-label={`${chunk.key}: ${chunk.state}`}
            onClick={() => setQuery({ chunk: param('chunk') === chunk.key ? '' : chunk.key })}
          >
            <Icon name={chunk.state} />
          </button>
        </li>
      ))}
    </ul>
  );
}

const Legend = (): JSX.Element => (
  <p class="legend">
    {states.map((state) => (
      <State key={state} state={state} />
    ))}
  </p>
);

function Chunk({ set, chunk }: { set: string; chunk: string }): JSX.Element {
  const story = useAct('chunk.show', { set, key: chunk }, ['leases', 'chunks']);
  return (
    <Card title={`Chunk ${visible(chunk)}`} aside={story.value.data ? <ChunkActs story={story.value.data} after={story.again} /> : null}>
      <Show of={story.value}>{(data) => <Story story={data} />}</Show>
    </Card>
  );
}

function ChunkActs({ story, after }: { story: ChunkDetails; after: () => void }): JSX.Element {
  const { set, key } = story;
  return (
    <>
      <ActButton
        act="chunk.reset"
        class="small"
        disabled={story.state === 'running'}
        question={{
          title: `Reset ${set}/${key}?`,
          text: 'It is loaded again, from its saved cursor.',
          act: 'Reset',
          run: async () => { await call('chunk.reset', { set, which: 'keys', keys: [key] }); after(); return `${key} will be loaded again`; },
        }}
      >
        Reset
      </ActButton>
      <ActButton
        act="chunk.skip"
        class="small danger-quiet"
        disabled={story.state === 'completed' || story.state === 'skipped' || story.state === 'running'}
        question={{
          title: `Skip ${set}/${key}?`,
          text: 'The set counts as complete without its rows.',
          act: 'Skip it',
          danger: true,
          fields: [reason(true)],
          run: async ({ reason: why }) => { await call('chunk.skip', { set, key, reason: why ?? '' }); after(); return `${key} is skipped`; },
        }}
      >
        Skip
      </ActButton>
    </>
  );
}

function Story({ story }: { story: ChunkDetails }): JSX.Element {
  return (
    <>
      <dl class="facts">
        <Fact label="state"><State state={story.state} /></Fact>
        <Fact label="holder"><Who holder={story.holder} /></Fact>
        <Fact label="lease">{story.state === 'running' ? <Remaining until={ms(story.until)} /> : '–'}</Fact>
        <Fact label="rows">{digits(story.rows)}</Fact>
        <Fact label="attempts">{story.attempts}: {story.failures} failed, {story.crashes} lost</Fact>
        <Fact label="saved"><When at={story.saved_at} /></Fact>
        <Fact label="due">{story.due_at ? <When at={story.due_at} future /> : 'at once'}</Fact>
        <Fact label="cursor"><code>{visible(pretty(story.cursor, undefined) || '–')}</code></Fact>
        <Fact label="spec"><code>{visible(pretty(story.spec, undefined) || '–')}</code></Fact>
      </dl>
      {story.error ? <pre class="code error-text">{visible(story.error)}</pre> : null}
      {story.note ? <p class="note">{visible(story.note)}</p> : null}
      <ol class="events">
        {[...story.events].reverse().map((event) => (
          <li key={event.id}>
            <Moment at={event.at} /> <b>{visible(event.what)}</b> {visible(event.holder?.name ?? '')}
            {event.previous_holder ? <span class="bad-text"> from {visible(event.previous_holder.name)}</span> : null}
            {event.detail ? <span class="quiet"> {visible(event.detail)}</span> : null}
          </li>
        ))}
      </ol>
    </>
  );
}
