#include "sim/campaign.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/shrink.h"

namespace leasehold::sim {
namespace {

std::string quoted(const std::string& text) {
  std::string safe = "\"";
  for (const char one : text) {
    if (one == '"' || one == '\\') safe += '\\';
    safe += one;
  }
  return safe + "\"";
}

std::string counts_as_json(const std::map<std::string, std::int64_t>& counts) {
  std::string text = "{";
  for (const auto& [name, count] : counts) {
    text += fmt::format("{}{}:{}", text.size() > 1 ? "," : "", quoted(name), count);
  }
  return text + "}";
}

std::map<std::string, std::int64_t> by_name(const std::map<Fault, std::int64_t>& faults) {
  std::map<std::string, std::int64_t> named;
  for (const auto& [fault, count] : faults) named[to_string(fault)] = count;
  return named;
}

/// How each kind of act went: "lock acquire 412 (ok 120, held 250)".
std::string line_of(const std::string& act, std::int64_t count, const Campaign& campaign) {
  std::string answers;
  for (auto at = campaign.answers.lower_bound(act + ": "); at != campaign.answers.end(); ++at) {
    if (!at->first.starts_with(act + ": ")) break;
    answers += fmt::format("{}{} {}", answers.empty() ? "" : ", ", at->first.substr(act.size() + 2), at->second);
  }
  return fmt::format("  {:28}{:8}  {}\n", act, count, answers);
}

}  // namespace

Campaign run_many(const RunOptions& first, std::int64_t steps, const std::function<void(const Campaign&)>& progress) {
  Campaign campaign;
  auto options = first;
  while (campaign.steps < steps && !campaign.failed()) {
    options.steps = std::min(first.steps, steps - campaign.steps);
    campaign.last = run(options);
    ++campaign.runs;
    campaign.steps += campaign.last->steps;
    for (const auto& [act, count] : campaign.last->notes.acts()) campaign.acts[act] += count;
    for (const auto& [answer, count] : campaign.last->notes.answers()) campaign.answers[answer] += count;
    for (const auto& [fault, count] : campaign.last->notes.faults()) campaign.faults[fault] += count;
    progress(campaign);
    ++options.seed;
  }
  return campaign;
}

std::string summary(const Campaign& campaign, double seconds) {
  auto text = fmt::format("{} steps in {} runs, {:.1f} s, {:.0f} steps/s\n", campaign.steps, campaign.runs, seconds,
                          static_cast<double>(campaign.steps) / std::max(seconds, 0.001));
  text += "acts\n";
  for (const auto& [act, count] : campaign.acts) text += line_of(act, count, campaign);
  text += "faults\n";
  for (const auto fault : all_faults) {
    const auto found = campaign.faults.find(fault);
    text += fmt::format("  {:28}{:8}\n", to_string(fault), found == campaign.faults.end() ? 0 : found->second);
  }
  return text;
}

std::string as_json(const Campaign& campaign, double seconds) {
  auto text = fmt::format(
      "{{\"runs\":{},\"steps\":{},\"seconds\":{:.3f},\"acts\":{},\"faults\":{},\"violation\":", campaign.runs,
      campaign.steps, seconds, counts_as_json(campaign.acts), counts_as_json(by_name(campaign.faults)));
  if (!campaign.failed()) return text + "null}";
  const auto& report = *campaign.last;
  return text + fmt::format("{{\"invariant\":{},\"what\":{},\"seed\":{},\"step\":{},\"replay\":{}}}}}",
                            quoted(report.violation->invariant), quoted(report.violation->what), report.options.seed,
                            report.steps, quoted("leasehold-sim " + arguments_of(report.options)));
}

}  // namespace leasehold::sim
