// The rules of `promtool check metrics`, and reading the text that Prometheus scrapes. Debian's package of promtool is
// 50 MB; these rules are few.
#pragma once

#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace leasehold::support {

struct ScrapedFamily {
  std::string type;
  std::string help;
  std::map<std::string, double> samples;  ///< by what stands before the value: `name{labels}`
};

struct Scrape {
  std::map<std::string, ScrapedFamily> families;
  std::vector<std::string> problems;

  /// The value of a sample; -1 without one.
  [[nodiscard]] double value(const std::string& sample) const {
    for (const auto& [name, family] : families) {
      if (const auto found = family.samples.find(sample); found != family.samples.end()) return found->second;
    }
    return -1;
  }
};

inline std::string family_of(const std::string& sample, const Scrape& scrape) {
  auto name = sample.substr(0, sample.find('{'));
  for (const std::string suffix : {"_bucket", "_sum", "_count"}) {
    if (!name.ends_with(suffix)) continue;
    auto base = name.substr(0, name.size() - suffix.size());
    const auto found = scrape.families.find(base);
    if (found != scrape.families.end() && found->second.type == "histogram") return base;
  }
  return name;
}

inline void lint_family(Scrape& scrape, const std::string& name, const ScrapedFamily& family) {
  const auto problem = [&](const std::string& what) { scrape.problems.push_back(name + ": " + what); };
  if (!std::regex_match(name, std::regex("[a-z][a-z0-9_]*"))) problem("a name is in lower case");
  if (family.help.empty()) problem("no help text");
  if (name.ends_with("_total") != (family.type == "counter")) problem("counters, and only they, end with _total");
  for (const auto* const suffix : {"_count", "_sum", "_bucket", "_info"}) {
    if (name.ends_with(suffix)) problem("ends like a part of a histogram");
  }
  const std::regex units("(^|_)(ms|us|milliseconds|microseconds|minutes|hours|days|kb|kib|mb|mib|percent)(_|$)");
  if (std::regex_search(name, units)) problem("is not in seconds or bytes");
  const std::regex types("(^|_)(counter|gauge|histogram|summary)(_|$)");
  if (std::regex_search(name, types)) problem("names its type");
  if (family.type != "counter" && family.type != "gauge" && family.type != "histogram") problem("has no type");
}

inline void read_sample(Scrape& scrape, const std::string& line) {
  static const std::regex form(R"(([a-z][a-z0-9_]*(\{([a-z_]+="([^"\\]|\\.)*",?)*\})?) ([-+.0-9einfINF]+))");
  std::smatch parts;
  if (!std::regex_match(line, parts, form)) {
    scrape.problems.push_back("not a sample: " + line);
    return;
  }
  const auto family = scrape.families.find(family_of(parts[1], scrape));
  if (family == scrape.families.end()) {
    scrape.problems.push_back("no TYPE before: " + line);
  } else if (!family->second.samples.emplace(parts[1], std::stod(parts[5])).second) {
    scrape.problems.push_back("twice: " + line);
  }
}

inline Scrape scrape_of(const std::string& text) {
  Scrape scrape;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string hash;
    std::string what;
    std::string name;
    if (!line.starts_with("# ")) {
      read_sample(scrape, line);
      continue;
    }
    words >> hash >> what >> name;
    std::string rest;
    std::getline(words >> std::ws, rest);
    auto& field = what == "HELP" ? scrape.families[name].help : scrape.families[name].type;
    if (!field.empty()) scrape.problems.push_back(name + ": described twice");
    field = rest;
  }
  for (const auto& [name, family] : std::map(scrape.families)) lint_family(scrape, name, family);
  if (!text.ends_with('\n')) scrape.problems.emplace_back("the last line does not end");
  return scrape;
}

}  // namespace leasehold::support
