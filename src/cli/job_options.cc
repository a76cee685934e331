#include "cli/job_options.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "base/text.h"
#include "cli/command.h"
#include "cli/print.h"
#include "core/job_limits.h"
#include "core/job_text.h"
#include "core/moment.h"

namespace leasehold::cli {
namespace {

JobId job_id_from(const std::string& names, const std::string& text) {
  JobId id = 0;
  const auto* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, id);
  if (parsed.ec != std::errc() || parsed.ptr != end || id <= 0) {
    throw CLI::ValidationError(names, leasehold::quoted(text) + " is not a job: write the number that `job add` gave");
  }
  return id;
}

CLI::Option* add_id(CLI::App& command, JobId& id, const std::string& help) {
  return add_job_option(command, "ID", id, help)->required()->type_name("");
}

/// An option whose text a parser reads; what the parser says is the complaint.
template <typename T, typename Parse>
CLI::Option* add_parsed(CLI::App& command, const std::string& names, T& value, Parse parse, const std::string& help) {
  const auto take = [&value, names, parse](const std::string& text) {
    auto parsed = parse(text);
    if (!parsed) throw CLI::ValidationError(names, parsed.error().message);
    value = std::move(*parsed);
  };
  return command.add_option_function<std::string>(names, take, help);
}

void add_predecessors(CLI::App& command, std::vector<JobId>& after) {
  const auto take = [&after](const std::vector<std::string>& texts) {
    for (const auto& text : texts) after.push_back(job_id_from("--after", text));
  };
  command
      .add_option_function<std::vector<std::string>>("--after", take, "Wait for this job to complete; may be repeated")
      ->allow_extra_args(false)
      ->type_name("ID");
}

void add_times(CLI::App& command, NewJob& job) {
  auto* delay = add_duration(command, "--delay", job.delay, "Not before so much time has passed");
  add_parsed(
      command, "--at", job.run_at, [](const std::string& text) { return parse_moment(text, wall_clock()); },
      "Not before: 2026-03-01T09:30:00Z, or in local time '2026-03-01 09:30' or 09:30")
      ->type_name("TIME")
      ->excludes(delay);
}

void add_budgets(CLI::App& command, NewJob& job) {
  add_number(command, "--failure-budget", job.failure_budget, 1, max_budget,
             "So many failures, and it is a dead letter (default 10)");
  add_number(command, "--crash-budget", job.crash_budget, 1, max_budget,
             "The same for holders that died with it (default 3)");
  add_parsed(
      command, "--backoff", job.backoff, [](const std::string& text) { return parse_backoff(text); },
      "Between a failure and the next attempt: 5s..1h doubles up to an hour, 5s does not (default 5s..1h)")
      ->type_name("BACKOFF");
}

}  // namespace

CLI::Option* add_queue_name(CLI::App& command, std::string& queue) {
  return command.add_option("QUEUE", queue, "The queue: up to 512 bytes of UTF-8")->required()->type_name("");
}

CLI::Option* add_job_option(CLI::App& command, const std::string& names, JobId& id, const std::string& help) {
  const auto take = [&id, names](const std::string& text) { id = job_id_from(names, text); };
  return command.add_option_function<std::string>(names, take, help)->type_name("ID");
}

CLI::Option* add_job_id(CLI::App& command, JobId& id) { return add_id(command, id, "The job's number"); }

void add_held_job(CLI::App& command, HeldJob& job) {
  add_id(command, job.id, "The job's number")->envname("LEASEHOLD_JOB_ID");
  add_token(command, job.token);
}

void add_job_settings(CLI::App& command, wire::JobEnvelope& job) {
  using Priority = std::numeric_limits<std::int16_t>;
  auto& settings = job.settings;
  add_number(command, "--priority", settings.priority, Priority::min(), Priority::max(),
             "Higher first, then earliest (default 0)");
  add_times(command, settings);
  command.add_option("--limit-key", job.limit_key, "Counts against the queue's --max-per-key together with its like")
      ->check(not_empty)
      ->type_name("KEY");
  add_budgets(command, settings);
  command.add_option("--tag", settings.tags, "A word to find it by; may be repeated")
      ->check(not_empty)
      ->allow_extra_args(false)
      ->type_name("TAG");
  add_predecessors(command, settings.after);
}

CLI::Option* add_limit(CLI::App& command, const std::string& names, std::optional<int>& value,
                       const std::string& help) {
  const auto take = [&value, names](const std::string& text) {
    int limit = 0;
    const auto* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, limit);
    const bool number = parsed.ec == std::errc() && parsed.ptr == end && limit >= 1;
    if (!number && text != "none") {
      throw CLI::ValidationError(names, leasehold::quoted(text) + " is neither a number from 1 nor none");
    }
    value = number ? limit : 0;
  };
  return command.add_option_function<std::string>(names, take, help)->type_name("N");
}

}  // namespace leasehold::cli
