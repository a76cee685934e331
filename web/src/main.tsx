// The dashboard of leasehold: starts the clock, the stream and the router, and draws the page of the address.
//
// The first load has the overview. The other pages come in five chunks: at once when one is wanted, else when the browser has
// nothing to do.
import { effect, signal } from '@preact/signals';
import { render, type ComponentType, type JSX } from 'preact';
import { loggedOut } from './api/call';
import { greetings, startLive } from './api/live';
import { learnRights } from './api/login';
import { listenToKeys, pages } from './base/keys';
import { followLinks, page, param } from './base/router';
import { visible } from './base/text';
import { startClock } from './base/time';
import { Login } from './pages/login';
import { Overview } from './pages/overview';
import { Empty, Title } from './ui/parts';
import { Shell } from './ui/shell';
import './css/base.css';
import './css/shell.css';
import './css/parts.css';
import './css/table.css';
import './css/timeline.css';
import './css/pages.css';

const views = signal<Record<string, ComponentType>>({ overview: Overview });

type Chunk = () => Promise<Record<string, ComponentType>>;
const leases: Chunk = () => import('./pages/leases').then((all) => ({ leases: all.Leases }));
const queues: Chunk = () => import('./pages/queueing').then((all) => ({ queues: all.Queues, queue: all.QueuePage }));
const jobs: Chunk = () => import('./pages/working').then((all) => ({ jobs: all.Jobs, job: all.JobPage }));
const plans: Chunk = () => import('./pages/plans').then((all) => ({ syncs: all.Syncs, sync: all.SyncPage, schedules: all.Schedules, schedule: all.SchedulePage }));
const rest: Chunk = () => import('./pages/rest').then((all) => ({ backlog: all.Backlog, rows: all.Rows, store: all.StorePage }));
const chunks: Record<string, Chunk> = {
  leases, queues, queue: queues, jobs, job: jobs, syncs: plans, sync: plans, schedules: plans, schedule: plans, backlog: rest, rows: rest, store: rest,
};

const failed = signal(false);
async function load(chunk: Chunk): Promise<void> {
  try {
    views.value = { ...views.peek(), ...(await chunk()) };
  } catch {
    failed.value = true;
  }
}

function Waiting({ wanted }: { wanted: Chunk }): JSX.Element {
  if (!failed.value) void load(wanted);
  return failed.value ? (
    <Empty text="This page could not be loaded: the server is gone, or has a newer version. Load the page again." />
  ) : (
    <div class="loading" role="status">
      Loading …
    </div>
  );
}

function NoPage(): JSX.Element {
  return (
    <>
      <Title title="No such page" />
      <Empty text={`There is no page "${visible(page.value)}". Press ? for the list of pages.`} />
    </>
  );
}

function View(): JSX.Element {
  // After a login by link.
  const name = page.value === 'login' ? 'overview' : page.value;
  const Loaded = views.value[name];
  if (Loaded) return <Loaded />;
  const chunk = chunks[name];
  return chunk ? <Waiting wanted={chunk} /> : <NoPage />;
}

function App(): JSX.Element {
  if (loggedOut.value) return <Login />;
  const title = pages.find(([name]) => name === page.value)?.[1] ?? page.value;
  const name = param('name') || param('id');
  document.title = `${visible(name ? `${title} ${name}` : title)} · leasehold`;
  return (
    <Shell>
      <View key={`${page.value} ${name}`} />
    </Shell>
  );
}

followLinks();
listenToKeys();
startClock();
startLive();
effect(() => {
  // Ask again after a break: it may be another server.
  void greetings.value;
  void learnRights().catch(() => undefined);
});
const root = document.getElementById('app');
if (root) render(<App />, root);
setTimeout(() => {
  for (const chunk of [leases, queues, jobs, plans, rest]) void load(chunk);
}, 3000);
