// CLOCK_MONOTONIC in milliseconds: the same for every process of this machine, so that one may stamp a job and another
// take the difference.

export function now() {
  return Number(process.hrtime.bigint()) / 1e6;
}

export function sleep(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Waits until condition() holds; false when the deadline came first. */
export async function until(condition, deadline, interval = 2) {
  while (!(await condition())) {
    if (now() >= deadline) return false;
    await sleep(interval);
  }
  return true;
}
