// Jobs: filters, search, and acts on many of them.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { rowsOf } from '../api/live';
import { usePages } from '../api/resource';
import type { JobInfo } from '../api/types';
import { href, param } from '../base/router';
import { count, digits, utcOf, visible } from '../base/text';
import { moment, ms } from '../base/time';
import { Select, Text } from '../ui/fields';
import { Card, Empty, hasFilter, More, NoMatch, Show, Title, When, Who } from '../ui/parts';
import { State } from '../ui/state';
import { Table } from '../ui/table';
import { Bulk, type JobFilters } from './bulk';

const states = ['available', 'deferred', 'blocked', 'running', 'expired', 'completed', 'failed', 'cancelled', 'lapsed'];
const names = ['text', 'queue', 'state', 'tag', 'group', 'after', 'before'];

function filtersOf(): JobFilters {
  const all: Record<string, string | undefined> = {
    queue: param('queue'), state: param('state'), tag: param('tag'), group: param('group'), batch: param('batch'),
    enqueued_after: utcOf(param('after')), enqueued_before: utcOf(param('before')),
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value)) as JobFilters;
}

export function Jobs(): JSX.Element {
  const filters = filtersOf();
  const text = param('text');
  const pages = useSignal(1);
  const chosen = useSignal<ReadonlySet<string>>(new Set());
  const found = usePages<'job.search' | 'job.list', JobInfo>(text ? 'job.search' : 'job.list', { ...filters, ...(text ? { text } : {}), max: 50 }, pages.value, ['queues', 'leases']);
  const toggle = (key: string): void => {
    const next = new Set(chosen.value);
    if (!next.delete(key)) next.add(key);
    chosen.value = next;
  };
  const after = (): void => {
    chosen.value = new Set();
    found.again();
  };
  const data = found.value.data;
  return (
    <>
      <Title title="Jobs" sub={text && data ? covered(data.rest) : 'the newest first'} />
      <div class="filters">
        <Text name="text" label="Search in payloads, errors, tags" search placeholder="text" />
        <Text name="queue" label="Queue" list={rowsOf('queues').map((queue) => queue.name)} />
        <Select name="state" label="State" options={states} />
        <Text name="tag" label="Tag" />
        <Text name="group" label="Group" />
        <Text name="after" label="Enqueued after" type="datetime-local" />
        <Text name="before" label="Enqueued before" type="datetime-local" />
      </div>
      <Card title={data ? data.next ? `The first ${digits(data.items.length)} jobs` : count(data.items.length, 'job') : 'Jobs'} aside={<Bulk chosen={chosen.value} filters={filters} searching={text !== ''} after={after} />}>
        <Show of={found.value}>
          {({ items, next }) =>
            items.length === 0 && !next ? (
              hasFilter(...names) ? (
                <NoMatch noun="jobs" filters={names} />
              ) : (
                <Empty text="There is no job. Add one:" command={'leasehold job add mail \'{"to":"ann"}\''} />
              )
            ) : (
              <>
                <Table
                  label="Jobs"
                  rows={items}
                  keyOf={(job) => String(job.id)}
                  choose={{ chosen: chosen.value, toggle, name: (job) => `job ${job.id}` }}
                  columns={[
                    { name: 'Job', cell: (job) => <JobName job={job} /> },
                    { name: 'State', cell: (job) => <State state={job.state} /> },
                    { name: 'Why', cell: (job) => <Why job={job} /> },
                    { name: 'Attempts', number: true, cell: (job) => attempts(job) },
                    { name: 'Holder', wide: true, cell: (job) => <Who holder={job.holder} /> },
                    { name: 'Enqueued', number: true, cell: (job) => <When at={job.created_at} /> },
                  ]}
                />
                <More next={next} onMore={() => { pages.value += 1; found.again(); }} />
              </>
            )
          }
        </Show>
      </Card>
    </>
  );
}

/** Says which jobs a search has looked at: it is bounded in jobs and time. */
function covered(rest: Record<string, unknown>): string {
  const scanned = `${digits(Number(rest['scanned'] ?? 0))} jobs searched`;
  if (rest['complete']) return `${scanned}: all of them`;
  const oldest = rest['oldest_scanned_at'];
  return typeof oldest === 'string' ? `${scanned}, back to ${moment(ms(oldest))}; “Show more” searches on` : scanned;
}

function JobName({ job }: { job: JobInfo }): JSX.Element {
  return (
    <span class="what">
      <a class="row-open num" href={href('job', { id: job.id })}>
        {job.id}
      </a>
      <a class="who-where" href={href('queue', { name: job.queue })}>
        {visible(job.queue)}
      </a>
      {job.tags.map((tag) => (
        <a key={tag} class="tag" href={href('jobs', { tag })}>
          {visible(tag)}
        </a>
      ))}
    </span>
  );
}

const attempts = (job: JobInfo): JSX.Element => (
  <span>
    {job.attempts}
    {job.crashes > 0 ? <span class="warn-text"> {job.crashes} lost</span> : null}
    {job.failures > 0 ? <span class="bad-text"> {job.failures} failed</span> : null}
  </span>
);

/** One line: why the job waits, what it does, or how it failed. */
function Why({ job }: { job: JobInfo }): JSX.Element {
  const progress = [job.percent === null ? '' : `${job.percent} %`, job.stage ?? '', job.message ?? ''].filter(Boolean).join(' · ');
  const text = job.error ?? job.wait?.text ?? progress;
  return (
    <span class="clip" title={visible(text)}>
      {job.cancel_requested ? 'asked to stop' : visible(text) || '–'}
    </span>
  );
}
