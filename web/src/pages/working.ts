// A chunk of its own: jobs.
export { JobPage } from './job';
export { Jobs } from './jobs';
