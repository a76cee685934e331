// What surrounds every page: the list of pages, the state of the connection, the theme, help, and dialogs.
import { signal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { rights } from '../api/call';
import { logout } from '../api/login';
import { connection, live, trouble } from '../api/live';
import { helpOpen, pages, shortcuts } from '../base/keys';
import { href, page } from '../base/router';
import { visible } from '../base/text';
import { nextTheme, theme } from '../base/theme';
import { Dialogs, perform } from './dialog';
import { Icon } from './icons';

const menuOpen = signal(false);
const homes: Record<string, string> = { queue: 'queues', job: 'jobs', sync: 'syncs', schedule: 'schedules', session: 'backlog', item: 'backlog' };

function badge(name: string): number {
  if (name === 'leases') return [...live.leases.value.rows.values()].filter((lease) => lease.state === 'expired').length;
  if (name === 'queues') return [...live.queues.value.rows.values()].reduce((sum, queue) => sum + queue.failed, 0);
  if (name === 'backlog') return [...live.sessions.value.rows.values()].filter((one) => one.state === 'stale').length;
  return 0;
}

function Pages(): JSX.Element {
  const current = homes[page.value] ?? page.value;
  return (
    <nav class={`pages ${menuOpen.value ? 'pages-open' : ''}`} id="pages" aria-label="Pages">
      {pages.map(([name, title, letter]) => {
        const wrong = badge(name);
        return (
          <a key={name} href={href(name)} aria-current={current === name ? 'page' : undefined} onClick={() => (menuOpen.value = false)}>
            <Icon name={name} />
            <span>{title}</span>
            {wrong > 0 ? (
              <b class="badge">
                {wrong > 999 ? '999+' : wrong}
                <span class="unseen"> need a look</span>
              </b>
            ) : (
              <kbd aria-hidden="true">g {letter}</kbd>
            )}
          </a>
        );
      })}
    </nav>
  );
}

const words = { connecting: 'connecting', live: 'live', lost: 'reconnecting', resting: 'paused' } as const;

function Connection(): JSX.Element {
  return (
    <span class={`connection connection-${connection.value}`} role="status">
      <i aria-hidden="true" />
      {words[connection.value]}
    </span>
  );
}

const themeIcons = { system: 'system', light: 'sun', dark: 'moon' } as const;

function Help(): JSX.Element | null {
  const box = useRef<HTMLDialogElement>(null);
  const open = helpOpen.value;
  useEffect(() => {
    if (open && !box.current?.open) box.current?.showModal();
  }, [open]);
  if (!open) return null;
  return (
    <dialog ref={box} class="dialog help" aria-labelledby="help-title" onClose={() => (helpOpen.value = false)}>
      <h2 id="help-title">Keyboard</h2>
      <dl class="keys">
        {shortcuts.map(([keys, does]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
        {pages.map(([name, title, letter]) => (
          <div key={name}>
            <dt>
              <kbd>g {letter}</kbd>
            </dt>
            <dd>{title}</dd>
          </div>
        ))}
      </dl>
      <div class="dialog-acts">
        <button class="primary" autoFocus onClick={() => box.current?.close()}>
          Close
        </button>
      </div>
    </dialog>
  );
}

export function Shell({ children }: { children: ComponentChildren }): JSX.Element {
  return (
    <div class="shell">
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById('main')?.focus(); }}>
        Skip to the content
      </a>
      <aside class="side">
        <div class="brand">
          <a href={href('overview')} class="brand-name">
            <svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
              <circle class="brand-back" cx="16" cy="16" r="11" />
              <path class="brand-ring" d="M16 5a11 11 0 1 1-10.5 14.3" />
            </svg>
            leasehold
          </a>
          <button class="menu" aria-expanded={menuOpen.value} aria-controls="pages" onClick={() => (menuOpen.value = !menuOpen.value)}>
            <Icon name="menu" />
            <span class="unseen">Pages</span>
          </button>
        </div>
        <Pages />
        <div class="side-foot">
          <Connection />
          {rights.value.readOnly ? <span class="read-only">read-only</span> : null}
          <span class="side-acts">
            {rights.value.login ? (
              <button class="quiet-button" title={`Log out ${rights.value.name}`} onClick={() => void perform(logout)}>
                <Icon name="out" />
                <span class="unseen">Log out {visible(rights.value.name)}</span>
              </button>
            ) : null}
            <button class="quiet-button" title={`Theme: ${theme.value}`} onClick={nextTheme}>
              <Icon name={themeIcons[theme.value]} />
              <span class="unseen">Theme: {theme.value}</span>
            </button>
            <button class="quiet-button" title="Keyboard help" onClick={() => (helpOpen.value = true)}>
              <span aria-hidden="true">?</span>
              <span class="unseen">Keyboard help</span>
            </button>
          </span>
        </div>
      </aside>
      <main id="main" tabIndex={-1}>
        {trouble.value ? (
          <div class="failure" role="alert">
            {visible(trouble.value)}
          </div>
        ) : null}
        {children}
      </main>
      <Help />
      <Dialogs />
    </div>
  );
}
