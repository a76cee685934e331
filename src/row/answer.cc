#include <fmt/format.h>

#include <charconv>
#include <chrono>

#include "base/json.h"
#include "base/text.h"
#include "base/time_text.h"
#include "model/errors.h"
#include "row/rows.h"

namespace leasehold::row {
namespace {

std::optional<LostReason> lost_reason_from(std::string_view why) {
  if (why == "expired") return LostReason::expired;
  if (why == "superseded") return LostReason::superseded;
  if (why == "revoked") return LostReason::revoked;
  if (why == "finished" || why == "removed") return LostReason::finished;
  return std::nullopt;
}

std::string_view explained(std::string_view why) {
  if (why == "expired") return "its lease had expired and was ended";
  if (why == "superseded") return "a later grant exists";
  if (why == "revoked") return "it was taken away";
  if (why == "finished") return "it was finished or released";
  if (why == "removed") return "the row is gone";
  return "the token is not current";
}

}  // namespace

std::string text_of(const RowKey& key) {
  std::string text;
  for (const auto& part : key) text += (text.empty() ? "" : " ") + part;
  return text;
}

std::optional<std::int64_t> number_at(const storage::TextRows& answer, std::size_t at, std::string_view column) {
  const auto text = answer.at(at, column);
  if (!text) return std::nullopt;
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (problem != std::errc() || end != text->data() + text->size()) return std::nullopt;
  return number;
}

Error removed(const Rows::Impl& rows, const RowKey& key) {
  return {.code = Errc::lost,
          .message = fmt::format("{} {} is lost: the row is gone", rows.table, quoted(text_of(key))),
          .lost_reason = LostReason::finished};
}

std::optional<std::size_t> find_answer(const storage::TextRows& answer, const RowProof& proof) {
  for (std::size_t i = 0; i < answer.rows.size(); ++i) {
    const bool same = texts_from_json(answer.at(i, "key").value_or("[]")) == proof.key;
    if (same && number_at(answer, i, "token") == proof.token.value) return i;
  }
  return std::nullopt;
}

Error refusal_from(const Rows::Impl& rows, const RowKey& key, const storage::TextRows& answer, std::size_t at) {
  const auto outcome = answer.at(at, "outcome").value_or("not_found");
  const auto why = answer.at(at, "why").value_or("");
  const auto holder = answer.at(at, "held_by").value_or("");
  const auto what = key.empty() ? rows.table : fmt::format("{} {}", rows.table, quoted(text_of(key)));
  Error error{.code = errc_from(outcome).value_or(Errc::blocked), .message = {}, .lost_reason = {}, .held_by = {}};
  if (const auto left = number_at(answer, at, "retry_us")) error.retry_in = Duration(*left);
  if (!holder.empty()) {
    error.held_by.emplace();
    error.held_by->kind = "row";
    error.held_by->key = text_of(key);
    error.held_by->holder.name = holder;
    error.held_by->state = LeaseState::running;
    error.held_by->ttl = rows.ttl;
    error.held_by->store_now = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
    error.held_by->expires_at = error.held_by->store_now + error.retry_in.value_or(Duration::zero());
  }
  const auto by = holder.empty() ? std::string() : " by " + quoted(holder);
  const auto frees = error.retry_in ? fmt::format(", frees in {}", format_duration(*error.retry_in)) : std::string();
  switch (error.code) {
    case Errc::lost:
      error.lost_reason = lost_reason_from(why);
      error.message = fmt::format("{} is lost: {}{}", what, explained(why), holder.empty() ? "" : "; held" + by);
      break;
    case Errc::held: error.message = fmt::format("{} is held{}{}", what, by, frees); break;
    case Errc::not_found: error.message = fmt::format("{} does not exist", what); break;
    case Errc::not_due: error.message = fmt::format("{} is not due{}", what, frees); break;
    case Errc::terminal: error.message = fmt::format("{} is finished", what); break;
    default: error.message = fmt::format("{} is refused: {}{}{}", what, outcome, by, frees); break;
  }
  return error;
}

RowInfo info_from(const storage::TextRows& answer, std::size_t at) {
  RowInfo info;
  info.key = texts_from_json(answer.at(at, "key").value_or("[]"));
  info.state = answer.at(at, "state").value_or("");
  if (auto name = answer.at(at, "holder")) info.holder.emplace().name = std::move(*name);
  if (const auto token = number_at(answer, at, "token")) info.token = Token{*token};
  if (const auto until = number_at(answer, at, "until_us")) info.expires_at = Timestamp(Duration(*until));
  info.row = answer.at(at, "row").value_or("{}");
  return info;
}

}  // namespace leasehold::row
