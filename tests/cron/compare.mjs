// Holds a corpus of cron_corpus (on standard input) against the npm packages cron-parser and croner.
//
//   cron_corpus common 1 5000 | node compare.mjs FOLDER      FOLDER has the node_modules
//
// Where a program is known to differ, and leasehold means to, that occurrence is counted apart; README.md says why. Ends
// with the counts, and non-zero if one differs otherwise.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";

const require = createRequire(resolve(process.argv[2], "package.json"));
const { CronExpressionParser } = require("cron-parser");
const { Cron } = require("croner");

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const clocks = new Map();

/** How far the clocks of a zone are ahead of UTC, in milliseconds. */
function offset(zone, moment) {
  if (!clocks.has(zone)) {
    const numeric = Object.fromEntries(["year", "month", "day", "hour", "minute", "second"].map((part) => [part, "numeric"]));
    clocks.set(zone, new Intl.DateTimeFormat("en-US", { timeZone: zone, hourCycle: "h23", ...numeric }));
  }
  const part = Object.fromEntries(clocks.get(zone).formatToParts(moment).map(({ type, value }) => [type, Number(value)]));
  return Date.UTC(part.year, part.month - 1, part.day, part.hour, part.minute, part.second) - moment;
}

/** By how much the clocks are changed within a day of a moment. */
const changeNear = (zone, moment) => Math.abs(offset(zone, moment + DAY) - offset(zone, moment - DAY));

/** What a clock shows: a Date whose UTC figures are the local ones. */
const shown = (zone, moment) => new Date(moment + offset(zone, moment));

// Where clocks are not changed from one full hour of a day to another.
const oddChanges = new Set([
  "Africa/Cairo", "America/Havana", "America/Nuuk", "America/Santiago", "America/St_Johns", "Asia/Jerusalem", "Pacific/Chatham",
]);

/**
 * next: the first `count` after rule.after. text: the rule in words that the program takes as we do. differs: whether the
 * two may disagree about one occurrence; `change` is the change of the clocks near it, if any.
 */
const programs = {
  "cron-parser": {
    next(text, { zone, after }, count) {
      const iterator = CronExpressionParser.parse(text, { tz: zone, currentDate: new Date(after) });
      return iterator.take(count).map((moment) => moment.getTime());
    },
    text: ({ expression, normal, isList, spellsEveryDay }) => (isList || spellsEveryDay ? normal : expression),
    differs({ zone, after }, { change }) {
      const startsInChangedHour = offset(zone, after) !== offset(zone, after - HOUR);
      return change > 0 && (change !== HOUR || oddChanges.has(zone) || startsInChangedHour);
    },
  },
  croner: {
    next: (text, { zone, after }, count) =>
      new Cron(text, { timezone: zone }).nextRuns(count, new Date(after)).map((moment) => moment.getTime()),
    text: ({ expression, normal, spellsEveryDay }) =>
      spellsEveryDay || /(0|7|sun)-sun/i.test(expression) ? normal : expression,
    differs({ zone, everyHour, everyDay }, { change, moment }) {
      const beginsMonth = !everyDay && shown(zone, moment).getUTCDate() <= 3;
      return (change > 0 && !everyHour) || beginsMonth;
    },
  },
};

function readCase(line) {
  const [expression, zone, after, normal, ...next] = line.split("\t");
  const [written, read] = [expression, normal].map((text) => text.split(" ").slice(-5));
  return {
    expression, zone, normal,
    after: Date.parse(after),
    next: next.map((moment) => Date.parse(moment)),
    everyHour: read[1] === "*",
    everyDay: read[2] === "*",
    isList: expression.includes(","),
    spellsEveryDay: [2, 4].some((day) => read[day] === "*" && !["*", "?"].includes(written[day])),
  };
}

function answerOf(program, rule) {
  try {
    return program.next(program.text(rule), rule, rule.next.length);
  } catch (error) {
    return [error.message];
  }
}

const show = (moment) => (typeof moment === "number" ? new Date(moment).toISOString() : String(moment));

function compare(name, program, corpus) {
  const count = { same: 0, meant: 0, wrong: 0 };
  for (const rule of corpus) {
    const theirs = answerOf(program, rule);
    const first = rule.next.findIndex((moment, i) => moment !== theirs[i]);
    count.same += first === -1 ? rule.next.length : first;
    if (first === -1) continue;
    // Results after the first difference are not comparable.
    const before = first === 0 ? rule.after : rule.next[first - 1];
    const change = Math.max(changeNear(rule.zone, before), changeNear(rule.zone, rule.next[first]));
    if (program.differs(rule, { change, moment: rule.next[first] })) {
      count.meant += 1;
      continue;
    }
    count.wrong += 1;
    if (count.wrong <= 20) {
      const question = `${rule.expression} in ${rule.zone} after ${show(before)}`;
      console.log(`${name}: ${question}: ${show(theirs[first])}, not ${show(rule.next[first])}`);
    }
  }
  console.log(`${name}: ${count.same} the same, ${count.meant} differ as README.md explains, ${count.wrong} differ otherwise`);
  return count.wrong;
}

const corpus = readFileSync(0, "utf8").trimEnd().split("\n").map(readCase);
const wrong = Object.entries(programs).map(([name, program]) => compare(name, program, corpus));
process.exit(wrong.every((count) => count === 0) ? 0 : 1);
