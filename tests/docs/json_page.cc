// Writes docs/json.md, the reference of every JSON answer and refusal, from the descriptions in src/model and
// src/act.
//
//   json_page > docs/json.md          cmake --build --preset dev --target write_json_page
//   json_page --check docs/json.md    exits with 1 if the page is not current, or a key has no meaning
#include <fmt/format.h>

#include <cctype>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "act/act.h"
#include "act/answers.h"
#include "act/confirmations.h"
#include "model/errors.h"
#include "model/json.h"
#include "model/keys.h"

namespace leasehold {
namespace {

using model::Described;
using model::Field;
using model::Kind;

struct Answer {
  std::string commands;  ///< which print it, in Markdown
  Described type;
};

struct Section {
  std::string title;
  std::vector<Answer> answers;
};

template <typename T>
Answer answer(std::string commands) {
  return {std::move(commands), model::described<T>()};
}

std::vector<Section> sections() {
  return {
      {"Locks",
       {answer<act::LockGrant>("`lock acquire`, `lock heartbeat`"), answer<act::LockDetails>("`lock show`"),
        answer<LockInfo>("`lock ls`, `lock watch`"), answer<LockHolder>(""), answer<act::EndedLock>("`lock revoke`"),
        answer<act::Released>("`lock release`, `schedule release`")}},
      {"Jobs and queues",
       {answer<Enqueued>("`job add`"), answer<JobGrant>("`job claim`"), answer<Job>(""),
        answer<JobHeartbeat>("`job heartbeat`"),
        answer<JobSettled>("`job complete`, `job fail`, `job release`, `job snooze`"), answer<JobInfo>("`job ls`"),
        answer<act::JobDetails>("`job show`"), answer<JobWait>(""), answer<JobAttempt>(""), answer<Predecessor>(""),
        answer<act::JobChanged>("`job cancel`, `job retry`"), answer<act::JobsRedriven>("`job redrive`"),
        answer<act::JobRemoved>("`job rm`"), answer<JobError>("`job errors`"), answer<BatchInfo>("`job batch show`"),
        answer<QueueInfo>("`queue ls`, `queue show`, `queue set`, `queue pause`, `queue resume`"),
        answer<act::QueuePurged>("`queue purge`"), answer<WorkerInfo>("`queue workers`")}},
      {"Chunks",
       {answer<act::PlanReport>("`chunk plan`"), answer<ChunkGrant>("`chunk claim`"), answer<Chunk>(""),
        answer<ChunkHeartbeat>("`chunk heartbeat`"),
        answer<ChunkSettled>("`chunk complete`, `chunk fail`, `chunk release`"),
        answer<act::ChunkSkipped>("`chunk skip`"), answer<act::ChunkSetRemoved>("`chunk rm`"),
        answer<ChunkInfo>("`chunk ls`"), answer<act::ChunkDetails>("`chunk show`"), answer<ChunkSetInfo>("`chunk set`"),
        answer<act::ChunkSetDetails>("`chunk progress`"), answer<ChunkResetOutcome>("`chunk reset`")}},
      {"Sessions, items and claims",
       {answer<act::SessionGrant>("`session open`, `session heartbeat`, `session park`"),
        answer<SessionInfo>("`session ls`, `session show`"), answer<SessionClosed>("`session close`"),
        answer<OwnSession>("`session mine`"), answer<PathsTaken>("`path take`"), answer<PathInfo>("`path ls`"),
        answer<ItemInfo>("`item ls`, `item show`"), answer<ItemNote>(""), answer<act::ItemAdded>("`item add`"),
        answer<act::ItemChanged>("`item done`, `item reopen`"), answer<act::ItemNoted>("`item note`"),
        answer<act::ItemRemoved>("`item rm`"), answer<act::ClaimReleased>("`claim release`"),
        answer<act::PathsReleased>("`path release`"),
        answer<Claim>("`claim take`, `claim next`, `claim switch`, `claim transfer`"),
        answer<ClaimInfo>("`claim ls`, `claim show`, `claim revoke`")}},
      {"Schedules",
       {answer<ScheduleSaved>("`schedule set`"), answer<ScheduleRun>("`schedule acquire`"),
        answer<act::RunGrant>("`schedule heartbeat`"), answer<RunSettled>("`schedule complete`, `schedule fail`"),
        answer<act::Triggered>("`schedule trigger`"),
        answer<ScheduleInfo>("`schedule ls`, `schedule show`, `schedule pause`, `schedule resume`, `schedule rename`"),
        answer<RunInfo>("`schedule history`"), answer<act::Occurrence>("`schedule next`")}},
      {"Rates",
       {answer<RateTurn>("`rate take`"), answer<act::Removed>("`rate rm`, `schedule rm`"),
        answer<RateInfo>("`rate ls`, `rate show`, `rate set`")}},
      {"API tokens and the audit log",
       {answer<CreatedToken>("`token create`"), answer<TokenInfo>("`token ls`, `token revoke`"),
        answer<AuditEntry>("`audit`")}},
      {"Rows of your own tables",
       {answer<RowGrant>("`row claim`, `row heartbeat`"),
        answer<RowSettled>("`row complete`, `row fail`, `row release`"), answer<RowInfo>("`row ls`, `row show`"),
        answer<RowRecovered>("`row recover`"), answer<AdoptPlan>("`adopt plan`, `adopt apply`, `adopt revert`"),
        answer<AdoptStep>(""), answer<AdoptedTable>("`adopt ls`"), answer<RowCounts>(""),
        answer<TrialStep>("`adopt try`")}},
      {"The store",
       {answer<LeaseInfo>("`top`"), answer<Holder>(""), answer<Event>("`events`"), answer<act::StoreReport>("`status`"),
        answer<RecoveryStats>(""), answer<Recovered>("`recover`"), answer<RecoveryTotal>(""), answer<Pruned>("`prune`"),
        answer<Retention>("`retention show` and `retention set`"), answer<Finding>("`doctor`"),
        answer<MigrationInfo>("`migrate status`, `migrate up`, `migrate down`"),
        answer<Drift>("`migrate verify`, `adopt verify`")}},
  };
}

std::string anchor_of(std::string_view name) {
  std::string anchor(name);
  for (auto& c : anchor) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return fmt::format("[{}](#{})", name, anchor);
}

std::string words_of(std::span<const char* const> words) {
  std::string text;
  for (const std::string_view word : words) text += fmt::format("{}`{}`", text.empty() ? "" : ", ", word);
  return text;
}

std::string type_of(const Field& field) {
  switch (field.kind) {
    case Kind::boolean: return "boolean";
    case Kind::integer: return "integer";
    case Kind::duration: return "seconds";
    case Kind::timestamp: return "time";
    case Kind::text: return "text";
    case Kind::texts: return "list of texts";
    case Kind::integers: return "list of integers";
    case Kind::word: return words_of(field.words);
    case Kind::object: return anchor_of(field.type().name);
    case Kind::objects: return "list of " + anchor_of(field.type().name);
    case Kind::bytes:
    case Kind::json: return "any JSON";
    case Kind::inlined:
    case Kind::hidden: break;
  }
  return "";
}

std::string absence_of(const Field& field) {
  std::string text = field.nullable && !field.left_out ? "null if there is none" : "";
  if (field.present != nullptr) text = fmt::format("left out unless {}", field.condition);
  if (field.left_out) text = "left out if there is none";
  if (field.kind == Kind::bytes) text += fmt::format("{}left out if not JSON", text.empty() ? "" : "; ");
  return text;
}

class Page {
 public:
  std::string text() {
    intro();
    refusals();
    acts();
    for (const auto& section : sections()) {
      text_ += fmt::format("\n## {}\n", section.title);
      for (const auto& answer : section.answers) struct_of(answer);
    }
    return std::move(text_);
  }
  [[nodiscard]] const std::set<std::string>& keys_without_meaning() const { return keys_without_meaning_; }

