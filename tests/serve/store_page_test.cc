// The page of the store for Prometheus, as a server answers it.
#include "observe/lint.h"
#include "serve/server_fixture.h"

namespace leasehold::support {
namespace {

class StorePageTest : public ServerTest {};
LEASEHOLD_ON_BOTH_STORES(StorePageTest);

TEST_P(StorePageTest, TheFirstFailureIsAnIncrease) {
  start_without_auth();
  const auto samples = [&] {
    const auto scrape = scrape_of(get("/metrics/store").body);
    EXPECT_EQ(scrape.problems, std::vector<std::string>());
    const std::string jobs = R"(leasehold_jobs_finished_total{queue="mail",outcome="failed"})";
    const std::string runs = R"(leasehold_schedule_runs_total{schedule="refresh",outcome="lost"})";
    return std::pair(scrape.value(jobs), scrape.value(runs));
  };
  post("job/enqueue", R"({"queue":"mail","max_failures":1})");
  post("schedule/set", R"({"name":"refresh","every_min_seconds":600})");
  EXPECT_EQ(samples(), std::pair(0.0, 0.0));
  const auto grant = post("job/claim", R"({"queue":"mail"})").json();
  const auto failed = fmt::format(R"({{"id":{},"token":{},"error":"broken"}})",
                                  grant.at("jobs").at(0).at("id").as_int64(), grant.at("token").as_int64());
  EXPECT_EQ(post("job/fail", failed).status, 200);
  advance(1ms);
  EXPECT_EQ(samples(), std::pair(1.0, 0.0));
}

}  // namespace
}  // namespace leasehold::support
