// Ends a live lease, as an operator: with a reason, after a question.
import type { JSX } from 'preact';
import { call, type Act } from '../api/call';
import { visible } from '../base/text';
import type { LeaseInfo } from '../api/types';
import { ActButton, reason } from '../ui/act';

/** How to revoke a lease of each kind. A job is cancelled instead: its worker then stops it. */
const acts: Record<string, { act: Act; word: string; run: (lease: LeaseInfo, why: string) => Promise<unknown> }> = {
  lock: { act: 'lock.revoke', word: 'Revoke', run: (lease, why) => call('lock.revoke', { name: lease.key, reason: why }) },
  session: { act: 'session.revoke', word: 'Revoke', run: (lease, why) => call('session.revoke', { id: lease.key, reason: why }) },
  item: { act: 'claim.revoke', word: 'Revoke', run: (lease, why) => call('claim.revoke', { key: lease.key, reason: why }) },
  job: { act: 'job.cancel', word: 'Cancel', run: (lease, why) => call('job.cancel', { id: Number(lease.key), reason: why }) },
};

export function revokeButton(lease: LeaseInfo): JSX.Element | null {
  const known = acts[lease.kind];
  if (!known) return null;
  const what = `${lease.kind} ${lease.key}`;
  return (
    <ActButton
      act={known.act}
      class="small danger-quiet"
      label={`${known.word} ${what}`}
      question={{
        title: `${known.word} ${what}?`,
        text: (
          <p>
            <b>{visible(lease.holder.name)}</b> holds it. Its next heartbeat is refused, and the next caller can take it at once. If the
            holder does not fence its writes, it may still write until it notices.
          </p>
        ),
        act: known.word,
        danger: true,
        fields: [reason(true)],
        run: async ({ reason: why }) => {
          await known.run(lease, why ?? '');
          return `${what}: ${known.word.toLowerCase()}${known.word === 'Revoke' ? 'd' : 'led'}`;
        },
      }}
    >
      {known.word}
    </ActButton>
  );
}
