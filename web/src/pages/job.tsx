// One job: its attempts as bars, why it waits, its payload and result, and the acts on it.
import type { JSX } from 'preact';
import { call } from '../api/call';
import { useAct } from '../api/resource';
import type { JobAttempt, JobDetails } from '../api/types';
import { go, href, param } from '../base/router';
import { pretty, visible } from '../base/text';
import { clock, moment, ms, quarter, seconds, span } from '../base/time';
import { ActButton, reason } from '../ui/act';
import { Card, Fact, Moment, Show, Title, When, Who } from '../ui/parts';
import { Remaining, Ring } from '../ui/ring';
import { State, toneOf } from '../ui/state';
import { Table } from '../ui/table';
import { enqueueAgain } from './enqueue';

export function JobPage(): JSX.Element {
  const id = Number(param('id'));
  const job = useAct('job.show', { id }, ['queues', 'leases']);
  const data = job.value.data;
  return (
    <>
      <Title
        title={`Job ${param('id')}`}
        sub={data ? <><State state={data.state} /> of <a href={href('queue', { name: data.queue })}>{visible(data.queue)}</a>, enqueued <When at={data.created_at} /></> : undefined}
      >
        {data ? <JobActs job={data} after={job.again} /> : null}
      </Title>
      <Show of={job.value}>{(story) => <Story job={story} />}</Show>
    </>
  );
}

const retryable = new Set(['failed', 'cancelled', 'deferred', 'lapsed']);
const final = new Set(['completed', 'failed', 'cancelled', 'lapsed']);

function JobActs({ job, after }: { job: JobDetails; after: () => void }): JSX.Element {
  const { id } = job;
  return (
    <>
      {retryable.has(job.state) ? (
        <ActButton act="job.retry" class="primary" run={async () => { await call('job.retry', { id }); after(); return `job ${id} is available again`; }}>
          Retry now
        </ActButton>
      ) : null}
      {final.has(job.state) ? (
        <ActButton
          act="job.enqueue"
          question={{ title: `Enqueue job ${id} again?`, text: 'A new job with the same payload and settings. This one stays as it is.', act: 'Enqueue', run: () => enqueueAgain(job) }}
        >
          Enqueue again
        </ActButton>
      ) : (
        <ActButton
          act="job.cancel"
          class="danger-quiet"
          question={{
            title: `Cancel job ${id}?`,
            text: job.state === 'running' ? 'Its worker is told to stop at its next heartbeat.' : 'It will not run.',
            act: 'Cancel it',
            danger: true,
            fields: [reason(false)],
            run: async ({ reason: why }) => { await call('job.cancel', why ? { id, reason: why } : { id }); after(); return `job ${id} is cancelled, or will be`; },
          }}
        >
          Cancel
        </ActButton>
      )}
      {job.state !== 'running' ? (
        <ActButton
          act="job.remove"
          class="danger-quiet"
          question={{
            title: `Remove job ${id}?`,
            text: 'The job, its attempts and its result are removed for good.',
            act: 'Remove',
            danger: true,
            run: async () => { await call('job.remove', { id }); go(href('jobs', { queue: job.queue })); return `job ${id} is removed`; },
          }}
        >
          Remove
        </ActButton>
      ) : null}
    </>
  );
}

function Story({ job }: { job: JobDetails }): JSX.Element {
  return (
    <>
      {job.wait ? (
        <p class="because">
          <b>Why does it wait?</b> {visible(job.wait.text)}{' '}
          {job.wait.job_id ? <a href={href('job', { id: job.wait.job_id })}>job {job.wait.job_id}</a> : null}
        </p>
      ) : null}
      {job.error ? <pre class="code error-text">{visible(job.error)}</pre> : null}
      {job.state === 'running' ? <Running job={job} /> : null}
      <Attempts job={job} />
      <div class="two">
        <Body title="Payload" json={job.payload} base64={job.payload_base64} />
        <Body title="Result" json={job.result} base64={job.result_base64} />
      </div>
      <Settings job={job} />
    </>
  );
}

function Running({ job }: { job: JobDetails }): JSX.Element {
  const until = ms(job.until);
  return (
    <Card>
      <div class="running">
        <Ring until={until} ttl={Math.max(1, until - ms(job.heartbeat_at))} />
        <Who holder={job.holder} />
        <span>lease <Remaining until={until} /></span>
        <span>heartbeat <When at={job.heartbeat_at} /></span>
        {job.percent !== null ? <progress max={100} value={job.percent} aria-label="Progress" /> : null}
        <span>{visible([job.stage ?? '', job.message ?? ''].filter(Boolean).join(': '))}</span>
      </div>
    </Card>
  );
}

const died = (attempt: JobAttempt): boolean => attempt.outcome === 'expired' || attempt.outcome === 'returned';

