import { Badge, Text } from '@mantine/core';
import type { ReactElement } from 'react';
import type { KindForm } from '../../src/registry/kinds/kind-object.ts';
import { Link } from './address.tsx';
import { type Column, Rows } from './rows.tsx';
import { usePlaces } from './users.ts';

/** An object of the registry; a skill may be hidden by an own one. */
type Listed = KindForm & { hidden?: boolean };

/** Objects of the registry as a table, each with a link to its view. */
export function FormRows(props: { items: Listed[]; base: string; none: string }): ReactElement {
  const { items, base, none } = props;
  const placeOf = usePlaces();
  const columns: Column<Listed>[] = [
    { head: 'Name', cell: ({ metadata: { name, labels } }) => <Link to={`${base}/${labels.id}`}>{name}</Link> },
    {
      head: 'Place',
      cell: (form) => <Badge maw="100%" children={`${placeOf(form)}${form.hidden ? ', hidden by yours' : ''}`} />,
    },
    {
      head: 'Description',
      wide: true,
      cell: ({ spec }) => <Text size="sm" lineClamp={3} children={(spec as { description?: string }).description} />,
    },
  ];
  return <Rows items={items} idOf={({ metadata }) => metadata.labels.id} columns={columns} none={none} />;
}
