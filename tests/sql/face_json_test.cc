// JSON in and out of the face: what a literal, a parameter, text, json and jsonb become, and what is refused.
#include <gtest/gtest.h>

#include <random>

#include "sql/sql_fixture.h"
#include "support/job_helpers.h"

namespace leasehold::support {
namespace {

class FaceJsonTest : public SqlTest {
 protected:
  std::string ask(const std::string& sql) { return alice_.scalar(here("SELECT " + sql)); }
  PgFailure refused(const std::string& sql) { return alice_.fail(here("SELECT " + sql)); }
  /// Enqueues, claims, and gives the bytes that the worker gets.
  std::string bytes_of(const std::string& payload) {
    ask("id FROM leasehold.job_enqueue('q', " + payload + ")");
    return ask("convert_from(payload_bytes, 'UTF8') FROM leasehold.job_claim('q')");
  }
};

TEST_F(FaceJsonTest, APayloadMayBeALiteralTextJsonOrJsonb) {
  const std::string body = R"('{"re":"\\d+","q":"say \"hi\"","é":"🎉"}')";
  const std::string written = R"({"re":"\\d+","q":"say \"hi\"","é":"🎉"})";
  EXPECT_EQ(bytes_of(body), written) << "kept as it was written";
  for (const auto* type : {"::text", "::varchar", "::json"}) EXPECT_EQ(bytes_of(body + type), written) << type;
  EXPECT_EQ(bytes_of(body + "::jsonb"), R"({"q": "say \"hi\"", "re": "\\d+", "é": "🎉"})");
  EXPECT_EQ(bytes_of("jsonb_build_object('a', 1)"), "{\"a\": 1}");
  EXPECT_EQ(bytes_of("payload => '{\"a\":1}'"), "{\"a\": 1}");
  EXPECT_EQ(bytes_of("payload_text => '{\"a\":1}'::text"), "{\"a\":1}");
  EXPECT_EQ(bytes_of("NULL"), "null");
  alice_.run(here("PREPARE p AS SELECT id FROM leasehold.job_enqueue($1, $2)"));
  alice_.run("EXECUTE p('q', '[1]')");
  EXPECT_EQ(ask("payload FROM leasehold.job_claim('q')"), "[1]");
}

TEST_F(FaceJsonTest, TextThatIsNotJsonIsRefusedWithTheReason) {
  const auto failure = refused("leasehold.job_enqueue('q', 'hello')");
  EXPECT_EQ(failure.state, "LH003");
  EXPECT_NE(failure.message.find("the payload is not JSON: invalid input syntax for type json"), std::string::npos)
      << failure.message;
  for (const auto* body : {"''", "'{'", "'{\"a\":\"\\u0000\"}'", "'\"\\ud800\"'", "'1e999999'"}) {
    EXPECT_EQ(refused(std::string("leasehold.job_enqueue('q', ") + body + ")").state, "LH003") << body;
    EXPECT_EQ(refused(std::string("leasehold.job_complete(1, 1, ") + body + ")").state, "LH003") << body;
  }
  EXPECT_EQ(refused("leasehold.job_enqueue('q', repeat('[', 100000))").state, "LH003") << "too deep";
  EXPECT_EQ(ask("count(*) FROM leasehold.jobs"), "0");
}

TEST_F(FaceJsonTest, OtherBytesHaveAFunctionOfTheirOwn) {
  ask("id FROM leasehold.job_enqueue_bytes('q', '\\xff00')");
  const auto row = alice_.rows(here("SELECT id, token, payload, payload_bytes FROM leasehold.job_claim('q')")).at(0);
  EXPECT_FALSE(row.at(2).has_value());
  EXPECT_EQ(row.at(3), "\\xff00");
  ask("outcome FROM leasehold.job_complete_bytes(" + *row.at(0) + ", " + *row.at(1) + ", '\\xfe')");
  EXPECT_EQ(ask("concat_ws(' ', result IS NULL, result_bytes) FROM leasehold.job_show(" + *row.at(0) + ")"), "t \\xfe");
}

