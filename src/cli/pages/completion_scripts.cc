#include <fmt/format.h>

#include "cli/pages/pages.h"

namespace leasehold::cli {
namespace {

/// 'text' quoted for a shell.
std::string single_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// Everything that may follow the command: subcommands, known words of its arguments, options.
std::vector<std::string> words_after(const CommandText& command) {
  auto words = command.commands;
  for (const auto& option : command.options) {
    const auto& offered = option.argument ? option.values : option.names;
    words.insert(words.end(), offered.begin(), offered.end());
  }
  return words;
}

/// case branches that recognise the paths below the root: "leasehold lock"|"leasehold lock acquire".
std::string known_paths(const std::vector<CommandText>& commands) {
  std::string paths;
  for (const auto& command : commands) {
    if (command.path.size() < 2) continue;
    paths += (paths.empty() ? "" : "|") + single_quoted(command.joined());
  }
  return paths;
}

/// Branches 'PATH -o'|'PATH --option' for options with known values, or with names from the store.
template <typename Line>
std::string value_branches(const std::vector<CommandText>& commands, Line line) {
  std::string text;
  for (const auto& command : commands) {
    for (const auto& option : command.options) {
      if (option.argument || (option.values.empty() && option.names_of.empty())) continue;
      std::string places;
      for (const auto& name : option.names) {
        places += (places.empty() ? "" : "|") + single_quoted(command.joined() + " " + name);
      }
      text += line(places, option);
    }
  }
  return text;
}

/// Branches that return what the arguments of a command name: "queue".
std::string argument_branches(const std::vector<CommandText>& commands) {
  std::string text;
  for (const auto& command : commands) {
    for (const auto& option : command.options) {
      if (!option.argument || option.names_of.empty()) continue;
      text += fmt::format("    {}) kind={} ;;\n", single_quoted(command.joined()), option.names_of);
      break;
    }
  }
  return text;
}

/// zsh requires word:description, with colons of the word escaped.
std::string described(std::string_view word, std::string_view help) {
  return single_quoted(fmt::format("{}:{}", word, help));
}

std::string zsh_words(const CommandText& command) {
  std::string words;
  for (std::size_t i = 0; i < command.commands.size(); ++i) {
    words += " " + described(command.commands[i], command.commands_help[i]);
  }
  for (const auto& option : command.options) {
    for (const auto& word : option.argument ? option.values : option.names) words += " " + described(word, option.help);
  }
  return words;
}

std::string fish_option(const std::string& condition, const OptionText& option) {
  auto line = fmt::format("complete -c leasehold -n {}", condition);
  for (const auto& name : option.names) {
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (!option.value.empty()) line += " -x";
  if (!option.values.empty()) {
    line += fmt::format(" -a {}", single_quoted(fmt::format("{}", fmt::join(option.values, " "))));
  } else if (!option.names_of.empty()) {
    line += fmt::format(" -a '(__leasehold_names {})'", option.names_of);
  }
  return line + fmt::format(" -d {}\n", single_quoted(option.help));
}

std::string fish_lines(const CommandText& command) {
  const auto condition = single_quoted(fmt::format("test (__leasehold_path) = '{}'", command.joined()));
  std::string lines;
  for (std::size_t i = 0; i < command.commands.size(); ++i) {
    lines += fmt::format("complete -c leasehold -n {} -a {} -d {}\n", condition, command.commands[i],
                         single_quoted(command.commands_help[i]));
  }
  for (const auto& option : command.options) {
    if (!option.argument) {
      lines += fish_option(condition, option);
    } else if (!option.values.empty()) {
      lines += fmt::format("complete -c leasehold -n {} -a {} -d {}\n", condition,
                           single_quoted(fmt::format("{}", fmt::join(option.values, " "))), single_quoted(option.help));
    } else if (!option.names_of.empty()) {
      lines += fmt::format("complete -c leasehold -n {} -a '(__leasehold_names {})'\n", condition, option.names_of);
    }
  }
  return lines;
}

}  // namespace

std::string bash_completion(const std::vector<CommandText>& commands) {
  std::string branches;
  for (const auto& command : commands) {
    branches += fmt::format("    {}) words={} ;;\n", single_quoted(command.joined()),
                            single_quoted(fmt::format("{}", fmt::join(words_after(command), " "))));
  }
  const auto values = value_branches(commands, [](const std::string& places, const OptionText& option) {
    return fmt::format("    {}) words={} kind={} ;;\n", places,
                       single_quoted(fmt::format("{}", fmt::join(option.values, " "))), option.names_of);
  });
  return fmt::format(R"sh(# leasehold for bash: source <(leasehold completion bash)
_leasehold() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} at=leasehold words= kind= word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${{COMP_WORDS[i]}}
    if [[ $word == -- ]]; then
      COMPREPLY=($(compgen -c -f -- "$current"))
      return
    fi
    case "$at $word" in
    {}) at="$at $word" ;;
    esac
  done
  case "$at" in
{}  esac
  case "$at" in
{}  esac
  case "$at ${{COMP_WORDS[COMP_CWORD - 1]}}" in
{}  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [[ -n $kind && $current != -* ]] || return
  local -a line db=()
  read -ra line <<< "$COMP_LINE"
  for ((i = 1; i + 1 < ${{#line[@]}}; i++)); do
    [[ ${{line[i]}} == --db ]] && db=(--db "${{line[i + 1]}}")
  done
  # Not by compgen -W: it would expand what is in a name.
  while IFS= read -r word; do
    [[ $word == "$current"* ]] && COMPREPLY+=("$(printf %q "$word")")
  done < <("${{COMP_WORDS[0]}}" completion-names "$kind" "${{db[@]}}" 2> /dev/null)
}}
complete -o default -F _leasehold leasehold)sh",
                     known_paths(commands), branches, argument_branches(commands), values);
}

std::string zsh_completion(const std::vector<CommandText>& commands) {
  std::string branches;
  for (const auto& command : commands) {
    branches += fmt::format("    {}) offered=({}) ;;\n", single_quoted(command.joined()), zsh_words(command).substr(1));
  }
  const auto values = value_branches(commands, [](const std::string& places, const OptionText& option) {
    return option.values.empty()
               ? fmt::format("    {}) _leasehold_names {}; return ;;\n", places, option.names_of)
               : fmt::format("    {}) compadd {}; return ;;\n", places, fmt::join(option.values, " "));
  });
  return fmt::format(R"sh(#compdef leasehold
# leasehold for zsh: leasehold completion zsh > a folder of $fpath, as _leasehold
_leasehold_names() {{
  local -a db names
  local at=${{words[(i)--db]}}
  (( at < CURRENT - 1 )) && db=(--db "${{(Q)words[at + 1]}}")
  names=("${{(@f)$(leasehold completion-names $1 $db 2> /dev/null)}}")
  compadd -- ${{names:#}}
}}
_leasehold() {{
  local at=leasehold word kind
  local -a offered
  for word in "${{(@)words[2,CURRENT-1]}}"; do
    if [[ $word == -- ]]; then
      _command_names -e
      _files
      return
    fi
    case "$at $word" in
    {}) at="$at $word" ;;
    esac
  done
  case "$at ${{words[CURRENT-1]}}" in
{}  esac
  case "$at" in
{}  esac
  case "$at" in
{}  esac
  [[ -n $kind && $PREFIX != -* ]] && _leasehold_names $kind
  _describe leasehold offered || _files
}}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _leasehold "$@"
else
  compdef _leasehold leasehold
fi)sh",
                     known_paths(commands), values, branches, argument_branches(commands));
}

std::string fish_completion(const std::vector<CommandText>& commands) {
  std::string paths;
  std::string lines;
  for (const auto& command : commands) {
    if (command.path.size() > 1) paths += " " + single_quoted(command.joined());
    lines += fish_lines(command);
  }
  return fmt::format(R"sh(# leasehold for fish: leasehold completion fish > ~/.config/fish/completions/leasehold.fish
function __leasehold_path
  set -l at leasehold
  for word in (commandline -opc)[2..-1]
    test "$word" = --; and break
    contains -- "$at $word"{}; and set at "$at $word"
  end
  echo $at
end
function __leasehold_names
  set -l words (commandline -opc)
  set -l at (contains -i -- --db $words); and set -l db --db $words[(math $at + 1)]
  leasehold completion-names $argv[1] $db 2> /dev/null
end
complete -c leasehold -f
{}complete -c leasehold -n 'contains -- -- (commandline -opc)' -F)sh",
                     paths, lines);
}

}  // namespace leasehold::cli
