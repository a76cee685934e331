// The keyboard: `?` help, `/` search, `g` and a letter for a page, `j` and `k` for rows, `x` to choose one, Enter to open it.
//
// Rows are elements with data-row; Enter follows the row's first link or button of class "row-open".
import { signal } from '@preact/signals';
import { go, href } from './router';
import { nextTheme } from './theme';

export const pages: readonly (readonly [page: string, title: string, letter: string])[] = [
  ['overview', 'Overview', 'o'],
  ['leases', 'Leases', 'l'],
  ['queues', 'Queues', 'q'],
  ['jobs', 'Jobs', 'j'],
  ['syncs', 'Syncs', 'y'],
  ['backlog', 'Backlog', 'b'],
  ['schedules', 'Schedules', 's'],
  ['rows', 'Rows', 'r'],
  ['store', 'Store', 't'],
];

export const shortcuts: readonly (readonly [keys: string, does: string])[] = [
  ['?', 'Show this help'],
  ['/', 'Search on this page'],
  ['g then a letter', 'Go to a page'],
  ['j  k', 'Next row, previous row'],
  ['Enter', 'Open the row'],
  ['x', 'Choose the row'],
  ['Esc', 'Close, or leave a field'],
  ['d', 'Switch between the system, light and dark theme'],
];

export const helpOpen = signal(false);

let waitsForPage = 0;

function rows(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>('main [data-row]')].filter((row) => row.offsetParent !== null);
}

function move(step: number): void {
  const all = rows();
  const at = all.findIndex((row) => row.contains(document.activeElement));
  const next = at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + step));
  all[next]?.focus();
  all[next]?.scrollIntoView({ block: 'nearest' });
}

const currentRow = (): HTMLElement | undefined => rows().find((row) => row.contains(document.activeElement));

const typing = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.matches('input, textarea, select') || target.isContentEditable);

function onKey(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.key === 'Escape') {
    if (helpOpen.value) helpOpen.value = false;
    else if (!document.querySelector('dialog[open]') && document.activeElement instanceof HTMLElement) document.activeElement.blur();
    return;
  }
  const target = event.target;
  if (typing(target) && !(target instanceof HTMLInputElement && target.type === 'checkbox')) return;
  if (document.querySelector('dialog[open]')) return;
  const letter = event.key;
  if (waitsForPage > 0 && Date.now() - waitsForPage < 1500) {
    waitsForPage = 0;
    const found = pages.find(([, , key]) => key === letter);
    if (found) {
      event.preventDefault();
      go(href(found[0]));
    }
    return;
  }
  const handled = perform(letter, event);
  if (handled) event.preventDefault();
}

function perform(letter: string, event: KeyboardEvent): boolean {
  switch (letter) {
    case '?':
      helpOpen.value = true;
      return true;
    case '/': {
      const search = document.querySelector<HTMLInputElement>('main [data-search]');
      search?.focus();
      search?.select();
      return search !== null;
    }
    case 'g':
      waitsForPage = Date.now();
      return true;
    case 'j':
    case 'k':
      move(letter === 'j' ? 1 : -1);
      return true;
    case 'x': {
      const box = currentRow()?.querySelector<HTMLInputElement>('input[type=checkbox]');
      box?.click();
      return box !== undefined && box !== null;
    }
    case 'd':
      nextTheme();
      return true;
    case 'Enter': {
      const row = currentRow();
      if (!row || row !== event.target) return false;
      const open = row.querySelector<HTMLElement>('.row-open');
      open?.click();
      return open !== null;
    }
    default:
      return false;
  }
}

export const listenToKeys = (): void => document.addEventListener('keydown', onKey);
