// Random acts of workers, old code and time on four rows: a model in C++ and both databases must agree on every answer
// and on the state of every row.
#include <array>
#include <random>

#include "adopt_fixture.h"

namespace leasehold {
namespace {

using support::AdoptTest;

constexpr int row_count = 4;
constexpr int acts_per_sequence = 60;

/// The outcome of an act of the model: "granted 2", "held", "lost superseded".
class RowModel {
 public:
  struct Grant {
    int row = 0;
    std::string end{};        ///< empty: it is current
    bool superseded = false;  ///< another hold of the row came later
  };

  std::string claim() {
    for (auto& row : rows_) heal(row);
    for (int i = 0; i < row_count; ++i) {
      if (!is_final(rows_[at(i)]) && rows_[at(i)].hold == Hold::none) return grant(i);
    }
    return "empty";
  }
  std::string claim_key(int i) {
    auto& row = rows_[at(i)];
    if (row.hold != Hold::none && row.live) return "held";
    heal(row);
    return is_final(row) ? "terminal" : grant(i);
  }
  std::string heartbeat(int g) {
    if (!grants_[at(g)].end.empty()) return lost(g);
    return rows_[at(grants_[at(g)].row)].live ? "extended" : "lost expired";
  }
  std::string settle(int g, const std::string& verdict) {
    auto& one = grants_[at(g)];
    if (one.end.empty()) {
      auto& row = rows_[at(one.row)];
      row.status = verdict == "completed" ? 'C' : verdict == "failed" ? 'F' : 'P';
      end(row, verdict);
      return verdict;
    }
    return one.end == verdict && !one.superseded ? verdict : lost(g);
  }
  void expire(int g) { rows_[at(grants_[at(g)].row)].live = false; }
  std::string recover() {
    int count = 0;
    for (auto& row : rows_) count += heal(row) ? 1 : 0;
    return std::to_string(count);
  }
  /// Old code writes its name into the lease columns of a free row.
  void take_by_old_code(int i) {
    supersede(i);
    rows_[at(i)].hold = Hold::old_code;
    rows_[at(i)].live = true;
  }
  /// A program without tokens sets the lease columns to NULL.
  void clear(int i) {
    auto& row = rows_[at(i)];
    if (row.hold == Hold::ours) return end(row, row.live ? "revoked" : "expired");
    row.hold = Hold::none;
  }

  [[nodiscard]] std::string state(int i) const {
    const auto& row = rows_[at(i)];
    if (is_final(row)) return row.status == 'C' ? "completed" : "failed";
    if (row.hold == Hold::none) return "available";
    return row.live ? "running" : "expired";
  }
  [[nodiscard]] bool is_free(int i) const { return !is_final(rows_[at(i)]) && rows_[at(i)].hold == Hold::none; }
  [[nodiscard]] bool is_current(int g) const { return grants_[at(g)].end.empty(); }
  [[nodiscard]] bool has_lease(int i) const { return rows_[at(i)].hold != Hold::none; }
  [[nodiscard]] int grants() const { return static_cast<int>(grants_.size()); }
  [[nodiscard]] int row_of(int g) const { return grants_[at(g)].row; }

 private:
  enum class Hold { none, ours, old_code };
  struct Row {
    char status = 'P';
    Hold hold = Hold::none;
    bool live = false;
    int grant = -1;
  };

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  static bool is_final(const Row& row) { return row.status == 'C' || row.status == 'F'; }

  void supersede(int i) {
    for (auto& one : grants_) one.superseded = one.superseded || one.row == i;
  }
  std::string grant(int i) {
    supersede(i);
    rows_[at(i)] = {.status = 'R', .hold = Hold::ours, .live = true, .grant = grants()};
    grants_.push_back({.row = i});
    return "granted " + std::to_string(i + 1);
  }
  void end(Row& row, const std::string& how) {
    grants_[at(row.grant)].end = how;
    row.hold = Hold::none;
  }
  bool heal(Row& row) {
    if (row.hold != Hold::ours || row.live) return false;
    row.status = 'P';
    end(row, "expired");
    return true;
  }
  [[nodiscard]] std::string lost(int g) const {
    const auto& one = grants_[at(g)];
    if (one.superseded) return "lost superseded";
    return "lost " + (one.end == "expired" || one.end == "revoked" ? one.end : "finished");
  }

