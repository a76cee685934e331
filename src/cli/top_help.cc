#include "cli/top_help.h"

#include <fmt/format.h>

namespace leasehold::cli {
namespace {

std::string panel_names(const std::vector<TopPanel>& panels) {
  std::string names;
  for (const auto& panel : panels) names += (names.empty() ? "" : ", ") + panel.name;
  return names;
}

}  // namespace

std::string keys_line(std::size_t panels) {
  return fmt::format("q quit  ? help  p pause  tab, 1-{} panel  0 all  arrows scroll", panels);
}

std::vector<std::string> help_lines(const std::vector<TopPanel>& panels) {
  return {"",
          fmt::format("1-{}         one panel: {}", panels.size(), panel_names(panels)),
          "0, esc      all panels",
          "tab, right  next panel; shift-tab, left: the one before",
          "up, down    scroll the panel; also k, j",
          "pgup, pgdn  a page; also b, space",
          "home, end   first, last row; also g, G",
          "p           pause, and go on",
          "?           this page, and back",
          "q           quit; also ctrl-c",
          "",
          "Nothing is written to the store. Ages are by the store's clock."};
}

}  // namespace leasehold::cli
