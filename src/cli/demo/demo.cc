// leasehold demo: real processes work off jobs, are killed and stopped, and every job is done exactly once.
#include "cli/demo/demo.h"

#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <utility>

#include "cli/demo/conductor.h"
#include "cli/demo/crew.h"
#include "cli/demo/ledger.h"
#include "cli/demo/page.h"
#include "cli/print/print.h"
#include "cli/print/report.h"

namespace leasehold::cli {
namespace {

std::atomic<bool> interrupted{false};
std::atomic<int> interrupting_signal{0};

void interrupt(int number) {
  interrupting_signal = number;
  interrupted = true;
}

/// Signals end the demo like its normal end: with nothing left behind.
void catch_interruptions() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    // Under nohup it stays ignored.
    if (std::signal(number, interrupt) == SIG_IGN) std::signal(number, SIG_IGN);
  }
}

/// Removed at the end, unless it is to be kept.
class Folder {
 public:
  explicit Folder(bool keep) : keep_(keep) {
    std::error_code failure;
    auto pattern = (std::filesystem::temp_directory_path(failure) / "leasehold-demo-XXXXXX").string();
    if (!failure && ::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    if (!keep_ && !path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  const bool keep_;
  std::string path_;
};

/// Shows the page before the first worker starts, so that nothing on it is missed.
Result<void> open_page(const DemoOptions& options, const std::string& file, std::optional<DemoPage>& page) {
  if (options.serve.empty()) return {};
  auto opened = DemoPage::open(demo_url(file), options.serve);
  if (!opened) return opened.error();
  page.emplace(std::move(*opened));
  say("watch the workers die: {}leases?by=holder", page->link());
  return {};
}

Result<DemoVerdict> perform(const DemoOptions& options, const std::string& file, std::optional<DemoPage>& page) {
  auto store = Store::open(demo_url(file));
  if (!store) return store.error();
  if (auto opened = open_page(options, file, page); !opened) return opened.error();
  auto ledger = Ledger::open(file);
  if (!ledger) return ledger.error();
  if (auto made = ledger->create(); !made) return made.error();
  Crew crew(file, options);
  auto seen = Conductor(crew, *store, options, interrupted).run();
  if (!seen) return seen.error();
  return judge(options, *seen, *store, *ledger);
}

int demo(const Context& context, DemoOptions& options) {
  // Small enough for every JSON reader, and for typing it again.
  constexpr int jobs_by_itself = 4000;
  constexpr int fewest_jobs_by_itself = 1000;
  constexpr int jobs_on_page = 360;
  if (options.jobs == 0) options.jobs = options.serve.empty() ? jobs_by_itself : jobs_on_page;
  if (options.serve.empty() && options.jobs < fewest_jobs_by_itself) {
    return report(context, {.code = Errc::invalid_argument,
                            .message = fmt::format("--jobs: at least {} without --serve", fewest_jobs_by_itself)});
  }
  if (options.seed == 0) options.seed = std::random_device{}() % 1'000'000 + 1;
  catch_interruptions();
  std::signal(SIGPIPE, SIG_IGN);
  const Folder folder(options.keep);
  if (folder.path().empty()) {
    return report(context, {.code = Errc::unavailable, .message = "cannot create a temporary folder: set TMPDIR"});
  }
  const auto file = folder.path() + "/demo.db";
  std::optional<DemoPage> page;
  const auto verdict = perform(options, file, page);
  if (!verdict) return report(context, verdict.error());
  if (context.json) {
    print_line(to_json(options, *verdict));
  } else {
    print_verdict(options, *verdict);
  }
  if (page && !interrupted) {
    say("the page stays until you press Ctrl-C: {}leases?by=holder", page->link());
    page->wait_for(interrupted);
    return verdict->passed ? exit_code::ok : exit_code::failure;
  }
  if (options.keep) say("kept: leasehold status --db sqlite:{}", file);
  if (interrupted) return 128 + interrupting_signal;
  return verdict->passed ? exit_code::ok : exit_code::failure;
}

}  // namespace

/// So that it takes some time, whatever the number of jobs: enough for incidents.
Duration DemoOptions::think() const {
  return std::clamp<Duration>(pace().whole * workers / jobs, std::chrono::milliseconds(1), pace().longest_think);
}

void add_demo(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "demo", "Kill and stop real workers, and check that every job is done exactly once",
                  {"leasehold demo", "leasehold demo --workers 20 --jobs 20000",
                   "leasehold demo --serve        # watch the workers die in a browser",
                   "leasehold demo --no-fence     # what happens without the fence"});
  refuse_db(*command, context, "the demo has a store of its own; --keep keeps it");
  auto options = std::make_shared<DemoOptions>();
  add_number(*command, "--workers", options->workers, 2, 64, "Worker processes (default 6)");
  add_number(*command, "--jobs", options->jobs, 100, 1'000'000, "Jobs to process (default 4000; with --serve 360)");
  command->add_option("--seed", options->seed, "Seed of the random choices (default: a new one each time)")
      ->type_name("N");
  command->add_flag("!--no-fence", options->fenced, "Let late writes through; the verdict must find them");
  command
      ->add_flag("--serve{127.0.0.1:7420}", options->serve,
                 "Serve the page of the demo's store, here or at --serve=ADDRESS, until Ctrl-C")
      ->type_name("ADDRESS");
  command->add_flag("--keep", options->keep, "Keep the database file and print its path");
  set_action(*command, context, [&context, options] { return demo(context, *options); });
  add_demo_worker(parent, context);
}

}  // namespace leasehold::cli
