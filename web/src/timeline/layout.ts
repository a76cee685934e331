// Where everything is drawn: pure arithmetic from grants and takeovers to boxes, arrows and labels.
//
// The next holder of a takeover gets another row of the lane. So the row of the dead holder is free after its end, and has
// room for the cause and the gap: "alice ✕ process gone · 41 ms". An arrow leads down to the bar of the next holder.
import { span } from '../base/time';
import type { Grant, History, Lane, Takeover } from './history';

export interface View {
  from: number;
  to: number;
  now: number;
  width: number;
}

export interface Bar {
  grant: Grant;
  row: number;
  x: number;
  width: number;
  /** The end of the lease without a further heartbeat. */
  ghost: number;
  ticks: number[];
  name: string;
  died: boolean;
}

export interface Arrow {
  takeover: Takeover;
  x1: number;
  y1: number;
  x2: number;
  y2: number;
  label: string;
  labelX: number;
  labelY: number;
  anchor: 'start' | 'end';
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
  height: number;
  hidden: number;
}

export const rowHeight = 22;
export const barHeight = 18;
const lanePadding = 7;
const mostRows = 6;
const letter = 6.3;
const textWidth = (text: string): number => text.length * letter + 10;

export type Grouping = 'key' | 'holder';

export function layOut(history: History, view: View, grouping: Grouping, mostLanes: number, wanted: (lane: Lane) => boolean): Picture {
  const x = (time: number): number => ((time - view.from) / (view.to - view.from)) * view.width;
  const shown = [...history.lanes.values()].filter(wanted);
  const takeovers = history.since(view.from).filter((one) => wanted({ kind: one.kind, key: one.key, grants: [], dead: null }));
  const groups = grouping === 'key' ? byKey(shown, view) : byHolder(shown, takeovers, view);
  groups.sort(order);
  const picture: Picture = { lanes: [], arrows: [], height: 0, hidden: Math.max(0, groups.length - mostLanes) };
  const places = new Map<Grant, { lane: DrawnLane; bar: Bar }>();
  const taken = new Map(takeovers.filter((one) => one.toGrant).map((one) => [one.toGrant, one]));
  for (const group of groups.slice(0, mostLanes)) {
    const lane = drawLane(group, view, x, taken, picture.height);
    picture.lanes.push(lane);
    picture.height += lane.height;
    for (const bar of lane.bars) places.set(bar.grant, { lane, bar });
  }
  drawArrows(picture, takeovers, places, grouping, x, view);
  return picture;
}

interface Group {
  id: string;
  kind: string;
  key: string;
  grants: Grant[];
  live: boolean;
  taken: number;
}

const visible = (grant: Grant, view: View): boolean => (grant.end ?? view.now) >= view.from && grant.start <= view.now;

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
  for (const one of takeovers) if (one.to) groupOf(one.to).taken += 1;
  const all = [...groups.values()];
  for (const group of all) group.grants.sort((a, b) => a.start - b.start);
  return all;
}

const kinds = ['lock', 'schedule', 'item', 'session', 'chunk', 'row', 'job', 'holder'];
/** Lanes keep their places while they change: first those with a takeover, then by kind and name. */
function order(a: Group, b: Group): number {
  return (
    Number(b.taken > 0) - Number(a.taken > 0) ||
    Number(b.live) - Number(a.live) ||
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
    const left = Math.max(-2, x(grant.start));
    const right = Math.max(left + 3, x(grant.end ?? view.now));
    const from = taken.get(grant)?.fromGrant;
    const avoided = from ? rows.get(from) : undefined;
    const row = chooseRow(free, left, avoided, last);
    if (row < 0) continue;
    const ghost = grant.end === null && grant.until > view.now ? Math.min(view.width, x(grant.until)) : right;
    const ticks = grant.beats.map(x).filter((at) => at > left && at <= right);
    const died = grant.how === 'expired' || grant.how === 'lost' || grant.how === 'revoked';
    const bar: Bar = { grant, row, x: left, width: right - left, ghost, ticks, name: '', died: died && grant.end !== null };
    free[row] = Math.max(right, grant.end === null ? ghost : right) + 1;
    rows.set(grant, row);
    last = row;
    bars.push(bar);
  }
  nameBars(bars, group.kind === 'holder', view.width);
  const used = Math.max(1, ...bars.map((bar) => bar.row + 1));
  return { id: group.id, kind: group.kind, key: group.key, top, bars, live: group.live, height: used * rowHeight + 2 * lanePadding };
}

