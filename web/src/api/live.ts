// The live data of the store: one stream of Server-Sent Events for the whole page, open while the page is visible.
//
// Rows of a topic are kept in a signal; pages that show something else ask again when a topic they depend on has changed
// (api/resource.ts).
import { batch, effect, signal, type Signal } from '@preact/signals';
import { base } from '../base/router';
import { noteStoreTime } from '../base/time';
import { loggedOut, request } from './call';
import type { ChunkSetInfo, Event, LeaseInfo, QueueInfo, ScheduleInfo, SessionInfo, WorkerInfo } from './types';

interface RowTypes {
  leases: LeaseInfo;
  queues: QueueInfo;
  sessions: SessionInfo;
  schedules: ScheduleInfo;
  chunks: ChunkSetInfo;
  workers: WorkerInfo;
}
export type RowTopic = keyof RowTypes;
export type Topic = RowTopic | 'events';
export type Row<T extends RowTopic> = RowTypes[T] & { row: string };

export interface Topical<T extends RowTopic> {
  rows: ReadonlyMap<string, Row<T>>;
  truncated: boolean;
  ready: boolean;
}

export const rowTopics: RowTopic[] = ['leases', 'queues', 'sessions', 'schedules', 'chunks', 'workers'];
type Tables = { [T in RowTopic]: Signal<Topical<T>> };
const empty = { rows: new Map(), truncated: false, ready: false };
export const live = Object.fromEntries(rowTopics.map((topic) => [topic, signal(empty)])) as unknown as Tables;

/** Counts up when something of the topic has changed. */
export const changed = Object.fromEntries([...rowTopics, 'events'].map((topic) => [topic, signal(0)])) as Record<
  Topic,
  Signal<number>
>;

export type Connection = 'connecting' | 'live' | 'lost' | 'resting';
export const connection = signal<Connection>('connecting');
/** What is wrong with the store, in the server's words; empty if nothing is. */
export const trouble = signal('');
/** Counts the connections: after a break, the events that pages gathered may have a hole. */
export const greetings = signal(0);
export const stats = signal<Record<string, unknown>>({});

type EventListener = (event: Event) => void;
const eventListeners = new Set<EventListener>();
export function onEvent(listener: EventListener): () => void {
  eventListeners.add(listener);
  return () => eventListeners.delete(listener);
}

/** Called with every row of leases that is put or gone, before the page draws. */
export type LeaseListener = (put: Row<'leases'>[], gone: string[], full: boolean) => void;
const leaseListeners = new Set<LeaseListener>();
export function onLeases(listener: LeaseListener): () => void {
  leaseListeners.add(listener);
  return () => leaseListeners.delete(listener);
}

interface Frame {
  full?: boolean;
  truncated?: boolean;
  put?: ({ row: string } & Record<string, unknown>)[];
  gone?: string[];
}

function takeRows<T extends RowTopic>(topic: T, frame: Frame): void {
  const put = (frame.put ?? []) as unknown as Row<T>[];
  const gone = frame.gone ?? [];
  const table = live[topic] as Signal<Topical<T>>;
  const rows = new Map(frame.full ? [] : table.value.rows);
  for (const name of gone) rows.delete(name);
  for (const row of put) rows.set(row.row, row);
  const first = put[0] as { store_now?: string } | undefined;
  // A row is at most a second old, so its time is a poor clock: only the answers of acts are better.
  if (first?.store_now) noteStoreTime(first.store_now, 400);
  table.value = { rows, truncated: frame.truncated ?? table.value.truncated, ready: true };
  if (topic === 'leases') {
    for (const listener of leaseListeners) listener(put as unknown as Row<'leases'>[], gone, frame.full ?? false);
  }
  changed[topic].value += 1;
}

let source: EventSource | null = null;
/** The mark of the newest event: the stream resumes after it. */
let mark = '';
let retry = 0;
let timer = 0;

function open(): void {
  if (source || document.hidden || loggedOut.peek()) return;
  clearTimeout(timer);
  if (connection.peek() !== 'lost') connection.value = 'connecting';
  const opened = new EventSource(`${base}api/v1/stream${mark ? `?after=${encodeURIComponent(mark)}` : ''}`);
  source = opened;
  const on = (name: string, handle: (json: Record<string, unknown>) => void): void =>
    opened.addEventListener(name, (message) => {
      if (source !== opened) return;
      const { data, lastEventId } = message as MessageEvent<string>;
      mark = lastEventId || mark;
      batch(() => handle(JSON.parse(data || '{}')));
    });
  on('hello', (hello) => {
    retry = 0;
    connection.value = 'live';
    trouble.value = '';
    noteHello(hello);
  });
  for (const topic of rowTopics) on(topic, (frame) => takeRows(topic, frame as Frame));
  on('event', (event) => {
    for (const listener of eventListeners) listener(event as unknown as Event);
    changed.events.value += 1;
  });
  on('stats', (frame) => {
    stats.value = frame;
  });
  on('trouble', (frame) => {
    trouble.value = String(frame['message'] ?? '');
  });
  on('reset', () => {
    greetings.value += 1;
  });
  on('bye', () => reopenLater(500));
  opened.onerror = () => {
    if (source !== opened) return;
    reopenLater(Math.min(10_000, 500 * 2 ** retry));
    retry += 1;
    // An EventSource does not tell a server that is gone from one that asks for a login.
    void request('api/v1/store/status').catch(() => undefined);
  };
}

function noteHello(hello: Record<string, unknown>): void {
  const now = hello['store_now'];
  if (typeof now === 'string') noteStoreTime(now, 300);
  greetings.value += 1;
  changed.events.value += 1;
}

function reopenLater(delay: number): void {
  close();
  if (!document.hidden) connection.value = 'lost';
  clearTimeout(timer);
  timer = window.setTimeout(open, delay);
}

function close(): void {
  source?.close();
  source = null;
}

/** Opens the stream, and closes it while the page is hidden. */
export function startLive(): void {
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) {
      close();
      connection.value = 'resting';
    } else {
      open();
    }
  });
  effect(() => {
    if (!loggedOut.value) open();
    else close();
  });
}

/** Rows in a stable order. */
export function rowsOf<T extends RowTopic>(topic: T): Row<T>[] {
  return [...(live[topic] as Signal<Topical<T>>).value.rows.values()];
}
