// leasehold man: manual pages, generated from the command tree.
#include <fmt/format.h>
#include <filesystem>
#include <fstream>
#include <memory>

#include "cli/command.h"
#include "cli/pages/pages.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "model/json.h"

namespace leasehold::cli {
namespace {

struct ManOptions {
  std::vector<std::string> command;
  std::string into;
};

int print_page(const Context& context, const CLI::App& root, const std::vector<std::string>& words) {
  const auto found = find_command(root, words);
  if (!found) return report(context, found.error());
  const auto page = man_page(describe(**found));
  print_line(context.json ? model::json_object({{"page", page}}) : page);
  return exit_code::ok;
}

int write_pages(const Context& context, const CLI::App& root, const std::filesystem::path& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  for (const auto& command : describe_all(root)) {
    const auto file = folder / (command.joined('-') + ".1");
    std::ofstream out(file);
    out << man_page(command) << '\n';
    if (!out.flush()) {
      return report(context, {.code = Errc::denied, .message = "cannot write " + file.string()});
    }
  }
  if (context.json) print_line(model::json_object({{"folder", folder.string()}}));
  return exit_code::ok;
}

}  // namespace

void add_man(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "man", "Print the manual page of a command",
                              {"leasehold man lock run | man -l -", "leasehold man --into /usr/local/share/man/man1"});
  auto options = std::make_shared<ManOptions>();
  command->add_option("COMMAND", options->command, "A command, e.g. lock run (default: leasehold itself)")
      ->type_name("");
  command->add_option("--into", options->into, "Write the pages of all commands into this folder")
      ->check(not_empty)
      ->type_name("FOLDER");
  set_action(*command, context, [command, &context, options] {
    const auto& root = root_of(*command);
    return options->into.empty() ? print_page(context, root, options->command)
                                 : write_pages(context, root, options->into);
  });
}

namespace {

/// Literal text for roff: no escapes, no requests at the start of a line, hyphens that can be copied.
std::string roff(std::string_view text) {
  std::string out;
  if (text.starts_with('.') || text.starts_with('\'')) out += "\\&";
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'') {
      out += "\\(aq";
    } else if (c == '`') {
      out += "\\(ga";
    } else {
      out += c;
    }
  }
  return out;
}

std::string synopsis(const CommandText& command) {
  auto line = fmt::format(".B {}\n", roff(command.joined()));
  if (!command.options.empty()) line += "[\\fIOPTIONS\\fR]\n";
  for (const auto& option : command.options) {
    if (!option.argument) continue;
    const auto name = fmt::format("\\fI{}\\fR{}", roff(option.names.front()), option.repeated ? "..." : "");
    line += option.required ? name + "\n" : "[" + name + "]\n";
  }
  if (!command.commands.empty()) line += "\\fICOMMAND\\fR\n";
  return line;
}

std::string option_entry(const OptionText& option) {
  std::string names;
  for (const auto& name : option.names) {
    names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", roff(name));
  }
  if (!option.value.empty() && !option.argument) names += fmt::format(" \\fI{}\\fR", roff(option.value));
  auto entry = fmt::format(".TP\n{}\n{}", names, roff(option.help));
  if (option.required) entry += " (required)";
  if (!option.variable.empty()) entry += fmt::format("; else from \\fB{}\\fR", option.variable);
  return entry + "\n";
}

/// Arguments first, then the command's own options, then the common ones.
std::string options_section(const CommandText& command) {
  std::string arguments;
  std::string own;
  std::string common;
  for (const auto& option : command.options) {
    auto& part = option.argument ? arguments : option.common ? common : own;
    part += option_entry(option);
  }
  const auto form = command.duration_form();
  return ".SH OPTIONS\n" + arguments + own + common + (form.empty() ? "" : ".PP\n" + roff(form) + "\n");
}

std::string commands_section(const CommandText& command) {
  if (command.commands.empty()) return "";
  std::string text = ".SH COMMANDS\n";
  for (std::size_t i = 0; i < command.commands.size(); ++i) {
    text += fmt::format(".TP\n\\fB{}\\-{}\\fR(1)\n{}\n", roff(command.joined('-')), roff(command.commands[i]),
                        roff(command.commands_help[i]));
  }
  return text;
}

std::string examples_section(const CommandText& command) {
  std::string text = ".SH EXAMPLES\n.nf\n";
  for (const auto& example : command.examples) text += roff(example) + "\n";
  return text + ".fi\n";
}