  std::array<Row, row_count> rows_{};
  std::vector<Grant> grants_{};
};

template <typename T>
std::string refusal_word(const Result<T>& answer) {
  const auto& error = answer.error();
  const std::string code = to_string(error.code);
  return error.lost_reason ? code + " " + to_string(*error.lost_reason) : code;
}

class RowModelTest : public AdoptTest {
 protected:
  /// Draws a sequence of acts; true while model and database agree.
  void play(unsigned seed) {
    run("DELETE FROM {s}.jobs");
    run("INSERT INTO {s}.jobs (id) VALUES (1), (2), (3), (4)");
    model_ = {};
    grants_.clear();
    std::mt19937 random(seed);
    for (int i = 0; i < acts_per_sequence && !HasFailure(); ++i) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", act " + std::to_string(i));
      act(random);
      for (int row = 0; row < row_count; ++row) {
        EXPECT_EQ(rows_->show({std::to_string(row + 1)})->state, model_.state(row)) << "row " << row + 1;
      }
    }
  }
  void open() { rows_.emplace(open_rows()); }

 private:
  static int draw(std::mt19937& random, int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); }

  void act(std::mt19937& random) {
    const int kind = draw(random, 12);
    const int row = draw(random, row_count);
    if (kind < 2) return expect_grant(rows_->claim(), model_.claim());
    if (kind < 4) return expect_grant(rows_->claim_key({std::to_string(row + 1)}), model_.claim_key(row));
    if (kind == 4) {
      EXPECT_EQ(std::to_string(rows_->recover()->size()), model_.recover()) << "recover";
      return;
    }
    if (kind == 5 && model_.is_free(row)) return take_by_old_code(row);
    if (kind == 6 && model_.has_lease(row)) return clear(row);
    if (model_.grants() == 0) return;
    act_on_grant(kind, draw(random, model_.grants()));
  }

  void act_on_grant(int kind, int g) {
    const auto& grant = grants_[static_cast<std::size_t>(g)];
    if (kind == 7 && model_.is_current(g)) {
      expire(*rows_, grant);
      return model_.expire(g);
    }
    if (kind == 8) {
      const auto beat = rows_->heartbeat({{grant.key, grant.token}}).front();
      EXPECT_EQ(beat ? "extended" : refusal_word(beat), model_.heartbeat(g)) << "heartbeat";
    } else if (kind == 9) {
      expect_settled(rows_->complete(grant.key, grant.token), g, "completed");
    } else if (kind == 10) {
      expect_settled(rows_->fail(grant.key, grant.token, "drawn"), g, "failed");
    } else if (kind == 11) {
      expect_settled(rows_->release(grant.key, grant.token), g, "released");
    }
  }

  void expect_grant(const Result<std::vector<RowGrant>>& answer, const std::string& expected) {
    if (answer) grants_.push_back(answer->front());
    EXPECT_EQ(answer ? "granted " + answer->front().key.front() : refusal_word(answer), expected) << "claim";
  }
  void expect_grant(const Result<RowGrant>& answer, const std::string& expected) {
    if (answer) grants_.push_back(*answer);
    EXPECT_EQ(answer ? "granted " + answer->key.front() : refusal_word(answer), expected) << "claim by key";
  }
  void expect_settled(const Result<RowSettled>& answer, int g, const std::string& verdict) {
    EXPECT_EQ(answer ? answer->outcome : refusal_word(answer), model_.settle(g, verdict)) << verdict;
  }

  void take_by_old_code(int row) {
    run("UPDATE {s}.jobs SET locked_until = " + moment(300) +
        ", locked_by = 'old' WHERE id = " + std::to_string(row + 1));
    model_.take_by_old_code(row);
  }
  void clear(int row) {
    run("UPDATE {s}.jobs SET locked_until = NULL, locked_by = NULL WHERE id = " + std::to_string(row + 1));
    model_.clear(row);
  }

  std::optional<Rows> rows_;
  RowModel model_;
  std::vector<RowGrant> grants_;
};
LEASEHOLD_ON_BOTH_STORES(RowModelTest);

TEST_P(RowModelTest, AModelAndBothDatabasesAgree) {
  run(support::jobs_table);
  adopt(support::jobs_file);
  open();
  for (unsigned seed = 1; seed <= 25 && !HasFailure(); ++seed) play(seed);
}

}  // namespace
}  // namespace leasehold
