#include "history/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace leasehold::history {
namespace {

using Objects = std::map<std::string, std::vector<Act>>;

/// Claims of jobs without an answer belong to no job; the surroundings know of them. Plans change no chunk.
bool belongs_to_an_object(const Act& act) {
  return act.feature != "set" && !(act.feature == "job" && act.verb == "claim" && act.answer == Answer::may_have);
}

Objects objects_of(const History& history) {
  Objects objects;
  for (const auto& act : history.acts) {
    if (belongs_to_an_object(act)) objects[act.object()].push_back(act);
  }
  return objects;
}

Report count(const History& history, const Objects& objects) {
  const auto doubtful = std::count_if(history.acts.begin(), history.acts.end(),
                                      [](const Act& act) { return act.answer == Answer::may_have; });
  return {.objects = objects.size(), .acts = history.acts.size(), .in_doubt = static_cast<std::size_t>(doubtful)};
}

/// Figures of both clocks are reported from here on.
struct Origins {
  Nanoseconds local = 0;
  StoreTime store = 0;
};

Origins origins_of(const History& history) {
  Origins origins{.local = history.acts.empty() ? 0 : history.acts.front().start};
  for (const auto& act : history.acts) {
    if (act.reported.at != 0 && (origins.store == 0 || act.reported.at < origins.store))
      origins.store = act.reported.at;
  }
  return origins;
}

/// Where the part worth showing begins: at the last grant that could be put in order, and the act before it.
std::size_t window_start(const std::vector<Act>& acts, const std::vector<std::size_t>& order) {
  for (auto i = order.size(); i > 0; --i) {
    const auto& act = acts[order[i - 1]];
    if (act.grants() && act.answer != Answer::refused) return i > 1 ? i - 2 : 0;
  }
  return 0;
}

std::string explain(const std::string& object, const std::vector<Act>& acts, const Finding& finding,
                    const Origins& origins) {
  const auto tell = [&](std::size_t act) { return describe(acts[act], origins.local, origins.store); };
  auto text = fmt::format("{}: not linearizable. In this order all is well", object);
  const auto from = window_start(acts, finding.order);
  text += from > 0 ? fmt::format(" (after {} acts before):\n", from) : ":\n";
  // Refusals change nothing: the last ones are enough.
  constexpr std::size_t always_shown = 3;
  for (auto i = from; i < finding.order.size(); ++i) {
    const bool shown = acts[finding.order[i]].answer != Answer::refused || i + always_shown >= finding.order.size();
    if (shown) text += fmt::format("  {}\n", tell(finding.order[i]));
  }
  text += "but none of these can come next:\n";
  for (const auto& [act, why] : finding.obstacles) text += fmt::format("  {}\n    {}\n", tell(act), why);
  return text;
}

}  // namespace

Verdict Report::verdict() const {
  if (!violations.empty()) return Verdict::violated;
  return undecided.empty() ? Verdict::linearizable : Verdict::undecided;
}

std::string Report::summary() const {
  const auto figures = fmt::format("{} objects, {} acts, {} in doubt: ", objects, acts, in_doubt);
  if (verdict() == Verdict::violated) return figures + fmt::format("{} violated", violations.size());
  if (verdict() == Verdict::undecided) return figures + fmt::format("{} undecided", undecided.size());
  return figures + praise;
}

Report check(const History& history, std::size_t max) {
  const Surroundings around(history);
  const auto objects = objects_of(history);
  const auto origins = origins_of(history);
  auto report = count(history, objects);
  for (const auto& [object, acts] : objects) {
    const auto finding = linearize(acts, around, max);
    if (finding.verdict == Verdict::violated) report.violations.push_back(explain(object, acts, finding, origins));
    if (finding.verdict == Verdict::undecided) report.undecided.push_back(object);
  }
  return report;
}

Report check_tokens(const History& history) {
  const auto objects = objects_of(history);
  const auto origins = origins_of(history);
  auto report = count(history, objects);
  report.praise = "no token was granted twice or fell";
  for (const auto& [object, acts] : objects) {
    std::vector<const Act*> grants;
    for (const auto& act : acts) {
      if (act.grants() && act.answer == Answer::ok && !act.reported.replayed) grants.push_back(&act);
    }
    for (const auto* earlier : grants) {
      for (const auto* later : grants) {
        const bool repeated = earlier < later && earlier->reported.token == later->reported.token;
        const bool fell = earlier->end < later->start && later->reported.token <= earlier->reported.token;
        if (!repeated && !fell) continue;
        report.violations.push_back(fmt::format("{}: a token was granted again, or fell\n  {}\n  {}\n", object,
                                                describe(*earlier, origins.local, origins.store),
                                                describe(*later, origins.local, origins.store)));
      }
    }
  }
  return report;
}

}  // namespace leasehold::history
