// API tokens, and the audit log.
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { call, rights } from '../api/call';
import { useAct } from '../api/resource';
import type { NewToken, TokenInfo } from '../api/types';
import { param } from '../base/router';
import { visible } from '../base/text';
import { ActButton } from '../ui/act';
import { Card, Empty, Moment, Show, When } from '../ui/parts';
import { State } from '../ui/state';
import { Table } from '../ui/table';

const isAdmin = (): boolean => rights.value.scope === 'admin';

/** The secret of a token that was just created: it is shown once. */
const secret = signal('');

export function Tokens(): JSX.Element {
  const tokens = useAct('token.list', isAdmin() ? { max: 100 } : null, [], 30_000);
  return (
    <Card
      title="Tokens"
      aside={
        <ActButton
          act="token.create"
          class="small"
          question={{
            title: 'Create a token',
            act: 'Create',
            fields: [
              { name: 'name', label: 'Name', required: true },
              { name: 'scope', label: 'Scope', required: true, value: 'read', list: ['read', 'produce', 'work', 'admin'] },
              { name: 'only', label: 'Only', hint: 'Patterns with commas between them, such as queue:mail*, lock:deploy. Empty: everything.' },
              { name: 'days', label: 'Days until it expires', type: 'number' },
            ],
            run: async (values) => {
              const only = (values['only'] ?? '').split(',').map((one) => one.trim()).filter(Boolean);
              const made = await call('token.create', {
                name: values['name'] ?? '',
                scope: values['scope'] as NewToken['scope'],
                ...(only.length > 0 ? { only } : {}),
                ...(values['days'] ? { expires_in_seconds: Number(values['days']) * 86_400 } : {}),
              });
              secret.value = made.secret;
              tokens.again();
              return `token ${values['name']} is created`;
            },
          }}
        >
          Create
        </ActButton>
      }
    >
      {secret.value ? (
        <div class="secret" role="status">
          <p>Copy the token now. The store keeps only a digest of it.</p>
          <pre class="command" tabIndex={0}>{secret.value}</pre>
          <button class="small" onClick={() => (secret.value = '')}>I have copied it</button>
        </div>
      ) : null}
      {isAdmin() ? null : <p class="quiet">Only a token of scope admin may see tokens.</p>}
      <Show of={tokens.value}>
        {(data) => <TokenTable tokens={data.items} after={tokens.again} />}
      </Show>
    </Card>
  );
}

function TokenTable({ tokens, after }: { tokens: TokenInfo[]; after: () => void }): JSX.Element {
  if (tokens.length === 0) return <Empty text="There is no token. Create one:" command="leasehold token create mailer --scope work --only 'queue:mail*'" />;
  return (
    <Table
      label="Tokens"
      rows={tokens}
      keyOf={(token) => String(token.id)}
      columns={[
        { name: 'Token', cell: (token) => <b>{visible(token.name)}</b> },
        { name: 'Scope', cell: (token) => token.scope },
        { name: 'Only', cell: (token) => visible(token.only.join(', ')) || 'everything' },
        { name: 'State', cell: (token) => <State state={token.state} /> },
        { name: 'Last used', number: true, cell: (token) => <When at={token.last_used_at} /> },
        { name: 'Expires', number: true, cell: (token) => (token.expires_at ? <When at={token.expires_at} future /> : 'never') },
        {
          name: 'Acts', bare: true,
          cell: (token) =>
            token.state === 'active' ? (
              <ActButton
                act="token.revoke"
                class="small danger-quiet"
                label={`Revoke token ${token.name}`}
                question={{
                  title: `Revoke the token ${token.name}?`,
                  text: 'Requests with it are refused from now on.',
                  act: 'Revoke',
                  danger: true,
                  run: async () => { await call('token.revoke', { id: token.id }); after(); return `token ${token.name} is revoked`; },
                }}
              >
                Revoke
              </ActButton>
            ) : null,
        },
      ]}
    />
  );
}

export function AuditLog(): JSX.Element {
  const log = useAct('audit.list', isAdmin() ? { max: 50, ...(param('by') ? { by: param('by') } : {}) } : null, ['events'], 10_000);
  return (
    <Card title="Audit log" aside={<span class="quiet">acts of scope admin</span>}>
      {isAdmin() ? null : <p class="quiet">Only a token of scope admin may see the audit log.</p>}
      <Show of={log.value}>
        {(data) =>
          data.items.length === 0 ? (
            <Empty text="No admin act yet." command="leasehold audit" />
          ) : (
            <Table
              label="Audit log"
              rows={data.items}
              keyOf={(entry) => String(entry.id)}
              columns={[
                { name: 'When', cell: (entry) => <Moment at={entry.at} /> },
                { name: 'By', cell: (entry) => visible(entry.by) },
                { name: 'Act', cell: (entry) => <code>{entry.act}</code> },
                { name: 'Key', cell: (entry) => visible(entry.key ?? '–') },
                { name: 'Outcome', cell: (entry) => visible(entry.outcome) },
                { name: 'Detail', wide: true, cell: (entry) => visible(entry.detail ?? '') },
              ]}
            />
          )
        }
      </Show>
    </Card>
  );
}
