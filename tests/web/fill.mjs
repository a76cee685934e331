// A store in which every page has something to show, with names that a careless page would take for markup.
export const nasty = '<img src=x onerror=alert(1)>';

export async function fill(call) {
  await call('lock.acquire', { name: 'deploy', ttl_seconds: 600, holder: 'alice' });
  await call('lock.acquire', { name: nasty, ttl_seconds: 600, holder: '"><script>alert(1)</script>' });
  await call('lock.acquire', { name: 'short', ttl_seconds: 1, holder: 'gone' });
  const jobs = Array.from({ length: 12 }, (_, index) => ({ payload: { to: `user${index}@example.com` }, tags: ['weekly', nasty] }));
  await call('job.enqueue_all', { queue: 'mail', jobs });
  const running = await call('job.claim', { queue: 'mail', ttl_seconds: 600, holder: 'worker-1' });
  await call('job.heartbeat', { id: running.jobs[0].id, token: running.token, percent: 40, message: nasty, stage: 'send' });
  await call('job.enqueue', { queue: 'broken', payload: nasty, max_failures: 1 });
  const broken = await call('job.claim', { queue: 'broken', holder: 'worker-2' });
  await call('job.fail', { id: broken.jobs[0].id, token: broken.token, error: `connection refused ${nasty}` });
  await call('queue.pause', { name: 'mail', reason: nasty });
  await call('chunk.plan_range', { set: 'orders', first: 1, last: 4000, size: 100 });
  const chunk = await call('chunk.claim', { set: 'orders', holder: 'loader-1', ttl_seconds: 600 });
  const { key, token } = chunk.chunks[0];
  await call('chunk.complete', { set: 'orders', key, token, rows: 100 });
  await call('chunk.claim', { set: 'orders', holder: 'loader-1', ttl_seconds: 600 });
  await call('item.add', { key: 'SD-1', title: `Parse ${nasty}`, note: 'a note' });
  await call('item.add', { key: 'SD-2', title: 'Write the tests', depends_on: ['SD-1'] });
  const session = await call('session.open', { id: 'ann', label: `fixing ${nasty}`, ttl_seconds: 600, holder: 'ann@laptop' });
  await call('session.open', { id: 'bob', label: 'idle', ttl_seconds: 600, holder: 'bob@laptop' });
  await call('claim.take', { key: 'SD-1', session: 'ann', session_token: session.token });
  await call('schedule.set', { name: 'nightly', cron: '0 3 * * *', zone: 'Europe/Berlin', queue: 'reports', payload: { kind: nasty } });
  await call('schedule.set', { name: 'refresh', every_min_seconds: 600, every_max_seconds: 900, next_run_in_seconds: 0 });
  const ran = await call('schedule.acquire', { name: 'refresh', now: true, holder: 'cron@web1' });
  await call('schedule.fail', { name: 'refresh', token: ran.token, error: nasty });
  return { failedJob: broken.jobs[0].id, runningJob: running.jobs[0].id, chunk: key };
}
