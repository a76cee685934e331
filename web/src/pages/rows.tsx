// Rows of adopted tables: which are held, claimable or expired.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { usePages } from '../api/resource';
import type { RowInfo } from '../api/types';
import { param } from '../base/router';
import { visible } from '../base/text';
import { ms } from '../base/time';
import { Text } from '../ui/fields';
import { Card, Empty, hasFilter, More, NoMatch, Show, Title, Who } from '../ui/parts';
import { Remaining } from '../ui/ring';
import { State } from '../ui/state';
import { Table } from '../ui/table';

export function Rows(): JSX.Element {
  return (
    <>
      <Title title="Rows" sub="leases on the rows of your own tables" />
      <div class="filters">
        <Text name="table" label="Adopted table" search placeholder="for example imports, or public.imports" />
        <Text name="state" label="State" placeholder="claimable, running, expired …" />
      </div>
      {param('table') ? (
        <OfTable key={`${param('table')} ${param('state')}`} table={param('table')} state={param('state')} />
      ) : (
        <Card>
          <Empty text="Name an adopted table above. To give a table of yours leases, describe it in a file and apply it:" command={'leasehold adopt plan adopt.toml\nleasehold adopt apply adopt.toml\nleasehold row claim imports'} />
        </Card>
      )}
    </>
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