function chooseRow(free: number[], left: number, avoided: number | undefined, last: number): number {
  const fits = (row: number): boolean => row !== avoided && (free[row] ?? -Infinity) <= left + 0.5;
  if (avoided === undefined && fits(last)) return last;
  for (let row = 0; row < mostRows; row += 1) if (fits(row)) return row;
  return -1;
}

/** Puts each name into its bar, or after the bar if that place is free. */
function nameBars(bars: Bar[], byHolder: boolean, width: number): void {
  for (const bar of bars) {
    const name = byHolder ? `${bar.grant.kind} ${bar.grant.key}` : bar.grant.who;
    const room = Math.max(bar.width, bar.ghost - bar.x);
    if (textWidth(name) <= Math.min(room, width - Math.max(0, bar.x))) bar.name = name;
    else if (room > 44) bar.name = `${name.slice(0, Math.floor((room - 14) / letter))}…`;
  }
}

const rowMiddle = (lane: DrawnLane, row: number): number => lane.top + lanePadding + row * rowHeight + barHeight / 2;

function drawArrows(
  picture: Picture, takeovers: Takeover[], places: Map<Grant, { lane: DrawnLane; bar: Bar }>, grouping: Grouping,
  x: (time: number) => number, view: View,
): void {
  const occupied: { y: number; left: number; right: number }[] = [];
  for (const { lane, bar } of places.values()) {
    occupied.push({ y: rowMiddle(lane, bar.row), left: bar.x, right: Math.max(bar.x + bar.width, bar.ghost) });
  }
  const lanes = new Map(picture.lanes.map((lane) => [lane.id, lane]));
  for (const takeover of takeovers) {
    const from = takeover.fromGrant && places.get(takeover.fromGrant);
    if (!from) continue;
    const x1 = from.bar.x + from.bar.width;
    const y1 = rowMiddle(from.lane, from.bar.row);
    const to = target(takeover, from, places, lanes, grouping);
    const x2 = Math.max(x1, x(takeover.at));
    const gap = takeover.gap === null ? '' : span(takeover.gap);
    const whole = placeLabel([takeover.cause, gap].filter(Boolean).join(' · '), x1, y1, occupied, view.width);
    const place = whole.label || !gap ? whole : placeLabel(gap, x1, y1, occupied, view.width);
    picture.arrows.push({ takeover, x1, y1, x2, y2: to, ...place });
  }
}

function target(
  takeover: Takeover, from: { lane: DrawnLane; bar: Bar }, places: Map<Grant, { lane: DrawnLane; bar: Bar }>,
  lanes: Map<string, DrawnLane>, grouping: Grouping,
): number {
  const place = takeover.toGrant && places.get(takeover.toGrant);
  if (place) return rowMiddle(place.lane, place.bar.row);
  const lane = grouping === 'holder' ? lanes.get(takeover.to) : undefined;
  if (lane) return lane.top + lane.height / 2;
  return rowMiddle(from.lane, from.bar.row) + rowHeight * 0.6;
}

function placeLabel(
  label: string, x: number, y: number, occupied: { y: number; left: number; right: number }[], width: number,
): { label: string; labelX: number; labelY: number; anchor: 'start' | 'end' } {
  const left = x + 12;
  const right = left + textWidth(label);
  const hits = (from: number, to: number): boolean => occupied.some((box) => Math.abs(box.y - y) < 10 && box.left < to && box.right > from);
  if (right > width || hits(left, right)) return { label: '', labelX: 0, labelY: 0, anchor: 'start' };
  occupied.push({ y, left, right });
  return { label, labelX: left, labelY: y + 4, anchor: 'start' };
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
