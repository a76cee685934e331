// The store's clock, and times in words. A client's clock decides nothing: it only counts on from the last answer.
import { signal } from '@preact/signals';

/** Milliseconds to add to this machine's clock to get the store's. */
let skew = 0;
let best = Infinity;

/** Notes the store's time in an answer that took `took` milliseconds. */
export function noteStoreTime(text: string, took = 0): void {
  const store = Date.parse(text);
  if (Number.isNaN(store)) return;
  // The fastest answer is the most precise; its precision fades, because clocks drift.
  best += 5;
  if (took > best) return;
  best = took;
  skew = store + took / 2 - Date.now();
}

/** The store's time now, in milliseconds. */
export const storeNow = (): number => Date.now() + skew;

/** Changes every second: ages and remaining times depend on it. */
export const second = signal(storeNow());
/** Changes four times a second, for rings and the timeline; once a second if the reader prefers reduced motion. */
export const quarter = signal(storeNow());

const calm = matchMedia('(prefers-reduced-motion: reduce)');
let ticks = 0;
export function startClock(): void {
  setInterval(() => {
    if (document.hidden) return;
    ticks += 1;
    const now = storeNow();
    if (!calm.matches || ticks % 4 === 0) quarter.value = now;
    if (ticks % 4 === 0) second.value = now;
  }, 250);
}

export const ms = (text: string | null | undefined): number => (text ? Date.parse(text) : NaN);

/** "41 ms", "1.2 s", "34 s", "4m 59s", "3h 5m", "2d 4h" */
export function span(milliseconds: number, whole = false): string {
  const all = Math.max(0, milliseconds);
  if (all < 1) return '0 ms';
  if (all < 1000) return `${Math.round(all)} ms`;
  if (all < 9950 && !whole) return `${(all / 1000).toFixed(1)} s`;
  const seconds = Math.round(all / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return pair(minutes, 'm', seconds % 60, 's');
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return pair(hours, 'h', minutes % 60, 'm');
  return pair(Math.floor(hours / 24), 'd', hours % 24, 'h');
}

const pair = (large: number, unit: string, small: number, smallUnit: string): string =>
  small === 0 ? `${large}${unit}` : `${large}${unit} ${small}${smallUnit}`;

/** "5m", "1d": a setting, not a measurement. */
export const seconds = (value: number | null | undefined): string =>
  value === null || value === undefined ? '–' : span(value * 1000, Number.isInteger(value));

/** "just now", "12 s ago" */
export function ago(time: number, now = second.value): string {
  const age = now - time;
  if (Number.isNaN(age)) return '–';
  return age < 1500 ? 'just now' : `${span(Math.max(1000, age - (age % 1000)), true)} ago`;
}

/** "in 12 s", "now" */
export function ahead(time: number, now = second.value): string {
  const left = time - now;
  if (Number.isNaN(left)) return '–';
  return left < 1000 ? 'now' : `in ${span(left - (left % 1000), true)}`;
}

const two = (value: number): string => String(value).padStart(2, '0');

/** "14:03:22", local */
export function clock(time: number, withMillis = false): string {
  const at = new Date(time);
  if (Number.isNaN(time)) return '–';
  const text = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  return withMillis ? `${text}.${String(at.getMilliseconds()).padStart(3, '0')}` : text;
}

/** "14:03:22" today, "Nov 18, 14:03" before */
export function moment(time: number): string {
  if (Number.isNaN(time)) return '–';
  const at = new Date(time);
  const today = new Date(storeNow());
  if (at.toDateString() === today.toDateString()) return clock(time);
  const day = at.toLocaleDateString('en', { month: 'short', day: 'numeric' });
  const year = at.getFullYear() === today.getFullYear() ? '' : ` ${at.getFullYear()}`;
  return `${day}${year}, ${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** The whole time, for tooltips. */
export const exact = (time: number): string => (Number.isNaN(time) ? '' : new Date(time).toISOString());
