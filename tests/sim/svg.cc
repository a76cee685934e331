#include "sim/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

namespace leasehold::sim {
namespace {

constexpr double width = 1400;
constexpr double margin = 70;
constexpr double right_margin = 50;
constexpr double bar_height = 16;
constexpr double bar_gap = 3;
constexpr double lane_gap = 18;
constexpr double head = 60;

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char one : text) {
    if (one == '<') {
      safe += "&lt;";
    } else if (one == '&') {
      safe += "&amp;";
    } else if (one == '"') {
      safe += "&quot;";
    } else {
      safe += one;
    }
  }
  return safe;
}

/// One colour for each kind of key.
const char* colour_of(const std::string& key) {
  static const std::map<std::string, const char*> colours{{"lock", "#4c78a8"},  {"job", "#f58518"},
                                                          {"chunk", "#54a24b"}, {"session", "#b279a2"},
                                                          {"item", "#e45756"},  {"schedule", "#72b7b2"}};
  const auto found = colours.find(key.substr(0, key.find(' ')));
  return found == colours.end() ? "#888888" : found->second;
}

class Timeline {
 public:
  Timeline(const Report& report, std::int64_t steps)
      : report_(report), to_(report.steps), from_(std::max<std::int64_t>(0, to_ - steps)) {}

