// Everything that the processes of a run share, and what they may do with it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/camera.h"
#include "sim/database.h"
#include "sim/deed.h"
#include "sim/invariants.h"
#include "sim/notes.h"
#include "sim/options.h"
#include "sim/process.h"
#include "sim/world.h"

namespace leasehold::sim {

class Stage {
 public:
  Stage(const RunOptions& its_options, World& its_world);

  const RunOptions options;
  World& world;
  Notes notes;
  Memory memory;
  Dice luck;             ///< of faults
  bool in_peace = true;  ///< no faults: while the run is set up, and at its end

  [[nodiscard]] Database& database() { return database_; }
  [[nodiscard]] const Picture& picture() const { return picture_; }
  /// By the store's clock.
  [[nodiscard]] Micros now() const { return camera_->now(); }

  /// Runs a statement for a process, and judges what it has done.
  Result<storage::Rows> perform(const Process& process, const storage::Statement& statement,
                                std::span<const storage::Param> params, BootTime deadline);
  /// After something else that has committed. `at`: when the store decided it, if that was before the commit.
  void look(const Deed& deed, const Parts& parts, std::optional<Micros> at = std::nullopt);

  /// One transaction at a time, as in SQLite. False: another process has it.
  bool occupy(const Process& process);
  void vacate();
  [[nodiscard]] bool is_occupied_by_other(const Process& process) const {
    return occupant_ != 0 && occupant_ != process.pid();
  }

  /// Whether this fault strikes now.
  bool strikes(Fault fault, int in_ten_thousand);
  void crash(Process& process, const std::string& when);

  void begin_belief(const Process& process, const std::string& key, std::int64_t token, const std::string& lease,
                    BootTime until);
  void extend_beliefs(const std::string& lease, BootTime until);
  void end_belief(const Process& process, const std::string& key, std::int64_t token);

  void back_up();
  [[nodiscard]] bool has_backup() const { return backup_ != nullptr; }
  /// The store's clock is past every token that was ever given. Only then may the store forget tokens, by a restore or
  /// by pruning: that is the assumption of promise 3.
  [[nodiscard]] bool may_forget() const;
  /// Every process must be over before these two.
  void reboot();
  void restore();

  /// The first one stays.
  void report(Finding finding);
  [[nodiscard]] const Finding& finding() const { return finding_; }

  /// Called whenever something was committed.
  std::function<void()> on_change = [] {};

 private:
  void begin_anew();
  void note_forgotten(std::int64_t token);
  void set_clock_right();

  Database database_;
  std::unique_ptr<Camera> camera_;
  Picture picture_;
  std::int64_t occupant_ = 0;
  Finding finding_;
  Backup backup_;
  Timestamp forgotten_until_{};  ///< the store may have forgotten tokens up to this moment
};

}  // namespace leasehold::sim
