// The timeline: a lane per key (or per holder), a bar per grant, an arrow for each takeover with its cause and gap.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { bucket, visible } from '../base/text';
import { ago, clock, quarter, span } from '../base/time';
import { Icon } from '../ui/icons';
import { Kind } from '../ui/state';
import type { Grant, Takeover } from './history';
import { history, version } from './live';
import { axis, barHeight, isIdle, layOut, rowTop, type Arrow, type Bar, type Crowd, type DrawnLane, type Grouping, type View } from './layout';
import type { Label } from './places';
import { sentence } from './words';

interface Props {
  grouping: Grouping;
  /** Milliseconds from the left edge to now, or to `end`. */
  window: number;
  /** The right edge of a view that stands still; 0: it follows the time. */
  end: number;
  wanted: (kind: string, key: string, holders: string[]) => boolean;
  chosen: Takeover | null;
  onChoose: (takeover: Takeover | null) => void;
  onZoom: (from: number, to: number) => void;
}

const few = 14;
/** Below this width, names stand above their lanes; else they have a column of their own, as wide as in timeline.css. */
const roomy = 560;
const names = 150;

export function Timeline({ grouping, window, end, wanted, chosen, onChoose, onZoom }: Props): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const width = useSignal(0);
  const all = useSignal(false);
  const pointed = useSignal<Grant | null>(null);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => {
      width.value = Math.floor(entry?.contentRect.width ?? 0);
    });
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  void version.value;
  const now = quarter.value;
  const narrow = width.value < roomy;
  const to = end || now + window * 0.14;
  const view: View = { from: (end || now) - window, to, now, width: Math.max(60, width.value - (narrow ? 0 : names)), narrow };
  const picture = layOut(history, view, grouping, all.value ? 400 : few, (lane) =>
    wanted(lane.kind, lane.key, lane.grants.map((grant) => grant.who)),
  );
  const x = (time: number): number => ((time - view.from) / (view.to - view.from)) * view.width;
  const bars = picture.lanes.flatMap((lane) => lane.bars.map((bar) => ({ lane, bar })));
  return (
    <div class="timeline">
      <div class={narrow ? 'lanes lanes-narrow' : 'lanes'} ref={box}>
        <div class="lane-names" aria-hidden="true">
          {picture.lanes.map((lane) => (
            <LaneName key={lane.id} lane={lane} />
          ))}
        </div>
        <div class="tracks">
          {width.value > 0 ? (
            <svg class="track" width={view.width} height={picture.height + 24} role="img" aria-label={describe(picture.arrows, picture.crowds)}>
              <defs>
                <pattern id="idle" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
                  <path class="idle-line" d="M1 0V6" />
                </pattern>
              </defs>
              <Grid view={view} x={x} height={picture.height} lanes={picture.lanes} />
              {bars.map(({ lane, bar }) => (
                <BarView key={`${bar.grant.kind}${bar.grant.key}${bar.grant.who}${bar.grant.start}`} bar={bar} y={rowTop(lane, bar.row, view)} byHolder={grouping === 'holder'} onPoint={(grant) => (pointed.value = grant)} />
              ))}
              {now <= view.to ? (
                <>
                  <path class="now" d={`M${x(now).toFixed(1)} 0V${picture.height}`} />
                  <text class="now-word" x={x(now)} y={picture.height + 16} text-anchor="middle">
                    now
                  </text>
                </>
              ) : null}
              {picture.arrows.map((arrow) => (
                <ArrowView key={`${arrow.takeover.key}${arrow.takeover.from}${arrow.takeover.at}`} arrow={arrow} chosen={arrow.takeover === chosen} onChoose={onChoose} />
              ))}
              {bars.map(({ bar }) => [<Words key="name" label={bar.name} class="grant-name" />, <Words key="note" label={bar.note} class="idle-words" />])}
              {picture.arrows.map((arrow) => (
                <Words key={`${arrow.takeover.key}${arrow.takeover.from}${arrow.takeover.at}`} label={arrow.label} class="takeover-label" />
              ))}
            </svg>
          ) : null}
          {picture.crowds.map((crowd) => (
            <button
              // Not its place: that moves with the time, and the button would lose the focus.
              key={`${crowd.takeovers[0]?.key}${crowd.takeovers[0]?.from}${crowd.takeovers[0]?.at}`}
              class="crowd"
              style={{ left: `${crowd.x}px`, top: `${crowd.y}px` }}
              title={`${crowd.text} between ${clock(crowd.from)} and ${clock(crowd.to)}: show them larger`}
              onClick={() => onZoom(crowd.from, crowd.to)}
            >
              <Icon name="failed" />
              {crowd.text}
            </button>
          ))}
        </div>
      </div>
      <p class="pointed" aria-hidden="true">
        {pointed.value ? aboutGrant(pointed.value, now) : 'Bars are grants, ticks are heartbeats, the pale end is the time left. An arrow is a takeover; a hatched part has expired and is free.'}
      </p>
      {picture.hidden > 0 || all.value ? (
        <button class="link-button" onClick={() => (all.value = !all.value)}>
          {all.value ? 'Show fewer lanes' : `Show ${picture.hidden} more lanes`}
        </button>
      ) : null}
    </div>
  );
}

const Words = ({ label, class: of }: { label: Label | null; class: string }): JSX.Element | null =>
  label ? (
    <text class={of} x={label.x} y={label.y} text-anchor={label.anchor}>
      {visible(label.text)}
    </text>
  ) : null;

