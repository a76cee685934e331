// Jobs: enqueue, claim, heartbeat, complete, fail, release. A job's payload is its name in the history.
#include <optional>

#include "history/load.h"

namespace leasehold::history {
namespace {

class JobActor : public Actor {
 public:
  explicit JobActor(Desk& desk) : desk_(desk), queue_(desk.options.run + "/queue") {}

  bool act() override {
    if (late_ && desk_.dice.one_in(8)) return act_late();
    if (!held_) return desk_.dice.roll(10) < 4 ? enqueue() : claim();
    const auto held = *held_;
    const int die = desk_.dice.roll(10);
    return die < 4 ? heartbeat(held) : settle(held, die < 8 ? "complete" : die < 9 ? "fail" : "release");
  }

 private:
  struct Held {
    std::string key;
    JobId id = 0;
    Token token;
  };

  bool enqueue() {
    const auto key = desk_.key("job-" + std::to_string(desk_.recorder.process()), ++enqueued_);
    const auto act = desk_.recorder.begin("job", "enqueue", key, {});
    // Budgets that are never spent: a dead letter is not what is being looked at.
    const auto job = desk_.store.jobs().enqueue(queue_, {.payload = key, .max_failures = 1000, .max_crashes = 1000});
    if (!job) return refused(act, job.error());
    desk_.recorder.end(act, "ok", Fields().add("id", job->id));
    return true;
  }

  bool claim() {
    // Which job it is stands in the answer.
    const auto act = desk_.recorder.begin("job", "claim", queue_, {});
    const auto grant = desk_.store.jobs().claim(queue_, {.ttl = desk_.options.ttl}, {.holder = desk_.holder()});
    if (!grant) return refused(act, grant.error());
    const auto& job = grant->jobs.front();
    Fields reported;
    reported.add("key", job.payload).add("id", job.id).add("token", job.token.value).add("attempt", job.attempt);
    desk_.recorder.end(act, "ok", add_span(reported, *grant));
    held_ = Held{.key = job.payload, .id = job.id, .token = job.token};
    return true;
  }

  bool heartbeat(const Held& job) {
    const auto act = begin("heartbeat", job);
    const auto extended = desk_.store.jobs().heartbeat(job.id, job.token);
    if (!extended) return refused(act, extended.error(), job);
    Fields reported;
    desk_.recorder.end(act, "ok", add_span(reported, *extended));
    return true;
  }

  bool settle(const Held& job, std::string_view verdict) {
    const auto act = begin(verdict, job);
    const auto jobs = desk_.store.jobs();
    // At once again: what waits is not what is being looked at.
    const auto settled = verdict == "complete" ? jobs.complete(job.id, job.token)
                         : verdict == "fail" ? jobs.settle({job.id, job.token, Verdict::retry_in(Duration(0), "drawn")})
                                             : jobs.release(job.id, job.token);
    if (!settled) return refused(act, settled.error(), job);
    desk_.recorder.end(act, "ok", Fields().add("state", to_string(settled->state)).add("replayed", settled->replayed));
    give_up(job);
    return true;
  }

  bool act_late() {
    const auto job = *late_;
    if (desk_.dice.one_in(3)) late_.reset();
    const int die = desk_.dice.roll(3);
    return die == 0 ? heartbeat(job) : settle(job, die == 1 ? "complete" : "fail");
  }

  std::int64_t begin(std::string_view verb, const Held& job) {
    return desk_.recorder.begin("job", verb, job.key, Fields().add("id", job.id).add("token", job.token.value));
  }

  bool refused(std::int64_t act, const Error& error) {
    desk_.recorder.end(act, word(error), reported(error));
    return could_ask(error);
  }
  bool refused(std::int64_t act, const Error& error, const Held& job) {
    if (error.code == Errc::lost) give_up(job);
    return refused(act, error);
  }

  /// Not what was lost before, for which this may be a late act.
  void give_up(const Held& job) {
    if (!held_ || held_->token != job.token) return;
    late_ = held_;
    held_.reset();
  }

  Desk& desk_;
  std::string queue_;
  std::int64_t enqueued_ = 0;
  std::optional<Held> held_;
  std::optional<Held> late_;
};

}  // namespace

std::unique_ptr<Actor> job_actor(Desk& desk) { return std::make_unique<JobActor>(desk); }

}  // namespace leasehold::history
