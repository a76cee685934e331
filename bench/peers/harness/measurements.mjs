// The measurements by name, as the runners list them, and the shape of a rate. measures.mjs performs them.
export const enqueueSingle = { what: 'enqueue_single' };
export const enqueueBulk = { what: 'enqueue_bulk' };
export const startLatency = { what: 'start_latency' };
export const unbatched = { what: 'work_off_unbatched', processes: 1 };
export const workOff = (processes) => ({ what: 'work_off', processes });
export const connections = (processes) => ({ what: 'connections', processes });
export const all = [enqueueSingle, enqueueBulk, workOff(1), workOff(2), unbatched, startLatency];

export function round(number, digits) {
  return Number(number.toFixed(digits));
}

export function rate(jobs, milliseconds, processes = 1) {
  const seconds = milliseconds / 1000;
  return { jobs, processes, seconds: round(seconds, 4), per_second: round(jobs / seconds, 1) };
}
