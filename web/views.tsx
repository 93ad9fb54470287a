import { Loader } from '@mantine/core';
import { lazy, type ReactElement, Suspense, useEffect } from 'react';
import { TokensView } from './access/tokens-view.tsx';
import { UsersView } from './access/users-view.tsx';
import { AgentView } from './agents/agent-view.tsx';
import { AgentsView } from './agents/agents-view.tsx';
import { isAgentPath } from './agents/agents.ts';
import { FleetView } from './fleet/fleet-view.tsx';
import { JobsView } from './jobs/jobs-view.tsx';
import { NewJobView } from './jobs/new-job-view.tsx';
import { goTo } from './shared/address.tsx';
import { useMe } from './shared/user.ts';
import { Guard } from './shared/guard.tsx';
import { Nothing, View } from './shared/view.tsx';
import { SkillsView } from './skills/skills-view.tsx';
import { UploadView } from './skills/upload-view.tsx';

// These have large parts that the first page does not need: colours of code, differences, archives.
const JobView = lazy(async () => ({ default: (await import('./jobs/job-view.tsx')).JobView }));
const SkillView = lazy(async () => ({ default: (await import('./skills/skill-view.tsx')).SkillView }));

/** The view of an address, or the error that keeps it from being shown. */
export function CurrentView({ parts }: { parts: string[] }): ReactElement {
  return (
    <Guard>
      <Suspense fallback={<Loader aria-label="loading" />}>
        <ChosenView parts={parts} />
      </Suspense>
    </Guard>
  );
}

function ChosenView({ parts }: { parts: string[] }): ReactElement {
  const { role, readOnly } = useMe();
  const [room = '', name, part] = parts;
  if (room === '') return <Start />;
  if (readOnly && [name, part].some((word) => word === 'new' || word === 'upload')) {
    return <NoView title="Not allowed">You may only read.</NoView>;
  }
  if (room === 'jobs') {
    if (name === undefined) return <JobsView />;
    return name === 'new' ? <NewJobView /> : <JobView id={name} />;
  }
  if (room === 'skills') {
    if (name === undefined) return <SkillsView />;
    return name === 'upload' ? <UploadView /> : <SkillView id={name} part={part ?? 'text'} />;
  }
  if (room === 'agents' && isAgentPath(name)) {
    return part === undefined ? (
      <AgentsView path={name} />
    ) : (
      <AgentView path={name} id={part === 'new' ? null : part} />
    );
  }
  if (room === 'tokens' && name === undefined) return <TokensView />;
  if (room === 'users' && name === undefined && role !== 'member') return <UsersView />;
  if (room === 'fleet' && name === undefined && role === 'admin') return <FleetView />;
  return <NoView title="Not found">There is no such view.</NoView>;
}

function NoView({ title, children }: { title: string; children: string }): ReactElement {
  return <View title={title} children={<Nothing>{children}</Nothing>} />;
}

function Start(): null {
  useEffect(() => goTo('/jobs', { replace: true }), []);
  return null;
}
