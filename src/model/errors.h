// All properties of an error code in one table: a new code gets an enumerator in leasehold/result.h and a row here.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "leasehold/result.h"

namespace leasehold {

/// Exit codes of the tool.
namespace exit_code {
inline constexpr int ok = 0;
inline constexpr int failure = 1;
inline constexpr int usage = 2;
inline constexpr int nothing_to_do = 3;
inline constexpr int not_found = 4;
inline constexpr int unreachable = 69;
inline constexpr int held = 75;
inline constexpr int lost = 76;
}  // namespace exit_code

/// The properties that callers branch on.
struct ErrcTraits {
  bool may_wait = false;       ///< waiting can change this answer
  bool may_repeat = false;     ///< the same request may be sent again unchanged
  bool ends_lease = false;     ///< for a holder: the lease is gone, not just not extended this time
  bool store_trouble = false;  ///< the whole store has this problem, not only this request
};

struct ErrcRow {
  Errc code = Errc::internal;
  const char* word = "";  ///< the same in C++, SQL, JSON and on the command line
  int exit_status = exit_code::failure;
  int http_status = 500;  ///< 4xx: your side, 503: nothing has happened, 504: it may have happened
  ErrcTraits traits{};
};

inline constexpr std::array errc_table = {
    ErrcRow{Errc::invalid_argument, "invalid_argument", exit_code::usage, 400},
    ErrcRow{Errc::not_found, "not_found", exit_code::not_found, 404, {.ends_lease = true}},
    ErrcRow{Errc::held, "held", exit_code::held, 409, {.may_wait = true}},
    ErrcRow{Errc::busy, "busy", exit_code::held, 409, {.may_wait = true, .may_repeat = true}},
    ErrcRow{Errc::reentry, "reentry", exit_code::failure, 409},
    ErrcRow{Errc::mismatch, "mismatch", exit_code::failure, 409},
    ErrcRow{Errc::lost, "lost", exit_code::lost, 409, {.ends_lease = true}},
    ErrcRow{Errc::empty, "empty", exit_code::nothing_to_do, 409, {.may_wait = true}},
    ErrcRow{Errc::at_capacity, "at_capacity", exit_code::held, 429, {.may_wait = true}},
    ErrcRow{Errc::paused, "paused", exit_code::held, 409, {.may_wait = true}},
    ErrcRow{Errc::not_due, "not_due", exit_code::nothing_to_do, 409, {.may_wait = true}},
    ErrcRow{Errc::rate_limited, "rate_limited", exit_code::held, 429, {.may_wait = true}},
    ErrcRow{Errc::terminal, "terminal", exit_code::nothing_to_do, 409},
    ErrcRow{Errc::race, "race", exit_code::held, 409, {.may_wait = true}},
    ErrcRow{Errc::blocked, "blocked", exit_code::held, 409, {.may_wait = true}},
    ErrcRow{Errc::unregistered, "unregistered", exit_code::lost, 409},
    ErrcRow{Errc::unavailable, "unavailable", exit_code::unreachable, 503, {.may_repeat = true, .store_trouble = true}},
    ErrcRow{Errc::in_doubt, "in_doubt", exit_code::unreachable, 504, {.may_repeat = true, .store_trouble = true}},
    ErrcRow{Errc::schema_missing, "schema_missing", exit_code::failure, 503, {.store_trouble = true}},
    ErrcRow{Errc::schema_newer, "schema_newer", exit_code::failure, 503, {.store_trouble = true}},
    ErrcRow{Errc::unauthorized, "unauthorized", exit_code::failure, 401},
    ErrcRow{Errc::denied, "denied", exit_code::failure, 403, {.store_trouble = true}},
    ErrcRow{Errc::damaged, "damaged", exit_code::failure, 500, {.ends_lease = true, .store_trouble = true}},
    ErrcRow{Errc::internal, "internal", exit_code::failure, 500},
};

static_assert(
    [] {
      for (std::size_t i = 0; i < errc_table.size(); ++i) {
        if (static_cast<std::size_t>(errc_table[i].code) != i) return false;
      }
      return errc_table.back().code == Errc::internal;
    }(),
    "every error code has its row, in the order of Errc");

constexpr const ErrcRow& row_of(Errc code) { return errc_table[static_cast<std::size_t>(code)]; }

constexpr bool may_wait(Errc code) { return row_of(code).traits.may_wait; }
constexpr bool may_repeat(Errc code) { return row_of(code).traits.may_repeat; }
constexpr bool ends_lease(Errc code) { return row_of(code).traits.ends_lease; }
constexpr bool is_store_trouble(Errc code) { return row_of(code).traits.store_trouble; }

/// The same error with the key of the arguments that it is about, behind the keys around it: "backoff.base_seconds".
Error about_field(std::string_view name, Error error);
/// The same for an element of a list: "jobs[3].payload" once about_field() has added the list.
Error about_element(std::size_t index, Error error);

/// Nothing for an unknown word.
std::optional<Errc> errc_from(std::string_view word) noexcept;

}  // namespace leasehold