function LaneName({ lane }: { lane: DrawnLane }): JSX.Element {
  return (
    <div class={`lane-name ${lane.live ? '' : 'lane-past'}`} style={{ height: `${lane.height}px` }}>
      {lane.kind === 'holder' ? null : <Kind kind={lane.kind} />}
      <b title={visible(lane.key)}>{visible(lane.key)}</b>
    </div>
  );
}

function Grid({ view, x, height, lanes }: { view: View; x: (time: number) => number; height: number; lanes: DrawnLane[] }): JSX.Element {
  return (
    <g>
      {lanes.map((lane, index) =>
        index % 2 === 1 ? <rect key={lane.id} class="stripe" x="0" y={lane.top} width={view.width} height={lane.height} /> : null,
      )}
      <rect class="future" x={x(view.now)} y="0" width={Math.max(0, view.width - x(view.now))} height={height} />
      {axis(view).map((time) => {
        const at = x(time);
        const near = Math.abs(at - x(view.now)) < 42 || at < 26 || at > view.width - 26;
        return (
          <g key={time}>
            <path class="grid" d={`M${at.toFixed(1)} 0V${height}`} />
            {near ? null : (
              <text class="axis" x={at} y={height + 16} text-anchor="middle">
                {clock(time)}
              </text>
            )}
          </g>
        );
      })}
    </g>
  );
}

interface BarProps {
  bar: Bar;
  y: number;
  byHolder: boolean;
  onPoint: (grant: Grant | null) => void;
}
function BarView({ bar, y, byHolder, onPoint }: BarProps): JSX.Element {
  const hue = `hue-${bucket(byHolder ? bar.grant.key : bar.grant.who, 8)}`;
  const right = bar.x + bar.width;
  const live = bar.grant.end === null && !bar.idle;
  return (
    <g class={`grant ${hue} ${live ? 'grant-live' : ''} ${bar.died ? 'grant-died' : ''}`} onPointerEnter={() => onPoint(bar.grant)} onPointerLeave={() => onPoint(null)}>
      {bar.ghost > right + 1 ? <rect class="ghost" x={right - 4} y={y + 0.5} width={bar.ghost - right + 4} height={barHeight - 1} rx="4" /> : null}
      {bar.idle > right ? <rect class="idle" x={right} y={y + 0.5} width={bar.idle - right} height={barHeight - 1} rx="4" fill="url(#idle)" /> : null}
      <rect class="grant-bar" x={bar.x} y={y} width={bar.width} height={barHeight} rx="4" />
      {bar.ticks.map((at) => (
        <path key={at} class="beat" d={`M${at.toFixed(1)} ${y + barHeight - 5}v4`} />
      ))}
      {bar.died && right >= 0 ? <path class="death" d={`M${right - 4} ${y + 5}l8 8m0-8l-8 8`} /> : null}
    </g>
  );
}

function ArrowView({ arrow, chosen, onChoose }: { arrow: Arrow; chosen: boolean; onChoose: (takeover: Takeover | null) => void }): JSX.Element {
  const { x1, y1, x2, y2 } = arrow;
  const down = y2 >= y1 ? 1 : -1;
  const startY = y1 + down * 6;
  const endY = y2 - down * (barHeight / 2 + 1);
  const bend = Math.max(6, Math.abs(endY - startY) * 0.6);
  const path = `M${x1.toFixed(1)} ${startY.toFixed(1)}C${x1.toFixed(1)} ${(startY + down * bend).toFixed(1)} ${x2.toFixed(1)} ${(endY - down * bend).toFixed(1)} ${x2.toFixed(1)} ${endY.toFixed(1)}`;
  const head = `M${(x2 - 4).toFixed(1)} ${(endY - down * 5).toFixed(1)}L${x2.toFixed(1)} ${endY.toFixed(1)}L${(x2 + 4).toFixed(1)} ${(endY - down * 5).toFixed(1)}`;
  return (
    <g class={`takeover ${chosen ? 'takeover-chosen' : ''}`} data-from={arrow.takeover.from} data-to={arrow.takeover.to} onClick={() => onChoose(chosen ? null : arrow.takeover)}>
      <title>{sentence(arrow.takeover)}</title>
      <path class="takeover-hit" d={path} />
      <path class="takeover-line" d={path} />
      <path class="takeover-head" d={head} />
    </g>
  );
}

function describe(arrows: Arrow[], crowds: Crowd[]): string {
  const count = crowds.reduce((sum, crowd) => sum + crowd.takeovers.length, arrows.length);
  if (count === 0) return 'Timeline of grants; no takeover in this window';
  return `Timeline of grants, with ${count} takeovers. ${arrows.slice(0, 5).map((arrow) => sentence(arrow.takeover)).join('. ')}`;
}

function aboutGrant(grant: Grant, now: number): string {
  const process = [grant.host, grant.pid ? `pid ${grant.pid}` : ''].filter(Boolean).join(', ');
  const idle = isIdle(grant, now);
  const length = span((idle ? grant.until : (grant.end ?? now)) - grant.start);
  const end = idle ? `expired ${ago(grant.until, now)}, and not taken over` : grant.end === null ? `held for ${length}` : `${grant.how} ${ago(grant.end, now)}, after ${length}`;
  return visible(`${grant.kind} ${grant.key} · ${grant.who}${process ? ` (${process})` : ''} · since ${clock(grant.start, true)} · ${end}`);
}
