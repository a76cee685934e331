// Random sequences of what happens to jobs, against the model, SQLite and PostgreSQL: all three must agree, act for
// act, and after every act about what became of the job.
//
// RC_PARAMS="seed=..." replays a run; a failing sequence is made small and printed.
#include "model/job_model.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "model/agreement.h"
#include "model/job_model_acts.h"
#include "model/job_model_subject.h"

namespace leasehold::model {
namespace {

using support::StoreKind;

/// Runs one sequence on all three. Every sequence has queues of its own, so that the stores need not be made anew.
class JobSequence {
 public:
  JobSequence(JobSubject& sqlite, JobSubject& postgres, int number)
      : sqlite_(sqlite),
        postgres_(postgres),
        model_(start(sqlite, postgres)),
        prefix_("run" + std::to_string(number)) {}

  void step(const JobAct& act) {
    act_ = act;
    act_on_jobs(act) || act_on_leases(act) || act_on_queues(act);
  }

  /// Every job and queue again: an act may have changed others, too.
  void look_at_everything() {
    for (int job = 0; job < model_.jobs(); ++job) agree([&](auto& it) { return it.show(job); });
    for (int queue = 0; queue < 2; ++queue) agree([&](auto& it) { return it.show_queue(queue_name(queue)); });
    for (int batch = 0; batch <= batches_; ++batch) agree([&](auto& it) { return it.show_batch(batch_name(batch)); });
  }

 private:
  static Moment start(JobSubject& sqlite, JobSubject& postgres) {
    sqlite.start_afresh();
    postgres.start_afresh();
    return sqlite.now();
  }

  bool act_on_jobs(const JobAct& act) {
    const int job = job_for(act);
    switch (act.verb) {
      case JobVerb::enqueue: enqueue(act); return true;
      case JobVerb::enqueue_many: enqueue_many(act); return true;
      case JobVerb::heartbeat: {
        const auto ttl = act.choice < 3 ? 5'000'000 : 0;
        const std::string stage = act.choice % 2 == 0 ? "stage" + std::to_string(act.number) : "";
        const std::string cursor = act.extra < 4 ? std::to_string(act.number) : "";
        agree([&](auto& it) { return it.heartbeat(job, act.ago, ttl, stage, cursor); });
        break;
      }
      case JobVerb::complete: settle(job, {.word = "complete"}); break;
      case JobVerb::fail: settle(job, failure(act)); break;
      case JobVerb::release: settle(job, {.word = "release"}); break;
      case JobVerb::complete_many: settle_many(act, {.word = "complete"}); break;
      case JobVerb::release_many: settle_many(act, {.word = "release"}); break;
      case JobVerb::snooze: settle(job, snooze(act)); break;
      case JobVerb::hand_in: hand_in(job, act); break;
      case JobVerb::cancel: agree([&](auto& it) { return it.cancel(job); }); break;
      case JobVerb::retry: agree([&](auto& it) { return it.retry(job); }); break;
      case JobVerb::remove: agree([&](auto& it) { return it.remove(job); }); break;
      case JobVerb::show: break;
      case JobVerb::show_batch:
        agree([&](auto& it) { return it.show_batch(batch_name(batches_ - act.job)); });
        return true;
      default: return false;
    }
    agree([&](auto& it) { return it.show(job); });
    return true;
  }

  bool act_on_leases(const JobAct& act) {
    const auto holder = "holder" + std::to_string(act.holder);
    const int lease = chosen(act.job, model_.workers());
    switch (act.verb) {
      case JobVerb::claim:
        claim({.queue = queue_name(act.queue),
               .max = 1 + act.number,
               .ttl = act.choice == 0 ? 0 : ttl(act),
               .holder = holder,
               .request = name("request", act.choice < 4 ? act.key : 0)});
        return true;
      case JobVerb::attach:
        if (lease < 0) return true;
        claim({.queue = queue_name(act.queue), .max = 1 + act.number, .holder = worker_, .lease = lease});
        return true;
      case JobVerb::recover: agree([&](auto& it) { return it.recover(); }); return true;
      case JobVerb::open: {
        const auto queue = act.extra < 3 ? queue_name(act.queue) : std::string{};
        agree([&](auto& it) { return it.open(worker_, ttl(act), queue); });
        return true;
      }
      case JobVerb::extend:
        if (lease >= 0) agree([&](auto& it) { return it.extend(lease); });
        return true;
      case JobVerb::close:
        if (lease >= 0) agree([&](auto& it) { return it.close(lease); });
        return true;
      case JobVerb::advance:
        model_.advance(act.span);
        sqlite_.advance(act.span);
        postgres_.advance(act.span);
        return true;
      default: return false;
    }
  }

