// The gap of a takeover: from the end of the lease before to the next grant. What is not known is not shown.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { History } from '../src/timeline/history';
import { addAttempts } from '../src/timeline/jobs';
import { complete } from '../src/timeline/past';
import { sentence } from '../src/timeline/words';
import { at, attempt, event, grant, lease } from './support.mjs';

const near = (value, expected) => assert.ok(Math.abs(value - expected) < 1.5, `${value} is not ${expected}`);

function takenOver(kind, ...events) {
  const history = new History();
  for (const one of events) history.addEvent(one);
  assert.equal(history.takeovers.length, 1);
  return { history, takeover: history.takeovers[0], dead: history.lanes.get(`${kind}/k`).grants[0] };
}
const lock = () => takenOver('lock', event(0, 'lock', 'k', 'acquired', 'ann'), event(8.05, 'lock', 'k', 'reclaimed', 'ben', { before: 'ann' }));

test('a gap is unknown while nobody has said when the lease expired', () => {
  const { takeover } = lock();
  assert.equal(takeover.gap, null);
  assert.equal(sentence(takeover), 'ben took lock k over from ann: lease ran out');
});

test('the history of the store says the gap, and where the bar of the dead holder ends', () => {
  const { history, takeover, dead } = lock();
  complete(history, grant(8.05, 'lock', 'k', 'ben', { from: 'ann', gap: 5.12, cause: 'expired' }));
  near(takeover.gap, 5120);
  near(dead.end, at(2.93));
  assert.equal(sentence(takeover), 'ben took lock k over from ann: lease ran out, after 5.1 s');
});

test('the store overrules what the page saw', () => {
  const history = new History();
  history.addEvent(event(0, 'lock', 'k', 'acquired', 'ann'));
  history.seeLease(lease(0, 'lock', 'k', 'ann', 4), 'k', 'ann', at(0));
  history.addEvent(event(8, 'lock', 'k', 'reclaimed', 'ben', { before: 'ann' }));
  near(history.takeovers[0].gap, 4000);
  complete(history, grant(8, 'lock', 'k', 'ben', { from: 'ann', gap: 2.5, cause: 'expired' }));
  near(history.takeovers[0].gap, 2500);
});

test('a chunk and a schedule that ran out have no gap of 0 ms', () => {
  const chunk = takenOver('chunk', event(0, 'chunk', 'k', 'claimed', 'ann'), event(8, 'chunk', 'k', 'reclaimed', 'ben', { before: 'ann' }), event(8, 'chunk', 'k', 'claimed', 'ben'));
  assert.equal(chunk.takeover.gap, null);
  complete(chunk.history, grant(8, 'chunk', 'k', 'ben', { from: 'ann', gap: 5.16, cause: 'expired' }));
  near(chunk.takeover.gap, 5160);
  const run = takenOver('schedule', event(0, 'schedule', 'k', 'acquired', 'ann'), event(8, 'schedule', 'k', 'expired', 'ann'), event(8, 'schedule', 'k', 'acquired', 'ben'));
  assert.equal(run.takeover.gap, null);
});

test('a process that is gone: the gap begins when leasehold notices it', () => {
  const { takeover } = takenOver('lock', event(0, 'lock', 'k', 'acquired', 'ann'), event(2, 'lock', 'k', 'expired', 'ann', { detail: 'process gone' }), event(2.041, 'lock', 'k', 'acquired', 'ben'));
  assert.equal(takeover.cause, 'process gone');
  near(takeover.gap, 41);
});

test('the event of a queue says how long its jobs were free', () => {
  const { history, takeover } = takenOver('job', event(8.16, 'job', 'k', 'reclaimed', 'ben', { before: 'ann', detail: '2 jobs, free for 5160 ms' }));
  assert.deepEqual([takeover.cause, takeover.extent, takeover.gap], ['lease ran out', '2 jobs', 5160]);
  addAttempts(history, 'k', '7', [attempt(1, 'expired', 'ann', 0, 8.16), attempt(2, 'running', 'ben', 8.2, null)]);
  near(takeover.gap, 5200);
  near(takeover.fromGrant.end, at(3));
  assert.equal(takeover.toGrant.who, 'ben');
  assert.equal(history.lanes.get('job/k').grants.length, 2, 'the guess of the dead grant is still there');
});

test('jobs that no claim took back yet have no gap', () => {
  const { takeover } = takenOver('job', event(8, 'job', 'k', 'reclaimed', '', { before: 'ann', detail: '1 job, process gone' }));
  assert.deepEqual([takeover.cause, takeover.to, takeover.gap], ['process gone', '', null]);
});

