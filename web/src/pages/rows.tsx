// Adopted tables, and the rows of one: which are held, claimable or expired.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useAct, usePages } from '../api/resource';
import type { AdoptedTable, RowCounts, RowInfo } from '../api/types';
import { href, param } from '../base/router';
import { digits, visible } from '../base/text';
import { ms, seconds } from '../base/time';
import { Text } from '../ui/fields';
import { Card, Empty, hasFilter, More, NoMatch, Show, Title, Who } from '../ui/parts';
import { Remaining } from '../ui/ring';
import { State } from '../ui/state';
import { Table, type Column } from '../ui/table';

export function Rows(): JSX.Element {
  return (
    <>
      <Title title="Rows" sub="leases on the rows of your own tables" />
      {param('table') ? (
        <>
          <div class="filters">
            <a class="chip" href={href('rows')}>
              All adopted tables
            </a>
            <Text name="state" label="State" search placeholder="available, running, expired …" />
          </div>
          <OfTable key={`${param('table')} ${param('state')}`} table={param('table')} state={param('state')} />
        </>
      ) : (
        <Card>
          <Tables />
        </Card>
      )}
    </>
  );
}

function Tables(): JSX.Element {
  const tables = useAct('adopt.list', {}, [], 10_000);
  return (
    <Show of={tables.value}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty text="No table is adopted. To give a table of yours leases, describe it in a file and apply it:" command={'leasehold adopt plan adopt.toml\nleasehold adopt apply adopt.toml\nleasehold row claim imports'} />
        ) : (
          <Table
            label="Adopted tables"
            rows={items}
            keyOf={({ table }) => table}
            columns={[
              { name: 'Table', cell: ({ table }) => <a class="row-open" href={href('rows', { table })}>{visible(table)}</a> },
              { name: 'Kind', cell: ({ shape }) => (shape ? shape : <State state="expired" word="not adopted to its end" />) },
              { name: 'Lease', number: true, cell: (one) => seconds(one.ttl_seconds) },
              counted('Held', 'running'),
              counted('Expired', 'expired'),
              counted('Claimable', 'available'),
              counted('Waiting', 'waiting'),
            ]}
          />
        )
      }
    </Show>
  );
}

const counted = (name: string, state: 'running' | 'expired' | 'available' | 'waiting'): Column<AdoptedTable> => ({
  name,
  number: true,
  cell: ({ table, counts }) => (counts ? numberOf(table, counts, state) : <span class="quiet">–</span>),
});

function numberOf(table: string, counts: RowCounts, state: 'running' | 'expired' | 'available' | 'waiting'): JSX.Element {
  const number = counts[state];
  if (number === 0) return <span class="quiet">0</span>;
  return (
    <a href={href('rows', { table, state })}>
      {digits(number)}
      {counts.estimated && number >= 10_000 ? ' or more' : ''}
    </a>
  );
}

function OfTable({ table, state }: { table: string; state: string }): JSX.Element {
  const pages = useSignal(1);
  const rows = usePages<'row.list', RowInfo>('row.list', { table, max: 100, ...(state ? { state } : {}) }, pages.value, [], 3000);
  return (
    <Card title={visible(table)}>
      <Show of={rows.value}>
        {({ items, next }) =>
          items.length === 0 ? (
            hasFilter('state') ? <NoMatch noun="rows" filters={['state']} /> : <Empty text="The table has no row that can be claimed." command={`leasehold row ls ${table}`} />
          ) : (
            <>
              <Table
                label="Rows"
                rows={items}
                keyOf={(row) => row.key.join('/')}
                columns={[
                  { name: 'Key', cell: (row) => <b>{visible(row.key.join(' / '))}</b> },
                  { name: 'State', cell: (row) => <State state={row.state} /> },
                  { name: 'Holder', cell: (row) => <Who holder={row.holder} /> },
                  { name: 'Frees in', number: true, cell: (row) => (row.until ? <Remaining until={ms(row.until)} /> : '–') },
                  { name: 'Row', wide: true, cell: (row) => <code class="clip">{visible(JSON.stringify(row.row))}</code> },
                ]}
              />
              <More next={next} onMore={() => { pages.value += 1; rows.again(); }} />
            </>
          )
        }
      </Show>
    </Card>
  );
}
