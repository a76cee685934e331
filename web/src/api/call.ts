// Performs acts: POST api/v1/NOUN/VERB with the arguments as JSON.
import { signal } from '@preact/signals';
import { base } from '../base/router';
import { noteStoreTime } from '../base/time';
import type { Acts, Scopes } from './types';

export type Act = keyof Acts;
export type Arguments<A extends Act> = Acts[A]['arguments'];
export type Answer<A extends Act> = Acts[A]['answer'];

/** A refusal, or a failure on the way. */
export class Refusal extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly code: string,
    readonly field: string | undefined,
  ) {
    super(message);
  }
}

/** Login is needed. */
export const loggedOut = signal(false);

const scopeOrder = ['read', 'produce', 'work', 'admin'];
/** What the caller may do, as the server says; the server checks each act again. */
export const rights = signal({ name: '', scope: '', readOnly: false, login: false });

/** The scopes of the acts that the page offers; the compiler compares them with api/acts.json. */
const scopes: Partial<Scopes> = {
  'job.enqueue': 'produce',
  'job.cancel': 'work',
  'job.retry': 'work',
  'schedule.trigger': 'work',
  'store.recover': 'work',
};

/** Why the caller cannot perform an act; empty if it can. */
export function whyNot(act: Act): string {
  const needed = scopes[act] ?? 'admin';
  if (!rights.value.scope) return 'the server has not said yet what you may do';
  if (rights.value.readOnly) return 'this server is read-only';
  if (scopeOrder.indexOf(rights.value.scope) >= scopeOrder.indexOf(needed)) return '';
  return `needs a token of scope ${needed}; yours has ${rights.value.scope}`;
}

export async function call<A extends Act>(act: A, args: Arguments<A>, signal?: AbortSignal): Promise<Answer<A>> {
  const sent = performance.now();
  const answer = await request(`api/v1/${act.replace('.', '/')}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(args),
    signal: signal ?? null,
  });
  const took = performance.now() - sent;
  const now = (answer['store_now'] ?? firstOf(answer['items'])?.['store_now']) as string | undefined;
  if (now) noteStoreTime(now, took);
  if (answer['granted'] === false) {
    throw new Refusal(String(answer['message']), 200, String(answer['code']), undefined);
  }
  return answer as unknown as Answer<A>;
}

type Json = Record<string, unknown>;
const firstOf = (items: unknown): Json | undefined => (Array.isArray(items) ? (items[0] as Json | undefined) : undefined);

/** A request to an address under the base path. The answer is JSON, or empty. */
export async function request(path: string, init: RequestInit = {}): Promise<Json> {
  let response: Response;
  try {
    response = await fetch(base + path, { credentials: 'same-origin', ...init });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new Refusal('the server does not answer', 0, 'unavailable', undefined);
  }
  const text = await response.text();
  const json = parsed(text);
  if (response.ok) return json;
  if (response.status === 401) loggedOut.value = true;
  throw new Refusal(
    String(json['message'] ?? json['detail'] ?? json['title'] ?? `the server answered ${response.status}`),
    response.status,
    String(json['code'] ?? ''),
    json['field'] as string | undefined,
  );
}

function parsed(text: string): Json {
  try {
    return (text ? JSON.parse(text) : {}) as Json;
  } catch {
    return {};
  }
}
