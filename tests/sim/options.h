// The settings of a run. The same options give the same run, byte for byte.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace leasehold::sim {

enum class Feature { lock, job, chunk, session, schedule, operate };
inline constexpr std::array all_features{Feature::lock,    Feature::job,      Feature::chunk,
                                         Feature::session, Feature::schedule, Feature::operate};
const char* to_string(Feature feature) noexcept;
std::optional<Feature> feature_from(std::string_view name);

enum class Fault {
  crash,           ///< a process is gone: before a statement, within a transaction, or before it has the answer
  pause,           ///< a process stands still for longer than its leases last, and goes on
  lose_request,    ///< the statement never reaches the store: unavailable
  lose_reply,      ///< the statement is done and its answer is lost: in_doubt
  delay_reply,     ///< the answer comes late
  repeat_request,  ///< the same request is sent again, with its request id or token
  lose_wakeup,     ///< a waiter gets no notice of a change
  step_wall,       ///< the wall clock is set
  reboot,          ///< the machine restarts: every process is gone, the boot-time clock begins anew
  restore,         ///< an old backup takes the place of the store
};
inline constexpr std::array all_faults{
    Fault::crash,          Fault::pause,       Fault::lose_request, Fault::lose_reply, Fault::delay_reply,
    Fault::repeat_request, Fault::lose_wakeup, Fault::step_wall,    Fault::reboot,     Fault::restore};
const char* to_string(Fault fault) noexcept;
std::optional<Fault> fault_from(std::string_view name);

struct RunOptions {
  std::uint64_t seed = 1;
  std::int64_t steps = 5000;  ///< a step takes one process from one statement to the next
  int clients = 5;
  std::set<Feature> features{all_features.begin(), all_features.end()};
  std::set<Fault> faults{all_faults.begin(), all_faults.end()};
  /// Acts that are left out, by their number: how a failing run is made small.
  std::set<std::int64_t> dropped{};
  /// False: holders write without the fence. The invariant must break then: it shows that it can.
  bool fenced = true;
};

}  // namespace leasehold::sim
