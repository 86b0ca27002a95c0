/**
 * What `doctor` says about what the policies of an account refer to: tags, clients, templates, ... that it does not
 * have, and lists that the last run of a policy could not read in full.
 */
import { loadJobs } from '../app/load-jobs.ts';
import type { Client } from '../client/client.ts';
import { type Incomplete, sayIncomplete } from '../client/pages.ts';
import { Directory } from '../engine/plan/directory.ts';
import { unknownReferences } from '../engine/plan/selection.ts';
import { messageOf } from '../errors.ts';
import { loadPolicies } from '../policy/load-policies.ts';
import { jobOf } from '../policy/policy-job.ts';
import { RunStore } from '../records/run-store.ts';
import type { Store } from '../redis/store.ts';
import type { Settings } from '../settings/settings.ts';
import type { Check } from './output/service-description.ts';

/**
 * A warning for each policy and fault. Policies that are switched off are left out. Costs one request per 100 tags,
 * clients, ... of each kind that a policy refers to, and one per id of a site.
 */
export async function checkReferences(
  settings: Settings,
  account: string,
  client: Client,
  store: Store,
): Promise<Check[]> {
  const registry = await loadJobs();
  const { policies } = loadPolicies({ dir: settings.policiesDir, registry, settings });
  const incomplete = new Map<string, Incomplete>();
  const directory = new Directory(client, { requestClass: 'person' }, (one) => incomplete.set(one.list, one));
  const runs = new RunStore(store);
  const checks: Check[] = [];
  for (const policy of policies) {
    const job = jobOf(registry, policy);
    if (policy.account !== account || policy.schedule?.disabled || !job) continue;
    const what = `policy "${policy.name}"`;
    const messages = await unknownReferences(policy, job, directory).catch((error: unknown) => [
      `it is not known whether the account has all that it refers to: ${messageOf(error)}`,
    ]);
    const [last] = await runs.list({ policy: policy.name, limit: 1 });
    const lists = (last?.remarks ?? []).filter(({ is }) => is === 'list');
    const ofRun = lists.map(({ message }) => `${message} So it was in its run ${last?.id}.`);
    checks.push(...[...messages, ...ofRun].map((message): Check => ({ what, state: 'warning', message })));
  }
  const ofLists = [...incomplete.values()].map(sayIncomplete);
  return [
    ...checks,
    ...ofLists.map((message): Check => ({ what: `account "${account}"`, state: 'warning', message })),
  ];
}
