// A chunk of its own: syncs and schedules.
export { SchedulePage } from './schedule';
export { Schedules } from './schedules';
export { SyncPage } from './sync';
export { Syncs } from './syncs';