function Attempts({ job }: { job: JobDetails }): JSX.Element | null {
  const attempts = job.history;
  if (attempts.length === 0) return null;
  const first = ms(attempts[0]?.started_at);
  const last = Math.max(...attempts.map((one) => (one.ended_at ? ms(one.ended_at) : quarter.value)));
  const length = Math.max(1, last - first);
  return (
    <Card title={`Attempts, ${span(length)} in all`} aside={<span class="quiet">{job.failures} of {job.max_failures} failures, {job.crashes} of {job.max_crashes} crashes spent</span>}>
      <Table
        label="Attempts"
        rows={attempts}
        keyOf={(attempt) => String(attempt.number)}
        columns={[
          { name: 'No.', number: true, cell: (attempt) => attempt.number },
          { name: 'Holder', cell: (attempt) => <Who holder={attempt.holder} /> },
          { name: 'Outcome', cell: (attempt) => <State state={attempt.outcome} /> },
          { name: 'When', cell: (attempt) => <AttemptBar attempt={attempt} before={attempts[attempt.number - 2]} first={first} length={length} /> },
          { name: 'Took', number: true, cell: (attempt) => span((attempt.ended_at ? ms(attempt.ended_at) : quarter.value) - ms(attempt.started_at)) },
          { name: 'Started', number: true, cell: (attempt) => <Moment at={attempt.started_at} /> },
          { name: 'Error', wide: true, cell: (attempt) => <span class="clip" title={visible(attempt.error ?? '')}>{visible(attempt.error ?? '') || '–'}</span> },
        ]}
      />
    </Card>
  );
}

function AttemptBar({ attempt, before, first, length }: { attempt: JobAttempt; before: JobAttempt | undefined; first: number; length: number }): JSX.Element {
  const x = (time: number): number => ((time - first) / length) * 240;
  const start = x(ms(attempt.started_at));
  const end = Math.max(start + 2, x(attempt.ended_at ? ms(attempt.ended_at) : quarter.value));
  const ended = before?.ended_at ? ms(before.ended_at) : NaN;
  const gap = ms(attempt.started_at) - ended;
  return (
    <span class="attempt">
      <svg class="attempt-bar" viewBox="0 0 240 14" width="240" height="14" role="img" aria-label={`from ${clock(ms(attempt.started_at))}`}>
        <path class="grid" d="M0 7H240" />
        {Number.isNaN(ended) ? null : <path class="attempt-gap" d={`M${x(ended).toFixed(1)} 7H${start.toFixed(1)}`} />}
        <rect class={`fill-${toneOf(attempt.outcome)}`} x={start} y="1" width={end - start} height="12" rx="3" />
      </svg>
      {Number.isNaN(gap) ? null : (
        <small class={before && died(before) ? 'bad-text' : 'quiet'}>
          {before && died(before) ? `taken over from ${visible(before.holder?.name ?? '')} after ${span(gap)}` : `${span(gap)} after attempt ${before?.number}`}
        </small>
      )}
    </span>
  );
}

export function Body({ title, json, base64 }: { title: string; json: unknown; base64: string | undefined }): JSX.Element {
  const text = pretty(json, base64);
  return (
    <Card title={title}>
      {text ? <pre class="code" tabIndex={0}>{visible(text)}</pre> : <p class="quiet">None.</p>}
    </Card>
  );
}

function Settings({ job }: { job: JobDetails }): JSX.Element {
  return (
    <Card title="Settings">
      <dl class="facts">
        <Fact label="priority">{job.priority}</Fact>
        <Fact label="due">{job.due_at ? moment(ms(job.due_at)) : 'at once'}</Fact>
        <Fact label="finished">{job.finished_at ? <Moment at={job.finished_at} /> : '–'}</Fact>
        <Fact label="time limit">{seconds(job.timeout_seconds)}</Fact>
        <Fact label="expires">{job.expires_at ? <When at={job.expires_at} future /> : 'never'}</Fact>
        <Fact label="group">{visible(job.group ?? '–')}</Fact>
        <Fact label="dedupe key">{visible(job.dedupe_key ?? '–')}</Fact>
        <Fact label="batch">{visible(job.batch ?? '–')}</Fact>
        <Fact label="schedule">{job.schedule ? <a href={href('schedule', { name: job.schedule })}>{visible(job.schedule)}</a> : '–'}</Fact>
        <Fact label="depends on">
          {job.depends_on.length === 0 ? '–' : job.depends_on.map((one) => <a key={one.id} class="tag" href={href('job', { id: one.id })}>{one.id} {one.state}</a>)}
        </Fact>
        <Fact label="tags">{job.tags.length === 0 ? '–' : job.tags.map((tag) => <a key={tag} class="tag" href={href('jobs', { tag })}>{visible(tag)}</a>)}</Fact>
        <Fact label="cursor">{job.cursor ? <code>{visible(JSON.stringify(job.cursor))}</code> : '–'}</Fact>
      </dl>
    </Card>
  );
}
