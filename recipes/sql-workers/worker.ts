// A worker for the queue `mail` over a bare PostgreSQL driver: DATABASE_URL=postgresql://… node worker.js
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";

async function handle(mail: { to: string; seconds?: number }, signal: AbortSignal) {  // your work; throw once `signal` fires
  await sleep((mail.seconds ?? 0) * 1000, null, { signal });
  if (!mail.to) throw new Error("nobody to send it to");
  return { sent: mail.to };
}

async function run(job: { id: string; token: string; payload: any }) {
  const lost = new AbortController(), signal = AbortSignal.any([lost.signal, stop.signal]);
  const fail = (error: unknown) => ["job_fail($1, $2, $3)", String(error)];
  const work = handle(job.payload, signal).then(
    (result) => ["job_complete($1, $2, $3)", JSON.stringify(result)],
    (error) => signal.aborted ? ["job_release($1, $2)"] : fail(error));               // a cancelled job ends, any other goes back
  const settle = ([verdict, ...values]: string[]) => one(verdict, job.id, job.token, ...values);
  for (;;) {
    const verdict = await Promise.race([work, pause()]);
    if (verdict) return settle(verdict).catch((error) => settle(fail(error)));
    const beat = await one("job_heartbeat($1, $2)", job.id, job.token);               // every two seconds
    if (beat.outcome !== "extended" || beat.cancel_requested) lost.abort();
  }
}

const stop = new AbortController(), pause = () => sleep(2000, null, { ref: false });
let wake = () => {};
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => { stop.abort(); wake(); });
const db = new pg.Client({ connectionString: process.env.DATABASE_URL });
const one = async (call: string, ...values: unknown[]) => (await db.query(`SELECT * FROM leasehold.${call}`, values)).rows[0];
db.on("notification", () => wake());
await db.connect();
await db.query("LISTEN leasehold");
while (!stop.signal.aborted) {
  const woken = new Promise<void>((done) => { wake = done; });                        // first listen, then look: nothing is missed
  await one("await_topic('queue:mail')");
  const job = await one("job_claim('mail')");
  if (job.outcome === "granted") await run(job);
  else await Promise.race([woken, pause()]);
}
await db.end();