  std::string draw() {
    lay_out();
    std::string body;
    for (int client = 0; client < clients(); ++client) body += lane(client);
    body += machine() + axis() + title();
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
        "font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" "
        "fill=\"white\"/>\n{2}</svg>\n",
        width, bottom_ + 50, body);
  }

 private:
  struct Placed {
    const Bar* bar;
    int row;
  };

  [[nodiscard]] int clients() const { return report_.options.clients; }
  [[nodiscard]] double x(std::int64_t step) const {
    const auto whole = static_cast<double>(std::max<std::int64_t>(1, to_ - from_));
    const auto part = static_cast<double>(std::clamp(step, from_, to_) - from_);
    return margin + part / whole * (width - margin - right_margin);
  }
  /// When it was given up or could not be trusted any more.
  [[nodiscard]] std::int64_t end_of(const Bar& bar) const {
    const auto last = bar.to.value_or(to_);
    auto step = bar.from;
    while (step < last && report_.notes.age_at(step) < bar.trusted_to) ++step;
    return step;
  }

  /// Bars of a lane that overlap in time stand below each other.
  void lay_out() {
    double top = head;
    for (int client = 0; client < clients(); ++client) {
      std::vector<std::int64_t> free_from;
      for (const auto& bar : report_.notes.bars()) {
        if (bar.client != client || end_of(bar) < from_) continue;
        std::size_t row = 0;
        while (row < free_from.size() && free_from[row] > bar.from) ++row;
        if (row == free_from.size()) free_from.push_back(0);
        free_from[row] = end_of(bar);
        placed_[client].push_back({&bar, static_cast<int>(row)});
      }
      tops_.push_back(top);
      rows_.push_back(std::max<int>(1, static_cast<int>(free_from.size())));
      top += rows_.back() * (bar_height + bar_gap) + lane_gap;
    }
    bottom_ = top;
  }

  std::string lane(int client) {
    const auto top = tops_[static_cast<std::size_t>(client)];
    const auto height = rows_[static_cast<std::size_t>(client)] * (bar_height + bar_gap) + 4;
    auto text = fmt::format("<text x=\"10\" y=\"{:.0f}\" font-weight=\"bold\">client {}</text>\n", top + 12, client);
    text += fmt::format("<rect x=\"{}\" y=\"{:.0f}\" width=\"{}\" height=\"{:.0f}\" fill=\"#f5f5f5\"/>\n", margin,
                        top - 2, width - margin - right_margin, height);
    for (const auto& mark : report_.notes.marks()) {
      if (mark.client == client && mark.until.value_or(mark.at) >= from_) text += mark_of(mark, top - 2, height);
    }
    for (const auto& placed : placed_[client]) text += bar_of(*placed.bar, top + placed.row * (bar_height + bar_gap));
    return text;
  }

  std::string bar_of(const Bar& bar, double y) const {
    const auto left = x(bar.from);
    const auto wide = std::max(2.0, x(end_of(bar)) - left);
    const auto label = fmt::format("{} …{}", bar.key, bar.token % 10'000'000);
    auto text = fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.0f}\" width=\"{:.1f}\" height=\"{}\" rx=\"3\" fill=\"{}\" fill-opacity=\"0.8\">"
        "<title>{} token {}</title></rect>\n",
        left, y, wide, bar_height, colour_of(bar.key), escaped(bar.key), bar.token);
    if (wide > 7.0 * static_cast<double>(label.size()) / 1.2) {
      text +=
          fmt::format("<text x=\"{:.1f}\" y=\"{:.0f}\" fill=\"white\">{}</text>\n", left + 4, y + 12, escaped(label));
    }
    return text;
  }

  [[nodiscard]] std::string mark_of(const Mark& mark, double y, double height) const {
    const auto left = x(mark.at);
    if (mark.what == "pause") {
      return fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.0f}\" width=\"{:.1f}\" height=\"{:.0f}\" fill=\"#ffd54f\" fill-opacity=\"0.5\">"
          "<title>pause</title></rect>\n",
          left, y, std::max(1.0, x(mark.until.value_or(to_)) - left), height);
    }
    return fmt::format(
        "<line x1=\"{0:.1f}\" y1=\"{1:.0f}\" x2=\"{0:.1f}\" y2=\"{2:.0f}\" stroke=\"#d32f2f\" stroke-width=\"2\"/>"
        "<text x=\"{3:.1f}\" y=\"{4:.0f}\" fill=\"#d32f2f\">{5}</text>\n",
        left, y, y + height, std::min(left + 3, width - 60), y + height + 10, escaped(mark.what));
  }

  std::string machine() const {
    std::string text;
    for (const auto& mark : report_.notes.marks()) {
      if (mark.client == -1 && mark.at >= from_) text += mark_of(mark, head - 10, bottom_ - head);
    }
    if (!report_.violation) return text;
    return text +
           fmt::format(
               "<line x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2:.0f}\" stroke=\"black\" stroke-width=\"2\" "
               "stroke-dasharray=\"6 3\"/>\n",
               x(to_), head - 14, bottom_);
  }

  std::string axis() const {
    std::string text;
    for (int tick = 0; tick <= 10; ++tick) {
      const auto step = from_ + (to_ - from_) * tick / 10;
      text +=
          fmt::format("<text x=\"{:.1f}\" y=\"{:.0f}\" text-anchor=\"middle\" fill=\"#555555\">{} ({:.2f} s)</text>\n",
                      x(step), bottom_ + 20, step, static_cast<double>(report_.notes.age_at(step).count()) / 1e6);
    }
    return text;
  }

  [[nodiscard]] std::string title() const {
    const auto what =
        report_.violation ? report_.violation->invariant + ": " + report_.violation->what : "no violation";
    return fmt::format(
        "<text x=\"10\" y=\"20\" font-size=\"14\" font-weight=\"bold\">seed {}, step {}: {}</text>\n"
        "<text x=\"10\" y=\"38\" fill=\"#555555\">bars: grants that a client believes in, with the end of their "
        "tokens; "
        "yellow: paused; red: gone</text>\n",
        report_.options.seed, report_.steps, escaped(what));
  }

  const Report& report_;
  std::int64_t to_;
  std::int64_t from_;
  std::map<int, std::vector<Placed>> placed_;
  std::vector<double> tops_;
  std::vector<int> rows_;
  double bottom_ = 0;
};

}  // namespace

std::string timeline_svg(const Report& report, std::int64_t steps) { return Timeline(report, steps).draw(); }

}  // namespace leasehold::sim
