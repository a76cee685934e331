// leasehold job import: add a job per line of a file, in constant memory, a thousand per commit.
#include <memory>

#include "cli/bind/job_options.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/print/live.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/signals.h"
#include "model/bounds.h"
#include "model/json.h"
#include "model/lines.h"

namespace leasehold::cli {
namespace {

constexpr std::size_t batch_jobs = 1000;
/// A thousand large payloads would be too much for one statement.
constexpr std::size_t batch_bytes = 8 * bounds::payload_bytes;
/// A payload in base64, with settings around it.
constexpr std::size_t max_envelope_bytes = 2 * bounds::payload_bytes;

struct JobImportOptions {
  std::string queue;
  std::string file;
  bool envelope = false;
  int from_line = 1;
  NewJob defaults;
};

struct Imported {
  std::int64_t enqueued = 0;
  std::int64_t duplicates = 0;
  std::int64_t last_line = 0;  ///< every line up to this one is in the queue
};

class Importer {
 public:
  Importer(const Jobs& jobs, const JobImportOptions& options, LineReader& lines, const StopSignals& signals)
      : jobs_(jobs), options_(options), lines_(lines), signals_(signals), begun_(BootClock::now()) {
    lines_.end_at(signals.fd());
  }

  /// Runs until the end, the first bad line, or a signal.
  Result<void> run() {
    while (signals_.first() == 0) {
      auto line = lines_.next(options_.envelope ? max_envelope_bytes : bounds::payload_bytes);
      if (!line) return refuse_line(line.error());
      if (!*line) break;
      if (auto taken = take(**line); !taken) return refuse_line(taken.error());
      if (batch_.size() == batch_jobs || bytes_ >= batch_bytes) {
        if (auto put = enqueue_batch(); !put) return put;
      }
    }
    return enqueue_batch();
  }

  [[nodiscard]] const Imported& imported() const { return imported_; }

 private:
  Result<void> take(std::string& line) {
    last_taken_ = lines_.line_number();
    if (last_taken_ < options_.from_line || line.empty()) return {};
    auto job = options_.envelope ? model::job_from(line, options_.defaults, wall_clock()) : job_without_envelope(line);
    if (!job) return std::move(job).error();
    if (auto checked = check_new_job(*job); !checked) return checked;
    if (batch_.empty()) first_in_batch_ = last_taken_;
    bytes_ += job->payload.size();
    batch_.push_back(std::move(*job));
    return {};
  }

  [[nodiscard]] Result<NewJob> job_without_envelope(std::string& line) const {
    auto job = options_.defaults;
    job.payload = std::move(line);
    return job;
  }

  Result<void> enqueue_batch() {
    const auto enqueued = jobs_.enqueue(options_.queue, batch_);
    if (!enqueued) return refuse_batch(enqueued.error());
    for (const auto& job : *enqueued) ++(job.created ? imported_.enqueued : imported_.duplicates);
    imported_.last_line = last_taken_;
    batch_.clear();
    bytes_ = 0;
    show_progress();
    return {};
  }

  /// The lines before the bad one are good, and are added.
  Result<void> refuse_line(Error why) {
    last_taken_ = lines_.line_number() - 1;
    why.message = fmt::format("line {}: {}", lines_.line_number(), why.message);
    if (auto put = enqueue_batch(); !put) return put;
    return why;
  }

  [[nodiscard]] Error refuse_batch(Error why) const {
    why.message = fmt::format("lines {} to {}: {}", first_in_batch_, last_taken_, why.message);
    return why;
  }

  void show_progress() {
    progress_.show([this] {
      const auto elapsed = std::chrono::duration<double>(BootClock::now() - begun_).count();
      const auto size = lines_.size();
      const auto bar = size ? progress_bar(lines_.bytes_read(), *size) + "  " : "";
      return fmt::format("{}{} jobs  {:.0f}/s", bar, imported_.enqueued,
                         static_cast<double>(imported_.enqueued) / std::max(elapsed, 0.001));
    });
  }

  const Jobs& jobs_;
  const JobImportOptions& options_;
  LineReader& lines_;
  const StopSignals& signals_;
  const BootTime begun_;
  ProgressLine progress_;
  std::vector<NewJob> batch_;
  std::size_t bytes_ = 0;
  std::int64_t first_in_batch_ = 0;
  std::int64_t last_taken_ = 0;
  Imported imported_;
};

void print_imported(const Context& context, const JobImportOptions& options, const Imported& imported) {
  if (context.json) {
    return print_line(model::json_object(
        {{"enqueued", imported.enqueued}, {"duplicates", imported.duplicates}, {"last_line", imported.last_line}}));
  }
  print("enqueued {} into {}{}", counted(imported.enqueued, "job"), printable(options.queue),
        imported.duplicates > 0 ? fmt::format("; duplicates: {}", imported.duplicates) : "");
}

/// A bad line is not a mistake on the command line, and some jobs were added: exit code 1, not 2.
int report_stop(const Context& context, const Imported& imported, Error why) {
  const bool doubtful = why.code == Errc::in_doubt;
  why.message +=
      fmt::format("; enqueued before it: {}; {}continue with --from-line {}", counted(imported.enqueued, "job"),
                  doubtful ? "check whether these lines are there, then " : "", imported.last_line + 1);
  const int code = report(context, why);
  return code == exit_code::usage ? exit_code::failure : code;
}

int import(const Context& context, const JobImportOptions& options) {
  auto lines = LineReader::open(options.file);
  if (!lines) return report(context, lines.error());
  auto store = context.open_or_make_store();
  if (!store) return report(context, store.error());
  const StopSignals signals(std::stop_source{});
  const auto jobs = store->jobs();
  auto importer = std::make_unique<Importer>(jobs, options, *lines, signals);
  const auto done = importer->run();
  const auto imported = importer->imported();
  // Removes the progress line.
  importer.reset();
  if (!done) return report_stop(context, imported, done.error());
  print_imported(context, options, imported);
  if (signals.first() == 0) return exit_code::ok;
  say("stopped after line {}: continue with --from-line {}", imported.last_line, imported.last_line + 1);
  return exit_code_after(signals.first());
}

}  // namespace

void add_job_import(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "import", "Add a job to a queue for every line of a file, a thousand per commit",
      {"leasehold job import mail letters.jsonl", "zcat urls.gz | leasehold job import fetch - --priority -5",
       R"(leasehold job import mail --envelope jobs.jsonl    # {"payload":{"to":"ann"},"delay":"10m"})"});
  auto options = std::make_shared<JobImportOptions>();
  add_queue_name(*command, options->queue);
  command->add_option("FILE", options->file, "One payload per line, empty lines are skipped; - is standard input")
      ->required()
      ->type_name("");
  command->add_flag("--envelope", options->envelope,
                    "Each line is a JSON object: payload (or payload_base64), priority, delay, run_at, dedupe_key, "
                    "dedupe_mode, dedupe_for, group, timeout, expires_in, expires_at, metadata, max_failures, "
                    "max_crashes, backoff, tags, depends_on, if_failed, batch, on_batch_end, request_id");
  add_number(*command, "--from-line", options->from_line, 1, std::numeric_limits<int>::max(),
             "Skip the lines before N: they are in the queue already");
  add_job_settings(*command, options->defaults);
  set_action(*command, context, [&context, options] { return import(context, *options); });
}

}  // namespace leasehold::cli
