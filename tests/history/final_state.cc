#include "history/final_state.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "history/load.h"

namespace leasehold::history {
namespace {

using ActName = std::pair<int, std::int64_t>;

Act read_of(const Act& known) {
  return {.process = -1, .start = boot_nanoseconds(), .feature = known.feature, .verb = "read", .key = known.key};
}

Act finished(Act act, const Error* error) {
  act.end = boot_nanoseconds();
  act.word = error == nullptr ? "ok" : std::string(word(*error));
  act.answer = error == nullptr ? Answer::ok : Answer::refused;
  if (error != nullptr && error->code != Errc::not_found) throw std::runtime_error(error->message);
  return act;
}

template <typename T>
Act read(const Act& known, const Result<T>& seen, Act::Reported (*tell)(const T&)) {
  auto act = read_of(known);
  if (seen) act.reported = tell(*seen);
  return finished(std::move(act), seen ? nullptr : &seen.error());
}

Act::Reported tell_lock(const LockInfo& seen) {
  return {.token = seen.token.value, .state = to_string(seen.state), .at = micros(seen.store_now)};
}

Act::Reported tell_item(const ClaimInfo& seen) {
  return {.token = seen.token.value, .session = seen.session, .state = seen.active ? "claimed" : "free"};
}

Act::Reported tell_job(const JobInfo& seen) { return {.state = to_string(seen.state)}; }

Act::Reported tell_chunk(const ChunkInfo& seen) {
  return {.cursor = seen.cursor.value_or(""), .state = to_string(seen.state)};
}

Act read_thing(const Store& store, const Act& known) {
  if (known.feature == "lock") return read(known, store.locks().show(known.key), tell_lock);
  if (known.feature == "item") return read(known, store.claims().show(known.key), tell_item);
  if (known.feature == "job") return read(known, store.jobs().show(known.job_id), tell_job);
  const auto slash = known.key.rfind('/');
  return read(known, store.chunks().show(known.key.substr(0, slash), known.key.substr(slash + 1)), tell_chunk);
}

/// Every key that appears in an answer, once. For a job, an act that contains its id.
std::map<std::string, Act> things(const History& history) {
  std::map<std::string, Act> found;
  for (const auto& act : history.acts) {
    if (act.feature == "session" || act.feature == "set" || act.answer == Answer::may_have) continue;
    if (act.feature == "job" && act.job_id == 0) continue;
    found.emplace(act.object(), act);
  }
  return found;
}

}  // namespace

void add_final_reads(History& history, const std::string& store_url) {
  const auto store = Store::open(store_url);
  if (!store) throw std::runtime_error(store.error().message);
  for (const auto& [ignored, known] : things(history)) history.acts.push_back(read_thing(*store, known));
}

std::vector<LedgerRow> final_ledger(const History& history, const std::string& store_url) {
  auto ledger = open_ledger(store_url, std::chrono::seconds(30));
  if (!ledger) throw std::runtime_error(ledger.error().message);
  auto rows = (*ledger)->rows(history.run + "/");
  if (!rows) throw std::runtime_error(rows.error().message);
  return std::move(*rows);
}

void settle_doubts(History& history, const std::vector<LedgerRow>& ledger) {
  std::map<ActName, std::int64_t> written;
  for (const auto& row : ledger) written[{row.process, row.act}] = row.n;
  const auto now = boot_nanoseconds();
  std::erase_if(history.acts, [&](Act& act) {
    if (act.verb != "write" || act.answer != Answer::may_have) return false;
    const auto row = written.find({act.process, act.number});
    if (row == written.end()) return true;
    act.answer = Answer::ok;
    act.end = now;
    act.reported.n = row->second;
    return false;
  });
}

std::vector<std::string> judge_ledger(const History& history, const std::vector<LedgerRow>& ledger, bool forgetful) {
  std::vector<std::string> faults;
  std::map<ActName, const LedgerRow*> written;
  const LedgerRow* before = nullptr;
  for (const auto& row : ledger) {
    written[{row.process, row.act}] = &row;
    if (before != nullptr && before->key == row.key && row.token < before->token) {
      faults.push_back("ledger " + row.key + ": write " + std::to_string(row.n) + " has token " +
                       std::to_string(row.token) + ", less than that of the write before");
    }
    before = &row;
  }
  std::set<ActName> known;
  for (const auto& act : history.acts) {
    if (act.verb != "write" || act.answer == Answer::refused) continue;
    const ActName name{act.process, act.number};
    known.insert(name);
    if (act.answer == Answer::ok && !forgetful && !written.contains(name)) {
      faults.push_back("ledger " + act.key + ": acknowledged write " + std::to_string(act.reported.n) + " is missing");
    }
  }
  for (const auto& [name, row] : written) {
    if (!known.contains(name)) {
      faults.push_back("ledger " + row->key + ": write " + std::to_string(row->n) +
                       " was refused, or it was never requested");
    }
  }
  return faults;
}

}  // namespace leasehold::history
