#include "cli/demo/crew.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <algorithm>
#include <array>
#include <cstring>

namespace leasehold::cli {
namespace {

struct Pipe {
  run::UniqueFd read_end;
  run::UniqueFd write_end;
};

Pipe make_pipe() {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  return {.read_end = run::UniqueFd(ends[0]), .write_end = run::UniqueFd(ends[1])};
}

Error cannot_start(int error) {
  return {.code = Errc::internal, .message = fmt::format("cannot start a worker process: {}", std::strerror(error))};
}

/// The pipes become the worker's stdin and stdout; it inherits the rest.
int spawn(pid_t& pid, std::vector<std::string> words, int in, int out) {
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  const int error = ::posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

}  // namespace

Crew::~Crew() {
  for (std::size_t i = 0; i < workers_.size(); ++i) kill(i);
}

Result<void> Crew::hire(int count) {
  for (int i = 0; i < count; ++i) {
    auto worker = start();
    if (!worker) return worker.error();
    workers_.push_back(std::move(*worker));
  }
  return {};
}

Result<void> Crew::replace(std::size_t worker) {
  auto next = start();
  if (!next) return next.error();
  workers_[worker] = std::move(*next);
  return {};
}

Result<Crew::Worker> Crew::start() {
  auto orders = make_pipe();
  auto news = make_pipe();
  if (!orders.read_end || !news.read_end) return cannot_start(errno);
  Worker worker{.name = fmt::format("worker-{}", ++hired_)};
  std::vector<std::string> words{"leasehold", "demo-worker",
                                 "--path",    path_,
                                 "--name",    worker.name,
                                 "--think",   std::to_string(options_.think() / std::chrono::milliseconds(1)),
                                 "--seed",    std::to_string(options_.seed + static_cast<std::uint64_t>(hired_))};
  if (!options_.fenced) words.emplace_back("--no-fence");
  if (!options_.serve.empty()) words.emplace_back("--on-page");
  const int error = spawn(worker.pid, std::move(words), orders.read_end.get(), news.write_end.get());
  if (error != 0) return cannot_start(error);
  worker.orders = std::move(orders.write_end);
  worker.news = std::move(news.read_end);
  return worker;
}

void Crew::order(std::size_t worker, const std::string& line) const {
  const auto text = line + '\n';
  // A dead worker does not read; its death is noticed elsewhere.
  [[maybe_unused]] const auto written = ::write(workers_[worker].orders.get(), text.data(), text.size());
}

void Crew::signal(std::size_t worker, int number) const {
  if (workers_[worker].pid > 0) ::kill(workers_[worker].pid, number);
}

void Crew::kill(std::size_t worker) {
  auto& each = workers_[worker];
  if (each.pid <= 0) return;
  ::kill(each.pid, SIGKILL);
  ::waitpid(each.pid, nullptr, 0);
  each.pid = -1;
}

bool Crew::listen(Duration patience, const Hear& hear) {
  std::vector<pollfd> ends;
  ends.reserve(workers_.size());
  bool anybody = false;
  for (const auto& worker : workers_) {
    ends.push_back({.fd = worker.news.get(), .events = POLLIN, .revents = 0});
    anybody = anybody || worker.news;
  }
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(patience).count();
  if (!anybody || ::poll(ends.data(), ends.size(), static_cast<int>(milliseconds)) <= 0) return anybody;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (ends[i].revents != 0) read_news(workers_[i]);
    // Not a reference: hear() may put another worker into this place.
    const pid_t sender = workers_[i].pid;
    std::string text = std::exchange(workers_[i].text, {});
    std::size_t end = 0;
    for (; (end = text.find('\n')) != std::string::npos; text.erase(0, end + 1)) hear(i, text.substr(0, end));
    if (workers_[i].pid == sender) workers_[i].text = std::move(text);
  }
  return true;
}

void Crew::read_news(Worker& worker) {
  std::array<char, 4096> buffer{};
  const auto size = ::read(worker.news.get(), buffer.data(), buffer.size());
  if (size > 0) {
    worker.text.append(buffer.data(), static_cast<std::size_t>(size));
  } else {
    worker.news.reset();
  }
}

void Crew::dismiss() {
  for (auto& worker : workers_) worker.orders.reset();
}

}  // namespace leasehold::cli
