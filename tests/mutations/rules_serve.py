"""The rules of the HTTP server, and of the totals that it shows, each broken once."""

from mutation import Check, Mutation, conformance, serve

SERVE = "src/serve/"

MUTATIONS: list[Mutation] = []


def broken(name: str, rule: str, file: str, edits: dict[str, str], *checks: Check, store: str = "core") -> None:
    MUTATIONS.append(Mutation(name, rule, store, file, edits, checks))


# Who may do what.

broken("scope not asked for", "an act needs a token of its scope", SERVE + "performance.cc",
       {"if (act.scope > caller.scope) {": "if (act.scope > Scope::admin) {"},
       serve("*HttpAccessTest.EachActNeedsItsScope/*"))
broken("patterns not asked for", "a token with patterns touches only what they name", SERVE + "performance.cc",
       {"caller.only); !allowed) {": "caller.only); !allowed && allowed) {"},
       serve("*HttpAccessTest.ATokenTouches*", "*HttpAccessTest.AJobBelongs*"))
broken("cookie from any page", "with a cookie only a page of this server changes something", SERVE + "performance.cc",
       {"if (caller.by_cookie && request.method": "if (!caller.by_cookie && request.method"},
       serve("*HttpAccessTest.ACookieWrites*"))
broken("any name of the server", "a request names the server by a name that it has", SERVE + "gate.cc",
       {"if (name.empty() || (!hosts_.contains(name) && address_from(name).empty())) {": "if (name.empty()) {"},
       serve("GateTest.ANameThatIsNotOurs*"))
broken("wait without its client", "a wait ends when its client goes away", SERVE + "connection_end.cc",
       {"if (got > 0 || (got < 0 && errno == EAGAIN)) return;": "if (got >= 0 || errno == EAGAIN) return;"},
       serve("TransportTest.AWaitEndsWithItsClient"))

# The live stream.

broken("gap after a reset", "a client that fell behind gets the events that it missed", SERVE + "listener.cc",
       {"backlog_ = has(Topic::events);": "backlog_ = false;"},
       serve("*StreamEventsTest.ASlowClientGets*"))
broken("mark from the future", "a client that resumes gets every event behind its mark", SERVE + "listener.cc",
       {"if (!backlog_) mark_ = mark;": "mark_ = mark;"},
       serve("*StreamEventsTest.AClientThatReconnects*"))
broken("proof in the stream", "the stream shows no token", SERVE + "rows.cc",
       {"  lease.token = {};\n": ""},
       serve("*StreamRowsTest.NoFrameShowsAProof/*"))
broken("rows before events", "rows that wait for their turn delay no event", SERVE + "live.cc",
       {"next.soon = next.soon && pace.has_changed();": "next.soon = true;"},
       serve("*StreamEventsTest.RowsThatWait*"))

# Totals.

broken("event counted twice", "reading the totals adds nothing to them", "src/storage/sqlite/sql/connection_counters.sql",
       {"CROSS JOIN leasehold_event AS e ON e.id > m.event_id": "CROSS JOIN leasehold_event AS e ON e.id >= m.event_id"},
       conformance("MetricsTest.TotalsEqual*", "MetricsTest.TotalsAddUp*"), store="sqlite")
broken("late verdict not counted", "a verdict of a transaction that was open is counted after its commit",
       "src/storage/postgres/migrations/0008_across.up/2_counters.sql",
       {"WHERE t.transaction_id = ANY ((SELECT ids FROM late)::bigint[])) AS s": "WHERE false) AS s"},
       conformance("MetricsOpenTransactionTest.AVerdict*"), store="postgres")
