import { Table } from '@mantine/core';
import type { ReactElement, ReactNode } from 'react';
import { Nothing } from './view.tsx';

/** A column of a table. */
export interface Column<Item> {
  head: string;
  cell: (item: Item) => ReactNode;
  /** Whether narrow windows leave it out. */
  wide?: boolean;
}

/** A list as a table, or a line in its place if it is empty. */
export function Rows<Item>(props: {
  items: Item[];
  idOf: (item: Item) => string | number;
  columns: Column<Item>[];
  none: string;
}): ReactElement {
  const { items, idOf, columns, none } = props;
  if (items.length === 0) return <Nothing>{none}</Nothing>;
  const place = ({ wide = false }: Column<Item>): object => (wide ? { visibleFrom: 'sm' } : {});
  return (
    <Table>
      <Table.Thead>
        <Table.Tr>
          {columns.map((column) => (
            <Table.Th key={column.head} {...place(column)} children={column.head} />
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {items.map((item) => (
          <Table.Tr key={idOf(item)}>
            {columns.map((column) => (
              <Table.Td key={column.head} className="breaking" {...place(column)} children={column.cell(item)} />
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
