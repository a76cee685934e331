// What all pages share: titles, cards, lists, errors, empty places.
import type { ComponentChildren, JSX } from 'preact';
import { visible } from '../base/text';
import { ago, ahead, exact, moment } from '../base/time';
import { href, param, place, setQuery } from '../base/router';
import type { Holder } from '../api/types';
import type { Loaded } from '../api/resource';

export function Title({ title, sub, children }: { title: string; sub?: ComponentChildren; children?: ComponentChildren }): JSX.Element {
  return (
    <header class="title">
      <div class="title-text">
        <h1>{visible(title)}</h1>
        {sub ? <p class="sub">{sub}</p> : null}
      </div>
      {children ? <div class="title-acts">{children}</div> : null}
    </header>
  );
}

interface CardProps {
  title?: ComponentChildren;
  aside?: ComponentChildren;
  children: ComponentChildren;
  class?: string;
}
export function Card({ title, aside, children, class: extra = '' }: CardProps): JSX.Element {
  return (
    <section class={`card ${extra}`}>
      {title ? (
        <div class="card-head">
          <h2>{title}</h2>
          {aside ? <div class="card-aside">{aside}</div> : null}
        </div>
      ) : null}
      {children}
    </section>
  );
}

export function Failure({ error }: { error: Error }): JSX.Element {
  return (
    <div class="failure" role="alert">
      {visible(error.message)}
    </div>
  );
}

export const Loading = (): JSX.Element => (
  <div class="loading" role="status">
    Loading …
  </div>
);

/** An error, nothing yet, or the content. The old content stays below an error. */
export function Show<T>({ of, children }: { of: Loaded<T>; children: (data: T) => ComponentChildren }): JSX.Element {
  return (
    <>
      {of.error ? <Failure error={of.error} /> : null}
      {of.data !== undefined ? children(of.data) : of.loading ? <Loading /> : null}
    </>
  );
}

/** An empty place shows the command that fills it. */
export function Empty({ text, command }: { text: string; command?: string }): JSX.Element {
  return (
    <div class="empty">
      <p>{text}</p>
      {command ? (
        <pre class="command" tabIndex={0}>
          {command}
        </pre>
      ) : null}
    </div>
  );
}

/** An empty result names the filters, each with a way to drop it. */
export function NoMatch({ noun, filters }: { noun: string; filters: string[] }): JSX.Element {
  const used = filters.filter((name) => param(name));
  return (
    <div class="empty">
      <p>No {noun} match. Drop a filter:</p>
      <p class="chips">
        {used.map((name) => (
          <button key={name} class="chip" onClick={() => setQuery({ [name]: '', page: '' })}>
            {name.replace(/_/g, ' ')}: {visible(param(name))} <span aria-hidden="true">✕</span>
          </button>
        ))}
      </p>
    </div>
  );
}

export const hasFilter = (...names: string[]): boolean => names.some((name) => place.value.query.get(name));

export function When({ at, future = false }: { at: string | number | null | undefined; future?: boolean }): JSX.Element {
  const time = typeof at === 'number' ? at : at ? Date.parse(at) : NaN;
  if (Number.isNaN(time)) return <span class="quiet">–</span>;
  return (
    <time dateTime={exact(time)} title={exact(time)}>
      {future ? ahead(time) : ago(time)}
    </time>
  );
}

export function Moment({ at }: { at: string | null | undefined }): JSX.Element {
  const time = at ? Date.parse(at) : NaN;
  return (
    <time class="num" dateTime={exact(time)} title={exact(time)}>
      {moment(time)}
    </time>
  );
}

export function Who({ holder, plain = false }: { holder: Holder | null | undefined; plain?: boolean }): JSX.Element {
  if (!holder) return <span class="quiet">–</span>;
  const where = [holder.host, holder.pid ? `pid ${holder.pid}` : '', holder.tty ?? ''].filter(Boolean).join(' · ');
  return (
    <span class="who">
      <a class="who-name" href={href('leases', { holder: holder.name })}>
        {visible(holder.name) || '–'}
      </a>
      {plain || !where ? null : <span class="who-where">{visible(where)}</span>}
    </span>
  );
}

export function Bar({ parts, label }: { parts: [tone: string, part: number][]; label: string }): JSX.Element {
  const all = parts.reduce((sum, [, part]) => sum + part, 0) || 1;
  let x = 0;
  return (
    <svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label={label}>
      <rect class="bar-back" width="100" height="6" />
      {parts.map(([tone, part]) => {
        const width = (part / all) * 100;
        const rect = <rect key={tone} class={`fill-${tone}`} x={x} width={width} height="6" />;
        x += width;
        return rect;
      })}
    </svg>
  );
}

export function Fact({ label, children }: { label: string; children: ComponentChildren }): JSX.Element {
  return (
    <div class="fact">
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

export function More({ next, onMore }: { next: string | null; onMore: () => void }): JSX.Element | null {
  return next ? (
    <div class="more">
      <button onClick={onMore}>Show more</button>
    </div>
  ) : null;
}
