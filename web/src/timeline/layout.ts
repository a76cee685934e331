// Where everything is drawn: pure arithmetic from grants and takeovers to boxes, arrows and labels.
//
// The next holder of a takeover gets another row of the lane. So the row of the dead holder is free after its end, and has
// room for the cause and the gap: "alice ✕ process gone · 41 ms". An arrow leads down to the bar of the next holder. Where
// takeovers are too close to be told apart, one mark stands for them: "12 takeovers".
import { span } from '../base/time';
import { gapWords } from './words';
import type { Grant, History, Lane, Takeover } from './history';
import { Places, shortened, textWidth, type Label } from './places';

export interface View {
  from: number;
  to: number;
  now: number;
  width: number;
  /** The name of a lane is above its bars, because there is no room beside them. */
  narrow: boolean;
}

export interface Bar {
  grant: Grant;
  row: number;
  x: number;
  width: number;
  /** The end of the lease without a further heartbeat. */
  ghost: number;
  /** The end of the time since the lease expired, in which nobody took it over; 0 if it did not. */
  idle: number;
  ticks: number[];
  name: Label | null;
  /** After the cross, if nobody took the lease over. */
  note: Label | null;
  died: boolean;
}

export interface Arrow {
  takeover: Takeover;
  x1: number;
  y1: number;
  x2: number;
  y2: number;
  label: Label | null;
}

/** Takeovers that are too close to each other. */
export interface Crowd {
  takeovers: Takeover[];
  x: number;
  y: number;
  text: string;
  from: number;
  to: number;
}

export interface DrawnLane {
  id: string;
  kind: string;
  key: string;
  top: number;
  height: number;
  bars: Bar[];
  live: boolean;
}

export interface Picture {
  lanes: DrawnLane[];
  arrows: Arrow[];
  crowds: Crowd[];
  height: number;
  hidden: number;
}

export const rowHeight = 22;
export const barHeight = 18;
export const nameHeight = 17;
const lanePadding = 7;
const mostRows = 6;
/** Crosses that are closer than this cannot be told apart. */
const crossWidth = 13;
/** A stream is at most so late: until then, an expired lease may have got a heartbeat. */
const late = 1000;

export type Grouping = 'key' | 'holder';

/** The lease has expired, and nobody has taken it over. */
export const isIdle = (grant: Grant, now: number): boolean => grant.end === null && grant.until > 0 && now - grant.until > late;

export function layOut(history: History, view: View, grouping: Grouping, mostLanes: number, wanted: (lane: Lane) => boolean): Picture {
  const x = (time: number): number => ((time - view.from) / (view.to - view.from)) * view.width;
  const shown = [...history.lanes.values()].filter(wanted);
  const takeovers = history
    .since(view.from)
    .filter((one) => one.at <= view.to && wanted({ kind: one.kind, key: one.key, grants: [], dead: null }));
  const groups = grouping === 'key' ? byKey(shown, view) : byHolder(shown, takeovers, view);
  groups.sort(order);
  const picture: Picture = { lanes: [], arrows: [], crowds: [], height: 0, hidden: Math.max(0, groups.length - mostLanes) };
  const drawn = new Map<Grant, Drawn>();
  const lanes = new Map<Grant, DrawnLane>();
  const places = new Places(view.width, x(view.now));
  const taken = new Map(takeovers.filter((one) => one.toGrant).map((one) => [one.toGrant, one]));
  for (const group of groups.slice(0, mostLanes)) {
    const lane = drawLane(group, view, x, taken, picture.height);
    picture.lanes.push(lane);
    picture.height += lane.height;
    for (const grant of group.grants) lanes.set(grant, lane);
    for (const bar of lane.bars) {
      drawn.set(bar.grant, { lane, bar });
      places.take(rowMiddle(lane, bar.row, view), bar.x, Math.max(bar.x + bar.width + (bar.died ? 7 : 0), bar.ghost, bar.idle));
    }
  }
  const told = drawCrowds(picture, takeovers, lanes, drawn, x, view);
  drawArrows(picture, takeovers.filter((one) => !told.has(one)), drawn, grouping, x, view, places);
  const crowded = new Set([...told].flatMap((one) => [one.fromGrant, one.toGrant]));
  for (const lane of picture.lanes) nameBars(lane, grouping === 'holder', view, x(view.now), places, crowded);
  return picture;
}

