// A real store, asked about schedules in the model's words.
#pragma once

#include "model/schedule_model.h"
#include "support/schedule_helpers.h"

namespace leasehold::schedule_model {

class ScheduleSubject {
 public:
  explicit ScheduleSubject(support::StoreKind kind) : test_store_(kind), store_(test_store_.open()) {}

  void advance(Moment by) { test_store_.advance(Duration(by)); }
  [[nodiscard]] Moment now() const { return micros(test_store_.now()); }

  /// Takes away what is left of an earlier sequence.
  void start_afresh() {
    advance(30LL * 86'400'000'000);
    support::must(store_.recover());
    for (const auto& each : support::must(schedules().list())) support::must(schedules().remove(each.name));
    tokens_.clear();
  }

  std::string set(const std::string& name, const Definition& definition, std::optional<Moment> next) {
    const auto saved = schedules().set(name, options(definition, next));
    if (!saved) return word(saved.error());
    const auto* what = saved->created ? "created" : saved->changed ? "changed" : "same";
    return say_next(what, micros(saved->next_run_at), now());
  }
  std::string ensure(const std::string& name, const Definition& definition, std::optional<Moment> next) {
    auto wanted = definition;
    wanted.queue = false;
    const auto ensured = schedules().ensure(name, options(wanted, next));
    if (!ensured) return word(ensured.error());
    const auto* what = ensured->created ? "created" : ensured->differs ? "differs" : "there";
    return say_next(what, micros(ensured->next_run_at), now());
  }
  std::string acquire(const std::string& name, const AcquireAsk& ask) {
    ScheduleAcquireOptions request{.now = ask.at_once};
    request.request_id = ask.request;
    const auto run = schedules().acquire(name, request, support::by(ask.holder));
    if (!run) return refusal(run.error());
    if (!run->grant.replayed) tokens_[name].push_back(run->grant.token);
    return say(Granted{.occurrence = micros(run->occurrence),
                       .cause = run->cause,
                       .skipped = run->skipped,
                       .token = run->grant.token.value,
                       .expires_at = micros(run->grant.expires_at),
                       .lost = micros(run->lost),
                       .lost_holder = support::name_of(run->lost_holder),
                       .replayed = run->grant.replayed},
               now());
  }
  std::string heartbeat(const std::string& name, int ago) {
    const auto kept = schedules().heartbeat(name, given(name, ago));
    return kept ? "extended until " + away(micros(kept->expires_at), now()) : refusal(kept.error());
  }
  std::string settle(const std::string& name, int ago, bool ok, std::optional<Moment> next) {
    const auto done = schedules().settle(name, given(name, ago), {.ok = ok, .next_run_at = moment(next)});
    if (!done) return refusal(done.error());
    return say_next(done->replayed ? "finished again" : "finished", micros(done->next_run_at), now());
  }
  std::string release(const std::string& name, int ago) {
    return reported(schedules().release(name, given(name, ago)), "released");
  }

  std::string trigger(const std::string& name) {
    const auto triggered = schedules().trigger(name);
    if (!triggered) return refusal(triggered.error());
    return say("triggered", runner(*triggered), now());
  }
  std::string pause(const std::string& name, const std::string& reason) {
    return reported(schedules().pause(name, reason), "paused");
  }
  std::string resume(const std::string& name) {
    const auto next = schedules().resume(name);
    return next ? say_next("resumed", micros(*next), now()) : refusal(next.error());
  }
  std::string rename(const std::string& name, const std::string& to) {
    const auto renamed = schedules().rename(name, to);
    if (!renamed) return word(renamed.error());
    if (name != to) tokens_[to] = std::exchange(tokens_[name], {});
    return "renamed";
  }
  std::string remove(const std::string& name) { return reported(schedules().remove(name), "removed"); }
  std::string fire(const std::string& name) {
    const auto fired = schedules().fire(name);
    if (!fired) return refusal(fired.error());
    return "enqueued " + away(micros(fired->occurrence), now()) + " " + fired->cause + " skipped " +
           std::to_string(fired->skipped);
  }
  std::string recover() { return "recovered " + std::to_string(support::must(store_.recover()).runs); }

  std::string show(const std::string& name) {
    const auto info = schedules().show(name);
    if (!info) return word(info.error());
    return say(SeenSchedule{.state = to_string(info->state),
                            .next_run_at = micros(info->next_run_at),
                            .next_cause = info->next_cause,
                            .next_occurrence = micros(info->next_occurrence),
                            .paused_at = micros(info->paused_at),
                            .pause_reason = info->pause_reason,
                            .runner = runner(info->held_by),
                            .last = info->last ? say(seen(*info->last), now()) : ""},
               now());
  }
  std::string history(const std::string& name) {
    const auto runs = schedules().history(name, {.max = 1000});
    if (!runs) return word(runs.error());
    std::string text;
    for (const auto& run : *runs) text += say(seen(run), now()) + "; ";
    return text;
  }
  std::string due() {
    const auto found = support::must(schedules().due());
    SeenDue reported_of;
    for (const auto& each : found.due) reported_of.due.emplace_back(micros(each.due_at), each.name);
    if (found.next_in) reported_of.next = now() + found.next_in->count();
    return say(reported_of, now());
  }

 private:
  [[nodiscard]] Schedules schedules() const { return store_.schedules(); }
  static Moment micros(Timestamp when) { return when.time_since_epoch().count(); }
  static std::optional<Moment> micros(std::optional<Timestamp> when) {
    return when ? std::optional(micros(*when)) : std::nullopt;
  }
  Token given(const std::string& name, int ago) {
    const auto& tokens = tokens_[name];
    const auto back = static_cast<std::size_t>(ago) + 1;
    return ago < 0 || tokens.size() < back ? Token{12345} : tokens[tokens.size() - back];
  }

  static std::optional<Timestamp> moment(std::optional<Moment> when) {
    return when ? std::optional(Timestamp(Duration(*when))) : std::nullopt;
  }

  static ScheduleOptions options(const Definition& definition, std::optional<Moment> next) {
    const auto minutes = std::to_string(definition.period / 60'000'000);
    ScheduleOptions options{.rule = every(Duration(definition.period)), .ttl = Duration(definition.ttl)};
    if (definition.cron)
      options.rule = CronRule{.expression = minutes == "60" ? "0 * * * *" : "*/" + minutes + " * * * *"};
    if (definition.on_fail) options.on_fail = Between{Duration(*definition.on_fail), Duration(*definition.on_fail)};
    options.misfire = definition.misfire == "skip"  ? Misfire::skip
                      : definition.misfire == "all" ? Misfire::all
                                                    : Misfire::once;
    options.misfire_after = Duration(definition.misfire_after);
    if (definition.queue) options.queue = "work";
    options.next_run_at = moment(next);
    return options;
  }

  static std::optional<Runner> runner(const std::optional<LeaseInfo>& lease) {
    if (!lease) return std::nullopt;
    return Runner{.holder = lease->holder.name, .token = lease->token.value, .expires_at = micros(lease->expires_at)};
  }
  static std::string word(const Error& error) {
    std::string text = to_string(error.code);
    if (error.lost_reason) text += std::string(" ") + to_string(*error.lost_reason);
    return text;
  }
  [[nodiscard]] std::string refusal(const Error& error) const {
    if (error.code == Errc::not_due) return say_next("not_due", micros(error.retry_at.value()), now());
    return say(word(error), runner(error.held_by), now());
  }
  [[nodiscard]] std::string reported(const Result<void>& result, const std::string& what) const {
    return result ? what : refusal(result.error());
  }
  static SeenRun seen(const RunInfo& run) {
    return {.occurrence = micros(run.occurrence),
            .cause = run.cause,
            .outcome = to_string(run.outcome),
            .token = run.token.value,
            .holder = support::name_of(run.holder),
            .started_at = micros(run.started_at),
            .finished_at = micros(run.finished_at),
            .reason = run.reason,
            .through = micros(run.through),
            .missed = run.missed};
  }

  support::TestStore test_store_;
  Store store_;
  std::map<std::string, std::vector<Token>> tokens_;
};

}  // namespace leasehold::schedule_model
