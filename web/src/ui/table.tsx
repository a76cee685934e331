// Tables that fit: on a narrow screen each row becomes a card, with the column's name before each value.
import type { ComponentChildren, JSX } from 'preact';

export interface Column<T> {
  name: string;
  /** A number: aligned to the right. */
  number?: boolean;
  /** Hidden below so many columns of width: "wide" needs 1200 pixels. */
  wide?: boolean;
  /** Without a name before it on a narrow screen. */
  bare?: boolean;
  cell: (row: T) => ComponentChildren;
}

interface TableProps<T> {
  label: string;
  columns: (Column<T> | false)[];
  rows: T[];
  keyOf: (row: T) => string;
  rowClass?: (row: T) => string;
  choose?: { chosen: ReadonlySet<string>; toggle: (key: string) => void; name: (row: T) => string };
}

export function Table<T>({ label, columns, rows, keyOf, rowClass, choose }: TableProps<T>): JSX.Element {
  const shown = columns.filter((column): column is Column<T> => column !== false);
  // The first one with a name is the title of the card.
  const first = shown.find((column) => !column.bare);
  const classOf = (column: Column<T>): string =>
    [column === first ? 'first' : '', column.number ? 'number' : '', column.wide ? 'wide' : '', column.bare ? 'bare' : ''].filter(Boolean).join(' ');
  return (
    <div class="table-box">
      <table aria-label={label}>
        <thead>
          <tr>
            {choose ? (
              <th class="check">
                <span class="unseen">Chosen</span>
              </th>
            ) : null}
            {shown.map((column) => (
              <th key={column.name} class={classOf(column)} scope="col">
                {column.bare ? <span class="unseen">{column.name}</span> : column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const key = keyOf(row);
            return (
              <tr key={key} data-row={key} tabIndex={-1} class={rowClass?.(row)}>
                {choose ? (
                  <td class="check">
                    <input type="checkbox" aria-label={`Choose ${choose.name(row)}`} checked={choose.chosen.has(key)} onChange={() => choose.toggle(key)} />
                  </td>
                ) : null}
                {shown.map((column) => (
                  <td key={column.name} class={classOf(column)} data-name={column.bare ? undefined : column.name}>
                    {column.cell(row)}
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