TEST_F(FaceJsonTest, SpecsCursorsMetadataSchedulesAndResultsKeepWhatTheyGet) {
  const std::string body = R"('{"re":"\\d+","q":"say \"hi\"","é":"🎉","n":12345678901234567890.5}')";
  const auto is_body = " = " + body + "::jsonb";
  ask("total FROM leasehold.chunk_plan('orders', '{a}', ARRAY[" + body + "::jsonb])");
  const auto token = ask("token FROM leasehold.chunk_claim('orders')");
  ask("outcome FROM leasehold.chunk_heartbeat('orders', 'a', " + token + ", cursor => " + body + ")");
  ask("outcome FROM leasehold.chunk_release('orders', 'a', " + token + ")");
  EXPECT_EQ(ask("spec" + is_body + " AND cursor" + is_body + " FROM leasehold.chunk_claim('orders')"), "t");
  ask("outcome FROM leasehold.session_open('ann', metadata => " + body + ")");
  EXPECT_EQ(ask("metadata" + is_body + " FROM leasehold.sessions"), "t");
  ask("outcome FROM leasehold.item_add('SD-1', metadata => " + body + ")");
  EXPECT_EQ(ask("metadata" + is_body + " FROM leasehold.items"), "t");
  ask("created FROM leasehold.schedule_set('nightly', cron => '0 3 * * *', queue => 'mail', payload => " + body + ")");
  EXPECT_EQ(ask("payload" + is_body + " FROM leasehold.schedules"), "t");
  EXPECT_EQ(ask("spec" + is_body + " AND cursor" + is_body + " FROM leasehold.chunks"), "t");
  ask("outcome FROM leasehold.schedule_trigger('nightly')");
  const auto job = ask("job_id FROM leasehold.schedule_fire('nightly')");
  EXPECT_EQ(ask("payload" + is_body + " FROM leasehold.jobs"), "t");
  const auto row = alice_.rows(here("SELECT payload" + is_body + ", token FROM leasehold.job_claim('mail')")).at(0);
  EXPECT_EQ(row.at(0), "t");
  ask("outcome FROM leasehold.job_settle(" + job + ", " + *row.at(1) + ", 'complete', " + body + ")");
  EXPECT_EQ(ask("result" + is_body + " FROM leasehold.job_show(" + job + ")"), "t");
}

TEST_F(FaceJsonTest, JsonThatJsonbCannotStoreIsRefusedAsThat) {
  const std::string nested = "repeat('[', 20000) || repeat(']', 20000)";
  for (const auto& body : {std::string(R"('{"a":"\u0000"}')"), std::string("'[1e400000]'"), nested}) {
    const auto refusal = refused("leasehold.job_enqueue('mail', (" + body + ")::text)");
    EXPECT_EQ(refusal.state, "LH003") << body;
    EXPECT_NE(refusal.message.find("PostgreSQL's jsonb cannot store the payload"), std::string::npos)
        << refusal.message;
    EXPECT_NE(refusal.message.find("job_enqueue_bytes"), std::string::npos) << refusal.message;
    const auto id = ask("id FROM leasehold.job_enqueue_bytes('mail', convert_to(" + body + ", 'UTF8'))");
    EXPECT_EQ(ask("payload IS NULL FROM leasehold.job_show(" + id + ")"), "t");
  }
  EXPECT_NE(refused("leasehold.job_enqueue('mail', '{'::text)").message.find("the payload is not JSON"),
            std::string::npos);
}

TEST_F(FaceJsonTest, ViewsShowJsonAsJsonAndOtherBytesAsNull) {
  EXPECT_EQ(ask("string_agg(table_name || '.' || column_name, ' ' ORDER BY table_name, column_name) FROM "
                "information_schema.columns WHERE table_schema = 'leasehold' AND data_type = 'jsonb' AND table_name IN "
                "('sessions', 'items', 'chunks', 'schedule_runs', 'schedules', 'jobs')"),
            "chunks.cursor chunks.spec items.metadata jobs.payload schedule_runs.counts schedules.command "
            "schedules.payload sessions.metadata");
  ask("created FROM leasehold.schedule_set('refresh', every_min => '1 hour', command => '[\"run\", \"it\"]')");
  EXPECT_EQ(ask("command ->> 1 FROM leasehold.schedules"), "it");
  EXPECT_EQ(ask("payload IS NULL FROM leasehold.schedules"), "t");
  ask("created FROM leasehold.job_enqueue_bytes('mail', '\\x00ff')");
  EXPECT_EQ(ask("concat_ws(' ', payload IS NULL, payload_bytes) FROM leasehold.jobs"), "t \\x00ff");
}

