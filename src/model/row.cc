// Descriptions of adopted tables and their rows.
#include "model/describe.h"

namespace leasehold::model {

Described describe(Type<RowGrant>) {
  static constexpr auto fields = fields_of<RowGrant>({
      field<&RowGrant::key>("key").means("the values of the key columns, as texts"),
      field<&RowGrant::token>("token"),
      field<&RowGrant::holder>("holder"),
      field<&RowGrant::expires_at>("until"),
      field<&RowGrant::trusted_until>("trusted_for_seconds"),
      field<&RowGrant::row>("row").as(Kind::json).means("the row as the table has it, a member per column"),
  });
  return {"RowGrant", fields};
}

Described describe(Type<RowSettled>) {
  static constexpr auto fields = fields_of<RowSettled>({
      field<&RowSettled::key>("key").means("the values of the key columns, as texts"),
      field<&RowSettled::outcome>("outcome").means("`completed`, `failed` or `released`"),
  });
  return {"RowSettled", fields};
}

Described describe(Type<RowInfo>) {
  static constexpr auto fields = fields_of<RowInfo>({
      field<&RowInfo::key>("key").means("the values of the key columns, as texts"),
      field<&RowInfo::state>("state").means(
          "`available`, `waiting`, `running`, `expired`, or the name of one of the table's final states"),
      field<&RowInfo::holder>("holder"),
      field<&RowInfo::token>("token").is_proof(),
      field<&RowInfo::expires_at>("until"),
      field<&RowInfo::row>("row")
          .as(Kind::json)
          .means("the row as the table has it, a member per column but that of the token"),
  });
  return {"RowInfo", fields};
}

Described describe(Type<RowRecovered>) {
  static constexpr auto fields = fields_of<RowRecovered>({
      field<&RowRecovered::key>("key").means("the values of the key columns, as texts"),
      field<&RowRecovered::previous_holder>("previous_holder"),
      field<&RowRecovered::expired_at>("expired_at").means("when its lease expired"),
  });
  return {"RowRecovered", fields};
}

Described describe(Type<AdoptStep>) {
  static constexpr auto fields = fields_of<AdoptStep>({
      field<&AdoptStep::table>("table").means("the adopted table, with its schema"),
      field<&AdoptStep::what>("what").means(
          "what it makes: `function public.sync_jobs_claim(text, integer, interval)`"),
      field<&AdoptStep::phase>("phase").means(
          "`prepare`: a short transaction; `concurrently`: outside of one; `cutover`: all of these in one; `revert`"),
      field<&AdoptStep::lock>("lock").or_null().means("the lock that it takes on the table, and for how long"),
      field<&AdoptStep::up>("up").means("the SQL"),
      field<&AdoptStep::down>("down").or_null().means("the SQL that takes it back"),
      field<&AdoptStep::done>("done").means("whether it is in the database already"),
  });
  return {"AdoptStep", fields};
}

Described describe(Type<AdoptPlan>) {
  static constexpr auto fields = fields_of<AdoptPlan>({
      field<&AdoptPlan::steps>("steps").means("in the order in which they run"),
      field<&AdoptPlan::notes>("notes").means("what a person should know first"),
  });
  return {"AdoptPlan", fields};
}

Described describe(Type<RowCounts>) {
  static constexpr auto fields = fields_of<RowCounts>({
      field<&RowCounts::available>("available"),
      field<&RowCounts::waiting>("waiting").means("how many can be claimed later"),
      field<&RowCounts::running>("running"),
      field<&RowCounts::expired>("expired"),
      field<&RowCounts::estimated>("estimated").means("whether there are more rows than were counted"),
  });
  return {"RowCounts", fields};
}

Described describe(Type<AdoptedTable>) {
  static constexpr auto fields = fields_of<AdoptedTable>({
      field<&AdoptedTable::table>("table").means("the adopted table, with its schema"),
      field<&AdoptedTable::shape>("shape").or_null().means(
          "`work`, `lock`, `schedule`, `sessions` or `keep`; null: `adopt apply` was interrupted"),
      field<&AdoptedTable::ttl>("ttl_seconds"),
      field<&AdoptedTable::counts>("counts").means(
          "how many of its rows are in which state; null: it has no leases, or this role may not read it"),
  });
  return {"AdoptedTable", fields};
}

Described describe(Type<TrialStep>) {
  static constexpr auto fields = fields_of<TrialStep>({
      field<&TrialStep::act>("act").means("what was tried"),
      field<&TrialStep::outcome>("outcome").means("what the database answered"),
      field<&TrialStep::as_promised>("as_promised").means("whether that is what leasehold promises"),
  });
  return {"TrialStep", fields};
}

}  // namespace leasehold::model