test('the attempts of a job correct what the page saw late', () => {
  const { history, takeover } = takenOver('job', event(8, 'job', 'k', 'reclaimed', '', { before: 'ann', detail: '1 job, process gone' }));
  history.lanes.get('job/k').grants[0].job = '7';
  history.seeLease({ ...lease(9, 'job', '7', 'ben', 20) }, 'k', 'ben', at(9));
  near(takeover.gap, 1000);
  addAttempts(history, 'k', '7', [attempt(1, 'expired', 'ann', 0, 8), attempt(2, 'running', 'ben', 8.03, null)]);
  near(takeover.gap, 30);
});

test('a job that was completed just before its worker died is no takeover', () => {
  const history = new History();
  history.seeLease(lease(0, 'job', '7', 'ann', 20), 'k', 'ann', at(0));
  history.loseLease('job', 'k', 'ann', '7', at(0), at(4));
  history.seeLease(lease(4.1, 'job', '8', 'ann', 20), 'k', 'ann', at(4.1));
  history.addEvent(event(5, 'job', 'k', 'reclaimed', '', { before: 'ann', detail: '1 job, process gone' }));
  const grants = history.lanes.get('job/k').grants;
  assert.deepEqual(grants.map((one) => [one.job, one.how]), [['7', 'ended'], ['8', 'expired']]);
  assert.equal(history.takeovers[0].fromGrant.job, '8');
});

test('the end of a chunk is found, even if the page has seen the next lease before the event', () => {
  const history = new History();
  history.addEvent(event(0, 'chunk', 'k', 'claimed', 'ann'));
  history.seeLease(lease(0, 'chunk', 'k', 'ann', 6), 'k', 'ann', at(0));
  history.loseLease('chunk', 'k', 'ann', '', at(0), at(8.4));
  history.seeLease(lease(8.2, 'chunk', 'k', 'ben', 20), 'k', 'ben', at(8.2));
  history.addEvent(event(8.2, 'chunk', 'k', 'reclaimed', 'ben', { before: 'ann' }));
  history.addEvent(event(8.2, 'chunk', 'k', 'claimed', 'ben', { before: 'ann' }));
  assert.deepEqual(history.lanes.get('chunk/k').grants.map((one) => [one.who, one.how, one.end]), [['ann', 'expired', at(6)], ['ben', 'ended', null]]);
  near(history.takeovers[0].gap, 2200);
});

test('a worker that takes one job after the other has bars in one row', () => {
  const history = new History();
  history.seeLease(lease(0, 'job', '1', 'ann', 20), 'k', 'ann', at(0));
  history.seeLease(lease(2, 'job', '2', 'ann', 20), 'k', 'ann', at(2));
  history.loseLease('job', 'k', 'ann', '1', at(0), at(2.7));
  history.loseLease('job', 'k', 'ann', '2', at(2), at(4.6));
  history.seeLease(lease(4, 'job', '3', 'ann', 20), 'k', 'ann', at(4));
  assert.deepEqual(history.lanes.get('job/k').grants.map((one) => one.end), [at(2), at(4), null]);
});

test('a job that the page did not see: the attempts correct which one was taken over', () => {
  const history = new History();
  history.seeLease(lease(0, 'job', '7', 'ann', 20), 'k', 'ann', at(0));
  history.addEvent(event(4.2, 'job', 'k', 'reclaimed', '', { before: 'ann', detail: '1 job, process gone' }));
  addAttempts(history, 'k', '8', [attempt(1, 'expired', 'ann', 4, 4.2), attempt(2, 'running', 'ben', 4.21, null)]);
  const [takeover] = history.takeovers;
  assert.deepEqual([takeover.fromGrant.job, takeover.fromGrant.how, takeover.to], ['8', 'expired', 'ben']);
  near(takeover.gap, 10);
  assert.equal(history.lanes.get('job/k').grants.find((one) => one.job === '7').how, 'ended');
});

test('a lease that the page saw go before its events came is drawn once', () => {
  const history = new History();
  history.seeLease(lease(0, 'lock', 'k', 'ann', 3), 'k', 'ann', at(0));
  history.loseLease('lock', 'k', 'ann', '', at(0), at(5));
  history.seeLease(lease(4.9, 'lock', 'k', 'ben', 20), 'k', 'ben', at(4.9));
  history.addEvent(event(0, 'lock', 'k', 'acquired', 'ann'));
  history.addEvent(event(4.9, 'lock', 'k', 'reclaimed', 'ben', { before: 'ann' }));
  assert.deepEqual(history.lanes.get('lock/k').grants.map((one) => [one.who, one.how, one.end]), [['ann', 'expired', at(3)], ['ben', 'ended', null]]);
  near(history.takeovers[0].gap, 1900);
});