interface Drawn {
  lane: DrawnLane;
  bar: Bar;
}

interface Group {
  id: string;
  kind: string;
  key: string;
  grants: Grant[];
  live: boolean;
  taken: number;
}

const visible = (grant: Grant, view: View): boolean => (grant.end ?? view.now) >= view.from && grant.start <= Math.min(view.now, view.to);

function byKey(lanes: Lane[], view: View): Group[] {
  const groups = lanes.map((lane) => {
    const grants = lane.grants.filter((grant) => visible(grant, view)).sort((a, b) => a.start - b.start);
    return {
      id: `${lane.kind}/${lane.key}`, kind: lane.kind, key: lane.key, grants,
      live: grants.some((grant) => grant.end === null), taken: grants.filter((grant) => grant.how === 'expired').length,
    };
  });
  return groups.filter((group) => group.grants.length > 0);
}

function byHolder(lanes: Lane[], takeovers: Takeover[], view: View): Group[] {
  const groups = new Map<string, Group>();
  const groupOf = (who: string): Group => {
    let group = groups.get(who);
    if (!group) {
      group = { id: who, kind: 'holder', key: who, grants: [], live: false, taken: 0 };
      groups.set(who, group);
    }
    return group;
  };
  for (const lane of lanes) {
    for (const grant of lane.grants) {
      if (!visible(grant, view) || !grant.who) continue;
      const group = groupOf(grant.who);
      group.grants.push(grant);
      group.live ||= grant.end === null;
    }
  }
  for (const one of takeovers) for (const who of [one.from, one.to]) if (who) groupOf(who).taken += 1;
  const all = [...groups.values()];
  for (const group of all) group.grants.sort((a, b) => a.start - b.start);
  return all;
}

const kinds = ['lock', 'schedule', 'item', 'session', 'chunk', 'row', 'job', 'holder'];
/** Lanes keep their places while they change: first those with a takeover, then by kind and name. */
function order(a: Group, b: Group): number {
  return (
    Number(b.taken > 0) - Number(a.taken > 0) ||
    (a.kind === 'holder' ? 0 : Number(b.live) - Number(a.live)) ||
    kinds.indexOf(a.kind) - kinds.indexOf(b.kind) ||
    a.key.localeCompare(b.key, 'en', { numeric: true })
  );
}

function drawLane(group: Group, view: View, x: (time: number) => number, taken: Map<Grant | null, Takeover>, top: number): DrawnLane {
  const free: number[] = [];
  const rows = new Map<Grant, number>();
  const bars: Bar[] = [];
  let last = 0;
  for (const grant of group.grants) {
    const idle = isIdle(grant, view.now) ? x(view.now) : 0;
    const left = Math.max(-2, x(grant.start));
    const right = Math.max(left + 3, x(idle ? grant.until : (grant.end ?? view.now)));
    const from = taken.get(grant)?.fromGrant;
    const avoided = from ? rows.get(from) : undefined;
    const row = chooseRow(free, left, avoided, last);
    if (row < 0) continue;
    const ghost = grant.end === null && grant.until > view.now ? Math.min(view.width, x(grant.until)) : right;
    const ticks = grant.beats.map(x).filter((at) => at > left && at <= right);
    const died = idle > 0 || (grant.end !== null && (grant.how === 'expired' || grant.how === 'lost' || grant.how === 'revoked'));
    bars.push({ grant, row, x: left, width: right - left, ghost, idle, ticks, name: null, note: null, died });
    free[row] = Math.max(right, ghost, idle) + 1;
    rows.set(grant, row);
    last = row;
  }
  const used = Math.max(1, ...bars.map((bar) => bar.row + 1));
  const height = used * rowHeight + 2 * lanePadding + (view.narrow ? nameHeight : 0);
  return { id: group.id, kind: group.kind, key: group.key, top, bars, live: group.live, height };
}

