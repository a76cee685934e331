-- Parts of the DO blocks that change rows of both tables: no trigger fires meanwhile, neither the user's nor ours.

--: step act part triggers_off
SELECT array_agg(format('ALTER TABLE %s DISABLE TRIGGER %I', g.tgrelid::regclass, g.tgname)),
       array_agg(format('ALTER TABLE %s ENABLE %s TRIGGER %I', g.tgrelid::regclass,
                        CASE g.tgenabled WHEN 'A' THEN 'ALWAYS' WHEN 'R' THEN 'REPLICA' END, g.tgname))
  INTO v_off, v_on
  FROM pg_trigger AS g
 WHERE g.tgrelid IN ('{sessions_text}'::regclass, '{things_text}'::regclass) AND NOT g.tgisinternal
   AND g.tgenabled <> 'D';
FOREACH v_switch IN ARRAY coalesce(v_off, '{}') LOOP
  EXECUTE v_switch;
END LOOP;

--: step act part triggers_on
FOREACH v_switch IN ARRAY coalesce(v_on, '{}') LOOP
  EXECUTE v_switch;
END LOOP;
