import { type ReactElement, useEffect } from 'react';
import { TokensView } from './access/tokens-view.tsx';
import { UsersView } from './access/users-view.tsx';
import { AgentView } from './agents/agent-view.tsx';
import { AgentsView } from './agents/agents-view.tsx';
import { isAgentPath } from './agents/agents.ts';
import { JobView } from './jobs/job-view.tsx';
import { JobsView } from './jobs/jobs-view.tsx';
import { NewJobView } from './jobs/new-job-view.tsx';
import { goTo } from './shared/address.tsx';
import { Nothing, View } from './shared/view.tsx';
import { SkillView } from './skills/skill-view.tsx';
import { SkillsView } from './skills/skills-view.tsx';
import { UploadView } from './skills/upload-view.tsx';

/** The view of an address. */
export function CurrentView({ parts }: { parts: string[] }): ReactElement {
  const [room = '', name, part] = parts;
  if (room === '') return <Start />;
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
  if (room === 'users' && name === undefined) return <UsersView />;
  return (
    <View title="Not found">
      <Nothing>There is no such view.</Nothing>
    </View>
  );
}

function Start(): null {
  useEffect(() => goTo('/jobs', { replace: true }), []);
  return null;
}
