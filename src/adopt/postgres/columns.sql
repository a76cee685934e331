-- The columns that adopt adds to the table itself.

--: if add_columns
--: step prepare column {table}
--: down ALTER TABLE {table} {drop_columns}
-- The end of the row's lease, its holder, and the number of the grant. Free: no time and no name.
ALTER TABLE {table}
  {add_columns};
--: end
