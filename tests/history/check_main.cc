// leasehold-check: whether the answers that the processes of a load got are linearizable.
#include <fmt/format.h>

#include <iterator>
#include <stdexcept>

#include "core/store_url.h"
#include "history/arguments.h"
#include "history/check.h"
#include "history/final_state.h"

namespace leasehold::history {
namespace {

constexpr const char* usage = R"(usage: leasehold-check DIR [options]
  DIR                   where leasehold-load has written
  --store URL           also look at what the store holds now
  --forgetful           the store may have lost what it had acknowledged (a failover to an asynchronous standby,
                        a restored copy): judge only what must hold even then
  --max N              sets of acts to try per object before it is undecided: 1000000
exit code: 0 linearizable, 1 not, 2 usage, 3 undecided
)";

enum ExitCode { fine = 0, not_linearizable = 1, wrong_usage = 2, cannot_tell = 3 };

struct CheckOptions {
  std::string folder;
  std::string store{};
  bool forgetful = false;
  std::size_t max = 1'000'000;
};

CheckOptions options_from(int count, char** texts) {
  CheckOptions options;
  Arguments arguments;
  arguments.value("--store", [&](const auto& text) { options.store = text; })
      .value("--max", [&](const auto& text) { options.max = static_cast<std::size_t>(whole_number(text, 1)); })
      .flag("--forgetful", options.forgetful);
  const auto rest = arguments.parse(count, texts);
  if (rest.size() != 1) throw std::invalid_argument("one folder is needed");
  options.folder = rest.front();
  if (options.store.empty()) return options;
  if (const auto url = parse_store_url(options.store); !url) throw std::invalid_argument(url.error().message);
  return options;
}

Report report_on(const CheckOptions& options) {
  auto history = read_history(options.folder);
  std::vector<std::string> faults;
  if (!options.store.empty()) {
    const auto ledger = final_ledger(history, options.store);
    faults = judge_ledger(history, ledger, options.forgetful);
    settle_doubts(history, ledger);
    if (!options.forgetful) add_final_reads(history, options.store);
  }
  auto report = options.forgetful ? check_tokens(history) : check(history, options.max);
  report.violations.insert(report.violations.end(), std::make_move_iterator(faults.begin()),
                           std::make_move_iterator(faults.end()));
  return report;
}

int print(const Report& report) {
  for (const auto& violation : report.violations) fmt::print("{}\n", violation);
  for (const auto& object : report.undecided) fmt::print("{}: undecided, too many orders to try\n", object);
  fmt::print("{}\n", report.summary());
  switch (report.verdict()) {
    case Verdict::linearizable: return fine;
    case Verdict::violated: return not_linearizable;
    case Verdict::undecided: return cannot_tell;
  }
  return cannot_tell;
}

int run(int count, char** texts) {
  CheckOptions options;
  try {
    options = options_from(count, texts);
  } catch (const std::invalid_argument& error) {
    fmt::print(stderr, "leasehold-check: {}\n{}", error.what(), usage);
    return wrong_usage;
  }
  try {
    return print(report_on(options));
  } catch (const std::exception& error) {
    // Not looked at is not linearizable.
    fmt::print(stderr, "leasehold-check: {}\n", error.what());
    return cannot_tell;
  }
}

}  // namespace
}  // namespace leasehold::history

int main(int count, char** texts) { return leasehold::history::run(count, texts); }
