#include "history/surroundings.h"

#include <algorithm>

namespace leasehold::history {
namespace {

constexpr std::int64_t nanoseconds_per_microsecond = 1000;
/// A clock that is being slewed is still a clock that runs evenly.
constexpr StoreTime slack = 20'000;

std::string verdict_of(const Act& act) {
  return act.object() + " " + act.verb + "@" + std::to_string(act.asked.token) + " p" + std::to_string(act.process);
}

StoreTime microseconds(Nanoseconds when) { return when / nanoseconds_per_microsecond; }

}  // namespace

Surroundings::Surroundings(const History& history) : ttl_(history.ttl), last_words_(history.last_words) {
  learn_clock(history);
  for (const auto& act : history.acts) {
    if (act.feature == "session") learn_session(act);
    if (act.answer == Answer::ok && act.asked.token != 0) first_said_.emplace(verdict_of(act), act.number);
    if (act.feature == "job" && act.verb == "claim" && act.answer == Answer::may_have) {
      lost_claims_.push_back(act.start);
    }
  }
}

/// Every reading was taken between the two stamps of its act: that bounds the distance of the two clocks from both
/// sides.
void Surroundings::learn_clock(const History& history) {
  StoreTime min = -end_of_time;
  StoreTime max = end_of_time;
  for (const auto& act : history.acts) {
    if (act.reported.at == 0 || act.end == never || act.reported.replayed) continue;
    min = std::max(min, act.reported.at - microseconds(act.end) - 1);
    max = std::min(max, act.reported.at - microseconds(act.start) + 1);
  }
  steady_ = min != -end_of_time && min <= max + slack;
  offset_least_ = std::min(min, max) - slack;
  offset_most_ = std::max(min, max) + slack;
}

void Surroundings::learn_session(const Act& act) {
  auto& session = sessions_[act.key];
  session.process = act.process;
  if (act.verb == "close" && act.answer != Answer::refused) {
    session.closed_from = std::min(session.closed_from, act.start);
  } else if (act.answer == Answer::ok) {
    session.known_until.emplace_back(act.end, act.reported.expires);
  }
}

StoreTime Surroundings::latest(Nanoseconds when) const {
  return !steady_ || when == never ? end_of_time : microseconds(when) + offset_most_;
}

StoreTime Surroundings::earliest(Nanoseconds when) const { return steady_ ? microseconds(when) + offset_least_ : 0; }

bool Surroundings::gone(int process, Nanoseconds by) const {
  const auto found = last_words_.find(process);
  return found != last_words_.end() && found->second <= by;
}

bool Surroundings::session_may_be_over(const std::string& session, Nanoseconds start, Nanoseconds by,
                                       StoreTime at) const {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return true;
  if (found->second.closed_from < by || gone(found->second.process, by)) return true;
  StoreTime alive_until = 0;
  for (const auto& [reported_at, until] : found->second.known_until) {
    if (reported_at < start) alive_until = std::max(alive_until, until);
  }
  return at >= alive_until;
}

bool Surroundings::session_may_be_closed(const std::string& session, Nanoseconds by) const {
  const auto found = sessions_.find(session);
  return found != sessions_.end() && found->second.closed_from < by;
}

bool Surroundings::said_before(const Act& act) const {
  const auto found = first_said_.find(verdict_of(act));
  return found != first_said_.end() && found->second < act.number;
}

std::int64_t Surroundings::lost_claims(Nanoseconds by) const {
  return std::count_if(lost_claims_.begin(), lost_claims_.end(), [&](Nanoseconds start) { return start < by; });
}

}  // namespace leasehold::history
