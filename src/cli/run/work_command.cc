#include "cli/run/work_command.h"

#include <fmt/format.h>
#include <algorithm>
#include <charconv>

#include "base/json.h"
#include "base/text.h"
#include "base/time_text.h"
#include "cli/print/print.h"
#include "cli/run/cursor_saver.h"
#include "cli/run/wrapper_variables.h"
#include "model/bounds.h"
#include "model/lines.h"

namespace leasehold::cli {
namespace {

using run::Ending;

/// The term used in the worker's summary.
std::string described(const Verdict& verdict, const std::optional<StopReason>& stopped) {
  switch (verdict.kind) {
    case Verdict::Kind::complete: return "completed";
    case Verdict::Kind::fail: return verdict.retryable ? "failed" : "failed finally";
    case Verdict::Kind::snooze: return "was snoozed for " + format_duration(verdict.delay.value_or(Duration(0)));
    case Verdict::Kind::release:
    case Verdict::Kind::skip: break;
  }
  if (stopped == StopReason::cancelled) return "was cancelled";
  return stopped == StopReason::lost ? "was lost" : "was released";
}

/// The grace must be over by the limit of the attempt: then the store gives the job to others.
Duration grace_within(Duration timeout, Duration grace) { return std::min<Duration>(grace, timeout / 3); }

Verdict verdict_on(const Job& job, const Ending& ending, const CommandStreams& streams) {
  if (ending.timed_out && job.timeout) return Verdict::fail(timed_out_text(*job.timeout));
  // Cancelled, drained or lost: the store knows which, and decides.
  if (ending.kind == Ending::Kind::lease_lost) return Verdict::release();
  if (ending.out_of_resources()) return Verdict::snooze(retry_later_delay);
  if (ending.kind == Ending::Kind::guardian_died) return Verdict::fail(describe_exit(ending));
  if (ending.exit_code == retry_later_code) return Verdict::snooze(retry_later_delay);
  if (ending.exit_code != 0) {
    auto text = failure_text(ending, streams.error_tail());
    return ending.exit_code == never_code ? Verdict::fail_finally(std::move(text)) : Verdict::fail(std::move(text));
  }
  if (streams.output_was_cut())
    say("leasehold: job {}: the result is cut after {}", job.id, format_size(bounds::result_bytes));
  return Verdict::complete(streams.output());
}

}  // namespace

CommandWork JobCommand::work_for(const Job& job, const JobContext& context) const {
  CommandWork work{.name = fmt::format("job {}", job.id),
                   .environment = wrapper_variables(held::job, {.key = std::to_string(job.id),
                                                                .token = job.token,
                                                                .expires_at = expires_at(context.trusted_until()),
                                                                .url = settings_.url}),
                   .stop = context.stop_token(),
                   .trusted_until = [&context] { return context.trusted_until(); }};
  if (const auto limit = context.limit(); limit && job.timeout) {
    work.grace = grace_within(*job.timeout, settings_.grace);
    work.stop_at = *limit - *work.grace;
  }
  work.environment.push_back(fmt::format("LEASEHOLD_ATTEMPT={}", job.attempt));
  work.environment.push_back(fmt::format("LEASEHOLD_QUEUE={}", job.queue));
  work.environment.push_back("LEASEHOLD_CURSOR=" + job.cursor);
  work.environment.push_back("LEASEHOLD_METADATA=" + job.metadata);
  // Always set: otherwise a job would inherit it from the job whose command runs this worker.
  work.environment.push_back(fmt::format("LEASEHOLD_JOB_SCHEDULE={}", job.schedule));
  work.environment.push_back(
      fmt::format("LEASEHOLD_JOB_OCCURRENCE={}", job.occurrence ? to_string(*job.occurrence) : std::string()));
  return work;
}

Verdict JobCommand::run_command(const Job& job, JobContext& context) {
  const auto work = work_for(job, context);
  CursorSaver saver(
      [&context](const CursorSave& save) { return context.save(save.cursor); },
      [&work](const Error& error) { say("leasehold: {}: not saved: {}", work.name, printable(error.message)); });
  const auto hear = [&](std::string_view line) {
    auto heard = hear_job_line(line);
    if (!heard) return say("leasehold: {}: ignored a line on descriptor 3: {}", work.name, heard.error().message);
    if (heard->cursor) saver.put({.cursor = std::move(*heard->cursor)});
    if (heard->progress) context.progress(*heard->progress);
  };
  auto streams = CommandStreams::open(
      {.input = job.payload, .keep_output = settings_.keep_output, .longest_line = longest_cursor_line}, hear);
  if (!streams) {
    runner_.report_shortage(work.name, streams.error().message);
    return Verdict::snooze(retry_later_delay);
  }
  const auto ending = runner_.run(work, *streams);
  saver.finish();
  return ending ? verdict_on(job, *ending, *streams) : Verdict::release();
}

namespace {

/// "job 17 of mail", with its trace, if it has one.
std::string name_for_log(const Job& job) {
  auto name = fmt::format("job {} of {}", job.id, printable(job.queue));
  if (job.metadata.empty()) return name;
  const auto trace = json_member(job.metadata, "traceparent");
  return trace ? fmt::format("{} (traceparent {})", name,
                             printable(trace->starts_with('"') ? trace->substr(1, trace->size() - 2) : *trace))
               : name;
}

}  // namespace

Verdict JobCommand::run(const Job& job, JobContext& context) {
  const auto started = BootClock::now();
  auto verdict = run_command(job, context);
  const bool failed = verdict.kind == Verdict::Kind::fail;
  if (settings_.verbose || failed) {
    log_outcome({.what = name_for_log(job),
                 .attempt = job.attempt,
                 .came_to = described(verdict, context.stop_reason()),
                 .took = BootClock::now() - started,
                 .error = failed ? std::string_view(verdict.text) : std::string_view()});
  }
  return verdict;
}

namespace {

/// A number at the front is the percentage, if it is in range and ends a word.
std::optional<int> take_percent(std::string_view& text) {
  int number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || number < 0 || number > 100) return std::nullopt;
  auto rest = text.substr(static_cast<std::size_t>(end - text.data()));
  if (rest.starts_with('%')) rest.remove_prefix(1);
  if (!rest.empty() && rest.front() != ' ' && rest.front() != '\t') return std::nullopt;
  text = trimmed(rest);
  return number;
}

}  // namespace

Result<JobLine> hear_job_line(std::string_view line) {
  const auto text = trimmed(line);
  if (text.starts_with('{') && is_json(text)) {
    // A cursor is kept byte for byte, so it is cut out and not parsed.
    const auto cursor = json_member(text, "cursor");
    if (!cursor) return JobLine{.progress = parse_progress_line(text), .cursor = {}};
    JobLine both{.progress = parse_progress_line(text), .cursor = std::string(*cursor)};
    if (!both.progress->percent && both.progress->message.empty() && both.progress->stage.empty())
      both.progress.reset();
    return both;
  }
  auto cursor = cursor_of_line(text);
  if (!cursor) return std::move(cursor).error();
  if (*cursor) return JobLine{.progress = {}, .cursor = std::move(*cursor)};
  return JobLine{.progress = parse_progress_line(text), .cursor = {}};
}

Progress parse_progress_line(std::string_view line) {
  auto text = trimmed(line);
  if (text.starts_with('{')) {
    if (auto report = model::progress_from(text)) {
      report->stage = clean_text(report->stage, bounds::stage_bytes);
      return *report;
    }
  }
  Progress report;
  report.percent = take_percent(text);
  report.message = text;
  return report;
}

}  // namespace leasehold::cli
