// Something of the right type for every parameter of a statement, and a look at what comes back.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "storage/statement.h"

namespace leasehold::support {

inline storage::Param sample_of(storage::Type type) {
  static constexpr std::array<std::int64_t, 1> one_number = {1};
  static constexpr std::array<std::string_view, 1> one_string = {"sample"};
  switch (type) {
    case storage::Type::text:
    case storage::Type::bytes: return one_string.front();
    case storage::Type::integer:
    case storage::Type::boolean:
    case storage::Type::time: return one_number.front();
    case storage::Type::duration: return std::int64_t{60'000'000};
    case storage::Type::integers: return storage::IntegerList(one_number);
    case storage::Type::texts:
    case storage::Type::bytes_list: return storage::StringList(one_string);
    case storage::Type::times: break;  // never a parameter
  }
  return {};
}

/// Some take only a word they know, JSON, or a job that exists.
inline storage::Param sample_of(const storage::Field& field) {
  static constexpr std::array<std::string_view, 1> one_json = {R"({"sample":1})"};
  if (field.name == "verdict") return std::string_view("complete");
  if (field.name == "state") return std::string_view("failed");
  if (field.name == "kind") return std::string_view("worker");
  if (field.name == "scope") return std::string_view("read");
  if (field.name == "which") return std::string_view("failed");
  if (field.name == "run_at") return {};      // there is a delay
  if (field.name == "expires_at") return {};  // there is `expires_in`
  if (field.name == "dedupe_mode") return std::string_view("keep");
  if (field.name == "if_failed") return std::string_view("cancel");
  if (field.name == "misfire") return std::string_view("once");
  if (field.name == "cursor" || field.name == "metadata" || field.name == "counts") return one_json.front();
  // A schedule with a pause, which puts a job into a queue.
  if (field.name == "cron" || field.name == "cron_given" || field.name == "zone" || field.name == "command") return {};
  if (field.name == "jitter") return std::int64_t{0};
  if (field.name == "on_batch_end") return std::string_view("another batch");
  if (field.name == "to_item") return std::string_view("another sample");
  // Snapshots; a moment may have that name, too.
  if ((field.name == "seen" || field.name == "until") && field.type == storage::Type::text) {
    return std::string_view("1:1:");
  }
  if (field.name == "specs") return storage::StringList(one_json);
  if (field.name == "only") return std::string_view(R"(["*"])");
  if (field.name == "hash") {
    return std::string_view("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
  }
  if (field.name == "depends_on" && field.type == storage::Type::integers) return storage::IntegerList();
  return sample_of(field.type);
}

inline std::vector<storage::Param> sample_params(const storage::Statement& statement) {
  std::vector<storage::Param> params;
  for (const auto& field : statement.params) params.push_back(sample_of(field));
  return params;
}

/// A list that is NULL is read as an empty one.
inline void expect_fits(const storage::Field& field, const storage::Cell& cell) {
  const auto type = field.type;
  if (std::holds_alternative<std::monostate>(cell)) {
    EXPECT_TRUE(field.nullable || is_list(type)) << field.name << " is NULL";
  } else if (type == storage::Type::texts || type == storage::Type::bytes_list) {
    EXPECT_TRUE(std::holds_alternative<std::vector<std::string>>(cell)) << field.name << " is no list of strings";
  } else if (is_list(type)) {
    EXPECT_TRUE(std::holds_alternative<std::vector<std::int64_t>>(cell)) << field.name << " is no list of numbers";
  } else if (type == storage::Type::text || type == storage::Type::bytes) {
    EXPECT_TRUE(std::holds_alternative<std::string>(cell)) << field.name << " is no string";
  } else {
    EXPECT_TRUE(std::holds_alternative<std::int64_t>(cell)) << field.name << " is no number";
  }
}

inline void expect_fits(const storage::Statement& statement, const storage::Row& row) {
  ASSERT_EQ(row.size(), statement.columns.size());
  for (std::size_t column = 0; column < row.size(); ++column) expect_fits(statement.columns[column], row[column]);
}

}  // namespace leasehold::support
