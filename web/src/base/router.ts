// The address of a view: one name under the base path and a query, such as "queue?name=mail". No page lies in a folder, so
// relative addresses are right under every base path, and names of the store are always in the query.
import { computed, signal } from '@preact/signals';

/** "/" or "/lease/": the server writes it into <base>. */
export const base = new URL(document.baseURI).pathname;
const slash = base.length;

interface Place {
  page: string;
  query: URLSearchParams;
}

const here = (): Place => ({
  page: location.pathname.slice(slash) || 'overview',
  query: new URLSearchParams(location.search),
});

export const place = signal<Place>(here());
export const page = computed(() => place.value.page);

addEventListener('popstate', () => {
  place.value = here();
});

export type Query = Record<string, string | number | boolean | null | undefined>;

/** "./queue?name=mail" */
export function href(target: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== '' && value !== false) search.set(name, String(value));
  }
  const text = search.toString();
  return `${base}${target === 'overview' ? '' : target}${text ? `?${text}` : ''}`;
}

export function go(address: string, replace = false): void {
  history[replace ? 'replaceState' : 'pushState'](null, '', address);
  const before = place.value.page;
  place.value = here();
  if (place.value.page !== before) {
    scrollTo(0, 0);
    document.getElementById('main')?.focus({ preventScroll: true });
  }
}

/** Changes members of the query; an empty value removes one. "Back" leads to the page before, not through every filter. */
export function setQuery(changes: Query): void {
  const query: Query = Object.fromEntries(place.value.query);
  go(href(place.value.page, { ...query, ...changes }), true);
}

export const param = (name: string): string => place.value.query.get(name) ?? '';

/** Follows links within the page without loading it again. */
export function followLinks(): void {
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const link = (event.target as Element | null)?.closest?.('a');
    if (!link || link.target || link.origin !== location.origin || !link.pathname.startsWith(base)) return;
    if (link.pathname.slice(base.length).includes('/') || link.hash || link.hasAttribute('data-outside')) return;
    event.preventDefault();
    go(link.pathname + link.search);
  });
}
