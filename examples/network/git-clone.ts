/** A job that clones a private repository with a token that it never sees: `node examples/network/git-clone.ts`. */
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import { startGitHost } from './git-host.ts';

const token = 'git-4f9a1c7e2b8d60351a2b';
await using host = await startGitHost(token);

await using orchestrator = createOrchestrator({
  network: {
    allow: [`GET ${host.place}/team/plans.git/**`],
    secrets: { GIT_TOKEN: { value: token, hosts: [host.place] } },
    ...host.options,
  },
});

// Git sends name and token in base64 (Basic authentication). The host replaces the placeholder in it by the token.
const code = `git clone --quiet "https://office:$GIT_TOKEN@${host.place}/team/plans.git"
git -C plans log --format='%h %an: %s'
cat plans/plan.txt
echo "the token in the job: $GIT_TOKEN"
git clone --quiet "https://office:$GIT_TOKEN@${host.place}/team/salaries.git" 2>&1 | grep remote:`;
const result = await orchestrator.exec({ language: 'bash', code, network: [host.place], secrets: ['GIT_TOKEN'] });
console.log(result.stdout.text.trim());
console.log('sent:', result.network?.secrets, 'in', result.network?.requests, 'requests');
console.log('the token is in the result:', JSON.stringify(result).includes(token));
