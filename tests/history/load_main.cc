// leasehold-load: real processes that act at random on shared things of a store and write down every act.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>

#include "base/time_text.h"
#include "core/store_url.h"
#include "history/arguments.h"
#include "history/load_crew.h"

namespace leasehold::history {
namespace {

constexpr const char* usage = R"(usage: leasehold-load --store URL --out DIR [options]
  --seed N              draws the same again: 1
  --processes P         how many act at once: 4
  --seconds S           how long: 10; with --until-file an hour
  --acts N              so many by each process, unless the time is over before
  --keys K              locks, items, chunks of a set: 3
  --ttl D               of every lease: 500ms
  --pause-every N       one act in N is followed by a pause longer than the ttl: 80
  --timeout D           how long one call may take: 2s
  --features A,B        of lock,job,claim,chunk: all
  --until-file F        stop when F exists
  --replace             a process that is killed is followed by a new one, and all is in order
  --kill-every D        kill -9 one of them every D, and replace it
exit code: 0 all processes ended in order, 1 not, 2 usage
)";

Duration duration_from(const std::string& text) {
  const auto span = parse_duration(text);
  if (!span) throw std::invalid_argument(span.error().message);
  return *span;
}

std::vector<std::string> features_from(const std::string& text) {
  const std::vector<std::string> known = LoadOptions{}.features;
  std::vector<std::string> features;
  for (std::size_t from = 0; from <= text.size();) {
    const auto comma = std::min(text.find(',', from), text.size());
    features.push_back(text.substr(from, comma - from));
    if (std::find(known.begin(), known.end(), features.back()) == known.end()) {
      throw std::invalid_argument("there is no feature \"" + features.back() + "\"");
    }
    from = comma + 1;
  }
  return features;
}

LoadOptions options_from(int count, char** texts) {
  LoadOptions options;
  bool timed = false;
  Arguments arguments;
  arguments.value("--store", [&](const auto& text) { options.store = text; })
      .value("--out", [&](const auto& text) { options.out = text; })
      .value("--seed", [&](const auto& text) { options.seed = static_cast<std::uint64_t>(whole_number(text, 0)); })
      .value("--processes", [&](const auto& text) { options.processes = static_cast<int>(whole_number(text, 1)); })
      .value("--seconds",
             [&](const auto& text) {
               options.seconds = std::chrono::seconds(whole_number(text, 1));
               timed = true;
             })
      .value("--acts", [&](const auto& text) { options.acts = whole_number(text, 1); })
      .value("--keys", [&](const auto& text) { options.keys = static_cast<int>(whole_number(text, 1)); })
      .value("--ttl", [&](const auto& text) { options.ttl = duration_from(text); })
      .value("--pause-every", [&](const auto& text) { options.pause_every = static_cast<int>(whole_number(text, 1)); })
      .value("--timeout", [&](const auto& text) { options.timeout = duration_from(text); })
      .value("--features", [&](const auto& text) { options.features = features_from(text); })
      .value("--until-file", [&](const auto& text) { options.until_file = text; })
      .value("--kill-every", [&](const auto& text) { options.kill_every = duration_from(text); })
      .flag("--replace", options.replace);
  if (!arguments.parse(count, texts).empty()) throw std::invalid_argument("there is an argument too many");
  if (options.store.empty() || options.out.empty()) throw std::invalid_argument("--store and --out are needed");
  if (!timed && !options.until_file.empty()) options.seconds = std::chrono::hours(1);
  return options;
}

std::string random_run() {
  std::random_device device;
  return fmt::format("run-{:08x}", device());
}

/// In a process of its own, so that this one stays free of connections and threads and can fork.
bool prepare_apart(const LoadOptions& options) {
  const auto pid = ::fork();
  if (pid == 0) {
    try {
      prepare(options);
      ::_exit(0);
    } catch (const std::exception& error) {
      fmt::print(stderr, "leasehold-load: {}\n", error.what());
      ::_exit(1);
    }
  }
  int status = 0;
  return pid > 0 && ::waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void write_run(const LoadOptions& options) {
  std::filesystem::create_directories(options.out);
  if (!std::filesystem::is_empty(options.out)) throw std::invalid_argument(options.out + " is not empty");
  std::ofstream(options.out + "/run") << fmt::format("run={} seed={} processes={} ttl={}\n", options.run, options.seed,
                                                     options.processes, options.ttl.count());
}

int run(int count, char** texts) {
  LoadOptions options;
  try {
    options = options_from(count, texts);
    if (const auto url = parse_store_url(options.store); !url) throw std::invalid_argument(url.error().message);
    options.run = random_run();
    write_run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "leasehold-load: {}\n{}", error.what(), usage);
    return 2;
  }
  if (!prepare_apart(options)) return 1;
  return Crew(options).run() ? 0 : 1;
}

}  // namespace
}  // namespace leasehold::history

int main(int count, char** texts) { return leasehold::history::run(count, texts); }
