#include "cli/bind/row_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <sstream>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/run/wrapper_variables.h"

namespace leasehold::cli {
namespace {

constexpr const char* table_variable = "LEASEHOLD_TABLE";

/// `row work` names the table with its schema; a user may leave the schema out.
bool is_own_row(const HeldRowOptions& row) {
  const auto table = environment_value(table_variable).value_or("");
  return environment_says(held::row.key_variable, fmt::to_string(fmt::join(row.key, "\n"))) &&
         (table == row.table || table.ends_with("." + row.table));
}

}  // namespace

Result<Rows> open_rows(const Context& context, const std::string& table) {
  auto url = context.store_url();
  if (!url) return std::move(url).error();
  return Rows::open(*url, table);
}

std::string shown_row_key(const RowKey& key) {
  std::string text;
  for (const auto& part : key) {
    const bool plain = !part.empty() && (key.size() == 1 || part.find(' ') == std::string::npos);
    text += (text.empty() ? "" : " ") + (plain ? printable(part) : leasehold::quoted(part));
  }
  return text;
}

CLI::Option* add_adopted_table(CLI::App& command, std::string& table) {
  return add_name(command, "TABLE", table, "The adopted table")->check(not_empty);
}

CLI::Option* add_row_key(CLI::App& command, RowKey& key, const std::string& help) {
  return command.add_option("KEY", key, help)->type_name("")->check(not_empty);
}

void add_held_row(CLI::App& command, Context& context, HeldRowOptions& row) {
  add_adopted_table(command, row.table)->envname(table_variable);
  add_row_key(command, row.key, "The values of the key columns, in their order")
      ->required()
      ->envname(held::row.key_variable);
  after_parsing(command, context, [&row] {
    // The variable comes as one text.
    if (row.key.size() != 1 || !environment_says(held::row.key_variable, row.key.front())) return;
    std::istringstream lines(std::exchange(row.key, {}).front());
    for (std::string line; std::getline(lines, line);) row.key.push_back(line);
  });
  add_held_token(command, context, row.token, held::row, [&row] { return is_own_row(row); });
}

void add_row_verdict_options(CLI::App& command, Context& context, RowVerdictOptions& verdict) {
  add_held_row(command, context, verdict.row);
  const auto read = [&verdict](const std::string& text) {
    const auto equals = text.find('=');
    if (equals == 0 || equals == std::string::npos) {
      throw CLI::ValidationError("--set", leasehold::quoted(text) + " is no value: write NAME=VALUE");
    }
    verdict.values.insert_or_assign(text.substr(0, equals), text.substr(equals + 1));
  };
  command
      .add_option_function<std::vector<std::string>>(
          "--set", [read](const auto& texts) { std::for_each(texts.begin(), texts.end(), read); },
          "Value for the name that the table's file writes as :NAME; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
}

}  // namespace leasehold::cli
