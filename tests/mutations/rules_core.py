"""The rules that C++ keeps for both stores, each broken once."""

from mutation import Check, Mutation, conformance, simulator, unit

MUTATIONS: list[Mutation] = []


def broken(name: str, rule: str, file: str, edits: dict[str, str], *checks: Check) -> None:
    MUTATIONS.append(Mutation(name, rule, "core", file, edits, checks))


broken("trust from the answer on", "trust counts from before the request was sent", "src/lease/call.h",
       {"    before_sending_ = BootClock::now();\n    return storage::query_one(backend_, statement, deadline_);":
        "    auto answered = storage::query_one(backend_, statement, deadline_);\n"
        "    before_sending_ = BootClock::now();\n    return answered;"},
       simulator())
broken("margin dropped", "trust ends a margin before the lease does", "src/model/bounds.cc",
       {"std::min(ttl, remaining) - margin;": "std::min(ttl, remaining) - 0 * margin;"},
       unit("LimitsTest.Promise09_*"))
broken("replay trusts the whole ttl", "a repeated answer is trusted for what remains of the lease",
       "src/lease/answer.cc",
       {"trusted_until(before_sending, ttl, expires_at - answer.store_now)": "trusted_until(before_sending, ttl, ttl)"},
       conformance("ReplayTest.Promise13_AReplayTrusts*"))
broken("running at its expiry", "state is derived, and a lease is over at its expiry", "src/lease/answer.cc",
       {"answer.expires_at.value_or(Timestamp{}) > answer.store_now":
        "answer.expires_at.value_or(Timestamp{}) >= answer.store_now"},
       conformance("LockTest.Promise01_*"))
broken("loss is not final", "a holder that has lost its lease learns it, and why", "src/model/errors.h",
       {'"lost", exit_code::lost, 409, {.ends_lease = true}}': '"lost", exit_code::lost, 409}'},
       conformance("HeldLeaseTest.Promise09_*"))
broken("lost answer not asked for", "an acquire whose answer was lost is asked again, under the same request id",
       "src/lease/call.h",
       {"code == Errc::in_doubt && if_lost == IfLost::ask_again;": "code == Errc::in_doubt && if_lost != if_lost;"},
       conformance("DoubtTest.Promise10_AnAcquire*"))
broken("doubt reported as unavailable", "an act that may have happened is never reported as one that did not",
       "src/storage/postgres/errors.cc",
       {".code = unknown ? Errc::in_doubt : Errc::unavailable": ".code = Errc::unavailable"},
       conformance("PostgresDoubtTest.*"))
broken("occurrence after itself", "the next occurrence is later than the one before", "src/core/schedule_plan.cc",
       {"std::chrono::floor<seconds>(after) + seconds(1);": "std::chrono::ceil<seconds>(after);"},
       unit("CalendarTest.*"), simulator())
broken("skips miscounted", "the number of skipped occurrences is correct", "src/core/schedule_plan.cc",
       {"    plan.missed = due.earlier;": "    plan.missed = due.earlier - 1;"},
       simulator(), conformance("ScheduleMisfireTest.*"))
broken("next before its verdict", "the claim that follows a verdict comes after it, and can have the place it frees",
       "src/storage/combiner.h",
       {"return std::pair(a->turn, key_of(*a)) < std::pair(b->turn, key_of(*b));":
        "return std::pair(-a->turn, key_of(*a)) < std::pair(-b->turn, key_of(*b));"},
       unit("CombinerTest.CallsSentTogether*"), conformance("JobNextTest.ThePlaceThat*"))
broken("next in a commit of its own", "a verdict and the next claim share a commit", "src/storage/postgres/caller.cc",
       {"const bool together = !calls.empty() && belongs_in_batch(calls.front());": "const bool together = false;"},
       conformance("JobNextTest.BothAreInOneCommit*"))
