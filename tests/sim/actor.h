// A simulated program: what it holds, and how it asks the library for more. Each act is a short function; together they
// are all that clients do (acts_*.cc).
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "leasehold/leasehold.h"
#include "sim/dice.h"
#include "sim/sim_backend.h"
#include "sim/stage.h"

namespace leasehold::sim {

using namespace std::chrono_literals;

/// Grants that a program got; some are over, and it has not noticed or does not care.
struct HeldLock {
  std::vector<std::string> names;
  Token token;
  bool shared = false;
};
struct HeldJob {
  JobId id = 0;
  Token token;
  std::string lease;  ///< as beliefs call it
};
struct HeldChunk {
  std::string set;
  std::string key;
  Token token;
  std::int64_t rows = 0;
  std::string lease;
};
struct HeldSession {
  std::string id;
  Token token;
};
struct TakenItem {
  std::string item;
  std::string session;
  Token token;
};
struct TakenRun {
  std::string schedule;
  Token token;
};

class Actor {
 public:
  Actor(Stage& its_stage, Process& its_process, bool in_container);

  Stage& stage;
  Process& process;
  std::shared_ptr<SimBackend> backend;
  Store store;
  Holder holder;
  Dice dice{0};  ///< of the present act

  std::vector<HeldLock> locks;
  std::vector<HeldJob> jobs;
  std::vector<JobId> known_jobs;  ///< that it put into a queue or has seen
  std::optional<SharedLease> shared_lease;
  std::vector<HeldChunk> chunks;
  std::vector<HeldSession> sessions;
  std::vector<TakenItem> items;
  std::vector<TakenRun> runs;

  Duration some_ttl() { return Duration(dice.between(1'000'000, 8'000'000)); }
  std::string new_request_id() { return fmt::format("r{:016x}", stage.world.draw_number()); }
  [[nodiscard]] BootTime deadline() const { return stage.world.boot_now() + 10s; }

  template <typename... Args>
  void say(fmt::format_string<Args...> format, Args&&... args) {
    stage.notes.say(process.name(), format, std::forward<Args>(args)...);
  }

  /// Asks, and at times asks the very same again.
  template <typename Ask>
  auto ask(Ask&& question) -> decltype(question()) {
    auto answer = question();
    if (!process.is_alive() || !stage.strikes(Fault::repeat_request, 400)) return answer;
    say("  the same again");
    auto again = question();
    return answer ? std::move(answer) : std::move(again);
  }

  void believe(const std::string& key, Token token, const std::string& lease, BootTime until) {
    stage.begin_belief(process, key, token.value, lease, until);
  }
  void extend(const std::string& lease, BootTime until) { stage.extend_beliefs(lease, until); }
  void give_up(const std::string& key, Token token) { stage.end_belief(process, key, token.value); }

  /// One of several, mostly the newest; null where there is none.
  template <typename T>
  T* some(std::vector<T>& of) {
    if (of.empty()) return nullptr;
    if (dice.chance(6000)) return &of.back();
    return &of[static_cast<std::size_t>(dice.below(static_cast<std::int64_t>(of.size())))];
  }
  /// Ended holdings are mostly forgotten, and at times tried again.
  template <typename T>
  void forget(std::vector<T>& of, const T* one) {
    if (dice.chance(8000)) of.erase(of.begin() + (one - of.data()));
  }
  /// Remembers no more than a few: the oldest goes.
  template <typename T>
  static void remember(std::vector<T>& in, T one) {
    if (in.size() >= 8) in.erase(in.begin());
    in.push_back(std::move(one));
  }
};

/// How an act went, in a word: "ok", "held", "lost expired". Nothing: there was nothing to do it with.
using Answer = std::optional<std::string>;

template <typename T>
Answer word(const Result<T>& result) {
  if (result) return "ok";
  std::string text = to_string(result.error().code);
  if (result.error().lost_reason) text += std::string(" ") + to_string(*result.error().lost_reason);
  return text;
}

struct Act {
  const char* name;
  Feature feature;
  int weight;
  Answer (*play)(Actor&);
};

std::span<const Act> lock_acts();
std::span<const Act> job_acts();
std::span<const Act> chunk_acts();
std::span<const Act> session_acts();
std::span<const Act> schedule_acts();
std::span<const Act> operate_acts();
/// All of them, in this order.
const std::vector<Act>& all_acts();

/// A write to the fenced resource of a key, in the program's own transaction, after `fence` has found the token
/// current.
template <typename Fence>
Result<void> write_to_resource(Actor& actor, const std::string& key, Token token, Fence&& fence) {
  auto transaction = OwnTransaction::begin(*actor.backend, actor.deadline());
  if (!transaction) return std::move(transaction).error();
  if (actor.stage.options.fenced) {
    if (auto current = fence(transaction->connection()); !current) return current;
  }
  if (auto on = transaction->go_on(); !on) return on;
  const auto sql = fmt::format(
      "INSERT INTO sim_resource (key, token) VALUES ('{0}', {1}) ON CONFLICT (key) DO UPDATE SET token = {1}", key,
      token.value);
  sqlite3_exec(transaction->connection(), sql.c_str(), nullptr, nullptr, nullptr);
  if (auto done = transaction->commit(); !done) return done;
  actor.say("  wrote to the resource of {} with token {}", key, token.value);
  actor.stage.report(no_late_write_lands(actor.stage.picture(), actor.stage.memory, key, token.value));
  return {};
}

}  // namespace leasehold::sim
