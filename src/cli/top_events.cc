// The panel of what happened lately.
#include <fmt/format.h>

#include "cli/print.h"
#include "cli/top_panel.h"

namespace leasehold::cli {
namespace {

/// Somebody lost something, or got it from one who did.
Tone tone_of(const Event& event) {
  if (event.what == "revoked" || event.what == "failed" || event.what == "exhausted") return Tone::bad;
  return event.what == "expired" || event.what == "reclaimed" ? Tone::warning : Tone::plain;
}

std::vector<std::string> row_of(const Event& event, Timestamp now) {
  return {local_time(event.at, now),
          event.kind,
          short_text(event.key),
          coloured(tone_of(event), event.what),
          short_text(event.holder),
          short_text(event.detail),
          short_text(event.previous_holder),
          short_text(event.host)};
}

}  // namespace

TopPanel event_panel(const TopPicture& picture) {
  TopPanel panel{.name = "events",
                 .summary = picture.events.empty() ? "none" : "newest first",
                 .columns = {"AT",
                             "KIND",
                             {"KEY", Column::may_be_cut},
                             "WHAT",
                             {"HOLDER", Column::may_be_cut},
                             {"DETAIL", Column::may_be_cut},
                             {"FROM", Column::may_be_cut},
                             {"HOST", Column::may_be_cut}},
                 .rows = {}};
  for (const auto& event : picture.events) panel.rows.push_back(row_of(event, picture.taken_at));
  return panel;
}

}  // namespace leasehold::cli
