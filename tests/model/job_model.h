// What the job queue promises, in C++: no database, no concurrency, time is a number.
#pragma once

#include "model/job_model_state.h"

namespace leasehold::model {

class JobModel {
 public:
  explicit JobModel(Moment now) : now_(now) {}

  void advance(Moment by) { now_ += by; }
  [[nodiscard]] int jobs() const { return static_cast<int>(jobs_.size()); }
  /// The jobs of all grants so far, the latest last.
  [[nodiscard]] const std::vector<int>& granted() const { return granted_; }
  [[nodiscard]] int workers() const { return static_cast<int>(workers_.size()); }
  /// Leases that a claim on this queue would take over.
  [[nodiscard]] int dead_leases(const std::string& queue) const;

  std::string enqueue(const Request& request);
  /// Several equal jobs in one call: one after the other.
  std::string enqueue(const Request& request, int count);
  std::string claim(const Ask& ask);
  std::string heartbeat(int id, int ago, Moment ttl, const std::string& stage, const std::string& cursor);
  std::string settle(int id, int ago, const Verdict& verdict);
  /// The same verdict on many in one call is as good as on one after the other.
  std::string settle(const std::vector<Spoken>& all, const Verdict& verdict);
  /// As if one had been called after the other.
  std::string hand_in(int id, int ago, const Verdict& verdict, const Ask& ask);

  std::string cancel(int id);
  std::string retry(int id);
  std::string remove(int id);
  std::string redrive(const std::string& queue);
  std::string purge(const std::string& queue);
  std::string set(const std::string& queue, const QueueSettings& settings);
  std::string pause(const std::string& queue, bool paused);

  std::string recover();
  std::string open(const std::string& holder, Moment ttl, const std::string& queue);
  std::string extend(int worker);
  std::string close(int worker);

  [[nodiscard]] std::string show(int id) const;
  [[nodiscard]] std::string show_queue(const std::string& queue) const;
  [[nodiscard]] std::string show_batch(const std::string& batch) const;

 private:
  struct Taken {
    int jobs = 0;
    int failed = 0;
  };
  /// The room that a queue's limits leave for a claim, or the refusal.
  struct Terms {
    int room = 0;
    Moment rate_tat = 0;
    Moment rate_step = 0;
    std::string refusal{};
  };

  static std::size_t index(int number) { return static_cast<std::size_t>(number); }
  ModelJob& at(int id) { return jobs_[index(id)]; }
  [[nodiscard]] const ModelJob& at(int id) const { return jobs_[index(id)]; }
  [[nodiscard]] bool exists(int id) const { return id >= 0 && id < jobs() && at(id).place != Place::deleted; }
  [[nodiscard]] const ModelLease& lease_of(const ModelJob& job) const { return leases_[index(job.lease)]; }
  [[nodiscard]] static bool holds(const ModelJob& job, const std::string& queue) {
    return job.place == Place::granted && job.request.queue == queue;
  }
  using Key = std::pair<std::string, std::string>;
  static Key key_of(const Request& request) { return {request.queue, request.dedupe_key}; }
  static Key key_of(const ModelJob& job) { return key_of(job.request); }
  [[nodiscard]] int id_of(const ModelJob& job) const { return static_cast<int>(&job - jobs_.data()); }
  [[nodiscard]] std::optional<Moment> after(std::optional<Moment> span) const {
    return span ? std::optional(now_ + *span) : std::nullopt;
  }

  /// When the lease of a leased job or its time limit ends.
  [[nodiscard]] Moment runs_until(const ModelJob& job) const {
    return std::min(lease_of(job).expires_at, job.limit.value_or(lease_of(job).expires_at));
  }

  // Enqueue.
  /// Who has this key: a job that has not ended, or one whose period is not over.
  [[nodiscard]] int owner_of_key(const Request& request) const;
  [[nodiscard]] bool key_is_taken(const ModelJob& job) const;
  /// What an enqueue does to the job that has its key; false: nothing.
  bool rewrite(ModelJob& job, const Request& by);
  [[nodiscard]] bool has_end_job(const std::string& batch) const;
  /// Those that it runs after and that exist.
  [[nodiscard]] std::set<int> predecessors(const ModelJob& job) const;
  /// One of them is dead, and it is to be cancelled then.
  [[nodiscard]] bool must_not_run(const ModelJob& job) const;
  void wait_for_predecessors(ModelJob& job) const;
  /// Where a job waits.
  void put(ModelJob& job) const;

