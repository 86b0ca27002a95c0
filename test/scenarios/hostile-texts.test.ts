/**
 * A service whose texts contain credentials and terminal escapes: no credential is recorded, logged or reported.
 * `hostile-texts.long.test.ts` looks at every page and command.
 */
import { expect, test } from 'vitest';
import { check } from '../../jobs/check/job.ts';
import { reportDispatch } from '../../jobs/report-dispatch/job.ts';
import { siteSync } from '../../jobs/site-sync/job.ts';
import { stagingCleanup } from '../../jobs/staging-cleanup/job.ts';
import { updateCheck } from '../../jobs/update-check/job.ts';
import { operationOf } from '../../src/contract/operations.ts';
import type { AnyJob } from '../../src/job/job.ts';
import type { Policy } from '../../src/policy/policy.ts';
import { toReport } from '../../src/run/report.ts';
import { hostileSecrets, hostileText } from '../../src/sandbox/faults/change-answer.ts';
import { around } from '../support/between.ts';
import { aPolicy } from '../support/builders.ts';
import { worldOfTest } from '../support/world-of-test.ts';
import { dumpOf } from './hostile.ts';

const TOKEN = 'token-of-the-account';

/** One policy of each other job, so that every job's state is recorded. */
const of = (name: string, job: AnyJob, options: object, changes: Partial<Policy> = {}) =>
  aPolicy({ name, job: job.name, options: job.options.parse(options) as Policy['options'], ...changes });
const all = { filters: {} };
const others = [
  of('stale', siteSync, {
    mode: 'stale',
    max_age: '10000d',
    spread_daily_sync: { from: '01:00', to: '02:00' },
  }),
  of('announce', stagingCleanup, { action: 'delete', older_than: '14d' }),
  of('delete', stagingCleanup, { action: 'delete', older_than: '14d', grace: 0 }),
  of('updates', updateCheck, {}),
  of('reports', reportDispatch, {
    template: { name: 'Monthly care' },
    period: 'last_week',
    recipients: ['owner@agency.example'],
    subject: 'Care of {{site.url}}',
  }),
  of('found', check, { message: 'Seen: {{site.url}}' }, { select: { from: 'listSites', ...all } }),
];

// Only whole runs show that every text is redacted on its way, whoever records it.
test('no credential of a text of the service is recorded, logged or reported', async () => {
  const faults = { 'hostile-text': 1, 'failing-tasks': 0.3 } as const;
  const world = await worldOfTest({ sites: 4, token: TOKEN, faults });
  const { sandbox, caretaker } = world;
  const [first = '', second = '', third = ''] = sandbox.siteIds();
  const [, , , inUrl, sso] = hostileSecrets;
  sandbox.site(first).isCalled({ url: `https://admin:${inUrl}@one.example/?sso=${sso}`, title: hostileText });
  sandbox.site(second).failNextSync(hostileText);
  sandbox.site(third).disconnect();
  const retry = { ...aPolicy().retry, attempts: 1 };
  const note = { note: { content: { cel: '"Seen: " + site.url' } } };
  const policies = [
    aPolicy({ retry }),
    aPolicy({
      name: 'note',
      job: 'api-call',
      select: { from: 'listSites', filters: {} },
      options: { operation: 'createSiteNote', body: note },
    }),
    ...others,
  ];
  for (const id of sandbox.siteIds()) sandbox.staging.make(id, 20);

  // The state of a job is recorded until its target ends.
  const acting: string[] = [];
  around(caretaker.link('default').client, 'call', async (call, operation) => {
    if (operationOf(operation).effect) acting.push(await dumpOf(caretaker.redis.store));
    return call();
  });

  const reports: string[] = [];
  for (const policy of policies) {
    const run = await world.ended(await world.fire(policy));
    reports.push(JSON.stringify(toReport(run, await world.targets(run))));
  }

  const [sync, notes] = reports;
  expect(sync).toContain('[hidden]');
  expect(notes).toContain('contains a credential, and credentials are never stored');
  const told = {
    redis: await dumpOf(caretaker.redis.store),
    log: world.log.lines.join('\n'),
    reports,
    acting,
  };
  expect(told.redis).toContain('https://admin:[hidden]@one.example/?sso=[hidden]');
  for (const [where, text] of Object.entries(told))
    for (const secret of [...hostileSecrets, TOKEN]) expect(String(text), where).not.toContain(secret);
});
