#include "sim/camera.h"

#include <stdexcept>
#include <string>

namespace leasehold::sim {
namespace {

constexpr const char* offset_sql = "SELECT wall_us - boottime_us FROM leasehold_boot ORDER BY seen DESC LIMIT 1";

constexpr const char* leases_sql =
    "SELECT id, kind, boot_id, pid, acquired_at, expires_at FROM leasehold_lease WHERE ended_at IS NULL";

constexpr const char* ending_sql = "SELECT end_reason FROM leasehold_lease WHERE id = ?";

constexpr const char* locks_sql =
    "SELECT 'lock ' || name, token, lease_id, capacity, coalesce(delay, 0) FROM leasehold_lock";

// A row stays as long as its lease does; only those that are open or delayed count.
constexpr const char* shares_sql =
    "SELECT 'lock ' || name, token, lease_id, permits, coalesce(delay, 0) FROM leasehold_lock_share";

constexpr const char* claims_sql =
    "SELECT 'session ' || id, token, lease_id FROM leasehold_session "
    "UNION ALL "
    "SELECT 'item ' || i.key, i.token, c.lease_id FROM leasehold_item AS i "
    "  LEFT JOIN leasehold_claim AS c ON c.item = i.key AND c.ended_at IS NULL";

constexpr const char* jobs_sql =
    "SELECT j.id, j.queue, r.job_id IS NOT NULL, d.due_at, "
    "       EXISTS (SELECT 1 FROM leasehold_blocked AS b WHERE b.job_id = j.id), g.token, g.lease_id, "
    "       EXISTS (SELECT 1 FROM leasehold_settled AS s WHERE s.job_id = j.id AND s.final), "
    "       j.max_failures, j.max_crashes "
    "  FROM leasehold_job AS j "
    "  LEFT JOIN leasehold_ready AS r ON r.queue = j.queue AND r.priority = j.priority "
    "    AND r.by_group = (j.job_group IS NOT NULL) AND r.job_id = j.id "
    "  LEFT JOIN leasehold_deferred AS d ON d.job_id = j.id "
    "  LEFT JOIN leasehold_job_grant AS g ON g.job_id = j.id";

constexpr const char* log_sql = "SELECT job_id, token, outcome, final FROM leasehold_settled";

constexpr const char* chunks_sql =
    "SELECT s.name || '/' || c.key, c.token, c.lease_id, c.rows, coalesce(c.cursor, ''), coalesce(c.final, ''), "
    "       c.due_at FROM leasehold_chunk AS c JOIN leasehold_chunk_set AS s ON s.id = c.set_id";

constexpr const char* schedules_sql =
    "SELECT s.name, s.token, r.lease_id, s.id, coalesce(s.next_occurrence, 0), r.token FROM leasehold_schedule AS s "
    "  LEFT JOIN leasehold_schedule_run AS r ON r.schedule_id = s.id AND r.outcome IS NULL";

constexpr const char* runs_sql =
    "SELECT schedule_id, occurrence, cause, coalesce(outcome, ''), coalesce(through, occurrence), missed, "
    "       coalesce(job_id, 0) FROM leasehold_schedule_run";

constexpr const char* news_sql = "SELECT id, kind, key, what, token FROM leasehold_event WHERE id > ? ORDER BY id";

constexpr const char* last_event_sql = "SELECT coalesce(max(id), 0) FROM leasehold_event";

}  // namespace

Parts Parts::touched_by(std::string_view statement) {
  const auto family = statement.substr(0, statement.find('_'));
  if (family == "lock") return {.locks = true};
  if (family == "session" || family == "claim" || family == "item") return {.claims = true};
  if (family == "job" || family == "queue") return {.jobs = true};
  if (family == "chunk" || family == "loader") return {.jobs = true, .chunks = true};
  if (family == "schedule") return {.jobs = true, .schedules = true};
  if (statement == "lease_open" || statement == "lease_extend" || statement == "await_topic") return {};
  return all();
}

/// Prepared once, asked again and again.
class Camera::Query {
 public:
  Query(sqlite3* connection, const char* sql) {
    if (sqlite3_prepare_v2(connection, sql, -1, &statement_, nullptr) != SQLITE_OK) {
      throw std::runtime_error(std::string("looking at the store: ") + sqlite3_errmsg(connection));
    }
  }
  ~Query() { sqlite3_finalize(statement_); }
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  Query& with(std::int64_t number) {
    sqlite3_bind_int64(statement_, 1, number);
    return *this;
  }
  bool step() {
    if (sqlite3_step(statement_) == SQLITE_ROW) return true;
    sqlite3_reset(statement_);
    return false;
  }
  /// Zero where there is nothing.
  std::int64_t number(int column) { return sqlite3_column_int64(statement_, column); }
  bool is_null(int column) { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  std::string text(int column) {
    const auto* value = sqlite3_column_text(statement_, column);
    return value == nullptr ? "" : reinterpret_cast<const char*>(value);
  }

 private:
  sqlite3_stmt* statement_ = nullptr;
};

Camera::Camera(const World& world, sqlite3* connection) : world_(world), connection_(connection) {
  auto& offset = query(offset_sql);
  while (offset.step()) offset_ = offset.number(0);
  auto& last = query(last_event_sql);
  while (last.step()) last_event_ = last.number(0);
}

Camera::~Camera() = default;

Camera::Query& Camera::query(const char* sql) {
  auto& known = queries_[sql];
  if (!known) known = std::make_unique<Query>(connection_, sql);
  return *known;
}

Micros Camera::now() const { return world_.boot_now().time_since_epoch().count() + offset_; }

Picture Camera::take(const Picture& before, const Parts& parts) {
  Picture after = before;
  after.now = now();
  after.leases = open_leases();
  if (parts.locks) after.locks = locks();
  if (parts.claims) after.claims = claims();
  if (parts.jobs) after.jobs = jobs();
  if (parts.chunks) after.chunks = chunks();
  if (parts.schedules) after.schedules = schedules();
  after.news = news();
  after.endings = endings(before, after);
  return after;
}

std::shared_ptr<const OpenLeases> Camera::open_leases() {
  auto leases = std::make_shared<OpenLeases>();
  auto& row = query(leases_sql);
  while (row.step()) {
    leases->emplace(row.number(0), LeaseRow{.kind = row.text(1),
                                            .space = row.text(2),
                                            .pid = row.number(3),
                                            .acquired_at = row.number(4),
                                            .expires_at = row.number(5)});
  }
  return leases;
}

std::shared_ptr<const LocksPart> Camera::locks() {
  auto part = std::make_shared<LocksPart>();
  auto& row = query(locks_sql);
  while (row.step()) {
    const auto key = row.text(0);
    part->holdings.emplace(key, Holding{.token = row.number(1), .lease = row.number(2)});
    LockRow lock{.capacity = {}, .delay = row.number(4)};
    if (!row.is_null(3)) lock.capacity = row.number(3);
    part->locks.emplace(key, lock);
  }
  auto& share = query(shares_sql);
  while (share.step()) {
    part->shares.emplace(std::pair(share.text(0), share.number(1)),
                         ShareRow{.lease = share.number(2), .permits = share.number(3), .delay = share.number(4)});
  }
  return part;
}

std::shared_ptr<const Holdings> Camera::claims() {
  auto found = std::make_shared<Holdings>();
  auto& row = query(claims_sql);
  while (row.step()) found->emplace(row.text(0), Holding{.token = row.number(1), .lease = row.number(2)});
  return found;
}

std::shared_ptr<const JobsPart> Camera::jobs() {
  auto part = std::make_shared<JobsPart>();
  auto& row = query(jobs_sql);
  while (row.step()) {
    const bool deferred = !row.is_null(3);
    const bool granted = !row.is_null(5);
    JobRow job{.queue = row.text(1), .ready = row.number(2) != 0, .final = row.number(7) != 0};
    if (deferred) job.due_at = row.number(3);
    const bool blocked = row.number(4) != 0;
    job.places = int{job.ready} + int{deferred} + int{blocked} + int{granted} + int{job.final};
    job.max_failures = static_cast<int>(row.number(8));
    job.max_crashes = static_cast<int>(row.number(9));
    if (granted) {
      part->holdings.emplace("job " + row.text(0), Holding{.token = row.number(5), .lease = row.number(6)});
    }
    part->jobs.emplace(row.number(0), std::move(job));
  }
  auto& log = query(log_sql);
  while (log.step()) {
    part->log.emplace(std::pair(log.number(0), log.number(1)),
                      LogRow{.outcome = log.text(2), .final = log.number(3) != 0});
  }
  return part;
}

std::shared_ptr<const ChunksPart> Camera::chunks() {
  auto part = std::make_shared<ChunksPart>();
  auto& row = query(chunks_sql);
  while (row.step()) {
    const auto name = row.text(0);
    part->holdings.emplace("chunk " + name, Holding{.token = row.number(1), .lease = row.number(2)});
    part->chunks.emplace(
        name, ChunkRow{.rows = row.number(3), .cursor = row.text(4), .final = row.text(5), .due_at = row.number(6)});
  }
  return part;
}

std::shared_ptr<const SchedulesPart> Camera::schedules() {
  auto part = std::make_shared<SchedulesPart>();
  auto& row = query(schedules_sql);
  while (row.step()) {
    const auto name = row.text(0);
    part->holdings.emplace("schedule " + name, Holding{.token = row.number(1), .lease = row.number(2)});
    if (!row.is_null(5)) part->under_way.emplace(std::pair("schedule " + name, row.number(5)), row.number(2));
    part->schedules.emplace(name, ScheduleRow{.id = row.number(3), .next_occurrence = row.number(4)});
  }
  auto& run = query(runs_sql);
  while (run.step()) {
    part->runs.emplace(std::pair(run.number(0), run.number(1)), RunRow{.cause = run.text(2),
                                                                       .outcome = run.text(3),
                                                                       .through = run.number(4),
                                                                       .missed = run.number(5),
                                                                       .job = run.number(6)});
  }
  return part;
}

std::vector<EventRow> Camera::news() {
  std::vector<EventRow> events;
  auto& row = query(news_sql).with(last_event_);
  std::int64_t newest = last_event_;
  while (row.step()) {
    newest = row.number(0);
    events.push_back({.kind = row.text(1), .key = row.text(2), .what = row.text(3), .token = row.number(4)});
  }
  last_event_ = newest;
  // Pruning may have taken the newest ones, and their numbers are given again.
  if (events.empty()) {
    auto& last = query(last_event_sql);
    while (last.step()) last_event_ = last.number(0);
  }
  return events;
}

std::map<std::int64_t, std::string> Camera::endings(const Picture& before, const Picture& after) {
  std::map<std::int64_t, std::string> ended;
  for (const auto& [id, lease] : *before.leases) {
    if (after.leases->contains(id)) continue;
    auto& row = query(ending_sql).with(id);
    auto& reason = ended[id];
    while (row.step()) reason = row.text(0);
  }
  return ended;
}

}  // namespace leasehold::sim