  bool act_on_queues(const JobAct& act) {
    const auto queue = queue_name(act.queue);
    switch (act.verb) {
      case JobVerb::redrive: agree([&](auto& it) { return it.redrive(queue); }); break;
      case JobVerb::purge: agree([&](auto& it) { return it.purge(queue); }); break;
      case JobVerb::limit: agree([&](auto& it) { return it.set(queue, settings(act)); }); break;
      case JobVerb::pause: agree([&](auto& it) { return it.pause(queue, act.choice < 2); }); break;
      default: break;
    }
    agree([&](auto& it) { return it.show_queue(queue); });
    return true;
  }

  void enqueue(const JobAct& act) {
    Request request{.queue = queue_name(act.queue),
                    .priority = act.number - 2,
                    .delay = act.choice < 2 ? std::max<Moment>(act.span, 0) : 0,
                    .dedupe_key = name("dedupe", act.choice == 2 || act.choice == 3 ? act.key : 0),
                    .group = name("limit", act.choice > 4 ? act.key : 0)};
    if (act.choice == 1 || act.choice == 4) request.after.push_back(chosen(act.job, model_.jobs()));
    if (act.choice == 4 && act.holder == 0) request.after.push_back(chosen(0, model_.jobs()));
    if (act.number == 3) request.timeout = act.choice % 2 == 0 ? 4'000'000 : 9'999'999;
    if (act.number == 0 && act.choice > 2) request.expires_in = std::max<Moment>(act.span, 0);
    request.payload = "p" + std::to_string(act.extra);
    add_extras(act, request);
    request.if_failed = act.key == 2 ? "run" : act.key == 3 ? "wait" : "cancel";
    // Queues that are short of jobs keep few promises.
    for (int i = 0; i <= act.holder; ++i) agree([&](auto& it) { return it.enqueue(request); });
  }

  void add_extras(const JobAct& act, Request& request) {
    if (act.extra == 1 || act.extra == 2) request.metadata = R"({"n":)" + std::to_string(act.number) + "}";
    // A job with a dedupe key ends no batch: what a refused enqueue does to a lapsed owner of the key is not specified.
    if (request.dedupe_key.empty()) {
      if (act.extra > 2 && act.extra < 7) request.batch = next_batch(act);
      if (act.extra == 6) request.on_batch_end = batch_name(act.job);
      if (act.extra > 6 && act.extra < 9) request.on_batch_end = batch_name(batches_);
      return;
    }
    if (act.extra == 0) request.batch = next_batch(act);
    if (act.extra == 9) request.expires_in = std::max<Moment>(act.span, 0);
    if (act.extra > 2 && act.extra < 6) request.dedupe_mode = DedupeMode::replace;
    if (act.extra > 5 && act.extra < 8) request.dedupe_mode = DedupeMode::debounce;
    if (act.extra % 2 == 0) request.delay = std::max<Moment>(act.span, 0);
    if (act.extra == 1 || act.extra > 7) request.dedupe_for = 1'000'000 * (1 + act.number);
  }

  /// In one call: PostgreSQL ties jobs without settings into bundles then, of three where tests are.
  void enqueue_many(const JobAct& act) {
    const Request request{.queue = queue_name(act.queue),
                          .priority = act.number - 2,
                          .delay = act.choice == 0 ? std::max<Moment>(act.span, 0) : 0,
                          .metadata = act.extra == 1 ? "{}" : "",
                          .batch = act.extra == 2 ? next_batch(act) : "",
                          .timeout = act.choice == 1 ? 5'000'000 : 0,
                          .expires_in = act.choice == 2 ? std::optional<Moment>(5'000'000) : std::nullopt};
    agree([&](auto& it) { return it.enqueue(request, 2 + act.holder + act.key); });
  }

  void claim(const Ask& ask) {
    // Of more than eight dead leases a claim takes some; which ones is not specified.
    if (model_.dead_leases(ask.queue) > 8) return;
    agree([&](auto& it) { return it.claim(ask); });
  }

