// What schedules promise, in C++: no database, no concurrency, time is a number, and nothing is drawn.
#pragma once

#include "model/schedule_model_state.h"

namespace leasehold::schedule_model {

struct AcquireAsk {
  std::string holder;
  bool at_once = false;
  std::string request{};
};

class ScheduleModel {
 public:
  explicit ScheduleModel(Moment now) : now_(now) {}

  void advance(Moment by) { now_ += by; }

  /// `next`: when it is to run next, if the caller gives it.
  std::string set(const std::string& name, const Definition& definition, std::optional<Moment> next);
  std::string ensure(const std::string& name, const Definition& definition, std::optional<Moment> next);
  std::string acquire(const std::string& name, const AcquireAsk& ask);
  /// An act names a token by how many were given for that schedule after it; -1: one that never was.
  std::string heartbeat(const std::string& name, int ago);
  std::string settle(const std::string& name, int ago, bool ok, std::optional<Moment> next);
  std::string release(const std::string& name, int ago);

  std::string trigger(const std::string& name);
  std::string pause(const std::string& name, const std::string& reason);
  std::string resume(const std::string& name);
  std::string rename(const std::string& name, const std::string& to);
  std::string remove(const std::string& name);
  std::string fire(const std::string& name);
  std::string recover();

  std::string show(const std::string& name);
  std::string history(const std::string& name);
  std::string due();

 private:
  static constexpr Moment never_given = 12345;

  /// A lease that was asked for under a request id.
  struct Requested {
    int schedule = 0;
    Moment token = 0;
    std::string ended{};  ///< as the run's outcome, for when the schedule is gone
  };
  /// An occurrence that was taken, and what was skipped before it.
  struct Taken {
    std::optional<Moment> occurrence{};
    std::string cause{};
    std::int64_t skipped = 0;
  };

  ModelSchedule* find(const std::string& name) {
    const auto found = schedules_.find(name);
    return found == schedules_.end() ? nullptr : &found->second;
  }
  Moment given(const std::string& name, int ago) {
    const auto& tokens = tokens_[name];
    const auto back = static_cast<std::size_t>(ago) + 1;
    return ago < 0 || tokens.size() < back ? never_given : tokens[tokens.size() - back];
  }
  [[nodiscard]] bool live(const ModelRun* run) const { return run != nullptr && run->expires_at > now_; }
  static std::optional<Runner> runner(const ModelRun* run) {
    if (run == nullptr) return std::nullopt;
    return Runner{.holder = run->holder, .token = run->token, .expires_at = run->expires_at};
  }
  /// Shows the holder of the run, and never its token.
  std::string refuse(const std::string& word, ModelSchedule* schedule) {
    auto reported = schedule == nullptr ? std::nullopt : runner(schedule->under_way());
    if (reported) reported->token = 0;
    return say(word, reported, now_);
  }
  std::string not_due(const ModelSchedule& schedule) { return say_next("not_due", schedule.due_at(), now_); }
  Moment next_token(ModelSchedule& schedule) {
    schedule.token = std::max(schedule.token + 1, now_);
    return schedule.token;
  }

  std::string lost(ModelSchedule& schedule, Moment token);
  std::string granted(ModelSchedule& schedule, const ModelRun& run, std::int64_t skipped, bool replayed);
  std::string acquired_before(ModelSchedule* schedule, const Requested& before);
  Taken take(ModelSchedule& schedule, bool at_once);
  std::string ended(const std::string& name, int ago, const std::string& verdict, std::optional<Moment> next);
  void go_on_after(ModelSchedule& schedule, bool ok, std::optional<Moment> next) const;
  static SeenRun seen(Moment occurrence, const ModelRun& run, const std::string& outcome);

  Moment now_;
  int ids_ = 0;
  std::map<std::string, ModelSchedule> schedules_;
  std::map<std::string, std::vector<Moment>> tokens_;
  std::map<std::string, Requested> requests_;
};

}  // namespace leasehold::schedule_model

#include "model/schedule_model_look.h"
#include "model/schedule_model_operate.h"
#include "model/schedule_model_run.h"