 private:
  void intro() {
    text_ =
        "# JSON answers\n\n"
        "Every command accepts `--json` and then prints its answer as one JSON object on one line of stdout. "
        "`json_page` "
        "writes this page from the\ndescriptions in `src/model`, which also write the JSON; a test fails if the page "
        "is not "
        "current.\n\n"
        "- A *time* is a text such as `\"2026-03-01T12:00:00.250000Z\"`, always in UTC.\n"
        "- *Seconds* are a number, with a fraction if needed. The key ends in `_seconds`.\n"
        "- A *text* is UTF-8; bytes that are not become U+FFFD. A payload or result that is not JSON is written in "
        "base64 "
        "instead,\n  under its key with `_base64` at the end.\n"
        "- *Any JSON* is what was given, with every number unchanged.\n"
        "- A list is `{\"items\": [...], \"next\": \"...\"}`; `--page` with the text of `next` returns the next page, "
        "and "
        "`next` is null on the last one.\n"
        "- Confirmations such as `{\"removed\": true, \"name\": \"nightly\"}` have no struct of their own.\n";
  }

  void refusals() {
    text_ +=
        "\n## Refusals\n\n"
        "A refusal is `{\"error\": {...}}` with these keys. The exit code is that of its `code`.\n\n";
    table(model::described<Error>());
    text_ += "\n| code | exit code | HTTP status | waiting can help | meaning |\n|---|---|---|---|---|\n";
    for (const auto& row : errc_table) {
      text_ += fmt::format("| `{}` | {} | {} | {} | {} |\n", row.word, row.exit_status, row.http_status,
                           row.traits.may_wait ? "yes" : "", model::meaning_of(row.code));
    }
  }

