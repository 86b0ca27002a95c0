/**
 * A service whose texts contain credentials and terminal escapes: no credential is recorded, logged or reported.
 * `hostile-texts.long.test.ts` looks at every page and command.
 */
import { expect, test } from 'vitest';
import { toReport } from '../../src/run/report.ts';
import { hostileSecrets, hostileText } from '../../src/sandbox/faults/hostile.ts';
import { aPolicy } from '../support/builders.ts';
import { worldOfTest } from '../support/world-of-test.ts';
import { dumpOf } from './hostile.ts';

const TOKEN = 'token-of-the-account';

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
  ];

  const reports: string[] = [];
  for (const policy of policies) {
    const run = await world.ended(await world.fire(policy));
    reports.push(JSON.stringify(toReport(run, await world.targets(run))));
  }

  const [sync, notes] = reports;
  expect(sync).toContain('[hidden]');
  expect(notes).toContain('contains a credential, and credentials are never stored');
  const told = { redis: await dumpOf(caretaker.redis.store), log: world.log.lines.join('\n'), reports };
  expect(told.redis).toContain('https://admin:[hidden]@one.example/?sso=[hidden]');
  for (const [where, text] of Object.entries(told))
    for (const secret of [...hostileSecrets, TOKEN]) expect(String(text), where).not.toContain(secret);
});
