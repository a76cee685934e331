// The words that a store answers besides those of errors.h, in one table: a new word gets an enumerator and a row here.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace leasehold {

enum class Reply {
  // The act was done.
  granted,
  extended,
  released,
  revoked,
  closed,
  reaped,
  settled,
  enqueued,
  done,
  triggered,
  resumed,
  renamed,
  removed,
  tied,
  skipped,
  reopened,
  open,
  ok,
  // The act has several good answers, or refusals of its own.
  available,
  blocked,
  cancelled,
  completed,
  created,
  dead,
  duplicate,
  exists,
  final,
  free,
  invalid,
  paused,
  plan,
  requested,
  retried,
  running,
  updated,
  waits,
};

struct ReplyRow {
  Reply reply = Reply::ok;
  std::string_view word{};  ///< the same in the SQL of both stores
  bool done = false;        ///< the act was done, whatever the act is
};

inline constexpr std::array reply_table = {
    ReplyRow{Reply::granted, "granted", true},
    ReplyRow{Reply::extended, "extended", true},
    ReplyRow{Reply::released, "released", true},
    ReplyRow{Reply::revoked, "revoked", true},
    ReplyRow{Reply::closed, "closed", true},
    ReplyRow{Reply::reaped, "reaped", true},
    ReplyRow{Reply::settled, "settled", true},
    ReplyRow{Reply::enqueued, "enqueued", true},
    ReplyRow{Reply::done, "done", true},
    ReplyRow{Reply::triggered, "triggered", true},
    ReplyRow{Reply::resumed, "resumed", true},
    ReplyRow{Reply::renamed, "renamed", true},
    ReplyRow{Reply::removed, "removed", true},
    ReplyRow{Reply::tied, "tied", true},
    ReplyRow{Reply::skipped, "skipped", true},
    ReplyRow{Reply::reopened, "reopened", true},
    ReplyRow{Reply::open, "open", true},
    ReplyRow{Reply::ok, "ok", true},
    ReplyRow{Reply::available, "available"},
    ReplyRow{Reply::blocked, "blocked"},
    ReplyRow{Reply::cancelled, "cancelled"},
    ReplyRow{Reply::completed, "completed"},
    ReplyRow{Reply::created, "created"},
    ReplyRow{Reply::dead, "dead"},
    ReplyRow{Reply::duplicate, "duplicate"},
    ReplyRow{Reply::exists, "exists"},
    ReplyRow{Reply::final, "final"},
    ReplyRow{Reply::free, "free"},
    ReplyRow{Reply::invalid, "invalid"},
    ReplyRow{Reply::paused, "paused"},
    ReplyRow{Reply::plan, "plan"},
    ReplyRow{Reply::requested, "requested"},
    ReplyRow{Reply::retried, "retried"},
    ReplyRow{Reply::running, "running"},
    ReplyRow{Reply::updated, "updated"},
    ReplyRow{Reply::waits, "waits"},
};

static_assert(
    [] {
      for (std::size_t i = 0; i < reply_table.size(); ++i) {
        if (static_cast<std::size_t>(reply_table[i].reply) != i) return false;
      }
      return reply_table.back().reply == Reply::waits;
    }(),
    "every reply has its row, in the order of Reply");

constexpr bool is_done(Reply reply) { return reply_table[static_cast<std::size_t>(reply)].done; }

/// Nothing for any other word, such as that of an error code.
constexpr std::optional<Reply> reply_from(std::string_view word) {
  for (const auto& row : reply_table) {
    if (word == row.word) return row.reply;
  }
  return std::nullopt;
}

}  // namespace leasehold
