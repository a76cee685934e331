#include "run/warden.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>

#include "run/ending.h"
#include "run/guardian.h"
#include "run/message.h"
#include "run/signals.h"

namespace leasehold::run {
namespace {

// A parcel's label: `wake`, or `g` and a digit for each stream that follows the guardian's channel.
constexpr const char* wake_label = "wake";
constexpr char guard_mark = 'g';
constexpr std::array stream_marks{'0', '1', '2', '3'};
/// The pause between two rounds of ending the orphans of a killed guardian.
constexpr int orphan_pause_ms = 10;
/// How often and how long to try to reach a warden that does not read.
constexpr int most_tries = 10;
constexpr int try_again_ms = 1000;

std::array<UniqueFd*, stream_marks.size()> in_order(Streams& streams) {
  return {&streams.in, &streams.out, &streams.err, &streams.progress};
}

Parcel pack(UniqueFd channel, Streams& streams) {
  Parcel parcel{.label = std::string(1, guard_mark)};
  parcel.descriptors.push_back(std::move(channel));
  const auto each = in_order(streams);
  for (std::size_t i = 0; i < each.size(); ++i) {
    if (!*each[i]) continue;
    parcel.label.push_back(stream_marks[i]);
    parcel.descriptors.push_back(std::move(*each[i]));
  }
  return parcel;
}

Streams unpack_streams(Parcel& parcel) {
  Streams streams;
  const auto each = in_order(streams);
  for (std::size_t i = 1; i < std::min(parcel.label.size(), parcel.descriptors.size()); ++i) {
    const auto* const mark = std::find(stream_marks.begin(), stream_marks.end(), parcel.label[i]);
    if (mark == stream_marks.end()) continue;
    *each[static_cast<std::size_t>(mark - stream_marks.begin())] = std::move(parcel.descriptors[i]);
  }
  return streams;
}

/// The warden's process.
class Keeper {
 public:
  Keeper(std::vector<std::string> argv, UniqueFd wrapper) : argv_(std::move(argv)), wrapper_(std::move(wrapper)) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    ::prctl(PR_SET_NAME, "leasehold-ward");
    // If the wrapper is killed while we are stopped, the guardians are still informed.
    ::prctl(PR_SET_PDEATHSIG, SIGCONT);
  }

  [[noreturn]] void run() {
    while (wrapper_ || !guardians_.empty() || !orphaned_.empty()) {
      wait_for_something();
      take_parcels();
      reap();
      if (!orphaned_.empty()) end_orphans();
    }
    ::_exit(0);
  }

 private:
  void wait_for_something() {
    std::array<pollfd, 2> watched{pollfd{.fd = wrapper_.get(), .events = POLLIN, .revents = 0},
                                  pollfd{.fd = children_.fd(), .events = POLLIN, .revents = 0}};
    ::poll(watched.data(), watched.size(), orphaned_.empty() ? -1 : orphan_pause_ms);
    children_.clear();
  }

  void take_parcels() {
    Parcel parcel;
    while (wrapper_) {
      const auto delivery = receive_parcel(wrapper_.get(), parcel);
      if (delivery == Delivery::none) return;
      if (delivery == Delivery::closed) wrapper_.reset();
      // Guardians notice the wrapper's end by themselves, unless they are stopped.
      if (delivery == Delivery::closed || parcel.label == wake_label) {
        wake_guardians();
      } else if (parcel.descriptors.size() < parcel.label.size()) {
        // We are out of descriptors, and the kernel has dropped some.
        if (!parcel.descriptors.empty()) refuse(std::move(parcel.descriptors.front()), EMFILE);
      } else {
        start_guardian(parcel);
      }
    }
  }

  void start_guardian(Parcel& parcel) {
    auto channel = std::move(parcel.descriptors.front());
    auto streams = unpack_streams(parcel);
    const pid_t self = ::getpid();
    const pid_t guardian = ::fork();
    if (guardian == 0) be_guardian(self, std::move(channel), std::move(streams));
    if (guardian < 0) return refuse(std::move(channel), errno);
    // Open until nothing of its command is left: so the wrapper notices the end.
    guardians_.emplace(guardian, std::move(channel));
  }

  /// Reports that nothing was started.
  static void refuse(UniqueFd channel, int error) {
    static_cast<void>(Channel(std::move(channel)).send({.kind = Message::Kind::start_failed, .number = error}));
  }

