"""The rules of adopted tables, each broken once in the templates of either database."""

from mutation import Check, Mutation, adopt

POSTGRES = "src/adopt/postgres/"
SQLITE = "src/adopt/sqlite/"

MUTATIONS: list[Mutation] = []


def on_postgres(name: str, rule: str, file: str, edits: dict[str, str], *checks: Check) -> None:
    MUTATIONS.append(Mutation("row " + name, rule, "postgres", POSTGRES + file, edits, checks))


def on_sqlite(name: str, rule: str, file: str, edits: dict[str, str], *checks: Check) -> None:
    MUTATIONS.append(Mutation("row " + name, rule, "sqlite", SQLITE + file, edits, checks))


# Tokens.

on_postgres("complete without token", "a verdict on a row needs its present token", "settle.sql",
            {"    {complete_set}\n   WHERE {key_is} AND {alias}.{token} = p_token AND p_token % 10 = 0;":
             "    {complete_set}\n   WHERE {key_is};"},
            adopt("RowPromiseTest.Promise04_*"))
on_sqlite("complete without token", "a verdict on a row needs its present token", "work_acts.sql",
          {"CASE t.{token} - asked.{asked_token} WHEN 0 THEN 'current' WHEN 1 THEN 'completed' ELSE 'lost' END":
           "'current'"},
          adopt("RowPromiseTest.Promise04_*"))
on_postgres("token falls", "no write lets a token fall", "guard.sql",
            {"  NEW.{token} := OLD.{token};\n  IF v_ours AND v_live AND {key_changed}":
             "  IF v_ours AND v_live AND {key_changed}"},
            adopt("RowRulesTest.ATokenFallsForNoWriteWhatever"))
on_sqlite("token falls", "no write lets a token fall", "work.sql",
          {"    WHEN {live_new} OR NEW.{until} IS OLD.{until} THEN OLD.{token}\n":
           "    WHEN {live_new} OR NEW.{until} IS OLD.{until} THEN NEW.{token}\n"},
          adopt("RowRulesTest.ATokenFallsForNoWriteWhatever"))

# Expiry.

on_postgres("claim takes a live row", "a claim takes no row whose lease lives", "claim.sql",
            {"IF v_row.{until} > v_now THEN": "IF v_row.{until} > v_now + interval '1 hour' THEN"},
            adopt("RowClaimTest.EmptyAndHeldAreDifferentAnswers"))
on_sqlite("claim takes a live row", "a claim takes no row whose lease lives", "work_acts.sql",
          {"         WHEN {until} IS NOT NULL THEN 'held'\n": "",
           "WHEN ({can_be_claimed}) IS NOT TRUE THEN 'not_due'": "WHEN false THEN 'not_due'"},
          adopt("RowClaimTest.EmptyAndHeldAreDifferentAnswers"))
on_postgres("heartbeat revives", "a heartbeat never revives an expired row", "settle.sql",
            {"     WHERE {key_is} AND {alias}.{until} > {clock}\n": "     WHERE {key_is}\n"},
            adopt("RowPromiseTest.Promise05_*"))
on_sqlite("heartbeat revives", "a heartbeat never revives an expired row", "work_acts.sql",
          {"       CASE WHEN t.{token} = asked.{asked_token} AND {live_t} THEN 'extended' ELSE 'lost' END,\n":
           "       CASE WHEN t.{token} = asked.{asked_token} THEN 'extended' ELSE 'lost' END,\n"},
          adopt("RowPromiseTest.Promise05_*"))
on_postgres("proof revives", "a proof in the transaction revives no expired row", "guard.sql",
            {"    IF NOT v_live AND NEW.{until} > v_now THEN\n": "    IF false THEN\n"},
            adopt("RowFenceTest.ATokenInTheTransactionRevivesNoExpiredLease"))

# Code without tokens.

on_postgres("no guard", "a live row's guarded columns need a proof", "guard.sql",
            {"    IF ({old_guarded}) IS DISTINCT FROM ({new_guarded}) THEN\n": "    IF false THEN\n"},
            adopt("RowRulesTest.DenyNamesTheTableAndGuardsEveryColumnOfTheVerdicts"))
on_sqlite("no guard", "a live row's guarded columns need a proof", "work.sql",
          {"  AND ({guarded_changed})\n": "  AND ({guarded_changed}) AND false\n"},
          adopt("RowRulesTest.DenyNamesTheTableAndGuardsEveryColumnOfTheVerdicts"))
on_postgres("foreign hold without token", "a hold of other code raises the token", "guard.sql",
            {"    ELSIF NOT v_live THEN\n      NEW.{token} := v_taken;\n    END IF;\n--: if held\n":
             "    END IF;\n--: if held\n"},
            adopt("RowRulesTest.AnExpiredRowThatOldCodeTakesRaisesTheToken"))
on_sqlite("foreign hold without token", "a hold of other code raises the token", "work.sql",
          {"      THEN {foreign_token_old}\n    WHEN {live_new}": "      THEN OLD.{token}\n    WHEN {live_new}"},
          adopt("RowRulesTest.AnExpiredRowThatOldCodeTakesRaisesTheToken"))

# Fences.

on_postgres("claim passes the fence", "no worker takes a row over before its fence ends", "claim.sql",
            {"    PERFORM FROM {table} WHERE {key_is} FOR UPDATE SKIP LOCKED;\n":
             "    PERFORM FROM {table} WHERE {key_is} FOR NO KEY UPDATE SKIP LOCKED;\n"},
            adopt("RowFenceTest.ATakeoverWaitsUntilTheFenceEnds"))
on_postgres("old code passes the fence", "an UPDATE of other code takes no row over behind a fence", "guard.sql",
            {"    PERFORM FROM {table} WHERE {key_is_old} FOR UPDATE SKIP LOCKED;\n    IF NOT FOUND THEN\n":
             "    IF false THEN\n"},
            adopt("RowFenceTest.ATakeoverWaitsUntilTheFenceEnds"))
