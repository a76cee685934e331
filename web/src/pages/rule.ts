// The rule of a schedule in words.
import type { ScheduleInfo } from '../api/types';
import { seconds } from '../base/time';

const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const plain = /^\d+$/;

const dayWords = (field: string): string | null => {
  if (field === '*') return '';
  if (field === '1-5' || /^mon-fri$/i.test(field)) return ' from Monday to Friday';
  if (plain.test(field)) return ` on ${days[Number(field) % 7]}s`;
  return null;
};

/** "at 03:00 every day"; the expression itself where words would be longer than it. */
export function cronWords(cron: string): string {
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = cron.trim().split(/\s+/);
  const on = dayWords(weekday);
  if (on === null || month !== '*' || cron.trim().split(/\s+/).length !== 5) return `cron ${cron}`;
  const every = /^\*\/(\d+)$/.exec(minute);
  const hours = /^(\d+)-(\d+)$/.exec(hour);
  const during = hours ? ` from ${two(hours[1])}:00 to ${two(hours[2])}:59` : '';
  if (day === '*' && every && (hour === '*' || hours)) return `every ${every[1]} minutes${during}${on}`;
  if (day === '*' && minute === '*' && (hour === '*' || hours)) return `every minute${during}${on}`;
  if (day === '*' && plain.test(minute) && (hour === '*' || hours)) return `${minute} minutes past each hour${during}${on}`;
  if (!plain.test(minute) || !plain.test(hour)) return `cron ${cron}`;
  const at = `at ${two(hour)}:${two(minute)}`;
  if (day === '*') return `${at}${on || ' every day'}`;
  return plain.test(day) && on === '' ? `${at} on day ${day} of each month` : `cron ${cron}`;
}

const two = (text: string | undefined): string => String(text ?? '').padStart(2, '0');

const range = (from: number | null, to: number | null): string =>
  from === to || to === null ? seconds(from) : `${seconds(from)} to ${seconds(to)}`;

export function ruleOf(schedule: ScheduleInfo): string {
  const rule = schedule.cron
    ? `${cronWords(schedule.cron)}${schedule.zone && schedule.zone !== 'UTC' ? `, ${schedule.zone} time` : schedule.cron ? ', UTC' : ''}`
    : `${range(schedule.every_min_seconds, schedule.every_max_seconds)} after each run`;
  const fails = schedule.fail_min_seconds === null ? '' : `; ${range(schedule.fail_min_seconds, schedule.fail_max_seconds)} after a failure`;
  const does = schedule.queue ? `; enqueues a job to ${schedule.queue}` : schedule.command ? `; runs ${schedule.command.join(' ')}` : '';
  return rule + fails + does;
}
