// Light, dark, or what the system says.
import { signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';
const key = 'leasehold-theme';

export const theme = signal<Theme>((document.documentElement.dataset['theme'] as Theme | undefined) ?? 'system');

export function setTheme(next: Theme): void {
  theme.value = next;
  if (next === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = next;
  try {
    if (next === 'system') localStorage.removeItem(key);
    else localStorage.setItem(key, next);
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
}

const order: Theme[] = ['system', 'light', 'dark'];
export const nextTheme = (): void => setTheme(order[(order.indexOf(theme.value) + 1) % order.length] ?? 'system');