TEST_F(FaceJsonTest, AHolderIsANameOrAnObject) {
  const auto holder = [&](const std::string& text) {
    ask("outcome FROM leasehold.lock_acquire('deploy', holder => " + text + ")");
    const auto shown = ask("concat_ws(' ', holder, host, pid, tty) FROM leasehold.leases");
    ask("outcome FROM leasehold.lock_revoke('deploy', 'next')");
    return shown;
  };
  EXPECT_EQ(holder("NULL"), ask("session_user") + "  0 ");
  EXPECT_EQ(holder("'ann'"), "ann  0 ");
  EXPECT_EQ(holder(R"('{"name": "ann", "host": "box", "pid": 7, "tty": "pts/3", "process_start": 1}')"),
            "ann box 7 pts/3");
  EXPECT_EQ(holder(R"('{"host": "box"}')"), ask("session_user") + " box 0 ");
  for (const auto* wrong : {"{", "{\"nmae\": \"x\"}", "{\"pid\": \"7\"}", "{\"pid\": 1.5}", "{\"name\": 7}",
                            "{\"pid\": -1}", "{\"pid\": 99999999999999999999}"}) {
    EXPECT_EQ(refused(std::string("leasehold.lock_acquire('deploy', holder => '") + wrong + "')").state, "LH003")
        << wrong;
  }
}

TEST_F(FaceJsonTest, AClaimAnswersMetadataAndCursorAsJsonb) {
  const std::string body = R"('{"re":"\\d+","q":"say \"hi\"","é":"🎉","n":12345678901234567890.5}')";
  const auto is_body = " = " + body + "::jsonb";
  ask("id FROM leasehold.job_enqueue('q', '1', metadata => " + body + ")");
  const auto first = alice_
                         .rows(here("SELECT id, token, metadata" + is_body +
                                    ", cursor IS NULL, pg_typeof(metadata), pg_typeof(cursor) FROM "
                                    "leasehold.job_claim('q')"))
                         .at(0);
  EXPECT_EQ(first.at(2), "t");
  EXPECT_EQ(first.at(3), "t") << "there is no cursor yet";
  EXPECT_EQ(first.at(4), "jsonb");
  EXPECT_EQ(first.at(5), "jsonb");
  const auto held = *first.at(0) + ", " + *first.at(1);
  EXPECT_EQ(ask("outcome FROM leasehold.job_heartbeat(" + held + ", save => " + body + ")"), "extended");
  EXPECT_EQ(ask("outcome FROM leasehold.job_release(" + held + ")"), "settled");
  EXPECT_EQ(ask("concat_ws(' ', metadata" + is_body + ", cursor" + is_body + ") FROM leasehold.job_claim('q')"), "t t");
}

TEST(FaceLatin1Test, KeepsUtf8AndReadsWhatTheEncodingHas) {
  PgConnection server(test_postgres_url());
  const auto name = "face_latin1_" + std::to_string(std::random_device{}());
  server.run("CREATE DATABASE " + name + " ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
  const auto url = test_postgres_url().substr(0, test_postgres_url().rfind('/')) + "/" + name;
  {
    auto store = must(Store::open(url, {.migrate = MigrateOnOpen::yes}));
    PgConnection psql(url);
    psql.run("SET client_encoding = 'UTF8'");
    psql.run("SELECT leasehold.job_enqueue('q', '{\"to\":\"Zo\xC3\xAB\"}')");
    must(store.jobs().enqueue("q", NewJob{.payload = "{\"to\":\"\xE2\x86\x92\"}"}));
    EXPECT_EQ(psql.fail("SELECT leasehold.job_enqueue('q', '\"\\u2192\"')").state, "LH003");
    const auto rows = psql.rows("SELECT payload ->> 'to', payload_bytes FROM leasehold.job_claim('q', 2) ORDER BY id");
    EXPECT_EQ(rows.at(0).at(0), "Zo\xC3\xAB");
    EXPECT_EQ(rows.at(0).at(1), "\\x7b22746f223a225a6fc3ab227d") << "UTF-8, for every reader";
    EXPECT_FALSE(rows.at(1).at(0).has_value()) << "LATIN1 has no arrow";
    EXPECT_EQ(rows.at(1).at(1), "\\x7b22746f223a22e28692227d");
  }
  server.run("DROP DATABASE " + name + " WITH (FORCE)");
}

}  // namespace
}  // namespace leasehold::support
