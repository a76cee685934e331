// Three that have to agree: a pure model, the store on SQLite, and the store on PostgreSQL.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <sstream>
#include <vector>

#include "model/drawing.h"
#include "support/store_fixture.h"

namespace leasehold::support {

/// The common answer of all three. If they differ, this sequence of acts has failed, at `act`.
template <typename Act, typename Model, typename Subject, typename Question>
auto agree_at(const Act& act, Model& model, Subject& sqlite, Subject& postgres, Question&& question) {
  const auto expected = question(model);
  const auto on_sqlite = question(sqlite);
  const auto on_postgres = question(postgres);
  if (expected != on_sqlite || expected != on_postgres) {
    std::ostringstream text;
    text << "at" << act << "\n  model:      " << expected << "\n  sqlite:     " << on_sqlite
         << "\n  postgresql: " << on_postgres;
    RC_FAIL(text.str());
  }
  return expected;
}

struct Drawn {
  int sequences = 100;
  double length = 1.0;  ///< of a sequence, in rapidcheck's sizes
};

/// Plays random sequences of acts, one after the other, on the same two stores.
template <typename Sequence, typename Subject, typename Act>
void expect_agreement(const rc::Gen<Act>& any_act, const Drawn& drawn = {}) {
  draw(drawn.sequences);
  Subject sqlite(StoreKind::sqlite);
  Subject postgres(StoreKind::postgres);
  int number = 0;
  const bool agreed = rc::check("all three agree", [&] {
    const auto acts = *rc::gen::scale(drawn.length, rc::gen::container<std::vector<Act>>(any_act));
    Sequence sequence(sqlite, postgres, ++number);
    for (const auto& act : acts) sequence.step(act);
    sequence.look_at_everything();
  });
  EXPECT_TRUE(agreed);
}

}  // namespace leasehold::support
