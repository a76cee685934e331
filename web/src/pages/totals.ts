// Jobs that completed since the store exists: pruning does not lower these totals.
import { useAct } from '../api/resource';
import { digits } from '../base/text';

/** In words, for one queue or for all; empty until the store has answered, or if the user may not ask. */
export function useCompleted(queue?: string): string {
  const metrics = useAct('store.metrics', {}, [], 4000).value.data;
  if (!metrics) return '';
  const counts = metrics.finished.filter((one) => one.outcome === 'completed' && (queue === undefined || one.queue === queue));
  return digits(counts.reduce((sum, one) => sum + one.count, 0));
}
