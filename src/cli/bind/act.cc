// leasehold acts, call.
#include <iostream>
#include <iterator>
#include <memory>

#include "act/act.h"
#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/signals.h"
#include "cli/store_trouble.h"
#include "leasehold/limits.h"
#include "serve/api.h"

namespace leasehold::cli {

// leasehold acts: list every operation.
namespace {

struct ActsOptions {
  bool openapi = false;
};

int show_acts(const Context& context, const ActsOptions& options) {
  if (options.openapi) {
    print_bytes(serve::openapi_text());
    return exit_code::ok;
  }
  if (context.json) {
    print_bytes(act::catalogue());
    return exit_code::ok;
  }
  for (const auto& act : act::all()) print("{:<22} {:<8} {}", act.name, act::word_of(act.scope), act.help);
  return exit_code::ok;
}

}  // namespace

void add_acts(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "acts", "List every operation that `call` and programs can use",
                  {"leasehold acts", "leasehold acts --json | jq '.acts[] | select(.name == \"job.claim\")'"});
  auto options = std::make_shared<ActsOptions>();
  command->add_flag("--openapi", options->openapi, "Print the description of the HTTP API instead: OpenAPI 3.1");
  set_action(*command, context, [&context, options] { return show_acts(context, *options); });
}

// leasehold call: perform an act with JSON arguments.
namespace {

struct CallOptions {
  std::string act;
  std::string arguments = "{}";
};

std::string all_of_stdin() { return {std::istreambuf_iterator<char>(std::cin), {}}; }

int call_act(Context& context, const CallOptions& options) {
  context.json = true;
  const auto* act = act::find(options.act);
  if (act == nullptr) return report(context, act::unknown_act(options.act));
  const auto arguments = options.arguments == "-" ? all_of_stdin() : options.arguments;
  auto store = act::only_reads(*act) ? context.open_store() : context.open_or_make_store();
  if (!store) return report(context, store.error());
  // A holder that has ended when the answer is read would lose its lease to the next caller.
  Call call{.holder = calling_process("")};
  const LineSignals signals(act->waits ? Duration::max() : Duration(0), call);
  const auto answer = act::call(*store, *act, arguments, call);
  if (signals.first() != 0 && !answer) return exit_code_after(signals.first());
  if (!answer) return report(context, answer.error());
  print_line(*answer);
  return exit_code::ok;
}

}  // namespace

void add_call(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "call", "Perform an act with JSON arguments; the answer is JSON",
                              {R"(leasehold call lock.acquire '{"name":"deploy","wait_seconds":10}')",
                               R"(echo '{"queue":"mail"}' | leasehold call job.claim -)"});
  auto options = std::make_shared<CallOptions>();
  command->add_option("ACT", options->act, "The act; `leasehold acts` lists them")->required()->type_name("");
  command->add_option("JSON", options->arguments, "Its arguments; `-` reads them from stdin (default: {})")
      ->type_name("");
  set_action(*command, context, [&context, options] { return call_act(context, *options); });
}

}  // namespace leasehold::cli
