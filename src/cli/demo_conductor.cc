#include "cli/demo_conductor.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <sstream>

#include "cli/print.h"

namespace leasehold::cli {
namespace {

using std::chrono::milliseconds;

/// No incident takes longer, unless the machine is very busy: then the next one is tried.
constexpr Duration incident_patience = milliseconds(2500);
constexpr Duration goodbye_patience = milliseconds(2000);

double seconds_since(BootTime begun) { return std::chrono::duration<double>(BootClock::now() - begun).count(); }

}  // namespace

Result<DemoTally> Conductor::run() {
  begun_ = BootClock::now();
  next_incident_ = begun_ + milliseconds(200);
  if (auto hired = crew_.hire(options_.workers); !hired) return hired.error();
  const auto until = begun_ + std::chrono::seconds(options_.seconds);
  const auto on_line = [this](std::size_t worker, const std::string& line) { hear(worker, line); };
  // An incident that has begun is seen through.
  while ((BootClock::now() < until || incident_) && !interrupted_ && tally_.trouble.empty()) {
    if (!crew_.listen(milliseconds(20), on_line)) break;
    const auto now = BootClock::now();
    if (!incident_ && now >= next_incident_ && now < until) begin_incident();
    if (incident_ && now >= incident_->since + incident_patience) give_up_on_slow_incident();
    show_progress();
  }
  wind_down();
  tally_.interrupted = interrupted_;
  return tally_;
}

void Conductor::wind_down() {
  crew_.dismiss();
  const auto until = BootClock::now() + goodbye_patience;
  const auto on_line = [this](std::size_t worker, const std::string& line) { hear(worker, line); };
  while (BootClock::now() < until && crew_.listen(milliseconds(20), on_line)) show_progress();
  if (on_terminal()) std::fputs("\r\x1b[K", stderr);
}

void Conductor::hear(std::size_t worker, const std::string& line) {
  std::istringstream words(line);
  std::string what;
  std::string lock;
  std::int64_t number = 0;
  words >> what >> lock >> number;
  if (what == "inside") ++tally_.inside;
  if (what == "wrote") ++tally_.told_written;
  if (what == "refused") ++tally_.refused;
  if (what == "trouble") tally_.trouble = fmt::format("{}: {}", crew_.name(worker), line.substr(what.size() + 1));
  const bool expected = incident_ && worker == incident_->worker && incident_->step == Step::asked;
  // It took so long to get a lock that nobody waits for it any more.
  if (what == "dawdling" && !expected) crew_.order(worker, "go");
  if (!incident_) return;
  if (worker == incident_->worker) return hear_of_victim(what, lock, number);
  const bool took_over =
      what == "inside" && incident_->step == Step::stopped && lock == incident_->lock && number > incident_->token;
  if (took_over)
    resume(fmt::format("{} took over after {} ms", crew_.name(worker),
                       (BootClock::now() - incident_->since).count() / 1000));
}

void Conductor::hear_of_victim(const std::string& what, const std::string& lock, std::int64_t number) {
  if (what == "dawdling" && incident_->step == Step::asked) return strike(lock, number);
  if (incident_->step != Step::resumed) return;
  if (what != "refused" && what != "wrote") return;
  narrate(fmt::format("{} woke up and wrote late: {}", crew_.name(incident_->worker),
                      what == "refused" ? "refused" : "NOT refused"));
  end_incident();
}

void Conductor::begin_incident() {
  // First one of each kind that must be seen, then as it comes.
  const auto fate = incidents_ == 0 ? Fate::pause : incidents_ == 1 ? Fate::kill : static_cast<Fate>(draw(0, 2));
  ++incidents_;
  const auto last = static_cast<int>(crew_.size()) - 1;
  incident_ = Incident{.fate = fate, .worker = static_cast<std::size_t>(draw(0, last)), .since = BootClock::now()};
  if (fate == Fate::ambush) return kill_and_replace("somewhere");
  crew_.order(incident_->worker, "dawdle");
}

void Conductor::strike(const std::string& lock, std::int64_t token) {
  if (incident_->fate == Fate::kill) return kill_and_replace("inside " + lock);
  crew_.signal(incident_->worker, SIGSTOP);
  ++tally_.paused;
  narrate(fmt::format("{} stopped inside {}", crew_.name(incident_->worker), lock));
  incident_->step = Step::stopped;
  incident_->lock = lock;
  incident_->token = token;
  incident_->since = BootClock::now();
}

void Conductor::kill_and_replace(const std::string& where) {
  const auto worker = incident_->worker;
  crew_.kill(worker);
  ++tally_.killed;
  narrate(fmt::format("{} killed {}", crew_.name(worker), where));
  if (auto replaced = crew_.replace(worker); !replaced) tally_.trouble = replaced.error().message;
  end_incident();
}

void Conductor::resume(const std::string& how) {
  narrate(how);
  crew_.signal(incident_->worker, SIGCONT);
  crew_.order(incident_->worker, "go");
  incident_->step = Step::resumed;
  incident_->since = BootClock::now();
}

void Conductor::give_up_on_slow_incident() {
  if (incident_->step == Step::stopped) return resume("nobody took over in time");
  end_incident();
}

void Conductor::end_incident() {
  incident_.reset();
  next_incident_ = BootClock::now() + milliseconds(draw(50, 250));
}

void Conductor::narrate(const std::string& line) {
  if (on_terminal()) std::fputs("\r\x1b[K", stderr);
  say("{:5.1f} s  {}", seconds_since(begun_), line);
}

void Conductor::show_progress() {
  const auto now = BootClock::now();
  if (now < next_progress_) return;
  next_progress_ = now + (on_terminal() ? milliseconds(100) : milliseconds(1000));
  const auto text = fmt::format("{:5.1f} s  {} grants, {} workers killed, {} paused, {} late writes refused",
                                seconds_since(begun_), tally_.inside, tally_.killed, tally_.paused, tally_.refused);
  if (!on_terminal()) return say_line(text);
  std::fputs(("\r\x1b[K" + text).c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace leasehold::cli
