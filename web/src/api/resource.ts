// Answers of acts that stay current: a page says what it shows and which topics change it.
//
//   const queue = useAct('queue.show', { name }, ['queues', 'leases']);
//   if (queue.value.data) ...
import { useComputed, useSignal, type ReadonlySignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { call, type Act, type Answer, type Arguments } from './call';
import { changed, type Topic } from './live';

export interface Loaded<T> {
  data: T | undefined;
  error: Error | undefined;
  loading: boolean;
}

/** The least time between two requests, however much changes. */
const pause = 1000;

interface Source {
  load: (signal: AbortSignal) => Promise<unknown>;
  /** Loads again when it changes; null loads nothing. */
  key: string | null;
  topics: Topic[];
  /** Also loads again after this many milliseconds. */
  every: number;
}

function useSource<T>(source: Source): ReadonlySignal<Loaded<T>> & { again: () => void } {
  const state = useSignal<Loaded<T>>({ data: undefined, error: undefined, loading: true });
  const latest = useRef(source);
  latest.current = source;
  const again = useRef(() => undefined as void);
  useEffect(() => {
    if (source.key === null) {
      state.value = { data: undefined, error: undefined, loading: false };
      return undefined;
    }
    // The page keeps showing the old data until the answer is here.
    state.value = { ...state.peek(), error: undefined, loading: true };
    let control: AbortController | null = null;
    let timer = 0;
    let due = false;
    let last = 0;
    const run = async (): Promise<void> => {
      due = false;
      last = Date.now();
      control = new AbortController();
      const mine = control;
      try {
        const data = (await latest.current.load(mine.signal)) as T;
        if (!mine.signal.aborted) state.value = { data, error: undefined, loading: false };
      } catch (error) {
        if (!mine.signal.aborted) state.value = { data: state.peek().data, error: error as Error, loading: false };
      } finally {
        if (control === mine) control = null;
        if (due) soon();
      }
    };
    const soon = (): void => {
      due = true;
      if (control || document.hidden) return;
      clearTimeout(timer);
      timer = window.setTimeout(() => void run(), Math.max(0, last + pause - Date.now()));
    };
    again.current = () => {
      last = 0;
      soon();
    };
    void run();
    let first = true;
    const stops = source.topics.map((topic) =>
      changed[topic].subscribe(() => {
        if (!first) soon();
      }),
    );
    first = false;
    const ticker = source.every > 0 ? window.setInterval(soon, source.every) : 0;
    const wake = (): void => {
      if (!document.hidden) soon();
    };
    document.addEventListener('visibilitychange', wake);
    return () => {
      document.removeEventListener('visibilitychange', wake);
      control?.abort();
      clearTimeout(timer);
      clearInterval(ticker);
      for (const stop of stops) stop();
    };
  }, [source.key]);
  const shown = useComputed(() => state.value);
  return Object.assign(shown, { again: () => again.current() });
}

/** The answer of an act. With `null` instead of arguments it asks nothing. */
export function useAct<A extends Act>(
  act: A,
  args: Arguments<A> | null,
  topics: Topic[] = [],
  every = 15_000,
): ReadonlySignal<Loaded<Answer<A>>> & { again: () => void } {
  return useSource<Answer<A>>({
    key: args === null ? null : `${act} ${JSON.stringify(args)}`,
    load: (signal) => call(act, args as Arguments<A>, signal),
    topics,
    every,
  });
}

interface Listed<T> {
  items: T[];
  next: string | null;
}

/** A list that grows by pages: the first `pages` pages of it. */
export function usePages<A extends Act, T = Answer<A> extends { items: (infer I)[] } ? I : never>(
  act: A,
  args: Arguments<A>,
  pages: number,
  topics: Topic[] = [],
  every = 15_000,
): ReadonlySignal<Loaded<Listed<T> & { rest: Record<string, unknown> }>> & { again: () => void } {
  return useSource({
    key: `${act} ${pages} ${JSON.stringify(args)}`,
    load: async (signal) => {
      const all: Listed<T> & { rest: Record<string, unknown> } = { items: [], next: null, rest: {} };
      for (let i = 0; i < pages; i += 1) {
        const { items, next, ...rest } = (await call(
          act,
          (all.next ? { ...args, page: all.next } : args) as Arguments<A>,
          signal,
        )) as unknown as Listed<T>;
        all.items.push(...items);
        all.next = next;
        all.rest = rest;
        if (!next) break;
      }
      return all;
    },
    topics,
    every,
  });
}
