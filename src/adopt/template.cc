#include "adopt/template.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"

namespace leasehold::adopt {
namespace {

constexpr std::string_view marker = "--:";

std::optional<Phase> phase_from(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, Phase>, 4> words = {{{"prepare", Phase::prepare},
                                                                        {"concurrently", Phase::concurrently},
                                                                        {"cutover", Phase::cutover},
                                                                        {"act", Phase::act}}};
  for (const auto& [name, phase] : words) {
    if (name == word) return phase;
  }
  return std::nullopt;
}

std::string upper_case(std::string_view text) {
  std::string upper(text);
  for (auto& letter : upper) {
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  }
  return upper;
}

/// Cuts the first word off.
std::string_view take_word(std::string_view& text) {
  text = trimmed(text);
  const auto length = std::min(text.find(' '), text.size());
  const auto word = text.substr(0, length);
  text = trimmed(text.substr(length));
  return word;
}

bool is_value_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

class Renderer {
 public:
  Renderer(std::string_view file, const Values& values) : file_(file), values_(values) {}

  Result<std::vector<Step>> render(std::string_view text) {
    while (!text.empty()) {
      const auto length = std::min(text.find('\n'), text.size());
      ++line_;
      read_line(text.substr(0, length));
      if (error_) return std::move(*error_);
      text.remove_prefix(std::min(length + 1, text.size()));
    }
    if (!kept_.empty()) fail("an `if` without `end`");
    finish_step();
    if (error_) return std::move(*error_);
    return std::move(steps_);
  }

 private:
  void fail(std::string_view what) {
    if (!error_) error_ = Error{.code = Errc::internal, .message = fmt::format("{}:{}: {}", file_, line_, what)};
  }

  [[nodiscard]] bool keeping() const {
    return std::all_of(kept_.begin(), kept_.end(), [](bool kept) { return kept; });
  }

  void read_line(std::string_view line) {
    auto rest = trimmed(line);
    if (rest.starts_with(marker)) {
      rest.remove_prefix(marker.size());
      read_command(rest);
    } else if (keeping() && in_step_) {
      add_line(line);
    }
  }

  void read_command(std::string_view rest) {
    const auto command = take_word(rest);
    if (command == "if") {
      const bool negated = rest.starts_with("not ");
      if (negated) take_word(rest);
      kept_.push_back(value_of(rest).empty() == negated);
    } else if (command == "else" || command == "end") {
      if (kept_.empty()) return fail("no `if` before it");
      if (command == "else") kept_.back() = !kept_.back();
      if (command == "end") kept_.pop_back();
    } else if (!keeping()) {
      return;
    } else if (command == "step") {
      start_step(rest);
    } else if (command == "down") {
      if (!in_step_) return fail("no step before it");
      steps_.back().down = replaced(rest);
    } else {
      fail(fmt::format("unknown command {}", quoted(command)));
    }
  }

  void start_step(std::string_view rest) {
    finish_step();
    const auto phase = phase_from(take_word(rest));
    if (!phase) return fail("a step needs a phase");
    const std::string kind(take_word(rest));
    auto name = replaced(rest);
    auto down = fmt::format("DROP {} {}", upper_case(kind), name);
    steps_.push_back({.phase = *phase, .kind = kind, .name = std::move(name), .up = {}, .down = std::move(down)});
    if (*phase == Phase::act) steps_.back().down.clear();
    in_step_ = true;
  }

  void finish_step() {
    if (!in_step_) return;
    auto& up = steps_.back().up;
    up.erase(up.find_last_not_of(" \n") + 1);
    up.erase(0, up.find_first_not_of(" \n"));
    if (up.ends_with(';') && steps_.back().phase != Phase::act) up.pop_back();
    in_step_ = false;
  }

  void add_line(std::string_view line) {
    const auto text = replaced(line);
    // A line with nothing but an empty value would leave a gap.
    if (trimmed(text).empty() && !trimmed(line).empty()) return;
    steps_.back().up += text + '\n';
  }

  std::string_view value_of(std::string_view name) {
    const auto found = values_.find(name);
    if (found != values_.end()) return found->second;
    fail(fmt::format("there is no value {}", quoted(name)));
    return {};
  }

  std::string replaced(std::string_view line) {
    const auto indent = std::min(line.find_first_not_of(' '), line.size());
    std::string text;
    while (!line.empty()) {
      const auto open = std::min(line.find('{'), line.size());
      text += line.substr(0, open);
      line.remove_prefix(open);
      if (line.empty()) break;
      const auto end = std::find_if_not(line.begin() + 1, line.end(), is_value_letter) - line.begin();
      const auto length = static_cast<std::size_t>(end);
      const bool named = length > 1 && length < line.size() && line[length] == '}' && line[1] >= 'a' && line[1] <= 'z';
      if (named) append_indented(text, value_of(line.substr(1, length - 1)), indent);
      if (!named) text += '{';
      line.remove_prefix(named ? length + 1 : 1);
    }
    return text;
  }

  static void append_indented(std::string& text, std::string_view value, std::size_t indent) {
    for (const char c : value) {
      text += c;
      if (c == '\n') text.append(indent, ' ');
    }
  }

  std::string_view file_;
  const Values& values_;
  int line_ = 0;
  std::vector<bool> kept_{};  ///< for each open `if`: whether its lines are kept
  bool in_step_ = false;
  std::vector<Step> steps_{};
  std::optional<Error> error_{};
};

}  // namespace

Result<std::vector<Step>> render(std::string_view text, std::string_view file, const Values& values) {
  return Renderer(file, values).render(text);
}

}  // namespace leasehold::adopt