  void acts() {
    text_ +=
        "\n## Acts\n\n"
        "`leasehold call ACT JSON` performs any act. [api/acts.json](../api/acts.json) (`leasehold acts --json`) has "
        "the "
        "schemas of arguments and answers.\nEvery act may also answer `invalid_argument`, `internal`, and what "
        "concerns "
        "the whole store.\n\n"
        "| act | does | scope | refusals |\n|---|---|---|---|\n";
    for (const auto& act : act::all()) {
      std::string refusals;
      for (const auto code : act.refusals)
        refusals += fmt::format("{}`{}`", refusals.empty() ? "" : ", ", to_string(code));
      text_ += fmt::format("| `{}` | {} | {} | {} |\n", act.name, act.help, act::word_of(act.scope), refusals);
    }
  }

  void struct_of(const Answer& answer) {
    text_ += fmt::format("\n### {}\n\n", answer.type.name);
    if (!answer.commands.empty()) text_ += fmt::format("Answer of {}.\n\n", answer.commands);
    table(answer.type);
  }

  void table(const Described& type) {
    text_ += "| key | type | meaning | when absent |\n|---|---|---|---|\n";
    rows(type);
  }

  void rows(const Described& type) {
    for (const auto& field : type.fields) {
      if (field.kind == Kind::inlined) rows(field.type());
      if (field.kind == Kind::inlined || field.kind == Kind::hidden) continue;
      const auto meaning = model::meaning_of(field);
      if (meaning.empty()) keys_without_meaning_.insert(fmt::format("{} of {}", field.name, type.name));
      text_ += fmt::format("| `{}` | {} | {} | {} |\n", field.name, type_of(field), meaning, absence_of(field));
    }
  }

  std::string text_;
  std::set<std::string> keys_without_meaning_;
};

int check(const std::string& path, const std::string& page) {
  std::ifstream file(path, std::ios::binary);
  const std::string committed{std::istreambuf_iterator<char>(file), {}};
  if (committed == page) return 0;
  std::cerr << path << " is not current: run cmake --build --preset dev --target write_json_page\n";
  return 1;
}

int run(const std::vector<std::string>& arguments) {
  Page page;
  const auto text = page.text();
  for (const auto& key : page.keys_without_meaning()) std::cerr << "no meaning in src/model/keys.cc: " << key << '\n';
  if (!page.keys_without_meaning().empty()) return 1;
  if (arguments.size() == 2 && arguments.front() == "--check") return check(arguments.back(), text);
  std::cout << text;
  return 0;
}

}  // namespace
}  // namespace leasehold

int main(int argc, char** argv) { return leasehold::run({argv + 1, argv + argc}); }
