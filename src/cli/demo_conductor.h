// Lets the crew work for a while, and makes sure that something happens to it.
//
// One incident after the other, chosen by the seed:
//   pause   a worker that stands inside is stopped; when another one has taken over, it is resumed, and
//           its write comes too late
//   kill    a worker that stands inside is killed
//   ambush  a worker is killed wherever it is, in the middle of a commit for all we know
#pragma once

#include <atomic>
#include <optional>
#include <random>
#include <string>

#include "cli/demo.h"
#include "cli/demo_crew.h"

namespace leasehold::cli {

class Conductor {
 public:
  Conductor(Crew& crew, const DemoOptions& options, const std::atomic<bool>& interrupted)
      : crew_(crew), options_(options), interrupted_(interrupted), random_(options.seed) {}

  /// Until the time is over and every worker has left.
  Result<DemoTally> run();

 private:
  enum class Fate { pause, kill, ambush };
  enum class Step { asked, stopped, resumed };
  struct Incident {
    Fate fate = Fate::pause;
    std::size_t worker = 0;
    Step step = Step::asked;
    std::string lock = {};
    std::int64_t token = 0;
    BootTime since{};
  };

  void hear(std::size_t worker, const std::string& line);
  void hear_of_victim(const std::string& what, const std::string& lock, std::int64_t number);
  void begin_incident();
  void strike(const std::string& lock, std::int64_t token);
  void kill_and_replace(const std::string& where);
  void resume(const std::string& how);
  void give_up_on_slow_incident();
  void end_incident();
  void wind_down();
  void narrate(const std::string& line);
  void show_progress();
  int draw(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }

  Crew& crew_;
  const DemoOptions& options_;
  const std::atomic<bool>& interrupted_;
  std::mt19937_64 random_;
  DemoTally tally_;
  std::optional<Incident> incident_;
  int incidents_ = 0;
  BootTime begun_{};
  BootTime next_incident_{};
  BootTime next_progress_{};
};

}  // namespace leasehold::cli
