import { afterEach, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type Desk, openDesk } from '../support/cli.ts';

let sandbox: Sandbox;
let desk: Desk;
afterEach(async () => {
  await desk.clear();
  await sandbox.stop();
});

test('a deletion that is started while its file is still being written does what the whole file says', async () => {
  sandbox = await startSandbox({ sites: 2, rateLimit: 0, token: 'a-secret-token' });
  for (const id of sandbox.siteIds()) sandbox.staging.make(id, 20);
  desk = openDesk({ CARETAKER_BASE_URL: sandbox.url, CARETAKER_API_TOKEN: 'a-secret-token' });
  const begun = `policies:
  - name: clean
    job: staging-cleanup
    with: { action: delete, older_than: 14d, grace: 0 }
`;
  desk.write('config/policies/clean.yaml', begun);

  const run = desk.start(['run', 'clean']);
  await run.line(/clean\.yaml was changed just now: clean starts when/);
  desk.write('config/policies/clean.yaml', `${begun}    select: { where: 'site.title == "None"' }\n`);

  expect(await run.ended).toMatchObject({ code: 0 });
  expect(sandbox.journal.effectsOf('deleteStagingSite')).toEqual([]);
});