function chooseRow(free: number[], left: number, avoided: number | undefined, last: number): number {
  const fits = (row: number): boolean => row !== avoided && (free[row] ?? -Infinity) <= left + 0.5;
  if (avoided === undefined && fits(last)) return last;
  for (let row = 0; row < mostRows; row += 1) if (fits(row)) return row;
  return -1;
}

export const rowTop = (lane: DrawnLane, row: number, view: View): number => lane.top + lanePadding + (view.narrow ? nameHeight : 0) + row * rowHeight;
const rowMiddle = (lane: DrawnLane, row: number, view: View): number => rowTop(lane, row, view) + barHeight / 2;

/** Puts each name into its bar, or beside it if it is short. Without room for a name, the line below the picture tells it. */
function nameBars(lane: DrawnLane, byHolder: boolean, view: View, now: number, places: Places, crowded: Set<Grant | null>): void {
  for (const bar of lane.bars) {
    const name = byHolder ? `${bar.grant.kind} ${bar.grant.key}` : bar.grant.who;
    const y = rowMiddle(lane, bar.row, view);
    const left = Math.max(0, bar.x);
    const room = Math.min(bar.x + bar.width - (bar.died ? 6 : 0), view.width) - left;
    const fits = textWidth(name) <= room;
    const at = (text: string, x: number): Label => ({ text, x, y: y + 4, anchor: 'start' });
    if (fits) bar.name = at(name, left + 5);
    if (bar.idle) {
      const from = Math.max(0, bar.x + bar.width) + 10;
      const text = idleWords(bar.grant, view.now, fits ? '' : name).find((one) => textWidth(one) <= Math.min(bar.idle, view.width) - from);
      if (text) bar.note = at(text, from);
    }
    if (fits || bar.note) continue;
    if (bar.ghost - now - 6 >= textWidth(name)) bar.name = at(name, now + 8);
    else if (!byHolder && !crowded.has(bar.grant)) bar.name = places.put([name], y, NaN, bar.x - 2);
    const start = room > 50 && !bar.name ? shortened(name, room) : '';
    if (start) bar.name = at(start, left + 5);
  }
}

/** What stands after the cross of a lease that expired and was not taken over, the longest first. */
function idleWords(grant: Grant, now: number, name: string): string[] {
  const free = `free for ${span(now - grant.until, true)}`;
  const words = [`${free}, not taken`, free, 'not taken'];
  return name ? [...words.slice(0, 2).map((one) => `${name} · ${one}`), name, ...words] : words;
}

/** Finds the takeovers of a lane that are too close to be told apart, and returns them. */
function drawCrowds(
  picture: Picture, takeovers: Takeover[], lanes: Map<Grant, DrawnLane>, drawn: Map<Grant, Drawn>, x: (time: number) => number, view: View,
): Set<Takeover> {
  const told = new Set<Takeover>();
  const crosses = new Map<DrawnLane, { one: Takeover; x: number; row: number }[]>();
  for (const one of takeovers) {
    const lane = one.fromGrant && lanes.get(one.fromGrant);
    if (!lane || !one.fromGrant) continue;
    // Where there is no row left for a bar, its takeover counts all the same.
    const bar = drawn.get(one.fromGrant)?.bar;
    const list = crosses.get(lane) ?? [];
    list.push({ one, x: bar ? bar.x + bar.width : Math.max(1, x(one.fromGrant.end ?? one.at)), row: bar?.row ?? mostRows });
    crosses.set(lane, list);
  }
  for (const [lane, list] of crosses) {
    list.sort((a, b) => a.x - b.x);
    for (let first = 0, next = 1; first < list.length; first = next, next += 1) {
      while (next < list.length && (list[next]?.x ?? 0) - (list[next - 1]?.x ?? 0) < crossWidth) next += 1;
      const near = list.slice(first, next);
      // Two crosses in two rows are still two.
      if (near.length < 2 || (near.length === 2 && near[0]?.row !== near[1]?.row)) continue;
      for (const { one } of near) told.add(one);
      const all = near.map(({ one }) => one);
      const text = `${all.length} takeovers`;
      const half = (textWidth(text) + 26) / 2;
      const middle = ((near[0]?.x ?? 0) + (near[near.length - 1]?.x ?? 0)) / 2;
      picture.crowds.push({
        takeovers: all, text, x: Math.max(half, Math.min(view.width - half, middle)), y: lane.top + (lane.height + (view.narrow ? nameHeight : 0)) / 2,
        from: Math.min(...all.map((one) => one.fromGrant?.end ?? one.at)), to: Math.max(...all.map((one) => one.at)),
      });
    }
  }
  return told;
}

