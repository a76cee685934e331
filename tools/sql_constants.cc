#include "sql_constants.h"

#include <algorithm>
#include <array>
#include <regex>
#include <sstream>

#include "sql_files.h"

namespace fs = std::filesystem;

namespace embed_sql {
namespace {

const std::map<std::string, std::int64_t> micros_of = {{"microseconds", 1},      {"milliseconds", 1'000},
                                                       {"seconds", 1'000'000},   {"minutes", 60'000'000},
                                                       {"hours", 3'600'000'000}, {"days", 86'400'000'000}};

std::string at_line(const fs::path& path, std::size_t line) { return path.string() + ":" + std::to_string(line); }

std::int64_t multiplied(std::int64_t a, std::int64_t b, const std::string& where) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) fail(where + ": the value is too large");
  return product;
}

/// 1'000 * 1'000
std::int64_t product_of(std::string text, const std::string& where) {
  text.erase(std::remove(text.begin(), text.end(), '\''), text.end());
  std::int64_t product = 1;
  std::stringstream factors(text);
  for (std::string factor; std::getline(factors, factor, '*');) {
    if (factor.size() > 19) fail(where + ": the value is too large");
    product = multiplied(product, std::stoll(factor), where);
  }
  return product;
}

std::string size_text(std::int64_t bytes) {
  if (bytes % (1024 * 1024) == 0) return std::to_string(bytes / (1024 * 1024)) + " MiB";
  if (bytes % 1024 == 0) return std::to_string(bytes / 1024) + " KiB";
  return std::to_string(bytes) + " bytes";
}

/// In the largest unit that divides it.
std::string duration_text(std::int64_t micros) {
  constexpr std::int64_t day = 86'400'000'000;
  constexpr std::int64_t four_years = 1461 * day;
  if (micros % (four_years / 4) == 0) return std::to_string(micros / (four_years / 4)) + " years";
  constexpr std::array<std::pair<std::int64_t, const char*>, 5> units = {
      {{day, "d"}, {3'600'000'000, "h"}, {60'000'000, "m"}, {1'000'000, "s"}, {1'000, "ms"}}};
  for (const auto& [unit, name] : units) {
    if (micros % unit == 0) return std::to_string(micros / unit) + name;
  }
  return std::to_string(micros) + "us";
}

}  // namespace

Constants Constants::from(const fs::path& header) {
  static const std::regex opening(R"(namespace leasehold::(\w+) \{)");
  static const std::regex constant(R"(inline constexpr [\w:]+ (\w+) = ([^;]+);( *//.*)?)");
  Constants constants;
  std::stringstream in(read(header));
  std::string space;
  std::size_t number = 0;
  std::smatch match;
  for (std::string line; std::getline(in, line);) {
    const auto where = at_line(header, ++number);
    if (std::regex_match(line, match, opening)) {
      space = match[1];
    } else if (line.starts_with("}")) {
      space.clear();
    } else if (!space.empty() && !line.empty() && !line.starts_with("//")) {
      if (!std::regex_match(line, match, constant)) {
        fail(where + ": is no constant on a line of its own: write inline constexpr TYPE name = VALUE;");
      }
      constants.add(space + "." + match[1].str(), match[2], where);
    }
  }
  return constants;
}

void Constants::add(const std::string& name, const std::string& value, const std::string& where) {
  static const std::regex number(R"([0-9][0-9']*( \* [0-9][0-9']*)*)");
  static const std::regex duration(R"(std::chrono::(\w+)\(([0-9][0-9']*)\))");
  Constant constant{.is_size = name.ends_with("_bytes")};
  std::smatch match;
  if (std::regex_match(value, number)) {
    constant.value = product_of(value, where);
  } else if (std::regex_match(value, match, duration) && micros_of.contains(match[1])) {
    constant.unit = match[1];
    constant.count = product_of(match[2], where);
    constant.value = multiplied(constant.count, micros_of.at(constant.unit), where);
  } else {
    fail(where + ": cannot read '" + value + "': write a whole number, a product of some, or std::chrono::seconds(30)");
  }
  if (!constants_.emplace(name, constant).second) fail(where + ": there is a {" + name + "} already");
}

std::string Constants::put_into(const std::string& text, const fs::path& path, const std::string& dialect) const {
  static const std::regex mark(R"(\{(\w+\.[^{}\n]*)\})");
  std::string out;
  std::size_t line = 1;
  auto from = text.begin();
  for (std::sregex_iterator at(text.begin(), text.end(), mark), end; at != end; ++at) {
    const auto& found = (*at)[0];
    line += static_cast<std::size_t>(std::count(from, found.first, '\n'));
    out.append(from, found.first);
    out += written((*at)[1], dialect, at_line(path, line));
    from = found.second;
  }
  return out.append(from, text.end());
}

std::string Constants::written(const std::string& mark, const std::string& dialect, const std::string& where) const {
  const auto space = mark.find(' ');
  const auto found = constants_.find(mark.substr(0, space));
  if (found == constants_.end()) fail(where + ": {" + mark + "} is no constant of leasehold/limits.h");
  const auto form = space == std::string::npos ? "" : mark.substr(space);
  if (form.empty()) return literal(found->second, dialect);
  if (form == " as seconds") return as_seconds(found->second, where + ": {" + mark + "}");
  if (form == " as text") return as_text(found->second);
  fail(where + ": {" + mark + "}: write 'as seconds', 'as text' or nothing");
}

std::string Constants::literal(const Constant& constant, const std::string& dialect) {
  if (constant.unit.empty() || dialect != "postgresql") return std::to_string(constant.value);
  const auto unit = constant.count == 1 ? constant.unit.substr(0, constant.unit.size() - 1) : constant.unit;
  return "interval '" + std::to_string(constant.count) + " " + unit + "'";
}

std::string Constants::as_seconds(const Constant& constant, const std::string& where) {
  const auto second = micros_of.at("seconds");
  if (constant.unit.empty() || constant.value % second != 0) fail(where + " is no whole number of seconds");
  return std::to_string(constant.value / second);
}

std::string Constants::as_text(const Constant& constant) {
  if (!constant.unit.empty()) return duration_text(constant.value);
  return constant.is_size ? size_text(constant.value) : std::to_string(constant.value);
}

}  // namespace embed_sql
