// leasehold doctor: settings and circumstances that make leases unsafe.
#include <algorithm>
#include <memory>

#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct DoctorOptions {
  bool rehome = false;
  bool yes = false;
};

void print_finding(const Finding& finding) {
  const auto tone = finding.level == Finding::Level::fine     ? Tone::good
                    : finding.level == Finding::Level::advice ? Tone::warning
                                                              : Tone::bad;
  const std::string level = wire::to_string(finding.level);
  print("{}{}  {}", coloured(tone, level), std::string(6 - level.size(), ' '), printable(finding.what));
  if (!finding.advice.empty()) print("        {}", printable(finding.advice));
}

int examine(const Context& context) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  auto findings = store->doctor();
  if (!findings) return report(context, findings.error());
  if (context.json) {
    print_line(wire::to_json(*findings));
  } else {
    for (const auto& finding : *findings) print_finding(finding);
  }
  const bool danger = std::any_of(findings->begin(), findings->end(),
                                  [](const Finding& finding) { return finding.level == Finding::Level::danger; });
  return danger ? exit_code::failure : exit_code::ok;
}

int rehome(const Context& context, bool yes) {
  if (!yes) {
    return report(context, {.code = Errc::invalid_argument,
                            .message = "--rehome voids every lease of the file, and whoever still uses it on another "
                                       "machine would not notice: add --yes when nobody does"});
  }
  auto url = context.store_url();
  if (!url) return report(context, url.error());
  auto done = Store::rehome(*url);
  if (!done) return report(context, done.error());
  if (context.json) {
    print_line(wire::object({{"rehomed", *done}}));
  } else {
    print_line(*done ? "the store belongs to this machine now" : "the store belongs to this machine already");
  }
  return *done ? exit_code::ok : exit_code::nothing_to_do;
}

int run_doctor(const Context& context, const DoctorOptions& options) {
  return options.rehome ? rehome(context, options.yes) : examine(context);
}

}  // namespace

void add_doctor(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "doctor",
                              "Look for settings and circumstances that make leases unsafe (exit code 1: there are)",
                              {"leasehold doctor", "leasehold doctor --db postgresql://app@db/app",
                               "leasehold doctor --rehome --yes    # the SQLite file came from another machine"});
  auto options = std::make_shared<DoctorOptions>();
  auto* rehome_flag = command->add_flag("--rehome", options->rehome, "Make a moved SQLite file this machine's own");
  command->add_flag("--yes", options->yes, "Do it")->needs(rehome_flag);
  set_action(*command, context, [&context, options] { return run_doctor(context, *options); });
}

}  // namespace leasehold::cli