function drawArrows(
  picture: Picture, takeovers: Takeover[], drawn: Map<Grant, Drawn>, grouping: Grouping, x: (time: number) => number, view: View, places: Places,
): void {
  for (const crowd of picture.crowds) places.take(crowd.y, crowd.x - textWidth(crowd.text) / 2 - 13, crowd.x + textWidth(crowd.text) / 2 + 13);
  const lanes = new Map(picture.lanes.map((lane) => [lane.id, lane]));
  for (const takeover of takeovers) {
    const from = takeover.fromGrant && drawn.get(takeover.fromGrant);
    if (!from) continue;
    const x1 = from.bar.x + from.bar.width;
    const y1 = rowMiddle(from.lane, from.bar.row, view);
    const y2 = target(takeover, from, drawn, lanes, grouping, view);
    const x2 = Math.max(x1, x(takeover.toGrant?.start ?? takeover.at));
    const gap = gapWords(takeover);
    const down = Math.sign(y2 - y1) || 1;
    // Beside the cross; else where the arrow crosses the next lane.
    const spots: [y: number, before?: number][] = [[y1, from.bar.x - 2]];
    const next = picture.lanes[picture.lanes.indexOf(from.lane) + down];
    if (next && Math.abs(y2 - y1) > next.height && grouping === 'holder') spots.push([rowMiddle(next, 0, view)]);
    let label: Label | null = null;
    for (const [y, before] of spots) label ??= places.put([[takeover.cause, gap].filter(Boolean).join(' · '), gap], y, x1 + 8, before);
    picture.arrows.push({ takeover, x1, y1, x2, y2, label });
  }
}

function target(takeover: Takeover, from: Drawn, drawn: Map<Grant, Drawn>, lanes: Map<string, DrawnLane>, grouping: Grouping, view: View): number {
  const place = takeover.toGrant && drawn.get(takeover.toGrant);
  if (place) return rowMiddle(place.lane, place.bar.row, view);
  const lane = grouping === 'holder' ? lanes.get(takeover.to) : undefined;
  if (lane) return lane.top + lane.height / 2;
  return rowMiddle(from.lane, from.bar.row, view) + rowHeight * 0.6;
}

/** Round moments for the axis, about 110 pixels apart. */
export function axis(view: View): number[] {
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400].map((s) => s * 1000);
  const wanted = ((view.to - view.from) / view.width) * 110;
  const step = steps.find((one) => one >= wanted) ?? 86_400_000;
  const offset = new Date(view.now).getTimezoneOffset() * 60_000;
  const times: number[] = [];
  for (let at = Math.ceil((view.from - offset) / step) * step + offset; at < view.to; at += step) times.push(at);
  return times;
}

/** The windows to choose from, in seconds. */
export const windows = [60, 300, 1800, 7200];
const few = 6;

/** The smallest window that holds the newest takeovers; without any, the newest grants. In seconds. */
export function bestWindow(history: History, now: number): number {
  const moments = history.takeovers.length > 0 ? history.takeovers.map((one) => Math.min(one.at, one.ended || one.at)) : starts(history);
  const oldest = moments.sort((a, b) => b - a).slice(0, few).pop() ?? now;
  return windows.find((one) => now - oldest < one * 950) ?? windows[windows.length - 1] ?? 60;
}

const starts = (history: History): number[] => [...history.lanes.values()].flatMap((lane) => lane.grants.map((grant) => grant.start));
