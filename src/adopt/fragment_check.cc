#include "adopt/fragments.h"

#include <fmt/format.h>

namespace leasehold::adopt {
namespace {

class FragmentCheck {
 public:
  FragmentCheck(storage::Direct& database, const Description& table, const FragmentPlace& place, BootTime deadline)
      : database_(database), table_(table), place_(place), deadline_(deadline) {}

  Result<void> run() {
    condition("claimable", table_.claimable);
    condition("due", table_.due);
    for (const auto& [state, sql] : table_.finals) condition("final", sql);
    if (table_.held) {
      condition("held", table_.held->when);
      expression("held", table_.held->until);
      expression("held", table_.held->by);
    }
    for (const auto& [code, sql] : table_.refuse) condition("refuse", sql);
    if (!table_.order.empty()) plan("order", fmt::format("SELECT 1 FROM {} ORDER BY {}", place_.rows, table_.order));
    for (const auto& [act, sql] : table_.on) assign("on_" + act, sql);
    if (error_) return std::move(*error_);
    return {};
  }

 private:
  void condition(const std::string& key, const std::string& sql) {
    if (!sql.empty()) plan(key, fmt::format("SELECT 1 FROM {} WHERE ({})", place_.rows, place_.filled(sql)));
  }

  void expression(const std::string& key, const std::string& sql) {
    plan(key, fmt::format("SELECT ({}) FROM {}", place_.filled(sql), place_.rows));
  }

  void assign(const std::string& key, const std::string& sql) {
    const auto parts = place_.assignments(sql);
    if (!parts) {
      if (!error_) error_ = error_at(table_, key, parts.error().message);
      return;
    }
    for (const auto& [column, text] : *parts) {
      expression(key, text);
      plan(key, fmt::format("SELECT {} FROM {}", storage::quote_name(column), place_.rows));
    }
  }

  void plan(const std::string& key, const std::string& sql) {
    if (error_) return;
    auto planned = database_.plan(sql, deadline_);
    if (planned) return;
    const bool out_of_reach = planned.error().code == Errc::unavailable;
    error_ = out_of_reach ? std::move(planned).error() : error_at(table_, key, planned.error().message);
  }

  storage::Direct& database_;
  const Description& table_;
  const FragmentPlace& place_;
  const BootTime deadline_;
  std::optional<Error> error_{};
};

}  // namespace

Result<void> check_fragments(storage::Direct& database, const Description& table, const FragmentPlace& place,
                             BootTime deadline) {
  return FragmentCheck(database, table, place, deadline).run();
}

}  // namespace leasehold::adopt
