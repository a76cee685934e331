#include "history/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace leasehold::history {
namespace {

std::int64_t number(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) throw std::runtime_error("not a number: " + text);
  return value;
}

std::string contents(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("cannot read " + file.string());
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

using Words = std::map<std::string, std::string>;

/// The rest of a line: name=value name=value.
Words words_of(std::istringstream& line) {
  Words words;
  std::string word;
  while (line >> word) {
    const auto equals = word.find('=');
    if (equals == std::string::npos) throw std::runtime_error("not name=value: " + word);
    words[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return words;
}

std::string text_in(const Words& words, const std::string& name) {
  const auto found = words.find(name);
  return found == words.end() ? std::string{} : found->second;
}

std::int64_t number_in(const Words& words, const std::string& name) {
  const auto text = text_in(words, name);
  return text.empty() ? 0 : number(text);
}

Act act_from(int process, std::istringstream& line) {
  Act act{.process = process};
  line >> act.number >> act.start >> act.feature >> act.verb >> act.key;
  const auto words = words_of(line);
  act.asked = {
      .token = number_in(words, "token"), .session = text_in(words, "session"), .cursor = text_in(words, "cursor")};
  act.job_id = number_in(words, "id");
  return act;
}

/// A refusal that says nothing about the key itself: it was busy, there was no work, or nothing was sent.
bool says_nothing(const std::string& word) {
  static const std::vector<std::string> words = {
      "unavailable", "busy",    "race",         "empty",        "at_capacity",
      "paused",      "blocked", "unregistered", "rate_limited", "invalid_argument"};
  return std::find(words.begin(), words.end(), word) != words.end();
}

Answer answer_of(const Act& act) {
  if (act.word == "ok") return Answer::ok;
  // Of a grant: it was given, and has ended already.
  const bool was_granted = act.word == "lost" && act.grants();
  static const std::vector<std::string> telling = {"held", "reentry", "lost", "terminal", "not_found"};
  const bool refused = std::find(telling.begin(), telling.end(), act.word) != telling.end();
  return refused && !was_granted ? Answer::refused : Answer::may_have;
}

void note_answer(Act& act, std::istringstream& line) {
  line >> act.end >> act.word;
  const auto words = words_of(line);
  act.reported = {.token = number_in(words, "token"),
                  .holder = text_in(words, "holder"),
                  .session = text_in(words, "session"),
                  .cursor = text_in(words, "cursor"),
                  .state = text_in(words, "state"),
                  .why = text_in(words, "why"),
                  .at = number_in(words, "at"),
                  .expires = number_in(words, "expires"),
                  .n = number_in(words, "n"),
                  .attempt = number_in(words, "attempt"),
                  .replayed = number_in(words, "replayed") != 0};
  if (const auto id = number_in(words, "id"); id != 0) act.job_id = id;
  // Which job it was stands in the answer.
  if (const auto key = text_in(words, "key"); !key.empty()) act.key = key;
  act.answer = answer_of(act);
  if (act.answer == Answer::may_have) act.end = never;
}

}  // namespace

void add_lines(History& history, std::string_view lines) {
  std::map<std::int64_t, Act> acts;
  // A line without its end was being written when the process died.
  std::istringstream all{std::string(lines.substr(0, lines.rfind('\n') + 1))};
  int process = 0;
  Nanoseconds last = 0;
  for (std::string text; std::getline(all, text);) {
    std::istringstream line(text);
    std::string what;
    if (!(line >> what >> process)) continue;
    if (what == "start") {
      const auto act = act_from(process, line);
      last = act.start;
      acts[act.number] = act;
    } else if (what == "end") {
      std::int64_t act = 0;
      line >> act;
      if (!acts.contains(act)) throw std::runtime_error("an end without a start: " + text);
      const auto before = line.tellg();
      line >> last;
      line.seekg(before);
      note_answer(acts[act], line);
    } else if (what == "hello" || what == "bye") {
      line >> last;
    } else {
      throw std::runtime_error("not a line of a history: " + text);
    }
  }
  history.last_words[process] = last;
  for (auto& [ignored, act] : acts) {
    if (!says_nothing(act.word)) history.acts.push_back(std::move(act));
  }
  std::stable_sort(history.acts.begin(), history.acts.end(),
                   [](const Act& a, const Act& b) { return a.start < b.start; });
}

History read_history(const std::string& folder) {
  History history;
  std::istringstream run(contents(std::filesystem::path(folder) / "run"));
  const auto words = words_of(run);
  history.run = text_in(words, "run");
  history.ttl = number_in(words, "ttl");
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const auto name = entry.path().filename().string();
    if (name.starts_with("process-") && name.ends_with(".log")) add_lines(history, contents(entry.path()));
  }
  return history;
}

std::string describe(const Act& act, Nanoseconds origin, StoreTime store_origin) {
  const auto local = [&](Nanoseconds when) { return static_cast<double>(when - origin) / 1e6; };
  const auto at_store = [&](StoreTime when) { return static_cast<double>(when - store_origin) / 1e3; };
  auto text = act.process < 0 ? std::string("at the end") : fmt::format("p{} #{}", act.process, act.number);
  text += fmt::format(" {}", act.verb);
  if (act.asked.token != 0) text += fmt::format(" token={}", act.asked.token);
  if (!act.asked.session.empty()) text += " session=" + act.asked.session;
  if (!act.asked.cursor.empty()) text += " cursor=" + act.asked.cursor;
  text += " -> " + act.word;
  if (!act.reported.why.empty()) text += " (" + act.reported.why + ")";
  if (!act.reported.state.empty()) text += " " + act.reported.state;
  if (act.reported.token != 0) text += fmt::format(" token={}", act.reported.token);
  if (!act.reported.holder.empty()) text += " holder=" + act.reported.holder;
  if (!act.reported.session.empty()) text += " session=" + act.reported.session;
  if (!act.reported.cursor.empty()) text += " cursor=" + act.reported.cursor;
  if (act.reported.n != 0) text += fmt::format(" n={}", act.reported.n);
  if (act.reported.attempt != 0) text += fmt::format(" attempt={}", act.reported.attempt);
  if (act.reported.at != 0) text += fmt::format(" at={:.3f}", at_store(act.reported.at));
  if (act.reported.expires != 0) text += fmt::format(" until={:.3f}", at_store(act.reported.expires));
  const auto end = act.end == never ? std::string("...") : fmt::format("{:.3f}", local(act.end));
  return text + fmt::format("   [{:.3f} {}]", local(act.start), end);
}

}  // namespace leasehold::history
