#include "sim/stage.h"

#include <algorithm>

#include "storage/statements.h"

namespace leasehold::sim {

using storage::Access;
using storage::Rows;

Stage::Stage(const RunOptions& its_options, World& its_world)
    : options(its_options), world(its_world), luck(mix({options.seed, 0xfa17})), database_(world, options.seed) {
  sqlite3_exec(database_.connection(), "CREATE TABLE sim_resource (key TEXT PRIMARY KEY, token INTEGER)", nullptr,
               nullptr, nullptr);
  begin_anew();
}

Result<Rows> Stage::perform(const Process& process, const storage::Statement& statement,
                            std::span<const storage::Param> params, BootTime deadline) {
  auto rows = database_.backend().query(statement, params, deadline);
  if (!rows) {
    // Faults happen on the way only: a statement that reaches the store is answered.
    report(Violation{"I6", fmt::format("{} failed: {}", statement.name, rows.error().message)});
    return rows;
  }
  if (statement.access == Access::read) return rows;
  const auto deed = deed_of(statement, params, *rows);
  if (!deed.named.empty()) {
    const auto& one = deed.named.front();
    notes.say(process.name(), "  {} {} {} {}{}", statement.name, one.key, one.outcome, one.why,
              one.replayed ? " again" : "");
  }
  look(deed, Parts::touched_by(statement.name));
  return rows;
}

void Stage::look(const Deed& deed, const Parts& parts, std::optional<Micros> at) {
  auto after = camera_->take(picture_, parts);
  after.now = at.value_or(after.now);
  report(judge({.before = picture_, .after = after, .deed = deed, .world = world}, memory));
  for (const auto& [key, holding] : *picture_.claims) {
    if (!after.claims->contains(key)) note_forgotten(holding.token);
  }
  picture_ = std::move(after);
  on_change();
}

// A token is a moment of the store's clock, or was one of its next microseconds.
void Stage::note_forgotten(std::int64_t token) {
  forgotten_until_ = std::max(forgotten_until_, Timestamp(Duration(token)));
}

// The assumption of promise 3, as in may_forget(): where the store reads the wall clock anew, that is not behind what
// it has forgotten.
void Stage::set_clock_right() {
  if (world.wall_now() <= forgotten_until_) world.step_wall(forgotten_until_ - world.wall_now() + Duration(1));
}

bool Stage::occupy(const Process& process) {
  if (is_occupied_by_other(process)) return false;
  occupant_ = process.pid();
  return true;
}

void Stage::vacate() {
  occupant_ = 0;
  on_change();
}

bool Stage::strikes(Fault fault, int in_ten_thousand) {
  if (in_peace || !luck.chance(in_ten_thousand) || !options.faults.contains(fault)) return false;
  notes.count(fault);
  return true;
}

void Stage::crash(Process& process, const std::string& when) {
  notes.say(process.name(), "CRASH {}", when);
  if (!in_peace) notes.mark(process.client(), "crash");
  notes.close_bars(process.client());
  memory.beliefs.forget_process(process.pid());
  process.end();
}

void Stage::begin_belief(const Process& process, const std::string& key, std::int64_t token, const std::string& lease,
                         BootTime until) {
  if (!process.is_alive()) return;
  Belief belief{.key = key, .token = token, .pid = process.pid(), .lease = lease};
  report(deadline_was_respected(memory, belief, until));
  memory.beliefs.begin(std::move(belief), until);
  notes.open_bar({.client = process.client(),
                  .key = key,
                  .token = token,
                  .lease = lease,
                  .trusted_to = world.age() + (until - world.boot_now())});
}

void Stage::extend_beliefs(const std::string& lease, BootTime until) {
  memory.beliefs.extend(lease, until);
  notes.extend_bars(lease, world.age() + (until - world.boot_now()));
}

void Stage::end_belief(const Process& process, const std::string& key, std::int64_t token) {
  memory.beliefs.give_up(key, token);
  notes.close_bar(process.client(), key, token);
}

void Stage::back_up() {
  backup_ = database_.back_up();
  notes.say("-", "a backup is made");
}

bool Stage::may_forget() const {
  const auto now = camera_->now();
  return std::all_of(memory.highest_token.begin(), memory.highest_token.end(),
                     [&](const auto& key) { return key.second < now; });
}

void Stage::reboot() {
  const Duration off(luck.between(1'000'000, 60'000'000));
  // Mostly right; at times minutes behind, and only the tokens in the store keep the order then.
  const Duration error(luck.chance(2000) ? -luck.between(0, 180'000'000) : 0);
  world.reboot(off, error);
  set_clock_right();
  notes.say("-", "REBOOT {} after {} s{}", world.process_space(), off.count() / 1'000'000,
            error.count() == 0 ? "" : fmt::format(", the wall clock is {} s behind", -error.count() / 1'000'000));
  notes.mark(-1, "reboot");
  camera_.reset();
  database_.restart();
  memory.delayed_until.clear();
  begin_anew();
}

void Stage::restore() {
  notes.say("-", "RESTORE of the backup");
  notes.mark(-1, "restore");
  note_forgotten(camera_->now());
  set_clock_right();
  camera_.reset();
  database_.restore(backup_);
  memory.delayed_until.clear();
  begin_anew();
}

// The first statement of a boot notes its clocks and ends what earlier boots held, before anybody else gets a word in.
void Stage::begin_anew() {
  memory.beliefs.forget_all();
  memory.latest_grant.clear();
  occupant_ = 0;
  const sql::StoreStatus ask{};
  static_cast<void>(database_.backend().query(sql::StoreStatus::statement(), ask.params(),
                                              world.boot_now() + std::chrono::seconds(10)));
  camera_ = std::make_unique<Camera>(world, database_.connection());
  picture_ = camera_->take({}, Parts::all());
}

void Stage::report(Finding finding) {
  if (!finding || finding_) return;
  notes.say("-", "VIOLATION of {}: {}", finding->invariant, finding->what);
  notes.close();
  finding_ = std::move(finding);
}

}  // namespace leasehold::sim
