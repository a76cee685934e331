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

broken("reader sees proofs", "below the scope admin no answer proves what others hold", SERVE + "performance.cc",
       {"caller.scope == Scope::admin ? model::Proofs::shown": "caller.scope >= Scope::work ? model::Proofs::shown"},
       serve("*ProofTest.NoActThatReads*"))

# Many jobs at once.

broken("bulk takes later jobs", "an act on many jobs leaves those alone that come in after its start",
       "src/job/select.cc",
       {"  if (filter.page.empty()) return range_of_times(call, filter);": "  if (filter.page.empty()) return Range{};"},
       conformance("JobBulkTest.*"))
broken("bulk skips a job between batches", "the batches of an act on many jobs leave none out", "src/job/select.cc",
       {"page_text({range.from_id, batch.ids.back()})": "page_text({range.from_id, batch.ids.back() - 1})"},
       conformance("JobBulkTest.EachCall*"))
broken("bulk retry skips a job", "the batches of a retry leave none out", "src/job/select.cc",
       {"page_text({batch.ids.back(), range.before_id})": "page_text({batch.ids.back() + 1, range.before_id})"},
       conformance("JobBulkTest.TheBatches*"))
broken("preview changes jobs", "a preview counts and changes nothing", "src/job/select.cc",
       {"  if (bulk.preview) return changed;": "  if (bulk.preview && changed.matched == 0) return changed;"},
       conformance("JobBulkTest.APreview*"))
broken("search skips a job between slices", "a search looks at every job of its range", "src/job/select.cc",
       {"range_.before_id = walks ? slice.from_id : picked->back();":
        "range_.before_id = walks ? slice.from_id - 1 : picked->back();"},
       conformance("JobSelectTest.ASearchReports*"))
broken("search forgets the rest of a slice", "a page of a search misses nothing", "src/job/select.cc",
       {"        range_.before_id = ids_.back();\n": ""},
       conformance("JobSelectTest.APage*"))
broken("search ends early", "a search is complete only when no job is left", "src/job/select.cc",
       {"found_.complete = jobs < search_slice;": "found_.complete = jobs <= search_slice;"},
       conformance("JobSelectTest.ASearch*"))

# The live stream.

broken("gap after a reset", "a client that fell behind gets the events that it missed", SERVE + "listener.cc",
       {"backlog_ = has(Topic::events);": "backlog_ = false;"},
       serve("*StreamEventsTest.ASlowClientGets*"))
broken("mark from the future", "a client that resumes gets every event behind its mark", SERVE + "listener.cc",
       {"if (!backlog_) mark_ = mark;": "mark_ = mark;"},
       serve("*StreamEventsTest.AClientThatReconnects*"))
broken("proof in the stream", "the stream shows no token", SERVE + "rows.cc",
       {"model::to_json(row.object, model::Proofs::hidden)": "model::to_json(row.object)"},
       serve("*StreamRowsTest.NoFrameShowsAProof/*"))
broken("stream outlives its token", "a stream ends when its API token is revoked or expires", SERVE + "live.cc",
       {"    if (listener.has_lost_token()) listener.close(": "    if (false) listener.close(",
        "return listener.gone() || listener.has_lost_token();": "return listener.gone();"},
       serve("*LostTokenTest.*"))
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
