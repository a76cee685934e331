// leasehold demo-worker: one of the processes that `leasehold demo` starts, kills and stops.
//
// It claims a few jobs, thinks, and writes each into the ledger, in one transaction with the job's completion. It is
// careless on purpose: it sends no heartbeat and never checks whether its lease still holds. Only the refusal of the
// late completion, and of the row with it, prevents a job that is done twice.
//
// It reports every step on stdout. On stdin it takes two orders: `dawdle`, to pause the next time it has a job in hand,
// and `go`, to continue from there. When stdin ends, it exits.
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <array>
#include <csignal>
#include <memory>
#include <random>
#include <thread>

#include "cli/command.h"
#include "cli/demo/demo.h"
#include "cli/demo/ledger.h"
#include "cli/print/print.h"
#include "cli/print/report.h"

namespace leasehold::cli {
namespace {

using std::chrono::milliseconds;

/// Lines from the conductor.
class Orders {
 public:
  /// Reads the pending orders, waiting for at most `patience`.
  void look(milliseconds patience) {
    pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    if (ended_ || ::poll(&input, 1, static_cast<int>(patience.count())) != 1) return;
    std::array<char, 256> buffer{};
    const auto size = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    ended_ = size <= 0;
    if (!ended_) text_.append(buffer.data(), static_cast<std::size_t>(size));
  }
  bool take(std::string_view order) {
    const auto at = text_.find(order);
    if (at == std::string::npos) return false;
    text_.erase(at, order.size());
    return true;
  }
  [[nodiscard]] bool ended() const { return ended_; }

 private:
  std::string text_;
  bool ended_ = false;
};

class DemoWorker {
 public:
  DemoWorker(const DemoWorkerOptions& options, Jobs jobs, Ledger ledger)
      : options_(options), jobs_(std::move(jobs)), ledger_(std::move(ledger)), random_(options.seed) {}

  int run() {
    while (!orders_.ended()) {
      auto grant = jobs_.claim(demo_queue, {.max = pace_.jobs_per_claim, .ttl = pace_.ttl, .wait = milliseconds(100)},
                               {.holder = Holder::self(options_.name)});
      if (grant) {
        if (auto done = work(*grant); !done) return trouble(done.error());
      } else if (!may_wait(grant.error().code)) {
        return trouble(grant.error());
      }
      orders_.look(milliseconds(0));
    }
    return exit_code::ok;
  }

 private:
  Result<void> work(const JobGrant& grant) {
    for (const auto& job : grant.jobs) print("claimed {} {}", job.id, job.token.value);
    for (const auto& job : grant.jobs) {
      think(job);
      auto written = write(job);
      if (written) {
        print("wrote {} {}", job.id, job.token.value);
      } else if (written.error().code == Errc::lost) {
        print("refused {} {}", job.id, job.token.value);
      } else {
        return written;
      }
    }
    return {};
  }

  Result<void> write(const Job& job) {
    auto written = ledger_.write({.job = job.id, .token = job.token, .worker = options_.name}, options_.fenced);
    // Without the fence the row remains, whatever leasehold returns for the job afterwards.
    if (written && !options_.fenced) static_cast<void>(jobs_.complete(job.id, job.token));
    return written;
  }

  void think(const Job& job) {
    orders_.look(milliseconds(0));
    if (!orders_.take("dawdle\n")) {
      return std::this_thread::sleep_for(milliseconds(draw(0, 2 * options_.think_ms)));
    }
    print("dawdling {} {}", job.id, job.token.value);
    while (!orders_.take("go\n") && !orders_.ended()) orders_.look(milliseconds(1000));
  }

  static int trouble(const Error& error) {
    print("trouble {}", printable(error.message));
    return exit_code::failure;
  }

  int draw(int min, int max) { return std::uniform_int_distribution<int>(min, max)(random_); }

  const DemoWorkerOptions& options_;
  const DemoPace pace_ = options_.on_page ? pace_on_page : DemoPace{};
  const Jobs jobs_;
  Ledger ledger_;
  std::mt19937_64 random_;
  Orders orders_;
};

int work_for_demo(const DemoWorkerOptions& options) {
  // Ctrl-C is for the conductor, which ends its workers; if the conductor is killed, they end, too.
  std::signal(SIGINT, SIG_IGN);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto store = Store::open(demo_url(options.path));
  if (!store) {
    print("trouble {}", printable(store.error().message));
    return exit_code::failure;
  }
  auto ledger = Ledger::open(options.path);
  if (!ledger) {
    print("trouble {}", printable(ledger.error().message));
    return exit_code::failure;
  }
  return DemoWorker(options, store->jobs(), std::move(*ledger)).run();
}

}  // namespace

void add_demo_worker(CLI::App& parent, Context& context) {
  auto* command = parent.add_subcommand("demo-worker", "One worker of `leasehold demo`")->group("");
  auto options = std::make_shared<DemoWorkerOptions>();
  command->add_option("--path", options->path)->required();
  command->add_option("--name", options->name)->required();
  command->add_option("--think", options->think_ms)->required();
  command->add_option("--seed", options->seed)->required();
  command->add_flag("!--no-fence", options->fenced);
  command->add_flag("--on-page", options->on_page);
  command->callback([&context, options] { context.action = [options] { return work_for_demo(*options); }; });
}

}  // namespace leasehold::cli
