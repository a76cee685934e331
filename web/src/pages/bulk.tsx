// One act on many jobs: on the selected ones, or on all that match the filters, with the count first.
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { call } from '../api/call';
import type { JobFilter, JobsChanged } from '../api/types';
import { count, digits } from '../base/text';
import { ActButton } from '../ui/act';
import { ask, say } from '../ui/dialog';

export type Action = 'cancel' | 'retry' | 'remove';
export type JobFilters = Omit<JobFilter, 'max' | 'page'>;

const done: Record<Action, string> = { cancel: 'cancelled', retry: 'retried', remove: 'removed' };
const words: Record<Action, string> = { cancel: 'Cancel', retry: 'Retry', remove: 'Remove' };
const about: Record<Action, string> = {
  cancel: 'Waiting jobs are cancelled at once; running ones are told to stop.',
  retry: 'Failed ones become available now, with fresh budgets; with a state as filter also cancelled, lapsed or deferred ones.',
  remove: 'They are removed with their history. Running jobs are left alone.',
};
const actOf = { cancel: 'job.cancel', retry: 'job.retry', remove: 'job.remove' } as const;

/** How many jobs a running act has changed so far; empty if none runs. */
const progress = signal('');

/** Works in batches, so that no transaction is long, and does not touch jobs that are enqueued meanwhile. */
async function onAll(action: Action, filters: JobFilters): Promise<string> {
  let changed = 0;
  let skipped = 0;
  let page: string | null = null;
  try {
    do {
      const step: JobsChanged = await call('job.bulk', { action, ...filters, ...(page ? { page } : {}) });
      changed += step.changed;
      skipped += step.skipped;
      page = step.next;
      progress.value = page ? `${digits(changed)} ${done[action]} …` : '';
    } while (page);
  } finally {
    progress.value = '';
  }
  return `${count(changed, 'job')} ${done[action]}${skipped > 0 ? `, ${digits(skipped)} could not be` : ''}`;
}

async function countAll(action: Action, filters: JobFilters): Promise<{ matched: number; more: boolean }> {
  const preview = await call('job.bulk', { action, ...filters, preview: true });
  return { matched: preview.matched, more: preview.next !== null };
}

async function onChosen(action: Action, ids: number[]): Promise<string> {
  const results = await Promise.allSettled(ids.map((id) => call(actOf[action], { id })));
  const bad = results.filter((one) => one.status === 'rejected');
  const first = bad[0] as PromiseRejectedResult | undefined;
  if (first) say(`${count(bad.length, 'job')} could not be ${done[action]}: ${(first.reason as Error).message}`, true);
  return `${count(ids.length - bad.length, 'job')} ${done[action]}`;
}

interface Props {
  chosen: ReadonlySet<string>;
  filters: JobFilters;
  /** An act on all matching jobs cannot search texts. */
  searching: boolean;
  after: () => void;
}

export function Bulk({ chosen, filters, searching, after }: Props): JSX.Element {
  const ids = [...chosen].map(Number);
  const askAll = async (action: Action): Promise<void> => {
    const { matched, more } = await countAll(action, filters);
    const many = `${more ? 'more than ' : ''}${count(matched, 'job')}`;
    ask({
      title: matched === 0 ? `No job to ${action}` : `${words[action]} ${many}?`,
      text: (
        <p>
          {describe(filters)} {about[action]}
        </p>
      ),
      act: matched === 0 ? 'Close' : `${words[action]} ${many}`,
      danger: action !== 'retry',
      run: async () => {
        if (matched === 0) return '';
        const text = await onAll(action, filters);
        after();
        return text;
      },
    });
  };
  return (
    <div class="bulk" role="group" aria-label="On many jobs">
      {ids.length > 0 ? (
        <>
          <b>{count(ids.length, 'job')} chosen</b>
          {(['retry', 'cancel', 'remove'] as const).map((action) => (
            <ActButton
              key={action}
              act={actOf[action]}
              class={action === 'retry' ? 'small' : 'small danger-quiet'}
              question={{
                title: `${words[action]} ${count(ids.length, 'job')}?`,
                text: about[action],
                act: words[action],
                danger: action !== 'retry',
                run: async () => {
                  const text = await onChosen(action, ids);
                  after();
                  return text;
                },
              }}
            >
              {words[action]}
            </ActButton>
          ))}
        </>
      ) : (
        <>
          <span class="quiet">{progress.value || 'All that match:'}</span>
          {(['retry', 'cancel', 'remove'] as const).map((action) => (
            <ActButton key={action} act="job.bulk" class="small" disabled={searching} label={`${words[action]} all that match`} run={() => askAll(action)}>
              {words[action]} …
            </ActButton>
          ))}
        </>
      )}
    </div>
  );
}

function describe(filters: JobFilters): string {
  const parts = Object.entries(filters).map(([name, value]) => `${name.replace(/_/g, ' ')} ${value}`);
  return parts.length > 0 ? `Jobs with ${parts.join(', ')}.` : 'All jobs of the store.';
}
