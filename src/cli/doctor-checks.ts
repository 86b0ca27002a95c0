/** What `doctor` checks in the policies and in the records. */
import { loadJobs } from '../app/load-jobs.ts';
import type { Client } from '../client/client.ts';
import { type Incomplete, sayIncomplete } from '../client/pages.ts';
import { isoMinute, systemClock } from '../clock.ts';
import { needNames } from '../control/freeze-names.ts';
import { defined } from '../defined.ts';
import { Directory } from '../engine/plan/directory.ts';
import { unknownReferences } from '../engine/plan/selection.ts';
import { messageOf } from '../errors.ts';
import { emptyFolder, loadPolicies } from '../policy/load-policies.ts';
import { jobOf } from '../policy/policy-job.ts';
import type { PresenceStore } from '../records/presence-store.ts';
import { openRecords } from '../records/records.ts';
import { RunStore } from '../records/run-store.ts';
import { redisClock } from '../redis/clock.ts';
import type { Store } from '../redis/store.ts';
import { formatStuckOutbox, isStuck } from '../run/recordings.ts';
import type { Settings } from '../settings/settings.ts';
import { countOf } from '../text.ts';
import { hintOf } from '../yaml/diagnostic.ts';
import { formatKept, keptByDaemons } from './effective-policies.ts';
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
  checks.push(...(await checkMaintenance(settings, account, client)));
  const ofLists = [...incomplete.values()].map(sayIncomplete);
  return [
    ...checks,
    ...ofLists.map((message): Check => ({ what: `account "${account}"`, state: 'warning', message })),
  ];
}

/** A pending notification that is older than this is reported: several attempts have failed, or no one works. */
const LONG_MS = 30 * 60_000;

/** A warning for each receiver with notifications that did not arrive, or have been waiting for long. */
export async function checkDeliveries(store: Store): Promise<Check[]> {
  const { deliveries } = openRecords(store);
  const now = (await redisClock(store, systemClock)).now();
  const checks: Check[] = [];
  for (const [to, { pending, dead, since }] of await deliveries.open()) {
    const warn = (message: string) =>
      checks.push({ what: `notifications to "${to}"`, state: 'warning', message });
    if (dead > 0) {
      const [last] = await deliveries.list({ state: 'dead', to, limit: 1 });
      const why = last?.attempts.findLast((one) => one.why !== undefined)?.why;
      warn(
        `${countOf(dead, 'notification')} did not arrive${why === undefined ? '' : ` (of the last one: ${why})`}. Correct the receiver, try it with "caretaker notify test ${to}", then "caretaker notify resend --dead --to ${to}"`,
      );
    }
    if (since !== undefined && now - since > LONG_MS)
      warn(
        `${countOf(pending, 'notification')} ${pending === 1 ? 'waits' : 'wait'}, the oldest since ${isoMinute(since)}. Each is tried for a day while a worker runs; "caretaker notify list --state pending --to ${to}" shows why it did not arrive yet`,
      );
  }
  return checks;
}

/** A warning for each account whose outbox has been waiting for too long. */
export async function checkOutbox(store: Store): Promise<Check[]> {
  const { outbox } = openRecords(store);
  const now = (await redisClock(store, systemClock)).now();
  const checks: Check[] = [];
  for (const account of await outbox.accounts()) {
    const state = await outbox.state(account);
    if (!isStuck(state, now)) continue;
    const message = `${formatStuckOutbox(account, state)}; see docs/recording.md`;
    checks.push({ what: 'recordings', state: 'warning', message });
  }
  return checks;
}

/** Whether the policies of the files are valid. */
export async function checkPolicies(settings: Settings): Promise<Check> {
  const what = 'policies';
  const dir = settings.policiesDir;
  const { policies, findings, files } = loadPolicies({ dir, registry: await loadJobs(), settings });
  const ofFolder = findings.find(({ file }) => file === dir) ?? (files === 0 ? emptyFolder(dir) : undefined);
  if (ofFolder)
    return { what, state: 'wrong', message: `${dir}: ${ofFolder.message} ${hintOf(ofFolder) ?? ''}`.trim() };
  if (findings.length === 0) return { what, state: 'ok', message: `${policies.length} in ${dir}` };
  const it = findings.length === 1 ? 'it' : 'them';
  return {
    what,
    state: 'wrong',
    message: `${countOf(findings.length, 'error')}: "caretaker validate" shows ${it}`,
  };
}

/** The policies that daemons keep active although their files cannot be read. */
export async function checkKept(presence: PresenceStore, now: number): Promise<Check[]> {
  const kept = await keptByDaemons({ presence }, now);
  return formatKept(kept).map((message) => ({ what: 'policies kept active', state: 'warning', message }));
}

/** A client or a tag that the account does not have: its maintenance freezes nothing. */
async function checkMaintenance(settings: Settings, account: string, client: Client): Promise<Check[]> {
  const isOnly = Object.keys(settings.accounts).length === 1;
  const own = settings.maintenance.filter(({ scope }) =>
    scope.account === undefined ? isOnly : scope.account === account,
  );
  const deps = { settings, registry: { names: () => [] }, link: () => ({ client }) };
  const found = own.map(async ({ name, scope: { client: owner, tag } }): Promise<Check[]> => {
    const message = await needNames({ account, ...defined({ client: owner, tag }) }, deps).catch(messageOf);
    return message === undefined ? [] : [{ what: `maintenance "${name}"`, state: 'warning', message }];
  });
  return (await Promise.all(found)).flat();
}