  [[noreturn]] void be_guardian(pid_t warden, UniqueFd channel, Streams streams) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != warden) ::_exit(1);
    // Another guardian, or the warden, must not appear alive because we have its descriptors.
    guardians_.clear();
    orphaned_.clear();
    wrapper_.reset();
    signals_.restore();
    guard(argv_, Duration(0), Channel(std::move(channel)), std::move(streams));
  }

  void wake_guardians() const {
    for (const auto& [pid, channel] : guardians_) ::kill(pid, SIGCONT);
  }

  void reap() {
    int status = 0;
    pid_t pid = 0;
    while ((pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
      if (WIFSTOPPED(status)) {
        // A stopped guardian would not notice the end of its command.
        if (guardians_.contains(pid)) ::kill(pid, SIGCONT);
        continue;
      }
      auto guardian = guardians_.extract(pid);
      const bool did_its_work = WIFEXITED(status) && WEXITSTATUS(status) == 0;
      if (guardian && !did_its_work) orphaned_.push_back(std::move(guardian.mapped()));
    }
  }

  /// Ends the orphans of a killed guardian.
  void end_orphans() {
    kill_tree(::getpid(), living_guardians());
    reap();
    if (!descendants(::getpid(), living_guardians()).empty()) return;
    // An explicit message: a channel that only closes means that nothing could be started for lack of resources.
    for (auto& channel : orphaned_) {
      static_cast<void>(Channel(std::move(channel)).send({.kind = Message::Kind::guardian_died}));
    }
    orphaned_.clear();
  }

  [[nodiscard]] std::vector<ProcessId> living_guardians() const {
    auto all = descendants(::getpid());
    std::erase_if(all, [this](const ProcessId& each) { return !guardians_.contains(each.pid); });
    return all;
  }

  const std::vector<std::string> argv_;
  UniqueFd wrapper_;
  const DeafToSignals signals_;
  const ChildWatch children_;
  std::map<pid_t, UniqueFd> guardians_;
  std::vector<UniqueFd> orphaned_;
};

}  // namespace

Result<std::unique_ptr<Warden>> Warden::fork(const std::vector<std::string>& argv) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return cannot("create a socketpair");
  UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  // If the warden is killed, the descendants of its guardians come to us.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  auto foreign = descendants(::getpid());
  const pid_t pid = ::fork();
  if (pid < 0) return cannot("fork");
  if (pid == 0) {
    ours.reset();
    Keeper(argv, std::move(theirs)).run();
  }
  const auto self = find_child(pid);
  if (!self) return Error{.code = Errc::internal, .message = "cannot read /proc, which is needed to find processes"};
  foreign.push_back(*self);
  return std::unique_ptr<Warden>(new Warden(std::move(ours), *self, std::move(foreign)));
}

Warden::Warden(UniqueFd channel, ProcessId process, std::vector<ProcessId> foreign)
    : channel_(std::move(channel)), process_(process), foreign_(std::move(foreign)) {}

Warden::~Warden() {
  wake();
  channel_.reset();
  siginfo_t news{};
  const auto pid = static_cast<id_t>(process_.pid);
  while (::waitid(P_PID, pid, &news, WEXITED | WSTOPPED) == 0 && news.si_code == CLD_STOPPED) {
    send_signal(process_, SIGCONT);
  }
}

Result<Channel> Warden::new_guardian(Streams streams) const {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return cannot("create a socketpair");
  Channel ours{UniqueFd(ends[0])};
  const auto parcel = pack(UniqueFd(ends[1]), streams);
  for (int tries = 0; !send_parcel(channel_.get(), parcel); ++tries) {
    if (errno != EAGAIN || tries == most_tries) return cannot("reach the process that starts commands");
    // Many commands start at once, or the warden was stopped.
    send_signal(process_, SIGCONT);
    pollfd out{.fd = channel_.get(), .events = POLLOUT, .revents = 0};
    ::poll(&out, 1, try_again_ms);
  }
  return ours;
}

void Warden::wake() const {
  send_signal(process_, SIGCONT);
  send_parcel(channel_.get(), {.label = wake_label});
}

void Warden::end_what_came_to_us() const {
  while (!descendants(::getpid(), foreign_).empty()) {
    kill_tree(::getpid(), foreign_);
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    ::poll(nullptr, 0, 2);
  }
}

}  // namespace leasehold::run
