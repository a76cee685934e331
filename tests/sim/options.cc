#include "sim/options.h"

namespace leasehold::sim {

const char* to_string(Feature feature) noexcept {
  switch (feature) {
    case Feature::lock: return "lock";
    case Feature::job: return "job";
    case Feature::chunk: return "chunk";
    case Feature::session: return "session";
    case Feature::schedule: return "schedule";
    case Feature::operate: return "operate";
  }
  return "?";
}

std::optional<Feature> feature_from(std::string_view name) {
  for (const auto feature : all_features) {
    if (name == to_string(feature)) return feature;
  }
  return std::nullopt;
}

const char* to_string(Fault fault) noexcept {
  switch (fault) {
    case Fault::crash: return "crash";
    case Fault::pause: return "pause";
    case Fault::lose_request: return "lose-request";
    case Fault::lose_reply: return "lose-reply";
    case Fault::delay_reply: return "delay-reply";
    case Fault::repeat_request: return "repeat-request";
    case Fault::lose_wakeup: return "lose-wakeup";
    case Fault::step_wall: return "step-wall";
    case Fault::reboot: return "reboot";
    case Fault::restore: return "restore";
  }
  return "?";
}

std::optional<Fault> fault_from(std::string_view name) {
  for (const auto fault : all_faults) {
    if (name == to_string(fault)) return fault;
  }
  return std::nullopt;
}

}  // namespace leasehold::sim
