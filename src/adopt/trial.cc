// Tries the promises on one of the user's own rows, in a transaction that it rolls back.
#include <fmt/format.h>

#include <chrono>

#include "adopt/adoption.h"
#include "adopt/database.h"
#include "adopt/ledger.h"
#include "base/json.h"
#include "base/text.h"

namespace leasehold::adopt {
namespace {

using storage::TextRows;

/// The acts of one table, run one after the other in the open transaction.
class Trial {
 public:
  Trial(storage::Direct& database, Published published, BootTime deadline)
      : database_(database), published_(std::move(published)), deadline_(deadline) {}

  Result<std::vector<TrialStep>> run() {
    if (!has("claim_key") || !has("expire_now")) {
      return invalid(
          fmt::format("{}.{} has no rows to claim: there is nothing to try", published_.schema, published_.table));
    }
    if (auto chosen = choose_row(); !chosen) return std::move(chosen).error();
    claim_and_keep();
    take_over();
    act_late();
    finish();
    if (error_) return std::move(*error_);
    return std::move(steps_);
  }

 private:
  [[nodiscard]] const std::string* find(std::string_view act) const {
    for (const auto& entry : published_.entries) {
      if (entry.kind == "act" && entry.name == act) return &entry.up;
    }
    return nullptr;
  }
  [[nodiscard]] bool has(std::string_view act) const { return find(act) != nullptr; }

  /// The answer's first row; empty after an error.
  TextRows ask(std::string_view act, std::string_view holder, std::string_view token) {
    if (error_ || !has(act)) return {};
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    Arguments arguments = {
        {"holder", std::string(holder)},
        {"token", std::string(token)},
        {"max", "1"},
        {"ttl_us", std::nullopt},
        {"error", "tried"},
        {"state", std::nullopt},
        {"skip", "0"},
        {"now_us", std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(now).count())}};
    std::vector<std::string> names;
    names.reserve(key_.size());
    for (std::size_t i = 0; i < key_.size(); ++i)
      arguments.emplace_back(names.emplace_back(fmt::format("key{}", i + 1)), key_[i]);
    auto answer = database_.run(with_arguments(*find(act), arguments, tuple(token)), deadline_);
    if (answer) return std::move(*answer);
    error_ = std::move(answer).error();
    error_->message = fmt::format("{}: {}", act, error_->message);
    return {};
  }

  [[nodiscard]] std::string tuple(std::string_view token) const {
    std::string text = "(";
    for (const auto& part : key_) text += storage::quote_literal(part) + ", ";
    return text + storage::quote_literal(token) + ")";
  }

  /// The next row that can be claimed, else one that is available.
  Result<void> choose_row() {
    auto claimed = ask("claim", first_holder, "0");
    if (claimed.rows.empty()) claimed = ask("ls", "", "0");
    if (error_) return *error_;
    for (std::size_t i = 0; i < claimed.rows.size(); ++i) {
      const auto state = claimed.at(i, "state").value_or("running");
      if (state != "running" && state != "available") continue;
      key_ = texts_from_json(claimed.at(i, "key").value_or("[]"));
      token_ = claimed.at(i, "outcome") ? claimed.at(i, "token").value_or("") : "";
      return {};
    }
    return Error{
        .code = Errc::empty,
        .message = fmt::format("{}.{} has no row that can be claimed now", published_.schema, published_.table)};
  }

  void claim_and_keep() {
    if (token_.empty()) {
      const auto claimed = ask("claim_key", first_holder, "0");
      token_ = claimed.at(0, "token").value_or("");
      note("claim", claimed.at(0, "outcome"), "granted");
    } else {
      note("claim", "granted", "granted");
    }
    const auto second = ask("claim_key", second_holder, "0");
    note("a second claim of the same row", second.at(0, "outcome"), "held", second.at(0, "held_by"));
    note("heartbeat", ask("heartbeat", first_holder, token_).at(0, "outcome"), "extended");
  }

  void take_over() {
    ask("expire_now", first_holder, token_);
    const auto late = ask("heartbeat", first_holder, token_);
    note("heartbeat after expiry", late.at(0, "outcome"), "lost", late.at(0, "why"));
    const auto taken = ask("claim_key", second_holder, "0");
    later_token_ = taken.at(0, "token").value_or("");
    note("claim of the expired row", taken.at(0, "outcome"), "granted");
    const bool grown =
        later_token_.size() > token_.size() || (later_token_.size() == token_.size() && later_token_ > token_);
    note("its token is greater", grown ? "greater" : "not greater", "greater");
  }

  void act_late() {
    for (const auto* act : {"heartbeat", "complete", "fail", "release"}) {
      if (!has(act)) continue;
      const auto late = ask(act, first_holder, token_);
      note(fmt::format("{} by the first holder", act), late.at(0, "outcome"), "lost", late.at(0, "why"));
    }
  }

  void finish() {
    const auto* act = has("complete") ? "complete" : "release";
    const auto* done = has("complete") ? "completed" : "released";
    note(fmt::format("{} by the second", act), ask(act, second_holder, later_token_).at(0, "outcome"), done);
    note("the same again", ask(act, second_holder, later_token_).at(0, "outcome"), done);
  }

  void note(std::string act, const std::optional<std::string>& outcome, std::string_view wanted,
            const std::optional<std::string>& more = {}) {
    if (error_) return;
    const auto text = outcome.value_or("no answer");
    steps_.push_back({std::move(act), more ? fmt::format("{} ({})", text, *more) : text, text == wanted});
  }

  static constexpr std::string_view first_holder = "leasehold-try-1";
  static constexpr std::string_view second_holder = "leasehold-try-2";
  storage::Direct& database_;
  const Published published_;
  const BootTime deadline_;
  std::vector<std::string> key_{};
  std::string token_{};
  std::string later_token_{};
  std::vector<TrialStep> steps_{};
  std::optional<Error> error_{};
};

}  // namespace
}  // namespace leasehold::adopt

namespace leasehold {

using adopt::find_published;
using adopt::Trial;

Result<std::vector<TrialStep>> Adoption::try_out(std::string_view table) const {
  const std::lock_guard lock(impl_->mutex);
  auto& database = *impl_->database;
  const auto deadline = impl_->deadline();
  auto published = find_published(database, table, deadline);
  if (!published) return std::move(published).error();
  if (auto begun = database.begin(deadline); !begun) return std::move(begun).error();
  auto steps = Trial(database, std::move(*published), deadline).run();
  if (auto undone = database.run("ROLLBACK", deadline); !undone) return std::move(undone).error();
  return steps;
}

}  // namespace leasehold
