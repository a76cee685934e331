// One process of the load: acts at random on things that it shares with the other processes, and writes down each act.
//
// Everything is done by the public API, as users do it. A feature is an actor; an actor remembers what it believes to
// hold, and tokens that it has lost, for a late holder must be refused.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "history/ledger.h"
#include "history/record.h"
#include "leasehold/leasehold.h"

namespace leasehold::history {

struct LoadOptions {
  std::string store;
  std::string out;
  std::string run;  ///< in every key, so that a run begins with unused keys
  std::uint64_t seed = 1;
  int processes = 4;
  Duration seconds = std::chrono::seconds(10);
  std::int64_t acts = 0;  ///< of each process; 0: as many as there is time for
  int keys = 3;
  Duration ttl = std::chrono::milliseconds(500);
  int pause_every = 80;  ///< one act in so many is followed by a pause that is longer than a lease lasts
  Duration timeout = std::chrono::seconds(2);  ///< of one call
  std::string until_file{};
  std::vector<std::string> features = {"lock", "job", "claim", "chunk"};
  bool replace = false;    ///< a killed process is followed by another one
  Duration kill_every{0};  ///< kill -9 one of them, again and again; 0: never
};

/// Draws what to do next. The same seed and process draw the same.
class Dice {
 public:
  Dice(std::uint64_t seed, int process) : engine_(seed * 1'000'003 + static_cast<std::uint64_t>(process)) {}
  /// 0 to below `sides`.
  int roll(int sides) { return std::uniform_int_distribution<int>(0, sides - 1)(engine_); }
  bool one_in(int chances) { return roll(chances) == 0; }

 private:
  std::mt19937_64 engine_;
};

/// Shared by all actors of a process.
struct Desk {
  const LoadOptions& options;
  Recorder& recorder;
  Store& store;
  Ledger& ledger;
  Dice& dice;

  [[nodiscard]] std::string key(std::string_view thing, std::int64_t number) const;
  [[nodiscard]] std::string any_key(std::string_view thing) const { return key(thing, dice.roll(options.keys)); }
  [[nodiscard]] Holder holder() const { return Holder::self("p" + std::to_string(recorder.process())); }
};

class Actor {
 public:
  virtual ~Actor() = default;
  /// Does one act. False: the store could not be asked.
  virtual bool act() = 0;
};

std::unique_ptr<Actor> lock_actor(Desk& desk);
std::unique_ptr<Actor> job_actor(Desk& desk);
std::unique_ptr<Actor> claim_actor(Desk& desk);
std::unique_ptr<Actor> chunk_actor(Desk& desk);

/// Makes what the processes share. Throws std::runtime_error when the store cannot be used.
void prepare(const LoadOptions& options);
/// Acts until the time, the number of acts or the file says stop. Throws std::runtime_error when the store cannot even
/// be opened.
void run_process(const LoadOptions& options, int process);

/// The word of an answer in the end line: "ok" or the error's word.
std::string_view word(const Error& error);
/// Why it was refused, and the holder.
Fields reported(const Error& error);
std::int64_t micros(Timestamp when);

/// A grant or an extension by the store's clock: when it was given, and until when.
template <typename G>
Fields& add_span(Fields& fields, const G& grant) {
  return fields.add("at", micros(grant.expires_at - grant.ttl)).add("expires", micros(grant.expires_at));
}

inline bool could_ask(const Error& error) { return error.code != Errc::unavailable && error.code != Errc::in_doubt; }

}  // namespace leasehold::history
