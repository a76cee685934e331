// Sends the texts on standard input through job_enqueue, job_claim and job_complete with node-postgres, and has the server
// compare.
//
//   roundtrip.mjs FOLDER URL QUEUE < corpus     FOLDER has node_modules with pg
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const [folder, url, queue] = process.argv.slice(2);
const pg = createRequire(resolve(folder, "x"))("pg");
// JSON comes back as text: how a driver reads numbers does not matter here.
for (const type of [114, 3802]) pg.types.setTypeParser(type, (body) => body);
const client = new pg.Client({ connectionString: url });
await client.connect();
const one = async (sql, ...values) => (await client.query(sql, values)).rows[0];

let wrong = 0, count = 0;
for (const line of readFileSync(0, "utf8").split("\n").slice(0, -1)) {
  count += 1;
  const job = await one("SELECT id FROM leasehold.job_enqueue($1, $2)", queue, line);
  const claimed = await one("SELECT outcome, token, payload FROM leasehold.job_claim($1)", queue);
  await one("SELECT outcome FROM leasehold.job_complete($1, $2, $3)", job.id, claimed.token, claimed.payload);
  const { equal } = await one(
    "SELECT payload = $1::jsonb AND result = $2::jsonb AND payload_bytes = convert_to($3, 'UTF8') AS equal FROM leasehold.job_show($4)",
    line, claimed.payload, line, job.id);
  if (equal !== true) {
    wrong += 1;
    console.log("differs:", claimed.outcome, line.slice(0, 200));
  }
}
await client.end();
console.log(`${count} texts through node-postgres, ${wrong} differ`);
process.exit(wrong || count < 100 ? 1 : 0);