  // Operators.
  /// A retry: fresh budgets, at once.
  void bring_back(ModelJob& job);

  // The end of a job.
  void note(ModelJob& job, const std::string& outcome, bool final, int lease, Moment token);
  void end_waiting(ModelJob& job, const std::string& outcome = "cancelled");
  /// Records that a job was not started in time; false: it was not, or that is no matter.
  bool lapse(ModelJob& job);
  /// The attempt took longer than its limit, while its lease lived.
  [[nodiscard]] bool overdue(const ModelJob& job) const;
  /// Ends an overdue attempt as its holder would have failed it.
  void time_out(ModelJob& job, Taken& taken);
  /// Also of attempts whose holder died before their limit.
  [[nodiscard]] bool deadline_passed() const;
  /// The due expiries and time limits of a queue, or of all, in the order of their moments.
  void pass_deadlines(const std::optional<std::string>& queue, Taken& taken);
  void unblock(int done);
  /// A job has ended without completing, or is gone: its dependents follow their rule.
  void let_down(int id, bool removed);
  /// So many jobs of the batch of this one ended like this; a negative number: they go on.
  void count_in_batch(const ModelJob& job, const std::string& outcome, int count);

  // Leases.
  [[nodiscard]] std::vector<int> held_by(int lease) const;
  void take_over(int lease, Taken& taken);
  /// The holder lets go of a job that it has not finished.
  void give_back(ModelJob& job, const std::string& outcome, bool solo);

  // Claim.
  Terms terms_of(const Ask& ask) const;
  std::string replay(const Ask& ask, int lease) const;
  std::vector<int> choose(const Ask& ask, int room) const;
  std::vector<int> in_turn(const std::string& queue) const;
  void remember_turn(const std::string& queue, const std::vector<int>& chosen);
  std::string nothing(const Ask& ask) const;
  std::string grant(const Ask& ask, const std::vector<int>& chosen);
  [[nodiscard]] std::string at_capacity(const std::string& queue, bool of_full_keys) const;
  [[nodiscard]] int running(const std::string& queue, const std::string* key = nullptr) const;
  [[nodiscard]] bool key_is_full(const ModelJob& job) const;

  // Why a job does not run.
  [[nodiscard]] std::string wait_of(int id) const;
  [[nodiscard]] std::string available_wait(const ModelJob& job) const;
  [[nodiscard]] std::string blocked_wait(const ModelJob& job) const;
  [[nodiscard]] bool is_worked(const std::string& queue) const;
  /// The jobs of a queue, or of one of its groups, that run; the one that ends first in front.
  [[nodiscard]] std::vector<int> runners(const std::string& queue, const std::string* group = nullptr) const;

  // Heartbeats and verdicts.
  [[nodiscard]] Moment token_of(const ModelJob& job, int ago) const;
  /// Another caller ended the attempt after its lease had expired.
  [[nodiscard]] bool taken_over(const Entry& own) const;
  /// Why this token is not current, and the last holder of the job.
  [[nodiscard]] std::string lost(const ModelJob& job, Moment token) const;
  std::string apply(int id, const Verdict& verdict);

  Moment now_;
  std::vector<ModelJob> jobs_;
  std::vector<ModelLease> leases_;
  std::vector<int> granted_;
  std::vector<int> workers_;  ///< those of leases_ that workers have opened
  std::map<std::string, ModelQueue> queues_;
  std::map<Key, ModelKey> keys_;
  std::map<std::string, ModelBatch> batches_;
  std::map<std::string, Moment> asked_;       ///< when a claim asked for a queue, as far as it was recorded
  std::map<std::string, std::string> turns_;  ///< the group of each queue that was served last
};

}  // namespace leasehold::model

#include "model/job_model_claim.h"
#include "model/job_model_end.h"
#include "model/job_model_enqueue.h"
#include "model/job_model_lease.h"
#include "model/job_model_look.h"
#include "model/job_model_operate.h"
#include "model/job_model_settle.h"
#include "model/job_model_wait.h"