constexpr std::string_view exit_status = R"(.SH EXIT STATUS
.TP
0
success
.TP
1
failure
.TP
2
the command line or an argument is wrong; nothing was done
.TP
3
nothing to do: the queue is empty, or the schedule is not due
.TP
4
not found
.TP
69
the store did not answer: who holds what is unknown
.TP
75
another holder has it, a limit is reached, the queue is paused, or the wait ran out
.TP
76
the lease is lost: the token is not the current one, or the session is stale or unknown; nothing was changed
.TP
130, 143
SIGINT or SIGTERM ended the wait (128 plus the signal number)
.PP
A command that watches or serves until a signal stops it exits with 0.
)";

constexpr std::string_view exit_status_of_run = R"(.PP
\fBleasehold lock run\fR, \fBelect\fR, \fBsession run\fR and \fBschedule run\fR return the command's exit code, or
128 plus the number of the signal that killed it. These, \fBwork\fR and \fBchunk run\fR have three more:
.TP
125
the command could not be run under the lease
.TP
126
the command exists but cannot be started
.TP
127
the command does not exist
)";

constexpr std::string_view environment = R"(.SH ENVIRONMENT
.TP
\fBLEASEHOLD_DB\fR
the store, unless \fB\-\-db\fR is given
.TP
\fBLEASEHOLD_TOKEN\fR
the token, unless \fB\-\-token\fR is given or a wrapper has set it for another kind of thing
.TP
\fBLEASEHOLD_JOB_ID\fR, \fBLEASEHOLD_JOB_TOKEN\fR
the job and its token, for commands on a held job that name none
.TP
\fBLEASEHOLD_LOCK\fR, \fBLEASEHOLD_LOCK_TOKEN\fR
the lock and its token, for commands on a held lock that name none
.TP
\fBLEASEHOLD_SET\fR, \fBLEASEHOLD_CHUNK\fR, \fBLEASEHOLD_CHUNK_TOKEN\fR
the set, the chunk and its token, for commands on a held chunk that name none
.TP
\fBLEASEHOLD_SCHEDULE\fR, \fBLEASEHOLD_SCHEDULE_TOKEN\fR
the schedule and the token of its run, for commands on a run that name none
.TP
\fBLEASEHOLD_SESSION\fR, \fBLEASEHOLD_SESSION_TOKEN\fR
the session and its token, for commands on sessions or claims that name none
.TP
\fBLEASEHOLD_JOB_DB\fR, \fBLEASEHOLD_LOCK_DB\fR, ...
the store of the wrapper that holds the job, the lock, ...; overrides \fBLEASEHOLD_DB\fR
.TP
\fBLEASEHOLD_INSTANCES\fR
the holders that this process runs inside: it never waits for what they hold
.TP
\fBXDG_STATE_HOME\fR
the folder of the default store, leasehold/leasehold.db; ~/.local/state if unset
.TP
\fBCOLUMNS\fR
the width of help; if unset, that of the terminal, or 80 columns
.TP
\fBNO_COLOR\fR
if not empty: no colours
)";

std::string see_also(const CommandText& command) {
  if (command.path.size() < 2) return "";
  auto parent = command;
  parent.path.pop_back();
  const auto root = parent.path.size() > 1 ? ",\n.BR leasehold (1)\n" : "\n";
  return fmt::format(".SH SEE ALSO\n.BR {} (1){}", roff(parent.joined('-')), root);
}

}  // namespace

std::string man_page(const CommandText& command) {
  std::string page =
      fmt::format(".TH {} 1 \"\" \"leasehold {}\" \"leasehold\"\n", roff(command.joined('-')), LEASEHOLD_VERSION);
  page += fmt::format(".SH NAME\n{} \\- {}\n", roff(command.joined('-')), roff(command.help));
  page += ".SH SYNOPSIS\n" + synopsis(command);
  page += fmt::format(".SH DESCRIPTION\n{}.\n", roff(command.help));
  page += commands_section(command);
  page += options_section(command);
  page += examples_section(command);
  page += exit_status;
  const bool runs_a_command =
      command.path.back() == "run" || command.path.back() == "elect" || command.path.back() == "work";
  if (command.path.size() == 1 || runs_a_command) page += exit_status_of_run;
  page += environment;
  page += see_also(command);
  page.pop_back();
  return page;
}

}  // namespace leasehold::cli
