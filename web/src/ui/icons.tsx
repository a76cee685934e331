// Small drawings. A state is colour and shape and word: each state has a shape of its own.
import type { JSX } from 'preact';

const shapes: Record<string, string> = {
  // States.
  running: 'M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM6.2 4.8 11.4 8l-5.2 3.2Z',
  free: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2Zm0 2.2a3.8 3.8 0 1 1 0 7.6 3.8 3.8 0 0 1 0-7.6Z',
  deferred: 'M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM8.9 4v3.7l2.6 1.6-.9 1.4L7.2 8.6V4Z',
  blocked: 'M5.3 1.5h5.4l3.8 3.8v5.4l-3.8 3.8H5.3l-3.8-3.8V5.3ZM4.6 7.1v1.8h6.8V7.1Z',
  expired: 'M8 1.3 15.2 14H.8ZM7.2 5.6v4.2h1.6V5.6Zm0 5.3v1.6h1.6v-1.6Z',
  completed: 'M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM7.1 11 4.2 8.1l1.2-1.2 1.7 1.7 3.6-3.6 1.2 1.2Z',
  failed: 'M4.2 2.4 8 6.2l3.8-3.8 1.8 1.8L9.8 8l3.8 3.8-1.8 1.8L8 9.8l-3.8 3.8-1.8-1.8L6.2 8 2.4 4.2Z',
  cancelled: 'M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM4.5 7.1h7v1.8h-7Z',
  lapsed: 'M3.5 1.5h9v2.2L9.3 8l3.2 4.3v2.2h-9v-2.2L6.7 8 3.5 3.7Z',
  paused: 'M4 2.5h3v11H4Zm5 0h3v11H9Z',
  skipped: 'M2 3l6 5-6 5Zm7 0h2.2v10H9Z',
  idle: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2Zm0 2.6a3.4 3.4 0 1 1 0 6.8 3.4 3.4 0 0 1 0-6.8Z',
  unknown: 'M8 1.8 14.2 8 8 14.2 1.8 8Z',
  // Kinds.
  lock: 'M4.5 7V5a3.5 3.5 0 0 1 7 0v2H13v7.5H3V7Zm1.7 0h3.6V5a1.8 1.8 0 0 0-3.6 0Z',
  job: 'M1.8 3.5h12.4v9H1.8Zm1.8 1.8v5.4h8.8V5.3Zm1.2 1.3h4v1.2h-4Zm0 2h6v1.2h-6Z',
  chunk: 'M2 2h5.2v5.2H2Zm6.8 0H14v5.2H8.8ZM2 8.8h5.2V14H2Zm6.8 0H14V14H8.8Z',
  session: 'M8 1.8a3 3 0 1 1 0 6 3 3 0 0 1 0-6ZM2.5 14.2c0-3.3 2.2-5.2 5.5-5.2s5.5 1.9 5.5 5.2Z',
  item: 'M3 1.8h10v12.4l-5-3-5 3Z',
  schedule: 'M4 1.5h1.8V3h4.4V1.5H12V3h2v11H2V3h2Zm-.2 5v5.7h8.4V6.5Z',
  row: 'M1.8 2.5h12.4v11H1.8Zm1.6 4v2h3v-2Zm4.6 0v2h4.6v-2ZM3.4 10v2h3v-2Zm4.6 0v2h4.6v-2Z',
  holder: 'M8 1.8a3 3 0 1 1 0 6 3 3 0 0 1 0-6ZM2.5 14.2c0-3.3 2.2-5.2 5.5-5.2s5.5 1.9 5.5 5.2Z',
  // Pages and controls.
  overview: 'M2 2h5.5v7H2Zm6.5 0H14v4H8.5ZM2 10h5.5v4H2Zm6.5-3H14v7H8.5Z',
  queue: 'M2 3h12v2.2H2Zm0 4h12v2.2H2Zm0 4h12v2.2H2Z',
  store: 'M8 1.5c3.3 0 5.8 1 5.8 2.5v8c0 1.5-2.5 2.5-5.8 2.5S2.2 13.5 2.2 12V4c0-1.5 2.5-2.5 5.8-2.5ZM3.8 6v2c.8.6 2.3 1 4.2 1s3.4-.4 4.2-1V6c-1 .5-2.5.8-4.2.8S4.8 6.5 3.8 6Z',
  menu: 'M1.8 3h12.4v1.8H1.8Zm0 4.1h12.4v1.8H1.8Zm0 4.1h12.4V13H1.8Z',
  sun: 'M8 4.5a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7ZM7.3.8h1.4v2H7.3Zm0 12.4h1.4v2H7.3ZM.8 7.3h2v1.4h-2Zm12.4 0h2v1.4h-2Z',
  moon: 'M6.2 1.8A6.3 6.3 0 1 0 14.2 9.8 5.3 5.3 0 0 1 6.2 1.8Z',
  system: 'M1.5 2.5h13v8.5h-13Zm1.6 1.6v5.3h9.8V4.1ZM5 12.2h6v1.6H5Z',
  danger: 'M8 1.3 15.2 14H.8ZM7.2 5.6v4.2h1.6V5.6Zm0 5.3v1.6h1.6v-1.6Z',
  fine: 'M6.3 12.7 1.9 8.3l1.5-1.5 2.9 2.9 6.3-6.3 1.5 1.5Z',
  out: 'M2 2h7v1.8H3.8v8.4H9V14H2Zm8.2 2.6L13.6 8l-3.4 3.4-1.2-1.2 1.3-1.3H5.5V7.1h4.8L9 5.8Z',
  arrow: 'M2 7.1h8.3L7.2 4l1.2-1.2L13.7 8l-5.3 5.2L7.2 12l3.1-3.1H2Z',
};

const aliases: Record<string, string> = {
  held: 'running', active: 'running', claimed: 'running', available: 'free', open: 'free', waiting: 'deferred', planned: 'free',
  due: 'running', stale: 'expired', lost: 'expired', done: 'completed', complete: 'completed', fine: 'fine', partial: 'expired',
  exhausted: 'failed', released: 'cancelled', revoked: 'cancelled', enqueued: 'job', returned: 'expired', snoozed: 'deferred',
  retried: 'deferred', advice: 'danger', closed: 'cancelled', chunks: 'chunk', syncs: 'chunk', backlog: 'session', leases: 'lock',
  queues: 'queue', jobs: 'job', schedules: 'schedule', rows: 'row', timed_out: 'failed',
};

export function Icon({ name, class: extra = '' }: { name: string; class?: string }): JSX.Element {
  const shape = shapes[name] ?? shapes[aliases[name] ?? 'unknown'] ?? '';
  return (
    <svg class={`icon ${extra}`} viewBox="0 0 16 16" width="14" height="14" aria-hidden="true" focusable="false">
      <path d={shape} fill-rule="evenodd" />
    </svg>
  );
}
