// Rows under headings, for people: aligned by what is seen, and cut to the width of the terminal.
//
//   Table table({{"NAME", Column::may_be_cut}, {"RUNNING", Column::to_the_right}, "STATE"});
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
    may_be_cut,    ///< plain text that is shortened where the terminal is too narrow
    to_the_right,  ///< a number
  };

  // NOLINTNEXTLINE(google-explicit-constructor): most columns are nothing but a heading.
  Column(const char* name, Kind how = as_it_is) : heading(name), kind(how) {}

  std::string heading;
  Kind kind;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns);
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  /// Headings and rows. Where stdout is no terminal, nothing is cut.
  [[nodiscard]] std::vector<std::string> lines() const;
  /// The same for a line of so many columns; unset: nothing is cut.
  [[nodiscard]] std::vector<std::string> lines(std::optional<std::size_t> columns) const;
  /// To stdout.
  void print() const;

 private:
  [[nodiscard]] std::vector<std::size_t> widths() const;
  void fit(std::vector<std::size_t>& widths, std::size_t line) const;
  [[nodiscard]] std::string line_of(const std::vector<std::string>& row, const std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace leasehold::cli
