// A chunk of its own: queues.
export { QueuePage } from './queue';
export { Queues } from './queues';
