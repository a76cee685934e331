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
  [[nodiscard]] int dead_leases(const std::string& queue) const {
    std::set<int> dead;
    for (const auto& job : jobs_) {
      if (holds(job, queue) && !lease_of(job).live(now_)) dead.insert(job.lease);
    }
    return static_cast<int>(dead.size());
  }

  std::string enqueue(const Request& request) {
    if (const int owner = owner_of_key(request); owner != nobody && !lapse(at(owner))) {
      const bool updated = rewrite(at(owner), request);
      return "known " + job_name(owner) + (updated ? " updated " : " ") + at(owner).state(now_, leases_);
    }
    if (!std::all_of(request.after.begin(), request.after.end(), [&](int id) { return exists(id); })) {
      return "invalid_argument";
    }
    if (!request.on_batch_end.empty() && (request.on_batch_end == request.batch || has_end_job(request.on_batch_end))) {
      return "invalid_argument";
    }
    jobs_.push_back({.request = request, .created_at = now_, .due_at = now_ + request.delay});
    const int id = jobs() - 1;
    auto& job = at(id);
    if (!request.dedupe_key.empty()) {
      keys_[key_of(job)] = {.job = id, .until = after(request.dedupe_for)};
    }
    if (!request.batch.empty()) {
      ++batches_[request.batch].unfinished;
      batches_[request.batch].ended_at.reset();
    }
    if (!request.on_batch_end.empty()) batches_[request.on_batch_end].end_job = id;
    if (must_not_run(job)) {
      end_waiting(job);
    } else {
      job.expires_at = after(request.expires_in);
      wait_for_predecessors(job);
      put(job);
      lapse(job);
    }
    return "new " + job_name(id) + " " + job.state(now_, leases_);
  }

  /// Several equal jobs in one call: one after the other.
  std::string enqueue(const Request& request, int count) {
    std::string reported;
    for (int i = 0; i < count; ++i) reported += enqueue(request) + "; ";
    return reported;
  }

  std::string claim(const Ask& ask);
  std::string heartbeat(int id, int ago, Moment ttl, const std::string& stage, const std::string& cursor);
  std::string settle(int id, int ago, const Verdict& verdict);
  /// As if one had been called after the other.
  std::string hand_in(int id, int ago, const Verdict& verdict, const Ask& ask) {
    const auto settled = settle(id, ago, verdict);
    return settled + ", next " + claim(ask);
  }
  /// The same verdict on many in one call is as good as on one after the other.
  std::string settle(const std::vector<Spoken>& all, const Verdict& verdict) {
    std::string answers;
    for (const auto& one : all) answers += settle(one.job, one.ago, verdict) + "; ";
    return answers;
  }

  std::string cancel(int id) {
    if (!exists(id)) return "not_found";
    auto& job = at(id);
    lapse(job);
    if (job.place == Place::final) return job.state(now_, leases_);
    if (job.place == Place::granted) {
      job.unwanted = true;
      return "running";
    }
    end_waiting(job);
    return "cancelled";
  }

  std::string retry(int id) {
    if (!exists(id)) return "not_found";
    auto& job = at(id);
    lapse(job);
    if (job.ready_at(now_)) return "available";
    if (job.place == Place::granted) return "held";
    if (job.place == Place::blocked) return "invalid_argument";
    if (job.completed()) return "invalid_argument";
    if (job.dead() && must_not_run(job)) return "invalid_argument";
    if (const int owner = owner_of_key(job.request); job.dead() && owner != nobody) lapse(at(owner));
    if (job.dead() && key_is_taken(job)) return "invalid_argument";
    bring_back(job);
    return job.place == Place::blocked ? "blocked" : "available";
  }

  std::string remove(int id) {
    if (!exists(id)) return "not_found";
    if (at(id).place == Place::granted) return "held";
    lapse(at(id));
    const bool waited = at(id).waits();
    if (const auto key = keys_.find(key_of(at(id))); key != keys_.end() && key->second.job == id) keys_.erase(key);
    at(id).place = Place::deleted;
    at(id).after.clear();
    at(id).batch_open = false;
    let_down(id, true);
    if (waited) count_in_batch(at(id), "cancelled", 1);
    return "removed";
  }

  std::string redrive(const std::string& queue) {
    int count = 0;
    for (auto& job : jobs_) {
      if (job.request.queue != queue || job.place != Place::final) continue;
      if (job.state(now_, leases_) != "failed" || key_is_taken(job) || must_not_run(job)) continue;
      bring_back(job);
      ++count;
    }
    return std::to_string(count);
  }

  std::string purge(const std::string& queue) {
    std::vector<ModelJob*> waiting;
    for (auto& job : jobs_) {
      if (job.request.queue == queue && job.waits()) waiting.push_back(&job);
    }
    // All at once: none is cancelled because of another one.
    for (auto* job : waiting) {
      job->after.clear();
      job->batch_open = false;
    }
    for (auto* job : waiting) end_waiting(*job);
    return std::to_string(waiting.size());
  }

  std::string recover() {
    Taken taken;
    for (int id = 0; id < static_cast<int>(leases_.size()); ++id) {
      if (!leases_[index(id)].ended() && !leases_[index(id)].live(now_)) take_over(id, taken);
    }
    pass_deadlines(std::nullopt, taken);
    return say_recovered(taken.jobs, taken.failed);
  }

  std::string open(const std::string& holder, Moment ttl, const std::string& queue) {
    leases_.push_back({.holder = holder, .of_worker = true, .listens_to = queue, .ttl = ttl, .expires_at = now_ + ttl});
    workers_.push_back(static_cast<int>(leases_.size()) - 1);
    return "open until " + away(now_ + ttl, now_);
  }

  std::string extend(int worker) {
    auto& lease = leases_[index(workers_[index(worker)])];
    if (!lease.live(now_)) return "lost " + lease.loss();
    std::set<std::string> queues;
    for (const int id : held_by(workers_[index(worker)])) queues.insert(at(id).request.queue);
    Taken taken;
    for (const auto& queue : queues) pass_deadlines(queue, taken);
    lease.expires_at = now_ + lease.ttl;
    std::vector<int> unwanted;
    for (const int id : held_by(workers_[index(worker)])) {
      if (at(id).unwanted) unwanted.push_back(id);
    }
    return "extended until " + away(lease.expires_at, now_) + " unwanted " + names(unwanted);
  }

  std::string close(int worker) {
    auto& lease = leases_[index(workers_[index(worker)])];
    if (lease.ended() && lease.end_reason != "closed") return "lost " + lease.loss();
    lease.end_reason = "closed";
    for (const int id : held_by(workers_[index(worker)])) give_back(at(id), "returned", at(id).solo);
    return "closed";
  }

  std::string set(const std::string& queue, const QueueSettings& settings);
  std::string pause(const std::string& queue, bool paused) {
    // Nothing that was never stopped has to be remembered as going on.
    if (paused || queues_.contains(queue)) queues_[queue].paused = paused;
    const auto seen = show_queue(queue);
    return seen == "not_found" ? say(SeenQueue{}, now_) : seen;
  }

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

  /// Who has this key: a job that has not ended, or one whose period is not over.
  [[nodiscard]] int owner_of_key(const Request& request) const {
    const auto found = request.dedupe_key.empty() ? keys_.end() : keys_.find(key_of(request));
    if (found == keys_.end()) return nobody;
    const auto& [job, until] = found->second;
    return at(job).place != Place::final || until.value_or(now_) > now_ ? job : nobody;
  }

  [[nodiscard]] bool key_is_taken(const ModelJob& job) const {
    const int owner = owner_of_key(job.request);
    return owner != nobody && owner != id_of(job);
  }

  /// What an enqueue does to the job that has its key; false: nothing.
  bool rewrite(ModelJob& job, const Request& by) {
    if (by.dedupe_mode == DedupeMode::keep || !job.waits()) return false;
    job.due_at = now_ + by.delay;
    if (by.dedupe_mode == DedupeMode::replace) {
      job.request.payload = by.payload;
      job.request.metadata = by.metadata;
      job.request.priority = by.priority;
      job.request.timeout = by.timeout;
      job.expires_at = after(by.expires_in);
    }
    put(job);
    lapse(job);
    return true;
  }

  [[nodiscard]] bool has_end_job(const std::string& batch) const {
    const auto found = batches_.find(batch);
    return found != batches_.end() && exists(found->second.end_job) && at(found->second.end_job).place != Place::final;
  }

  /// So many jobs of the batch of this one ended like this; a negative number: they go on.
  void count_in_batch(const ModelJob& job, const std::string& outcome, int count) {
    if (job.request.batch.empty()) return;
    auto& batch = batches_[job.request.batch];
    batch.unfinished -= count;
    batch.ended[outcome == "expired" ? "failed" : outcome] += count;
    batch.ended_at = batch.unfinished == 0 ? std::optional(now_) : std::nullopt;
    if (batch.unfinished > 0 || !exists(batch.end_job) || !at(batch.end_job).batch_open) return;
    auto& last = at(batch.end_job);
    last.batch_open = false;
    if (last.after.empty()) put(last);
  }

  [[nodiscard]] std::vector<int> held_by(int lease) const {
    std::vector<int> held;
    for (int id = 0; id < jobs(); ++id) {
      if (at(id).place == Place::granted && at(id).lease == lease) held.push_back(id);
    }
    return held;
  }

  /// Where a job waits.
  void put(ModelJob& job) const {
    job.place = !job.after.empty() || job.batch_open ? Place::blocked
                : job.due_at > now_                  ? Place::deferred
                                                     : Place::ready;
  }

  void note(ModelJob& job, const std::string& outcome, bool final, int lease, Moment token) {
    job.log.push_back({.token = token, .outcome = outcome, .final = final, .lease = lease, .at = now_});
    job.token = token;
    if (!final) return;
    job.place = Place::final;
    job.unwanted = false;
    job.stage.clear();
    if (outcome == "completed") job.cursor.clear();
    const int id = id_of(job);
    if (const auto key = keys_.find(key_of(job)); key != keys_.end() && key->second.job == id) {
      if (key->second.until.value_or(now_) <= now_) keys_.erase(key);
    }
    if (outcome != "completed") let_down(id, false);
    count_in_batch(job, outcome, 1);
  }

  void end_waiting(ModelJob& job, const std::string& outcome = "cancelled") {
    job.after.clear();
    job.batch_open = false;
    note(job, outcome, true, -1, std::max(now_, job.token + 1));
  }

  /// Records that a job was not started in time; false: it was not, or that is no matter.
  bool lapse(ModelJob& job) {
    if (!job.lapsed(now_)) return false;
    end_waiting(job, "lapsed");
    return true;
  }

  /// The attempt took longer than its limit, while its lease lived.
  [[nodiscard]] bool overdue(const ModelJob& job) const {
    return job.place == Place::granted && job.limit && *job.limit <= now_ && *job.limit <= lease_of(job).expires_at;
  }

  /// Ends an overdue attempt as its holder would have failed it.
  void time_out(ModelJob& job, Taken& taken) {
    const auto token = job.tokens.back();
    const bool unwanted = job.unwanted;
    apply(static_cast<int>(&job - jobs_.data()), {.word = "fail"});
    for (auto& entry : job.log) entry.timed_out |= entry.token == token;
    auto& lease = leases_[index(job.lease)];
    if (lease.end_reason == "completed") lease.end_reason = "expired";
    if (!unwanted) ++(job.dead() ? taken.failed : taken.jobs);
  }

  /// Also of attempts whose holder died before their limit.
  [[nodiscard]] bool deadline_passed() const {
    return std::any_of(jobs_.begin(), jobs_.end(), [&](const ModelJob& job) {
      return job.lapsed(now_) || (job.place == Place::granted && job.limit && *job.limit <= now_);
    });
  }

  /// The due expiries and time limits of a queue, or of all, in the order of their moments.
  void pass_deadlines(const std::optional<std::string>& queue, Taken& taken) {
    std::vector<std::pair<Moment, int>> passed;
    for (int id = 0; id < jobs(); ++id) {
      const auto& job = at(id);
      if (queue && job.request.queue != *queue) continue;
      if (job.lapsed(now_)) passed.emplace_back(*job.expires_at, id);
      if (overdue(job)) passed.emplace_back(*job.limit, id);
    }
    std::sort(passed.begin(), passed.end());
    for (const auto& [when, id] : passed) {
      lapse(at(id));
      if (overdue(at(id))) time_out(at(id), taken);
    }
  }

  /// Those that it runs after and that exist.
  [[nodiscard]] std::set<int> predecessors(const ModelJob& job) const {
    std::set<int> all;
    for (const int id : job.request.after) {
      if (exists(id)) all.insert(id);
    }
    return all;
  }

  /// One of them is dead, and it is to be cancelled then.
  [[nodiscard]] bool must_not_run(const ModelJob& job) const {
    const auto all = predecessors(job);
    return job.request.if_failed == "cancel" &&
           std::any_of(all.begin(), all.end(), [&](int id) { return at(id).dead(); });
  }

  void wait_for_predecessors(ModelJob& job) const {
    for (const int id : predecessors(job)) {
      if (at(id).completed() || (at(id).dead() && job.request.if_failed == "run")) continue;
      job.after.insert(id);
    }
    const auto batch = batches_.find(job.request.on_batch_end);
    job.batch_open = batch != batches_.end() && batch->second.end_job == id_of(job) && !batch->second.ended_at;
  }

  /// A job has ended without completing, or is gone: its dependents follow their rule.
  void let_down(int id, bool removed) {
    for (auto& job : jobs_) {
      if (!job.after.contains(id)) continue;
      if (job.request.if_failed == "run") {
        job.after.erase(id);
        if (job.after.empty() && !job.batch_open) put(job);
      } else if (job.request.if_failed == "cancel" || removed) {
        end_waiting(job);
      }
    }
  }

  /// A retry: fresh budgets, at once.
  void bring_back(ModelJob& job) {
    if (job.place == Place::final) {
      count_in_batch(job, job.last_word()->outcome, -1);
      if (!job.request.dedupe_key.empty() && owner_of_key(job.request) == nobody) {
        keys_[key_of(job)] = {.job = id_of(job)};
      }
      for (auto& entry : job.log) entry.final = false;
      if (job.expires_at && *job.expires_at <= now_) job.expires_at.reset();
      note(job, "retried", false, -1, std::max(now_, job.token + 1));
      wait_for_predecessors(job);
    }
    job.solo = false;
    job.due_at = now_;
    put(job);
  }

  void unblock(int done) {
    for (auto& job : jobs_) {
      if (job.after.erase(done) > 0 && job.after.empty() && !job.batch_open) put(job);
    }
  }

  /// The holder lets go of a job that it has not finished.
  void give_back(ModelJob& job, const std::string& outcome, bool solo) {
    const bool unwanted = job.unwanted;
    note(job, unwanted ? "cancelled" : outcome, unwanted, job.lease, job.tokens.back());
    if (unwanted) return;
    job.solo = solo;
    job.due_at = now_;
    put(job);
  }

  void take_over(int lease, Taken& taken) {
    leases_[index(lease)].end_reason = "expired";
    const auto held = held_by(lease);
    for (const int id : held) {
      auto& job = at(id);
      if (overdue(job) && !job.unwanted) {
        time_out(job, taken);
        continue;
      }
      const bool last_crash = held.size() == 1 && !job.unwanted && job.count("expired") + 1 >= job.request.max_crashes;
      if (last_crash) {
        note(job, "expired", true, lease, job.tokens.back());
        ++taken.failed;
        continue;
      }
      give_back(job, held.size() == 1 ? "expired" : "returned", held.size() > 1 || job.solo);
      if (job.place != Place::final) ++taken.jobs;
    }
  }

  Terms terms_of(const Ask& ask) const;
  std::string replay(const Ask& ask, int lease) const;
  std::vector<int> choose(const Ask& ask, int room) const;
  std::vector<int> in_turn(const std::string& queue) const;
  void remember_turn(const std::string& queue, const std::vector<int>& chosen);
  std::string nothing(const Ask& ask) const;
  std::string grant(const Ask& ask, const std::vector<int>& chosen);
  [[nodiscard]] std::string wait_of(int id) const;
  [[nodiscard]] std::string available_wait(const ModelJob& job) const;
  [[nodiscard]] std::string blocked_wait(const ModelJob& job) const;
  [[nodiscard]] bool is_worked(const std::string& queue) const;
  /// When the lease of a leased job or its time limit ends.
  [[nodiscard]] Moment runs_until(const ModelJob& job) const {
    return std::min(lease_of(job).expires_at, job.limit.value_or(lease_of(job).expires_at));
  }
  /// The jobs of a queue, or of one of its groups, that run; the one that ends first in front.
  [[nodiscard]] std::vector<int> runners(const std::string& queue, const std::string* group = nullptr) const;
  [[nodiscard]] std::string at_capacity(const std::string& queue, bool of_full_keys) const;
  [[nodiscard]] int running(const std::string& queue, const std::string* key = nullptr) const {
    return static_cast<int>(std::count_if(jobs_.begin(), jobs_.end(), [&](const ModelJob& job) {
      return holds(job, queue) && (key == nullptr || job.request.group == *key);
    }));
  }
  [[nodiscard]] bool key_is_full(const ModelJob& job) const {
    const auto found = queues_.find(job.request.queue);
    return found != queues_.end() && found->second.max_per_group > 0 && !job.request.group.empty() &&
           running(job.request.queue, &job.request.group) >= found->second.max_per_group;
  }
  [[nodiscard]] Moment token_of(const ModelJob& job, int ago) const {
    const auto back = index(ago) + 1;
    return ago < 0 || job.tokens.size() < back ? 12345 : job.tokens[job.tokens.size() - back];
  }
  [[nodiscard]] bool taken_over(const Entry& own) const;
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
#include "model/job_model_look.h"
#include "model/job_model_settle.h"
#include "model/job_model_wait.h"
