// Where bars, crosses and words are: nothing covers anything else, and what has expired looks like it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { History } from '../src/timeline/history';
import { bestWindow, layOut } from '../src/timeline/layout';
import { textWidth } from '../src/timeline/places';
import { at, event, lease } from './support.mjs';

const view = (now, seconds, width = 1000) => ({ from: at(now - seconds), to: at(now) + seconds * 140, now: at(now), width, narrow: width < 400 });
const draw = (history, now, { seconds = 60, width = 1000, by = 'key' } = {}) => layOut(history, view(now, seconds, width), by, 14, () => true);
const nowAt = (width) => width / 1.14;

/** One lock per name: taken over from a dead holder `gap` seconds ago. */
function storeWith(...locks) {
  const history = new History();
  for (const [key, from, to, died, taken] of locks) {
    history.addEvent(event(0, 'lock', key, 'acquired', from));
    history.seeLease(lease(0, 'lock', key, from, died), key, from, at(0));
    history.addEvent(event(taken, 'lock', key, 'reclaimed', to, { before: from }));
    history.seeLease(lease(taken, 'lock', key, to, taken + 60, 60), key, to, at(taken));
  }
  return history;
}

/** All words of a picture as boxes. */
function words(picture) {
  const labels = [...picture.arrows.map((one) => one.label), ...picture.lanes.flatMap((lane) => lane.bars.flatMap((bar) => [bar.name, bar.note]))].filter(Boolean);
  return labels.map((one) => {
    const wide = textWidth(one.text) - 8;
    const left = one.anchor === 'start' ? one.x : one.x - wide;
    return { ...one, left, right: left + wide };
  });
}

/** What no word may do. */
function check(picture, width) {
  const all = words(picture);
  const crosses = picture.lanes.flatMap((lane) => lane.bars.filter((bar) => bar.died).map((bar) => ({ x: bar.x + bar.width, y: lane.top + 7 + (width < 400 ? 17 : 0) + bar.row * 22 + 13 })));
  for (const one of all) {
    assert.ok(one.left >= 0 && one.right <= width, `${one.text} is cut: ${one.left} to ${one.right}`);
    assert.ok(one.right <= nowAt(width) || one.left >= nowAt(width), `${one.text} crosses the line of now`);
    for (const cross of crosses) assert.ok(Math.abs(cross.y - one.y) > 10 || cross.x + 4 <= one.left || cross.x - 4 >= one.right, `${one.text} runs into a cross`);
    for (const other of all) assert.ok(other === one || Math.abs(other.y - one.y) > 10 || other.right <= one.left || other.left >= one.right, `${one.text} covers ${other.text}`);
  }
  return all.map((one) => one.text);
}

test('a lease that expired and was not taken over ends with a cross, and is hatched up to now', () => {
  const history = new History();
  history.addEvent(event(0, 'lock', 'k', 'acquired', 'ann'));
  history.seeLease(lease(0, 'lock', 'k', 'ann', 20), 'k', 'ann', at(0));
  const [bar] = draw(history, 50).lanes[0].bars;
  assert.equal(bar.died, true);
  assert.ok(Math.abs(bar.x + bar.width - (1000 / 68.4) * 30) < 1, 'the bar ends when the lease expired');
  assert.ok(Math.abs(bar.idle - nowAt(1000)) < 1, 'the hatched part ends now');
  assert.equal(bar.note.text, 'free for 30 s, not taken');
  assert.equal(draw(history, 20.9).lanes[0].bars[0].idle, 0, 'a heartbeat may still be on its way');
});

test('one that expired before the window began is hatched all through', () => {
  const history = new History();
  history.seeLease(lease(0, 'lock', 'k', 'ann', 20), 'k', 'ann', at(0));
  const picture = draw(history, 900);
  assert.deepEqual(check(picture, 1000), ['ann · free for 14m 40s, not taken']);
});

test('words keep clear of the line of now, of crosses and of each other', () => {
  for (const width of [1000, 700, 310, 200]) {
    for (const taken of [9, 20, 40, 55, 59]) {
      const history = storeWith(['deploy0', 'alice@web-0', 'bob@web-0', 8, taken], ['deploy1', 'alice@web-1', 'bob@web-1', taken - 0.4, taken], ['x', 'a', 'b', 3, taken]);
      for (const by of ['key', 'holder']) for (const seconds of [60, 300]) check(draw(history, 60, { width, by, seconds }), width);
    }
  }
});

test('a bar that is too narrow for its name has it outside, whole', () => {
  const history = storeWith(['deploy', 'alice@web-0', 'bob@web-0', 40, 57]);
  const all = check(draw(history, 60), 1000);
  assert.ok(all.includes('bob@web-0'), all.join());
});

test('takeovers that are too close become one mark', () => {
  const history = new History();
  for (let i = 0; i < 20; i += 1) history.addEvent(event(30 + i * 0.3, 'job', 'demo', 'reclaimed', `w${i + 1}`, { before: `w${i}`, detail: '1 job, free for 200 ms' }));
  const picture = draw(history, 50);
  assert.equal(picture.arrows.length, 0);
  assert.deepEqual(picture.crowds.map((crowd) => crowd.text), ['20 takeovers']);
  assert.ok(picture.crowds[0].from < at(30) && picture.crowds[0].to > at(35));
  const tiny = draw(history, 50, { seconds: 1800 });
  assert.deepEqual(tiny.crowds.map((crowd) => crowd.text), ['20 takeovers'], 'also those whose bars have no row');
  assert.deepEqual(check(tiny, 1000), [], 'the names of its bars are not shown');
  const close = draw(history, 33, { seconds: 3 });
  assert.equal(close.crowds.length, 0, 'in a small window they stand apart');
  assert.equal(close.arrows.length, 11);
  const apart = draw(history, 50, { by: 'holder' });
  assert.ok(apart.arrows.length > 10, 'each holder has a lane of its own');
});

test('the window is the smallest that holds the newest takeovers', () => {
  assert.equal(bestWindow(new History(), at(0)), 60);
  const history = storeWith(['a', 'x', 'y', 10, 15]);
  assert.equal(bestWindow(history, at(30)), 60);
  assert.equal(bestWindow(history, at(100)), 300);
  assert.equal(bestWindow(history, at(1000)), 1800);
  for (let i = 0; i < 6; i += 1) history.addEvent(event(990 + i, 'job', 'demo', 'reclaimed', 'w2', { before: 'w1', detail: '1 job, free for 200 ms' }));
  assert.equal(bestWindow(history, at(1000)), 60);
});
