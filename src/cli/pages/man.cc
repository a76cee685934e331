// leasehold man: manual pages, written from the command tree.
#include <fmt/format.h>
#include <filesystem>
#include <fstream>
#include <memory>

#include "cli/command.h"
#include "cli/pages/pages.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "wire/wire.h"

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
  print_line(context.json ? wire::object({{"page", page}}) : page);
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
  if (context.json) print_line(wire::object({{"folder", folder.string()}}));
  return exit_code::ok;
}

}  // namespace

void add_man(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "man", "Print the manual page of a command, for man",
                              {"leasehold man lock run | man -l -", "leasehold man --into /usr/local/share/man/man1"});
  auto options = std::make_shared<ManOptions>();
  command->add_option("COMMAND", options->command, "Which command, e.g. lock run (default: leasehold itself)")
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

/// Text that roff takes literally: no escapes, no requests at the start of a line, hyphens that can be copied.
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

/// Arguments first, then the command's own options, then those that every command has.
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
it was done
.TP
1
it failed
.TP
2
the command line or an argument is wrong; nothing was done
.TP
3
there was nothing to do, as with an empty queue or a schedule that is not due
.TP
4
there is no such thing
.TP
69
the store could not be asked, or its answer was lost: this says nothing about who holds what
.TP
75
somebody else holds it or runs it, a limit is reached, the queue is paused, or the wait ran out
.TP
76
the lease is lost: the token is not the current one, or the session is stale or unknown; nothing was changed
.TP
130, 143
SIGINT or SIGTERM came before it got what it waited for (128 plus the number of the signal)
.PP
A command that only watches, or serves until it is told to stop, has then done what it was asked: 0.
)";

constexpr std::string_view exit_status_of_run = R"(.PP
\fBleasehold lock run\fR, \fBelect\fR, \fBsession run\fR and \fBschedule run\fR give the command's own exit code, or
128 plus the number of the signal that ended it. These, \fBwork\fR and \fBchunk run\fR know three more:
.TP
125
the command could not be run under the lease
.TP
126
the command is there but cannot be started
.TP
127
there is no such command
)";

constexpr std::string_view environment = R"(.SH ENVIRONMENT
.TP
\fBLEASEHOLD_DB\fR
the store, where \fB\-\-db\fR is not given
.TP
\fBLEASEHOLD_TOKEN\fR
the token, where \fB\-\-token\fR is not given and no wrapper has set it for something of another kind
.TP
\fBLEASEHOLD_JOB_ID\fR, \fBLEASEHOLD_JOB_TOKEN\fR
the job and its token, where a command about a held job names none
.TP
\fBLEASEHOLD_LOCK\fR, \fBLEASEHOLD_LOCK_TOKEN\fR
the lock and its token, where a command about a held lock names none
.TP
\fBLEASEHOLD_SET\fR, \fBLEASEHOLD_CHUNK\fR, \fBLEASEHOLD_CHUNK_TOKEN\fR
the set, the chunk and its token, where a command about a held chunk names none
.TP
\fBLEASEHOLD_SCHEDULE\fR, \fBLEASEHOLD_SCHEDULE_TOKEN\fR
the schedule and the token of its run, where a command about a run names none
.TP
\fBLEASEHOLD_SESSION\fR, \fBLEASEHOLD_SESSION_TOKEN\fR
the session and its token, where a command about sessions or claims names none
.TP
\fBLEASEHOLD_JOB_DB\fR, \fBLEASEHOLD_LOCK_DB\fR, ...
the store of the wrapper that holds the job, the lock, ...; goes before \fBLEASEHOLD_DB\fR
.TP
\fBLEASEHOLD_INSTANCES\fR
the holders that this runs inside of: what they hold is not waited for
.TP
\fBXDG_STATE_HOME\fR
the default store is leasehold/leasehold.db in it; ~/.local/state where it is not set
.TP
\fBCOLUMNS\fR
how wide help is, where it is set; otherwise as wide as the terminal, or 80 columns
.TP
\fBNO_COLOR\fR
when not empty: no colours
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
