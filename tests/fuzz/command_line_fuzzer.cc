// The command line of the tool: any words are understood or explained, and nothing is done before all were understood.
//
// This file comes first when it is linked, so that CLI11's parser, which is all in headers, is the copy with sanitizers
// and coverage in here; the commands themselves are those of the dev build.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/pages/pages.h"
#include "fuzz/property.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max);

namespace leasehold::fuzz {
namespace {

constexpr std::size_t most_words = 24;

struct Tool {
  cli::Context context;
  CLI::App root{"Leases in the database you already have", "leasehold"};

  Tool() { cli::add_all_commands(root, context); }
};

std::vector<std::string> words_in(Input input) {
  std::vector<std::string> words;
  while (!input.empty() && words.size() < most_words) {
    // A word of a command line ends at its first NUL.
    const auto line = input.part('\n');
    words.emplace_back(line.substr(0, line.find('\0')));
  }
  return words;
}

/// The property that a refusal breaks; empty: none.
std::string_view broken_by_refusal(const Tool& tool, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) {
    return cli::help_page(cli::deepest_command(tool.root)).empty() ? "every command has a help page" : "";
  }
  const auto message = cli::explain(tool.root, error);
  if (message.find('\n') != std::string::npos) return "a refusal is one line";
  return message.find("(see leasehold") == std::string::npos ? "a refusal says where help is" : "";
}

std::string_view broken_by_answer(const Tool& tool) {
  if (!tool.context.action) return "what was understood can be done";
  const auto& command = cli::deepest_command(tool.root);
  if (!command.get_subcommands({}).empty()) return "what can be done has no subcommands";
  // Those that run another command are left with its words.
  if (command.get_prefix_command()) return "";
  const auto leftover = tool.root.remaining(true);
  // CLI11 counts what only says that no options follow.
  const bool is_read = std::all_of(leftover.begin(), leftover.end(), [](const auto& word) { return word == "--"; });
  return is_read ? "" : "no word is left over";
}

std::string_view broken_property(Tool& tool, const std::vector<std::string>& words) {
  tool.context.action = nullptr;
  try {
    // CLI11 takes them from the end.
    tool.root.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    return broken_by_refusal(tool, error);
  }
  return broken_by_answer(tool);
}

/// Making the tree takes longer than anything else, so it serves many command lines. The tool makes a new one for each:
/// only what is wrong with that, too, counts.
void check_words(const std::vector<std::string>& words) {
  constexpr int most_uses = 500;
  static std::unique_ptr<Tool> tool;
  static int uses = 0;
  if (uses++ % most_uses == 0) tool = std::make_unique<Tool>();
  if (broken_property(*tool, words).empty()) return;
  tool = std::make_unique<Tool>();
  const auto broken = broken_property(*tool, words);
  require(broken.empty(), broken);
}

/// Every word of the tree: commands with what leads to them, options, and the values they may have.
std::vector<std::string> known_words() {
  Tool tool;
  std::vector<std::string> words = {"--", "--ttl=30s", "1", "x", "*/5 * * * *", "10m-15m", "2026-03-01T09:30:00Z"};
  for (const auto& command : cli::describe_all(tool.root)) {
    std::string path;
    for (std::size_t i = 1; i < command.path.size(); ++i) path += (i > 1 ? "\n" : "") + command.path[i];
    words.push_back(path);
    for (const auto& option : command.options) {
      words.insert(words.end(), option.names.begin(), option.names.end());
      words.insert(words.end(), option.values.begin(), option.values.end());
    }
  }
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

/// Puts a word that the tool knows where a word begins.
std::string with_known_word(std::string_view text, std::minstd_rand& random) {
  static const auto known = known_words();
  const auto at = text.find('\n', text.empty() ? 0 : random() % text.size());
  const auto begin = at == std::string_view::npos || random() % 4 == 0 ? 0 : at + 1;
  return std::string(text.substr(0, begin)) + known.at(random() % known.size()) + "\n" +
         std::string(text.substr(begin));
}

}  // namespace
}  // namespace leasehold::fuzz

/// Half of the changes are libFuzzer's own; but the words of two hundred options it would hardly find by itself.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max,
                                               unsigned int seed) {
  std::minstd_rand random(seed);
  if (random() % 2 == 0) return LLVMFuzzerMutate(data, size, max);
  const auto changed = leasehold::fuzz::with_known_word({reinterpret_cast<const char*>(data), size}, random);
  const auto length = std::min(changed.size(), max);
  std::copy_n(changed.begin(), length, data);
  return length;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace leasehold::fuzz;
  check_words(words_in(Input(data, size)));
  return 0;
}
