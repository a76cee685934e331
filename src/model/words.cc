#include "model/words.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ostream>

#include "leasehold/result.h"
#include "model/errors.h"

namespace leasehold {

const char* word_at(std::span<const char* const> all, std::size_t value) noexcept {
  return value < all.size() ? all[value] : "unknown";
}

std::optional<std::size_t> find_word(std::span<const char* const> all, std::string_view text) noexcept {
  const auto found = std::find(all.begin(), all.end(), text);
  if (found == all.end()) return std::nullopt;
  return static_cast<std::size_t>(found - all.begin());
}

const char* to_string(LostReason value) noexcept { return word_of(value); }
const char* to_string(LeaseState value) noexcept { return word_of(value); }
const char* to_string(JobState value) noexcept { return word_of(value); }
const char* to_string(DedupeMode value) noexcept { return word_of(value); }
const char* to_string(JobAction value) noexcept { return word_of(value); }
const char* to_string(WaitReason value) noexcept { return word_of(value); }
const char* to_string(AttemptOutcome value) noexcept { return word_of(value); }
const char* to_string(RunOutcome value) noexcept { return word_of(value); }
const char* to_string(IfFailed value) noexcept { return word_of(value); }
const char* to_string(ChunkState value) noexcept { return word_of(value); }
const char* to_string(ChunkSetState value) noexcept { return word_of(value); }
const char* to_string(ChunkReset::Which value) noexcept { return word_of(value); }
const char* to_string(SessionState value) noexcept { return word_of(value); }
const char* to_string(ItemState value) noexcept { return word_of(value); }
const char* to_string(Misfire value) noexcept { return word_of(value); }
const char* to_string(ScheduleState value) noexcept { return word_of(value); }
const char* to_string(TokenState value) noexcept { return word_of(value); }
const char* to_string(RequestState value) noexcept { return word_of(value); }

LostReason lost_reason_from(std::string_view text) noexcept {
  return from_word<LostReason>(text).value_or(LostReason::superseded);
}

namespace {

/// No formatting and no allocation: the program may be stopping because memory is short.
[[noreturn]] void stop_with(const char* what, const char* code, const char* message) noexcept {
  std::fprintf(stderr, "leasehold: %s%s%s%s\n", what, code, *code != '\0' ? ": " : "", message);
  std::fflush(stderr);
  std::abort();
}

}  // namespace

namespace detail {

void stop_without_value(const Error& error) noexcept {
  stop_with("the value of a Result was used without checking it, but it holds an error: ", to_string(error.code),
            error.message.c_str());
}

void stop_without_error() noexcept {
  stop_with("the error of a Result was used, but it holds a value: check ok() first", "", "");
}

}  // namespace detail

const char* to_string(Errc code) noexcept { return row_of(code).word; }

namespace {

/// The key in the error; null if it has none.
std::string* field_in(Error& error) {
  for (auto& detail : error.detail) {
    auto* text = detail.name == "field" ? std::get_if<std::string>(&detail.value) : nullptr;
    if (text != nullptr) return text;
  }
  return nullptr;
}

}  // namespace

Error about_field(std::string_view name, Error error) {
  auto* inner = field_in(error);
  if (inner == nullptr) {
    error.detail.push_back({"field", std::string(name)});
  } else {
    *inner = std::string(name) + (inner->starts_with('[') ? "" : ".") + *inner;
  }
  return error;
}

Error about_element(std::size_t index, Error error) {
  return about_field("[" + std::to_string(index) + "]", std::move(error));
}

std::optional<Errc> errc_from(std::string_view word) noexcept {
  for (const auto& row : errc_table) {
    if (word == row.word) return row.code;
  }
  return std::nullopt;
}

std::ostream& operator<<(std::ostream& out, const Token& token) { return out << token.value; }

}  // namespace leasehold
