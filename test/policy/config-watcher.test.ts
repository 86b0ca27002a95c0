import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { watchConfig } from '../../src/policy/config-watcher.ts';
import { loadSettings } from '../../src/settings/load-settings.ts';
import type { Settings } from '../../src/settings/settings.ts';
import { folderWith } from '../settings/folder.ts';
import { fastClock } from '../support/caretaker.ts';
import { keptLog } from '../support/quiet.ts';

let file: string;
let log: ReturnType<typeof keptLog>;
let taken: Settings[];
let stop: () => Promise<void>;

beforeEach(() => {
  const cwd = folderWith({ 'config/caretaker.yaml': 'daemon: { concurrency: 5 }\n' });
  file = join(cwd, 'config/caretaker.yaml');
  log = keptLog();
  taken = [];
  const read = () => loadSettings({ cwd, env: {} });
  stop = watchConfig(
    { files: [file, join(cwd, '.env')], read },
    { started: read(), take: (settings) => taken.push(settings), clock: fastClock(40), log },
  );
});
afterEach(() => stop());

const said = (pattern: RegExp) =>
  vi.waitFor(() =>
    expect(
      log.lines.some((line) => pattern.test(line)),
      log.lines.join('\n'),
    ).toBe(true),
  );

test('notifications and retention apply immediately, and the log reports what needs a restart', async () => {
  writeFileSync(
    file,
    'daemon: { concurrency: 6 }\nredis: redis://r:1\nretention: { runs: 7d }\nnotifications: { ops: { webhook: { url: "https://h.example/x" } } }\n',
  );
  await said(/^info .*changed: notifications and retention apply now$/);
  await said(/^warn .*changed: redis and daemon apply only after a restart of the daemon$/);
  expect(taken.at(-1)).toMatchObject({ retention: { runsMs: 7 * 86_400_000 }, notifications: { ops: {} } });

  writeFileSync(file, 'daemon: { concurrency: 5 } # as before\nretention: { runs: 7d }\n');
  await said(/it is the same as when the daemon was started/);
  writeFileSync(file, 'daemon: { concurrency: 5 }\nretention: { runs: 7d }\n# a comment\n');
  await said(/changed, but no setting did/);
});

test('a configuration with an error changes nothing, and the log reports the place of the error', async () => {
  writeFileSync(file, 'daemon: { concurrency: five }\n');
  await said(
    /^error .*cannot be used: .*caretaker\.yaml:1:24: "concurrency" must be a whole number from 1 to 1000; the daemon keeps the previous configuration$/,
  );
  expect(taken).toEqual([]);
});

test('a change of .env is a change of the configuration', async () => {
  writeFileSync(join(file, '../../.env'), 'REDIS_URL=redis://r:2\n');
  await said(/redis applies only after a restart/);
});
