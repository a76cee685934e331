#include "cli/print/session_text.h"

#include "base/clock.h"
#include "base/text.h"
#include "base/time_text.h"
#include "cli/print/live.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/signals.h"
#include "cli/store_trouble.h"
#include "model/json.h"

namespace leasehold::cli {
namespace {

constexpr std::size_t longest_in_table = 60;
constexpr std::size_t longest_field = 400;
/// No column takes more bytes than this, including a few combining marks.
constexpr std::size_t bytes_per_column = 16;

/// A text may be a hundred kilobytes long: only the visible part is examined.
std::string first_columns(std::string_view text, std::size_t columns) {
  return cut_to(printable(clean_text(text, columns * bytes_per_column)), columns);
}

}  // namespace

std::string coloured(SessionState status) {
  switch (status) {
    case SessionState::active: return coloured(Tone::good, to_string(status));
    case SessionState::idle: return coloured(Tone::warning, to_string(status));
    case SessionState::stale: return coloured(Tone::bad, to_string(status));
    case SessionState::released: break;
  }
  return coloured(Tone::faint, to_string(status));
}

std::string coloured(ItemState state) {
  switch (state) {
    case ItemState::claimed: return coloured(Tone::good, to_string(state));
    case ItemState::blocked: return coloured(Tone::warning, to_string(state));
    case ItemState::stale: return coloured(Tone::bad, to_string(state));
    case ItemState::done: return coloured(Tone::faint, to_string(state));
    case ItemState::open: break;
  }
  return to_string(state);
}

namespace {

std::string claim_line(const Claim& claim) {
  auto text = fmt::format("claimed {}  token {}  by session {}", printable(claim.key), claim.token.value,
                          printable(claim.session));
  if (claim.created) text += "  (a new item)";
  if (claim.replayed) text += "  (already claimed)";
  if (!claim.previous_session.empty()) {
    text += fmt::format("\n  taken over from session {}, which had gone stale ({})", printable(claim.previous_session),
                        shown_name(claim.previous_holder));
  }
  return text;
}

}  // namespace

int report_claim(const Context& context, const Result<Claim>& claim, bool quiet, int held_code) {
  if (!claim) return report_refusal(context, claim.error(), held_code);
  if (context.json) {
    print_line(model::to_json(*claim));
  } else if (quiet) {
    print("{} {}", printable(claim->key), claim->token.value);
  } else {
    print_line(claim_line(*claim));
  }
  return exit_code::ok;
}

SessionState health_of(const LeaseInfo& owner) {
  if (owner.state != LeaseState::running) return SessionState::stale;
  const bool working = owner.progress_at && owner.store_now - *owner.progress_at < owner.ttl;
  return working ? SessionState::active : SessionState::idle;
}

std::string on_one_line(std::string_view text) { return first_columns(text, longest_in_table); }

std::string shown_field(std::string_view text) {
  const auto shown = first_columns(text, longest_field);
  return text.size() > longest_field ? fmt::format("{} ({} bytes)", shown, text.size()) : shown;
}

void print_text(std::string_view name, std::string_view text) {
  if (!text.empty()) print_field(name, shown_field(text));
}

std::string shown_terminal(const Holder& holder) {
  constexpr std::string_view devices = "/dev/";
  std::string_view name = holder.tty;
  if (name.starts_with(devices)) name.remove_prefix(devices.size());
  return name.empty() ? "-" : printable(name);
}

std::string age_in_words_and_seconds(Duration age) {
  return fmt::format("{} ({} s)", format_age(age), std::chrono::floor<std::chrono::seconds>(age).count());
}

std::string shown_end_of(const SessionInfo& session) {
  // Its process may end long before its ttl has passed.
  const bool stale = session.state == SessionState::stale;
  return stale ? "now" : shown_distance(session.until_stale());
}

std::string shown_end_of(const LeaseInfo& owner) {
  return owner.state == LeaseState::running ? shown_distance(owner.retry_in()) : "now";
}

std::vector<Field> fields_of_owner(const LeaseInfo& owner) {
  const auto age_of = [&owner](const std::optional<Timestamp>& when) {
    return when ? age_in_words_and_seconds(owner.store_now - *when) : std::string("-");
  };
  const bool alive = owner.state == LeaseState::running;
  std::vector<Field> fields{{owner.kind == "path" ? "path" : "item", printable(owner.key)},
                            {"session", printable(owner.session)}};
  if (!owner.label.empty()) fields.push_back({"label", on_one_line(owner.label)});
  fields.push_back({"holder", printable(owner.holder.name)});
  fields.push_back({"host", printable(owner.holder.host)});
  fields.push_back({"tty", shown_terminal(owner.holder)});
  fields.push_back({"heartbeat", age_of(owner.heartbeat_at)});
  fields.push_back({"progress", age_of(owner.progress_at)});
  fields.push_back({"claimed", age_of(owner.taken_at)});
  fields.push_back({"frees", shown_end_of(owner) + (alive ? ", unless it heartbeats" : "")});
  return fields;
}

}  // namespace leasehold::cli
