-- What is added to the table itself.

--: if add_columns
--: step prepare column {table}
--: down ALTER TABLE {table} {drop_columns}
-- Until when the row is leased, to whom, and the number of the grant. Free: no time and no name.
ALTER TABLE {table}
  {add_columns};
--: end