  void settle(int job, const Verdict& verdict) {
    agree([&](auto& it) { return it.settle(job, act_.ago, verdict); });
  }

  void hand_in(int job, const JobAct& act) {
    const Ask ask{.queue = queue_name(act.queue),
                  .max = 1 + act.number,
                  .ttl = ttl(act),
                  .holder = "holder" + std::to_string(act.holder)};
    if (model_.dead_leases(ask.queue) > 8) return;
    const auto verdict = act.choice < 4   ? Verdict{.word = "complete"}
                         : act.choice < 6 ? failure(act)
                         : act.choice < 7 ? Verdict{.word = "release"}
                                          : snooze(act);
    agree([&](auto& it) { return it.hand_in(job, act.ago, verdict, ask); });
  }

  /// Of the first the token may be an old one, and often it is only in the company of others.
  void settle_many(const JobAct& act, const Verdict& verdict) {
    std::vector<Spoken> all;
    for (int i = 0; i <= act.number; ++i) {
      auto next = act;
      next.job += i;
      all.push_back({.job = job_for(next), .ago = i == 0 ? act.ago : 0});
    }
    agree([&](auto& it) { return it.settle(all, verdict); });
    for (const auto& one : all) agree([&](auto& it) { return it.show(one.job); });
  }

  static Verdict failure(const JobAct& act) {
    Verdict verdict{.word = "fail", .retryable = act.choice > 1};
    if (act.choice % 2 == 0) verdict.delay = std::max<Moment>(act.span, 0);
    return verdict;
  }

  static Verdict snooze(const JobAct& act) { return {.word = "snooze", .delay = std::max<Moment>(act.span, 0)}; }

  static QueueSettings settings(const JobAct& act) {
    QueueSettings settings;
    const int limit = std::min(act.number, 2);
    if (act.choice < 3) settings.max_running = limit;
    if (act.choice == 2 || act.choice == 3 || act.choice == 4) settings.max_per_group = limit;
    if (act.choice == 5 || act.choice == 6) {
      settings.max_running = 0;  // or the rate would seldom be what decides
      settings.rate_count = act.number;
      settings.rate_period = Duration(act.number == 0 ? 0 : 10'000'000);
    }
    if (act.choice == 7) settings.default_ttl = Duration(act.number * 1'000'000);
    return settings;
  }

  static Moment ttl(const JobAct& act) {
    return act.choice % 3 == 0 ? 1'000'000 : act.choice % 3 == 1 ? 5'000'000 : 10'000'000;
  }
  [[nodiscard]] std::string queue_name(int queue) const { return prefix_ + "/queue" + std::to_string(queue); }
  [[nodiscard]] std::string name(const std::string& of_what, int key) const {
    return key == 0 ? std::string{} : prefix_ + "/" + of_what + std::to_string(key);
  }
  [[nodiscard]] std::string batch_name(int batch) const { return prefix_ + "/batch" + std::to_string(batch); }
  /// Often a new one: the end of a batch with many jobs would come too rarely.
  std::string next_batch(const JobAct& act) {
    if (act.number < 2) ++batches_;
    return batch_name(batches_);
  }
  /// Mostly a job that was claimed lately, and sometimes another one.
  [[nodiscard]] int job_for(const JobAct& act) const {
    const auto& granted = model_.granted();
    const int place = act.key > 0 ? chosen(act.job, static_cast<int>(granted.size())) : nobody;
    return place == nobody ? chosen(act.job, model_.jobs()) : granted[static_cast<std::size_t>(place)];
  }
  /// The one that so many came after.
  static int chosen(int ago, int count) { return ago < 0 || ago >= count ? nobody : count - 1 - ago; }

  template <typename Question>
  void agree(Question&& question) {
    support::agree_at(act_, model_, sqlite_, postgres_, [&](auto& who) { return std::string(question(who)); });
  }

  JobSubject& sqlite_;
  JobSubject& postgres_;
  JobModel model_;
  std::string prefix_;
  /// All workers have one name: a lease is used by the worker that opened it.
  std::string worker_ = "worker";
  int batches_ = 0;
  JobAct act_{};  ///< the present one
};

TEST(JobModelTest, ModelSqliteAndPostgresAgreeOnEverySequence) {
  support::expect_agreement<JobSequence, JobSubject>(any_job_act());
}

}  // namespace
}  // namespace leasehold::model
