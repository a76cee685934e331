// Light, dark, or what the system says. <html data-theme> is always the theme in use; theme.ts set it before the first paint.
import { signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';
const key = 'leasehold-theme';
const systemIsDark = matchMedia('(prefers-color-scheme: dark)');

function stored(): Theme {
  try {
    const text = localStorage.getItem(key);
    return text === 'light' || text === 'dark' ? text : 'system';
  } catch {
    return 'system';
  }
}

export const theme = signal<Theme>(stored());

function show(): void {
  const used = theme.value === 'system' ? (systemIsDark.matches ? 'dark' : 'light') : theme.value;
  document.documentElement.dataset['theme'] = used;
}
systemIsDark.addEventListener('change', show);

export function setTheme(next: Theme): void {
  theme.value = next;
  show();
  try {
    if (next === 'system') localStorage.removeItem(key);
    else localStorage.setItem(key, next);
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
}

const order: Theme[] = ['system', 'light', 'dark'];
export const nextTheme = (): void => setTheme(order[(order.indexOf(theme.value) + 1) % order.length] ?? 'system');
