#include "cli/claim_refusal.h"

#include "cli/print.h"
#include "cli/report.h"
#include "cli/session_text.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

/// A lost claim names nobody: what counts there is why.
bool tells_of_owner(const Error& error) {
  return error.code != Errc::lost && error.current && !error.current->session.empty();
}

}  // namespace

int report_refusal(const Context& context, const Error& error, int held_code) {
  if (context.json) print_line(wire::to_json(error));
  say("leasehold: {}", printable(error.message));
  if (tells_of_owner(error)) {
    for (const auto& field : fields_of_owner(*error.current)) say("  {:<9}  {}", field.name, field.value);
  }
  return exit_code_of(error, held_code);
}

}  // namespace leasehold::cli
