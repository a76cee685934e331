// Lets the crew work until every job is done, and disturbs it.
//
// One incident after another, chosen by the seed:
//   stop    a worker that has a job in hand is stopped; when another one has taken the job over, it is resumed, and
//           its write comes too late
//   kill    a worker that has a job in hand is killed
//   ambush  a worker is killed wherever it is, possibly in the middle of a commit
#pragma once

#include <atomic>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>

#include "cli/demo/crew.h"
#include "cli/demo/demo.h"
#include "cli/print/live.h"
#include "leasehold/store.h"

namespace leasehold::cli {

class Conductor {
 public:
  Conductor(Crew& crew, const Store& store, const DemoOptions& options, const std::atomic<bool>& interrupted)
      : crew_(crew),
        store_(store),
        options_(options),
        pace_(options.pace()),
        interrupted_(interrupted),
        random_(options.seed) {}

  /// Runs until nothing is left to do and every worker has left.
  Result<DemoTally> run();

 private:
  enum class Fate { stop, kill, ambush };
  enum class Step { asked, stopped, resumed };
  struct Incident {
    Fate fate = Fate::stop;
    std::size_t worker = 0;
    Step step = Step::asked;
    JobId job = 0;
    BootTime since{};
  };

  Result<void> enqueue_due();
  void listen();
  void hear(std::size_t worker, const std::string& line);
  void note_claim(std::size_t worker, JobId job);
  void hear_of_victim(const std::string& what, JobId job);
  void begin_incident();
  void strike(JobId job);
  void kill_and_replace(const std::string& where);
  void resume(const std::string& how);
  void give_up_on_slow_incident();
  void end_incident();
  void bereave(std::size_t worker);
  [[nodiscard]] bool everything_is_done();
  [[nodiscard]] bool enough_is_left() const;
  void wind_down();
  void narrate(const std::string& line);
  void show_progress();
  [[nodiscard]] std::string progress_text() const;
  int draw(int min, int max) { return std::uniform_int_distribution<int>(min, max)(random_); }

  Crew& crew_;
  const Store& store_;
  const DemoOptions& options_;
  const DemoPace pace_;
  const std::atomic<bool>& interrupted_;
  std::mt19937_64 random_;
  DemoTally tally_;
  std::map<std::size_t, std::set<JobId>> in_hand_;
  /// Jobs whose worker was killed or stopped, and since when they are without one.
  std::map<JobId, BootTime> bereft_;
  std::optional<Incident> incident_;
  int incidents_ = 0;
  std::int64_t enqueued_ = 0;
  bool workers_left_ = true;
  BootTime begun_{};
  BootTime next_incident_{};
  BootTime next_look_{};
  BootTime next_enqueue_{};
  BootTime next_line_{};
  ProgressLine progress_;
};

}  // namespace leasehold::cli
