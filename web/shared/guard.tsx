import { Button, Group } from '@mantine/core';
import { Component, type ReactNode } from 'react';
import { FailedView } from './view.tsx';

/** Shows an error in place of the view that has thrown it: its script cannot be loaded, or has a defect. The rest of the page stays. */
export class Guard extends Component<{ children: ReactNode }, { error: Error | null }> {
  static getDerivedStateFromError(error: Error): { error: Error } {
    return { error };
  }

  override state: { error: Error | null } = { error: null };

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return (
      <FailedView error={error}>
        <Group>
          <Button onClick={() => location.reload()} children="Load the page again" />
        </Group>
      </FailedView>
    );
  }
}
