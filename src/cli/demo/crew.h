// The demo's worker processes: started from this same executable, each with a pipe for its reports.
#pragma once

#include <sys/types.h>
#include <functional>
#include <string>
#include <vector>

#include "cli/demo/demo.h"
#include "leasehold/result.h"
#include "run/signals.h"

namespace leasehold::cli {

class Crew {
 public:
  /// The index of a worker, and one line of its report.
  using Hear = std::function<void(std::size_t, const std::string&)>;

  Crew(std::string path, DemoOptions options) : path_(std::move(path)), options_(options) {}
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  /// Kills and reaps the remaining workers, stopped ones included.
  ~Crew();

  Result<void> hire(int count);
  /// Starts a new process in place of a dead one.
  Result<void> replace(std::size_t worker);

  void order(std::size_t worker, const std::string& line) const;
  void signal(std::size_t worker, int number) const;
  /// kill -9, and waits until it is gone.
  void kill(std::size_t worker);

  /// Passes every line that arrives within `patience` to `hear`. False: no worker is left.
  bool listen(Duration patience, const Hear& hear);
  /// No more orders: the workers finish their current jobs and leave.
  void dismiss();

  [[nodiscard]] std::size_t size() const { return workers_.size(); }
  [[nodiscard]] const std::string& name(std::size_t worker) const { return workers_[worker].name; }

 private:
  struct Worker {
    std::string name;
    pid_t pid = -1;
    run::UniqueFd orders;
    run::UniqueFd news;
    std::string text;
  };
  Result<Worker> start();
  static void read_news(Worker& worker);

  const std::string path_;
  const DemoOptions options_;
  std::vector<Worker> workers_;
  int hired_ = 0;
};

}  // namespace leasehold::cli
