#include "cli/demo/conductor.h"

#include <fmt/format.h>
#include <algorithm>
#include <csignal>
#include <sstream>
#include <vector>

#include "cli/print/print.h"

namespace leasehold::cli {
namespace {

using std::chrono::milliseconds;

constexpr Duration goodbye_patience = milliseconds(2000);
constexpr Duration between_looks = milliseconds(50);
/// Something is badly wrong if this much time is not enough for all jobs.
constexpr Duration patience_with_all = std::chrono::seconds(60);
constexpr Duration patience_per_job = milliseconds(10);

double seconds_since(BootTime begun) { return std::chrono::duration<double>(BootClock::now() - begun).count(); }

}  // namespace

Result<DemoTally> Conductor::run() {
  begun_ = BootClock::now();
  next_incident_ = begun_ + milliseconds(200);
  if (auto enqueued = enqueue_due(); !enqueued) return enqueued.error();
  if (auto hired = crew_.hire(options_.workers); !hired) return hired.error();
  const auto too_late = begun_ + patience_with_all + 2 * pace_.whole + patience_per_job * options_.jobs;
  // An incident that has begun is completed.
  while (!interrupted_ && tally_.trouble.empty() && workers_left_ && (incident_ || !everything_is_done())) {
    listen();
    if (auto enqueued = enqueue_due(); !enqueued) return enqueued.error();
    const auto now = BootClock::now();
    if (!incident_ && now >= next_incident_ && enough_is_left()) begin_incident();
    if (incident_ && now >= incident_->since + pace_.incident_patience) give_up_on_slow_incident();
    if (now >= too_late) tally_.trouble = "the jobs took too long";
  }
  tally_.took = BootClock::now() - begun_;
  wind_down();
  tally_.interrupted = interrupted_;
  return tally_;
}

/// All jobs at once; or, at the pace of a page, only so many that three workers of ten are idle.
Result<void> Conductor::enqueue_due() {
  std::int64_t due = options_.jobs;
  if (pace_.trickles) {
    const auto now = BootClock::now();
    if (enqueued_ == options_.jobs || now < next_enqueue_) return {};
    next_enqueue_ = now + between_looks;
    const auto queue = store_.queues().show(demo_queue);
    const auto unfinished = queue ? queue->available + queue->deferred + queue->running + queue->expired : 0;
    due = std::min<std::int64_t>(due, enqueued_ + options_.workers * 7 / 10 - unfinished);
  }
  if (due <= enqueued_) return {};
  // However often its worker is killed, a job of the demo is no suspect.
  const std::vector<NewJob> jobs(static_cast<std::size_t>(due - enqueued_),
                                 NewJob{.payload = "count me", .max_crashes = 1000});
  if (auto enqueued = store_.jobs().enqueue(demo_queue, jobs); !enqueued) return enqueued.error();
  enqueued_ = due;
  return {};
}

void Conductor::listen() {
  workers_left_ =
      crew_.listen(milliseconds(20), [this](std::size_t worker, const std::string& line) { hear(worker, line); });
  show_progress();
}

/// According to the store: a worker may be killed after its commit and before its report.
bool Conductor::everything_is_done() {
  const auto now = BootClock::now();
  if (now < next_look_ || enqueued_ < options_.jobs) return false;
  next_look_ = now + between_looks;
  const auto queue = store_.queues().show(demo_queue);
  if (!queue) return false;
  return queue->available + queue->deferred + queue->running + queue->expired == 0;
}

/// An incident that begins near the end finds no worker busy.
bool Conductor::enough_is_left() const { return tally_.reported_written < options_.jobs * std::int64_t{9} / 10; }

void Conductor::wind_down() {
  crew_.dismiss();
  const auto until = BootClock::now() + goodbye_patience;
  while (BootClock::now() < until && workers_left_) listen();
  progress_.clear();
}

void Conductor::hear(std::size_t worker, const std::string& line) {
  std::istringstream words(line);
  std::string what;
  JobId job = 0;
  words >> what >> job;
  if (what == "trouble") tally_.trouble = fmt::format("{}: {}", crew_.name(worker), line.substr(what.size() + 1));
  if (what == "claimed") return note_claim(worker, job);
  if (what == "wrote") ++tally_.reported_written;
  if (what == "refused") ++tally_.refused;
  if (what != "dawdling") in_hand_[worker].erase(job);
  const bool of_victim = incident_ && worker == incident_->worker;
  if (of_victim) return hear_of_victim(what, job);
  // It took so long to get a job that the incident is over.
  if (what == "dawdling") crew_.order(worker, "go");
}

void Conductor::note_claim(std::size_t worker, JobId job) {
  in_hand_[worker].insert(job);
  const auto bereft = bereft_.find(job);
  if (bereft == bereft_.end()) return;
  const auto took = BootClock::now() - bereft->second;
  tally_.takeover_times.push_back(took);
  bereft_.erase(bereft);
  if (incident_ && incident_->step == Step::stopped && incident_->job == job) {
    resume(fmt::format("{} took job {} over after {} ms", crew_.name(worker), job, took / milliseconds(1)));
  }
}

void Conductor::hear_of_victim(const std::string& what, JobId job) {
  if (what == "dawdling") return incident_->step == Step::asked ? strike(job) : crew_.order(incident_->worker, "go");
  if (incident_->step != Step::resumed || job != incident_->job) return;
  narrate(fmt::format("{} woke up and wrote late: {}", crew_.name(incident_->worker),
                      what == "refused" ? "refused" : "NOT refused"));
  end_incident();
}

void Conductor::begin_incident() {
  // First one of each kind that must appear, then at random.
  const auto fate = incidents_ == 0 ? Fate::stop : incidents_ == 1 ? Fate::kill : static_cast<Fate>(draw(0, 2));
  ++incidents_;
  const auto last = static_cast<int>(crew_.size()) - 1;
  incident_ = Incident{.fate = fate, .worker = static_cast<std::size_t>(draw(0, last)), .since = BootClock::now()};
  if (fate == Fate::ambush) return kill_and_replace("somewhere");
  crew_.order(incident_->worker, "dawdle");
}

void Conductor::strike(JobId job) {
  if (incident_->fate == Fate::kill) return kill_and_replace(fmt::format("while holding job {}", job));
  crew_.signal(incident_->worker, SIGSTOP);
  ++tally_.stopped;
  narrate(fmt::format("{} stopped while holding job {}", crew_.name(incident_->worker), job));
  incident_->step = Step::stopped;
  incident_->job = job;
  incident_->since = BootClock::now();
  bereave(incident_->worker);
}

void Conductor::kill_and_replace(const std::string& where) {
  const auto worker = incident_->worker;
  crew_.kill(worker);
  ++tally_.killed;
  narrate(fmt::format("{} killed {}", crew_.name(worker), where));
  bereave(worker);
  if (auto replaced = crew_.replace(worker); !replaced) tally_.trouble = replaced.error().message;
  end_incident();
}

void Conductor::bereave(std::size_t worker) {
  for (const auto job : in_hand_[worker]) bereft_[job] = BootClock::now();
  in_hand_[worker].clear();
}

void Conductor::resume(const std::string& how) {
  narrate(how);
  crew_.signal(incident_->worker, SIGCONT);
  crew_.order(incident_->worker, "go");
  incident_->step = Step::resumed;
  incident_->since = BootClock::now();
}

void Conductor::give_up_on_slow_incident() {
  if (incident_->step == Step::stopped) return resume("no worker took over in time");
  end_incident();
}

void Conductor::end_incident() {
  incident_.reset();
  next_incident_ = BootClock::now() + milliseconds(draw(pace_.least_pause_ms, pace_.most_pause_ms));
}

void Conductor::narrate(const std::string& line) {
  progress_.clear();
  say("{:5.1f} s  {}", seconds_since(begun_), line);
}

std::string Conductor::progress_text() const {
  return fmt::format(
      "{:5.1f} s  {}  {} of {} jobs; {} workers killed, {} stopped; {} takeovers seen; {} late writes "
      "refused",
      seconds_since(begun_), progress_bar(tally_.reported_written, options_.jobs), tally_.reported_written,
      options_.jobs, tally_.killed, tally_.stopped, tally_.takeover_times.size(), tally_.refused);
}

void Conductor::show_progress() {
  if (on_terminal()) return progress_.show([this] { return progress_text(); });
  const auto now = BootClock::now();
  if (now < next_line_) return;
  next_line_ = now + std::chrono::seconds(1);
  say_line(progress_text());
}

}  // namespace leasehold::cli
