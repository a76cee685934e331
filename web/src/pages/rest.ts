// A chunk of its own: the backlog, rows of adopted tables, the store.
export { Backlog } from './backlog';
export { Rows } from './rows';
export { StorePage } from './store';
