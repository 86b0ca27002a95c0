/** The state of the daemon for its dashboard: its roles and whether they run, its policies and its accounts. */

import { openBudget } from '../budget/budget.ts';
import type { AccountView, BrokenFile, DashboardOptions, Health } from '../dashboard/options.ts';
import { receiverViews } from '../notify/receiver-view.ts';
import { sendTest } from '../notify/send-test.ts';
import type { PolicyWatcher } from '../policy/policy-watcher.ts';
import type { Vitals } from '../records/presence-store.ts';
import type { RedisFacts } from '../redis/facts.ts';
import type { RedisTrouble } from '../redis/health.ts';
import { accountOf } from '../settings/account.ts';
import { type Diagnostic, hintOf, placeOf, shortFile } from '../yaml/diagnostic.ts';
import type { Caretaker } from './caretaker.ts';
import { version } from './version.ts';

export type Overview = Pick<
  DashboardOptions,
  | 'access'
  | 'policies'
  | 'registry'
  | 'version'
  | 'reasons'
  | 'health'
  | 'vitals'
  | 'redisSilentMs'
  | 'accounts'
  | 'budgetOf'
  | 'receivers'
  | 'sendTest'
  | 'drift'
  | 'engine'
  | 'needAccount'
  | 'names'
>;

/** Redis counts as down when it does not answer a ping within this time. */
const PING_TIMEOUT_MS = 1_000;

/** The options of the dashboard that describe the daemon; `waiting` gives the roles that are not running. */
export function overview(
  caretaker: Caretaker,
  watcher: PolicyWatcher,
  process: {
    roles: readonly string[];
    waiting: () => readonly string[];
    /** The differences between the policies of the daemons. */
    differences: () => readonly string[];
    /** The accounts whose records belong to another service. */
    moved: () => Health['moved'];
    /** The problems of a Redis that answers. */
    troubles: () => readonly RedisTrouble[];
    facts: () => readonly RedisFacts[];
    vitals: () => Vitals;
    redisSilentMs: () => number;
  },
): Overview {
  const { redis, drift, settings, clock, engine } = caretaker;
  const budgets = Object.values(settings.accounts).map(({ name, baseUrl, budget }) => ({
    account: name,
    reserve: budget.reserve,
    budget: openBudget(redis.store, clock, name, { ...budget, address: baseUrl }),
  }));
  return {
    access: () => caretaker.settings.access,
    policies: watcher.policies,
    registry: caretaker.registry,
    version,
    reasons: caretaker.registry.reasons,
    engine,
    needAccount: (name) => accountOf(settings, name),
    names: { settings, link: caretaker.link, noteMaintenance: caretaker.noteMaintenance },
    async health() {
      const late = new Promise<'down'>((resolve) => setTimeout(resolve, PING_TIMEOUT_MS, 'down').unref());
      const answer = redis.store.ping().then(
        () => 'up' as const,
        () => 'down' as const,
      );
      return {
        redis: await Promise.race([answer, late]),
        roles: process.roles,
        waiting: process.waiting(),
        brokenFiles: brokenFilesOf(watcher),
        differences: process.differences(),
        moved: process.moved(),
        troubles: process.troubles(),
        servers: process.facts(),
      };
    },
    vitals: process.vitals,
    redisSilentMs: process.redisSilentMs,
    receivers: () => receiverViews(caretaker.settings.notifications),
    async sendTest(name, id) {
      const receiver = caretaker.settings.notifications[name];
      if (receiver) return sendTest(receiver, clock, id);
      return { is: 'failed', why: 'the configuration does not have it any more', ms: 0 };
    },
    accounts: () =>
      Promise.all(
        budgets.map(async ({ account, budget, reserve }): Promise<AccountView> => {
          const { limit, remaining, failingSince, granted: requests } = await budget.state();
          const failing = failingSince === undefined ? {} : { failingSince };
          const reserved = Math.round(limit * reserve);
          return { account, limit, left: remaining, reserved, requests, ...failing };
        }),
      ),
    budgetOf: (name) => budgets.find(({ account }) => account === name)?.budget,
    drift: () => [...drift.values()].reduce((sum, count) => sum + count, 0),
  };
}

/** The policy files with errors, each with its policies that stay active in their previous version. */
function brokenFilesOf(watcher: PolicyWatcher): BrokenFile[] {
  const findings = watcher.findings();
  const files = [...new Set(findings.map(({ file }) => file))];
  return files.map((file) => ({
    file: shortFile(file),
    errors: findings.filter((finding) => finding.file === file).map(errorOf),
    since: watcher.brokenSince(file),
    active: [
      ...new Set(
        [
          ...watcher.policies().filter((policy) => policy.file === file),
          ...watcher.kept().filter((kept) => kept.file === file),
        ].map(({ name }) => name),
      ),
    ],
    kept: watcher
      .kept()
      .filter((kept) => kept.file === file)
      .map(({ name, readAt }) => ({ name, readAt })),
  }));
}

function errorOf(finding: Diagnostic): BrokenFile['errors'][number] {
  const suggestion = hintOf(finding);
  const { message, frame } = finding;
  return { place: placeOf(finding), message, frame, ...(suggestion === undefined ? {} : { suggestion }) };
}
