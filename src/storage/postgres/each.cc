#include "storage/postgres/each.h"

#include <algorithm>
#include <utility>

#include "storage/postgres/binary_rows.h"

namespace leasehold::postgres {
namespace {

using storage::PendingCall;

std::vector<storage::Field> each_columns(const storage::Statement& statement) {
  std::vector<storage::Field> columns{{.name = "call", .type = storage::Type::integer, .nullable = false}};
  columns.insert(columns.end(), statement.columns.begin(), statement.columns.end());
  return columns;
}

void answer_all(CallGroup group, const Error& error) {
  for (auto* call : group) call->answer = error;
}

}  // namespace

bool has_each_form(const storage::Statement& statement, std::span<const std::string_view> each_forms) {
  return !each_forms[static_cast<std::size_t>(statement.index)].empty();
}

void sort_for_grouping(std::vector<PendingCall*>& calls, std::span<const std::string_view> each_forms) {
  const auto rank = [&](const PendingCall* call) {
    return std::pair(call->turn, has_each_form(*call->statement, each_forms) ? call->statement->index : -1);
  };
  std::stable_sort(calls.begin(), calls.end(),
                   [&](const PendingCall* a, const PendingCall* b) { return rank(a) < rank(b); });
}

std::vector<CallGroup> group_calls(std::span<PendingCall* const> calls, std::span<const std::string_view> each_forms) {
  std::vector<CallGroup> groups;
  for (std::size_t first = 0; first < calls.size();) {
    std::size_t length = 1;
    if (has_each_form(*calls[first]->statement, each_forms)) {
      const auto fits = [&](const PendingCall* call) {
        return call->statement == calls[first]->statement && call->turn == calls[first]->turn;
      };
      while (first + length < calls.size() && fits(calls[first + length])) ++length;
    }
    groups.push_back(calls.subspan(first, length));
    first += length;
  }
  return groups;
}

std::vector<CallGroup> one_by_one(std::span<PendingCall* const> calls) {
  std::vector<CallGroup> groups;
  groups.reserve(calls.size());
  for (std::size_t i = 0; i < calls.size(); ++i) groups.push_back(calls.subspan(i, 1));
  return groups;
}

BinaryParams transpose(CallGroup group, Charset charset) {
  const auto fields = group.front()->statement->params;
  BinaryParams params;
  for (std::size_t field = 0; field < fields.size(); ++field) {
    BinaryList values(fields[field].type, group.size());
    const bool prose = charset != Charset::unicode && is_prose(fields[field].name);
    for (const auto* call : group) {
      const auto& value = call->params[field];
      const auto* text = prose ? std::get_if<std::string_view>(&value) : nullptr;
      if (text != nullptr) {
        values.add(std::string_view(fitted(*text, fields[field].name, charset)));
      } else {
        values.add(value);
      }
    }
    params.add(std::move(values));
  }
  return params;
}

void distribute(CallGroup group, Result<storage::Rows> rows) {
  if (!rows) return answer_all(group, rows.error());
  std::vector<storage::Rows> answers(group.size());
  for (auto& row : *rows) {
    const auto* call = row.empty() ? nullptr : std::get_if<std::int64_t>(&row.front());
    if (call == nullptr || *call < 0 || static_cast<std::size_t>(*call) >= group.size()) {
      return answer_all(group, {.code = Errc::damaged,
                                .message = "postgresql: a function answered a call that was never made: run `leasehold "
                                           "migrate verify`"});
    }
    auto& answer = answers[static_cast<std::size_t>(*call)];
    row.erase(row.begin());
    answer.push_back(std::move(row));
  }
  for (std::size_t i = 0; i < group.size(); ++i) group[i]->answer = std::move(answers[i]);
}

void answer_group(CallGroup group, const PGresult* result) {
  const auto& statement = *group.front()->statement;
  if (group.size() == 1) {
    group.front()->answer = decode_rows(result, statement.columns);
  } else {
    distribute(group, decode_rows(result, each_columns(statement)));
  }
}

}  // namespace leasehold::postgres
