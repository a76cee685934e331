// leasehold demo-worker: one of the processes that `leasehold demo` starts, kills and stops.
//
// It takes a lock, reads that lock's counter, thinks, and writes the counter plus one. It is careless on
// purpose: it never looks whether its lease still holds. Only the fence stands between it and the damage.
//
// It tells every step on stdout. On stdin it takes two orders: `dawdle`, to stand still the next time it
// is inside, and `go`, to go on from there. When stdin ends, so does it.
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
#include "cli/demo.h"
#include "cli/demo_ledger.h"
#include "cli/print.h"
#include "cli/report.h"

namespace leasehold::cli {
namespace {

using std::chrono::milliseconds;

/// Lines from the conductor.
class Orders {
 public:
  /// Takes what is there, waiting for at most `patience`.
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

class Worker {
 public:
  Worker(const DemoWorkerOptions& options, Locks locks, Ledger ledger)
      : options_(options), locks_(std::move(locks)), ledger_(std::move(ledger)), random_(options.seed) {}

  int run() {
    while (!orders_.ended()) {
      const auto lock = demo_lock_name(draw(1, options_.locks));
      auto grant =
          locks_.acquire(lock, {.ttl = demo_ttl, .wait = milliseconds(200), .holder = Holder::self(options_.name)});
      if (grant) {
        if (auto done = work(*grant); !done) return trouble(done.error());
      } else if (grant.error().code != Errc::held && grant.error().code != Errc::busy) {
        return trouble(grant.error());
      }
      orders_.look(milliseconds(draw(0, 4)));
    }
    return exit_code::ok;
  }

 private:
  Result<void> work(const Grant& grant) {
    print("inside {} {}", grant.key, grant.token.value);
    auto value = ledger_.read(grant.key);
    if (!value) return value.error();
    think(grant);
    auto written = ledger_.write(
        {.lock = grant.key, .token = grant.token, .worker = options_.name, .value = *value + 1}, options_.fenced);
    if (written) {
      print("wrote {} {}", grant.key, *value + 1);
    } else if (written.error().code == Errc::lost) {
      print("refused {} {}", grant.key, grant.token.value);
    } else {
      return written;
    }
    auto released = locks_.release(grant.key, grant.token);
    return released || released.error().code == Errc::lost ? Result<void>() : released;
  }

  void think(const Grant& grant) {
    orders_.look(milliseconds(0));
    if (!orders_.take("dawdle\n")) return std::this_thread::sleep_for(milliseconds(draw(1, 6)));
    print("dawdling {} {}", grant.key, grant.token.value);
    while (!orders_.take("go\n") && !orders_.ended()) orders_.look(milliseconds(1000));
  }

  static int trouble(const Error& error) {
    print("trouble {}", printable(error.message));
    return exit_code::failure;
  }

  int draw(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }

  const DemoWorkerOptions& options_;
  Locks locks_;
  Ledger ledger_;
  std::mt19937_64 random_;
  Orders orders_;
};

int work_for_demo(const DemoWorkerOptions& options) {
  // Ctrl-C is for the conductor, which ends its workers; and when it is killed, they go, too.
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
  return Worker(options, store->locks(), std::move(*ledger)).run();
}

}  // namespace

void add_demo_worker(CLI::App& parent, Context& context) {
  auto* command = parent.add_subcommand("demo-worker", "One worker of `leasehold demo`")->group("");
  auto options = std::make_shared<DemoWorkerOptions>();
  command->add_option("--path", options->path)->required();
  command->add_option("--name", options->name)->required();
  command->add_option("--locks", options->locks)->required();
  command->add_option("--seed", options->seed)->required();
  command->add_flag("!--no-fence", options->fenced);
  command->callback([&context, options] { context.action = [options] { return work_for_demo(*options); }; });
}

}  // namespace leasehold::cli
