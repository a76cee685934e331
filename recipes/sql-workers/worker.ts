// A worker for the queue `mail` that needs nothing but a PostgreSQL driver: DATABASE_URL=postgresql://… node worker.js
import pg from "pg";

const queue = "mail", ttl = Number(process.env.TTL ?? 30);                       // seconds
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 2 });
const events = new pg.Client({ connectionString: process.env.DATABASE_URL });
const one = async (sql: string, ...values: unknown[]) => (await pool.query(sql, values)).rows[0];
let stop = false, woken = false, wake = () => {};

async function handle(mail: { to: string; seconds?: number }, signal: AbortSignal) {   // your work; give up if `signal` fires
  for (let left = mail.seconds ?? 0; left > 0 && !signal.aborted; left--) await new Promise((done) => setTimeout(done, 1000));
  if (!mail.to) throw new Error("nobody to send it to");
  return { sent: mail.to };
}

async function run(job: { id: string; token: string; payload: any }) {
  const lost = new AbortController();
  const beat = setInterval(() => one("SELECT outcome FROM leasehold.job_heartbeat($1, $2)", job.id, job.token)
    .then(({ outcome }) => { if (outcome !== "extended") lost.abort(); }, () => lost.abort()), ttl * 250);
  await handle(job.payload, lost.signal).finally(() => clearInterval(beat)).then(
    (result) => one("SELECT outcome FROM leasehold.job_complete($1, $2, $3)", job.id, job.token, JSON.stringify(result)),
    (error) => one("SELECT outcome FROM leasehold.job_fail($1, $2, $3)", job.id, job.token, String(error)));
}

for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => { stop = true; wake(); });
events.on("notification", () => { woken = true; wake(); });
await events.connect();
await events.query("LISTEN leasehold");
while (!stop) {
  woken = false;                                                                 // listen first, then look: nothing is missed
  await one("SELECT leasehold.await_topic($1, '1 minute')", `queue:${queue}`);
  const job = await one("SELECT outcome, id, token, payload FROM leasehold.job_claim($1, ttl => $2)", queue, `${ttl} seconds`);
  if (job.outcome === "granted") await run(job);
  else if (!woken) await new Promise<void>((done) => { wake = done; setTimeout(done, 2000); });
}
await Promise.all([pool.end(), events.end()]);
