// Adding a job by hand, or one like another.
import { call } from '../api/call';
import { go, href } from '../base/router';
import { utcOf } from '../base/text';
import type { Question } from '../ui/dialog';
import type { JobEnqueue, JobDetails } from '../api/types';

function payloadOf(text: string): Pick<JobEnqueue, 'payload' | 'payload_base64'> {
  if (!text.trim()) return {};
  try {
    return { payload: JSON.parse(text) };
  } catch {
    return { payload_base64: btoa(String.fromCharCode(...new TextEncoder().encode(text))) };
  }
}

export function enqueueQuestion(queue: string): Question {
  return {
    title: `Add a job to ${queue}`,
    act: 'Add',
    fields: [
      { name: 'payload', label: 'Payload', type: 'area', value: '{}', hint: 'JSON; anything else is stored as it is.' },
      { name: 'priority', label: 'Priority', type: 'number', hint: 'A greater one runs first.' },
      { name: 'run_at', label: 'Not before', hint: 'For example 2026-12-01 08:00' },
    ],
    run: async (values) => {
      const priority = values['priority'] ? { priority: Number(values['priority']) } : {};
      const at = utcOf(values['run_at']);
      const made = await call('job.enqueue', { queue, ...payloadOf(values['payload'] ?? ''), ...priority, ...(at ? { run_at: at } : {}) });
      go(href('job', { id: made.id }));
      return `added job ${made.id}`;
    },
  };
}

/** The same work once more: a new job, and the old one stays as it is. */
export async function enqueueAgain(job: JobDetails): Promise<string> {
  const made = await call('job.enqueue', {
    queue: job.queue,
    ...(job.payload_base64 !== undefined ? { payload_base64: job.payload_base64 } : job.payload !== undefined ? { payload: job.payload } : {}),
    priority: job.priority,
    max_failures: job.max_failures,
    max_crashes: job.max_crashes,
    tags: job.tags,
    ...(job.group !== null ? { group: job.group } : {}),
    ...(job.timeout_seconds !== null ? { timeout_seconds: job.timeout_seconds } : {}),
    ...(job.metadata ? { metadata: job.metadata } : {}),
  });
  go(href('job', { id: made.id }));
  return `added job ${made.id} like job ${job.id}`;
}
