// A ring that runs out: how much of a lease is left without a further heartbeat.
import type { JSX } from 'preact';
import { quarter, span } from '../base/time';

const radius = 8;
const round = 2 * Math.PI * radius;

export function Ring({ until, ttl }: { until: number; ttl: number }): JSX.Element {
  const left = until - quarter.value;
  const part = ttl > 0 ? Math.min(1, Math.max(0, left / ttl)) : 0;
  const tone = left <= 0 ? 'out' : part < 0.25 ? 'low' : 'full';
  return (
    <svg class={`ring ring-${tone}`} viewBox="0 0 22 22" width="22" height="22" aria-hidden="true">
      <circle class="ring-back" cx="11" cy="11" r={radius} />
      {left > 0 ? (
        <circle
          class="ring-left"
          cx="11"
          cy="11"
          r={radius}
          transform="rotate(-90 11 11)"
          stroke-dasharray={`${(part * round).toFixed(2)} ${round.toFixed(2)}`}
        />
      ) : (
        <path class="ring-mark" d="M11 6.5v6M11 14.5v1.5" />
      )}
    </svg>
  );
}

/** "29 s", or "expired 3 s ago" */
export function Remaining({ until }: { until: number }): JSX.Element {
  const left = until - quarter.value;
  if (Number.isNaN(left)) return <span>–</span>;
  if (left > 0) return <span class="num">{span(left < 10_000 ? left : left - (left % 1000))}</span>;
  return <span class="warn-text">expired {span(Math.max(1000, -left), true)} ago</span>;
}

/** Heartbeats of the last minute as ticks, the newest on the right. */
export function Beats({ beats, start }: { beats: number[]; start: number }): JSX.Element {
  const now = quarter.value;
  const width = 96;
  const x = (at: number): number => width - ((now - at) / 60_000) * width;
  const from = Math.max(0, x(start));
  return (
    <svg class="beats" viewBox={`0 0 ${width} 16`} width={width} height="16" aria-hidden="true">
      <path class="beats-line" d={`M${from.toFixed(1)} 8H${width}`} />
      {beats
        .filter((at) => now - at < 60_000)
        .map((at) => (
          <path key={at} class="beats-tick" d={`M${x(at).toFixed(1)} 3v10`} />
        ))}
    </svg>
  );
}
