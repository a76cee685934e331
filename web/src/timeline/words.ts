// A takeover as a sentence.
import { visible } from '../base/text';
import { span } from '../base/time';
import type { Takeover } from './history';

/** "41 ms", or "at once"; empty if it is unknown. */
export const gapWords = ({ gap }: Takeover): string => (gap === null ? '' : gap < 1 ? 'at once' : span(gap));

/** "bob took lock deploy over from alice: process gone, after 41 ms" */
export function sentence(one: Takeover): string {
  const what = one.kind === 'job' ? `${one.extent || 'a job'} of queue ${one.key}` : `${one.kind} ${one.key}`;
  const who = one.to ? `${one.to} took ${what} over from ${one.from}` : `${what} was taken back from ${one.from}`;
  return visible(`${who}: ${one.cause}${one.gap === null ? '' : one.gap < 1 ? ', at once' : `, after ${span(one.gap)}`}`);
}
