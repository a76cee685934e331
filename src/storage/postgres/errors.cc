#include "storage/postgres/errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

namespace leasehold::postgres {
namespace {

struct Rule {
  std::string_view prefix;  ///< of the SQLSTATE; the first matching rule applies
  Errc code;
  std::string_view advice;
};

constexpr std::string_view migrate = "run `leasehold migrate up`";
constexpr std::string_view reconnect = "leasehold reconnects automatically";

constexpr std::string_view own_refusal = "LH003";

constexpr std::array rules = {
    Rule{"LH001", Errc::lost, ""},
    Rule{"LH002", Errc::denied, ""},
    Rule{own_refusal, Errc::invalid_argument, ""},
    Rule{"40001", Errc::busy, "try again"},
    Rule{"40P01", Errc::busy, "try again"},
    Rule{"55P03", Errc::busy, "another transaction holds the row: try again"},
    Rule{"57014", Errc::busy, "a timeout on the server cancelled it: try again"},
    Rule{"25006", Errc::unavailable,
         "this is a standby, or default_transaction_read_only is on: connect to the primary, or allow writes"},
    Rule{"3F000", Errc::schema_missing, migrate},
    Rule{"42P01", Errc::schema_missing, migrate},
    Rule{"42883", Errc::schema_missing, migrate},
    Rule{"42501", Errc::denied, "ask an administrator to run `leasehold grant`"},
    Rule{"28", Errc::denied, "check user, password and pg_hba.conf"},
    Rule{"23505", Errc::invalid_argument, "a request id belongs to one acquire"},
    Rule{"3D000", Errc::invalid_argument, "create the database or correct the URL"},
    Rule{"22P05", Errc::invalid_argument, "the database encoding cannot store this text: use UTF8"},
    Rule{"22", Errc::invalid_argument, ""},
    Rule{"XX001", Errc::damaged, "the server found corrupt data: restore from a backup"},
    Rule{"XX002", Errc::damaged, "an index is corrupt: REINDEX it"},
    Rule{"53", Errc::unavailable, "the server is short of resources"},
    Rule{"08", Errc::unavailable, reconnect},
    Rule{"57P", Errc::unavailable, reconnect},
};

const Rule* rule_for(std::string_view sqlstate) {
  const auto* found = std::find_if(rules.begin(), rules.end(), [&](const Rule& rule) {
    return !sqlstate.empty() && sqlstate.substr(0, rule.prefix.size()) == rule.prefix;
  });
  return found == rules.end() ? nullptr : found;
}

/// libpq's messages end in a newline and may have several lines.
std::string one_line(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c != '\n' && c != '\t') {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += "; ";
    }
  }
  while (!out.empty() && (out.back() == ' ' || out.back() == ';' || out.back() == '.')) out.pop_back();
  return out;
}

std::string_view field(const PGresult* result, int code) {
  const char* text = PQresultErrorField(result, code);
  return text ? text : "";
}

/// Finds "FATAL:  28P01: message": libpq does not expose the SQLSTATE of a failed connect. The words before it are in
/// the server's language; the two blanks, the code and the colon are fixed.
std::optional<std::size_t> find_sqlstate(std::string_view message) {
  for (auto at = message.find(":  "); at != std::string_view::npos; at = message.find(":  ", at + 1)) {
    const auto code = message.substr(at + 3, 5);
    const bool fits = code.size() == 5 && std::all_of(code.begin(), code.end(), [](unsigned char c) {
                        return std::isdigit(c) != 0 || std::isupper(c) != 0;
                      });
    if (fits && message.substr(at + 8, 2) == ": ") return at + 3;
  }
  return std::nullopt;
}

}  // namespace

bool Failure::lost_prepared_statement() const {
  return fate == Fate::rolled_back &&
         (sqlstate == "26000" || sqlstate == "42P05" || sqlstate == "08P01" || sqlstate == "0A000");
}

Error server_error(std::string_view sqlstate, std::string_view message, std::string_view hint, std::string_view where) {
  const auto* rule = rule_for(sqlstate);
  // Our own functions refuse an argument, as the library does before it asks: the server has no part in it.
  if (sqlstate == own_refusal && hint.empty()) return Error{.code = rule->code, .message = one_line(message)};
  auto text = fmt::format("postgresql {}: {}", where, one_line(message));
  if (!sqlstate.empty()) text += fmt::format(" ({})", sqlstate);
  if (!hint.empty()) text += fmt::format("; {}", one_line(hint));
  if (rule && !rule->advice.empty()) text += fmt::format(": {}", rule->advice);
  return Error{.code = rule ? rule->code : Errc::internal, .message = std::move(text)};
}

Failure refused(const PGresult* result, std::string_view where) {
  const auto sqlstate = field(result, PG_DIAG_SQLSTATE);
  auto message = field(result, PG_DIAG_MESSAGE_PRIMARY);
  if (message.empty()) message = PQresultErrorMessage(result);
  return {.fate = Fate::rolled_back,
          .sqlstate = std::string(sqlstate),
          .error = server_error(sqlstate, message, field(result, PG_DIAG_MESSAGE_HINT), where)};
}

Failure cut_off(Fate fate, std::string_view sqlstate, std::string_view message, std::string_view where) {
  const bool unknown = fate == Fate::unknown;
  auto text = fmt::format("postgresql {}: {}", where, one_line(message));
  text += unknown ? ": the answer was lost, it may have happened" : ": nothing was sent";
  return {.fate = fate,
          .sqlstate = std::string(sqlstate),
          .error = {.code = unknown ? Errc::in_doubt : Errc::unavailable, .message = std::move(text)}};
}

Failure not_connected(PGconn* conn, std::string_view where) {
  const std::string_view message = PQerrorMessage(conn);
  if (const auto at = find_sqlstate(message)) {
    const auto sqlstate = message.substr(*at, 5);
    auto said = message.substr(*at + 7);
    said = said.substr(0, said.find('\n'));
    return {
        .fate = Fate::not_sent, .sqlstate = std::string(sqlstate), .error = server_error(sqlstate, said, "", where)};
  }
  auto error = Error{.code = Errc::unavailable, .message = fmt::format("postgresql {}: {}", where, one_line(message))};
  if (PQconnectionNeedsPassword(conn) != 0) {
    error.code = Errc::denied;
    error.message += ": give a password in the URL, PGPASSWORD or ~/.pgpass";
  }
  return {.fate = Fate::not_sent, .sqlstate = {}, .error = std::move(error)};
}

std::string place_of(const PGconn* conn) {
  const auto or_empty = [](const char* text) { return std::string_view(text ? text : ""); };
  const auto host = or_empty(PQhost(conn));
  return fmt::format("{}:{}/{}", host.empty() ? "local" : host, or_empty(PQport(conn)), or_empty(PQdb(conn)));
}

}  // namespace leasehold::postgres
