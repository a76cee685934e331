// Rows under headings, for people, aligned by visible width. On a terminal a row is one line: long texts are cut, and
// columns without room are left out, the least important first.
//
//   Table table({{"NAME", Column::may_be_cut}, {"RUNNING", Column::to_the_right}, {"STATE", Column::as_it_is, 1}});
//   table.add({"mail", "12", coloured(Tone::good, "active")});
//   table.print();
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace leasehold::cli {

struct Column {
  enum Kind {
    as_it_is,      ///< colours do not count
    may_be_cut,    ///< text that is shortened if the terminal is too narrow
    to_the_right,  ///< a number
  };

  // NOLINTNEXTLINE(google-explicit-constructor): most columns are nothing but a heading.
  Column(const char* name, Kind how = as_it_is, int weight = 0) : heading(name), kind(how), importance(weight) {}

  std::string heading;
  Kind kind;
  /// If the line is too short, the lowest is left out first; among equals, the rightmost one.
  int importance;
};

struct RowRange {
  std::size_t first = 0;
  std::size_t count = 0;
};

class Table {
 public:
  /// The first column identifies a row: it is never left out.
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  /// Headings and rows. If stdout is not a terminal, nothing is cut or left out.
  [[nodiscard]] std::vector<std::string> lines() const;
  /// Headings and some of the rows, for a line of `line` columns; unset: no bound. All rows count for the widths, so
  /// that scrolling moves nothing sideways.
  [[nodiscard]] std::vector<std::string> lines(std::optional<std::size_t> line, RowRange range) const;
  /// Prints to stdout.
  void print() const;

 private:
  using Row = std::vector<std::string>;
  /// A visible column and its width.
  struct Shown {
    std::size_t column = 0;
    std::size_t width = 0;
  };

  [[nodiscard]] std::vector<Shown> all_shown() const;
  [[nodiscard]] std::size_t least_width(const std::vector<Shown>& shown, std::size_t min) const;
  void leave_out(std::vector<Shown>& shown, std::size_t line) const;
  void cut(std::vector<Shown>& shown, std::size_t line) const;
  template <typename Cell>
  [[nodiscard]] std::string line_of(const std::vector<Shown>& shown, Cell cell) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace leasehold::cli
