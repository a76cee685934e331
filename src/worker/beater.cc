#include "worker/beater.h"

#include <utility>

namespace leasehold::worker {
namespace {

constexpr Duration between_reports = std::chrono::seconds(1);

}  // namespace

Beater::Beater(WorkSource& source, Workbench& bench, const Tell& tell)
    : source_(source),
      bench_(bench),
      tell_(tell),
      keeper_({.beats_per_ttl = 3,
               .on_beat = [this](const Result<Beat>& beat) { after_beat(beat); },
               .chore = [this] { send_progress(); }}) {}

void Beater::after_beat(const Result<Beat>& beat) {
  if (beat) {
    bench_.cancel(beat->cancelled);
  } else {
    tell_(beat.error());
  }
}

void Beater::send_progress() {
  // Somebody asked for it while the last reports were being sent.
  if (BootClock::now() < progress_not_before_.load()) return progress_came();
  progress_not_before_ = BootClock::now() + between_reports;
  for (const auto& attempt : bench_.running()) {
    // Leases come first, and the rest of the reports would only wait for the same store.
    if (!send_report(*attempt)) return progress_came();
  }
}

/// False: the store could not be asked.
bool Beater::send_report(Attempt& attempt) {
  auto report = attempt.take_report();
  if (!report || attempt.has_verdict() || attempt.lease->lost()) return true;
  const auto heartbeat = source_.heartbeat(attempt.job.id, attempt.job.token, report->view());
  if (heartbeat) {
    attempt.lease->trust(heartbeat->trusted_until);
    if (heartbeat->cancel_requested) attempt.stop(StopReason::cancelled);
    return true;
  }
  // Lost: finished in the meantime, or the beat of its lease tells.
  if (heartbeat.error().code == Errc::lost) return true;
  tell_(heartbeat.error());
  if (!passes(heartbeat.error().code)) return true;
  attempt.put_back(std::move(*report));
  return false;
}

}  // namespace leasehold::worker
