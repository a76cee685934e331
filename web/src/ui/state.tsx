// States in words, colours and shapes.
import type { JSX } from 'preact';
import { visible } from '../base/text';
import { Icon } from './icons';

/** Which of six colours a state has. */
const tones: Record<string, string> = {
  running: 'live', held: 'live', active: 'live', claimed: 'live', due: 'live',
  available: 'wait', open: 'wait', planned: 'wait', free: 'quiet', idle: 'wait', waiting: 'wait', enqueued: 'live',
  deferred: 'later', snoozed: 'later', retried: 'later', blocked: 'later', released: 'quiet',
  expired: 'warn', stale: 'warn', lost: 'warn', partial: 'warn', returned: 'warn', advice: 'warn', paused: 'warn',
  failed: 'bad', exhausted: 'bad', danger: 'bad', timed_out: 'bad',
  completed: 'good', complete: 'good', done: 'good', fine: 'good',
};

export const toneOf = (state: string): string => tones[state] ?? 'quiet';

export function State({ state, word }: { state: string; word?: string }): JSX.Element {
  return (
    <span class={`state tone-${toneOf(state)}`}>
      <Icon name={state} />
      {visible(word ?? state)}
    </span>
  );
}

const kindWords: Record<string, string> = { chunks: 'sync', holder: 'holder' };
export function Kind({ kind }: { kind: string }): JSX.Element {
  return (
    <span class="kind">
      <Icon name={kind} />
      {visible(kindWords[kind] ?? kind)}
    </span>
  );
}
