// Named statements as types: query(backend, sql::LockShow{.name = "deploy"}, deadline).
#pragma once

#include <array>
#include <type_traits>
#include <utility>
#include <vector>

#include "storage/backend.h"
#include "storage/statements.h"

namespace leasehold::storage {

template <typename S>
Result<std::vector<typename S::Row>> decode_rows(Result<Rows> rows) {
  if (!rows) return std::move(rows).error();
  std::vector<typename S::Row> decoded;
  decoded.reserve(rows->size());
  for (auto& row : *rows) decoded.push_back(S::Row::decode(std::move(row)));
  return decoded;
}

/// S is one of the generated structs of statements.h.
template <typename S>
Result<std::vector<typename S::Row>> query(Backend& backend, const S& statement, BootTime deadline) {
  return decode_rows<S>(backend.query(S::statement(), statement.params(), deadline));
}

/// The same, inside a transaction.
template <typename S>
Result<std::vector<typename S::Row>> query(Transaction& transaction, const S& statement) {
  return decode_rows<S>(transaction.query(S::statement(), statement.params()));
}

template <typename Row>
Result<Row> only_row(Result<std::vector<Row>> rows) {
  if (!rows) return std::move(rows).error();
  if (rows->size() != 1) {
    return Error{.code = Errc::damaged, .message = "the store returned no answer: run `leasehold migrate verify`"};
  }
  return std::move(rows->front());
}

/// For statements that always return exactly one row.
template <typename S>
Result<typename S::Row> query_one(Backend& backend, const S& statement, BootTime deadline) {
  return only_row(decode_rows<S>(backend.query(S::statement(), statement.params(), deadline)));
}

template <typename S>
Result<typename S::Row> query_one(Transaction& transaction, const S& statement) {
  return only_row(query(transaction, statement));
}

/// Runs two writing statements in this order, in one commit if possible (see Backend::query_each); each returns exactly
/// one row.
template <typename First, typename Second>
std::pair<Result<typename First::Row>, Result<typename Second::Row>> query_both(Backend& backend, const First& first,
                                                                                const Second& second,
                                                                                BootTime deadline) {
  const auto first_params = first.params();
  const auto second_params = second.params();
  const std::array questions = {Question{&First::statement(), first_params},
                                Question{&Second::statement(), second_params}};
  auto answers = backend.query_each(questions, deadline);
  return {only_row(decode_rows<First>(std::move(answers[0]))), only_row(decode_rows<Second>(std::move(answers[1])))};
}

/// Runs many writing statements of one kind in this order, in one commit if possible (see Backend::query_each); each
/// returns exactly one row. `statements` point to objects whose get() is the statement.
template <typename Pointers>
auto query_all(Backend& backend, const Pointers& statements, BootTime deadline) {
  using S = std::remove_cvref_t<decltype(statements.front()->get())>;
  std::vector<decltype(statements.front()->get().params())> params;
  params.reserve(statements.size());
  std::vector<Question> questions;
  for (const auto& statement : statements) {
    params.push_back(statement->get().params());
    questions.push_back({&S::statement(), params.back()});
  }
  std::vector<Result<typename S::Row>> rows;
  rows.reserve(statements.size());
  for (auto& answer : backend.query_each(questions, deadline)) {
    rows.push_back(only_row(decode_rows<S>(std::move(answer))));
  }
  return rows;
}

/// The rows of a list, each converted to a type of the public API.
template <typename S, typename Convert>
auto query_list(Backend& backend, const S& statement, BootTime deadline, Convert convert)
    -> Result<std::vector<decltype(convert(std::declval<typename S::Row&>()))>> {
  auto rows = query(backend, statement, deadline);
  if (!rows) return std::move(rows).error();
  std::vector<decltype(convert(rows->front()))> list;
  list.reserve(rows->size());
  for (auto& row : *rows) list.push_back(convert(row));
  return list;
}

}  // namespace leasehold::storage
