/**
 * A service whose texts contain credentials and terminal escapes: none of them is stored or shown anywhere.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hostileSecrets, hostileText } from '../../src/sandbox/faults/change-answer.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type Desk, openDesk, type Started } from '../support/cli.ts';
import { clearOfTheHour } from '../support/time-of-day.ts';
import { dumpOf, unseen } from './hostile.ts';

const PASSWORD = 'open-sesame-please';
const TOKEN = 'token-of-the-account';
const SECRETS = [...hostileSecrets, PASSWORD, TOKEN];

const POLICIES = `policies:
  - { name: sync, job: site-sync, select: { filters: {} }, retry: { attempts: 1 }, notify: [{ to: ops }] }
  - name: note
    job: api-call
    select: { from: listSites }
    with: { operation: createSiteNote, body: { note: { content: { cel: '"Seen: " + site.url' } } } }
  - name: logs
    job: api-call
    select: { from: listSites }
    with: { operation: disableSiteActivityLogs, confirm: disableSiteActivityLogs }
    retry: { attempts: 1 }
    notify: [{ to: ops }]
  - { name: updates, job: update-check, select: {} }
  - { name: copies, job: staging-cleanup, select: {}, with: { older_than: 1d } }
  - name: reports
    job: report-dispatch
    select: {}
    with: { template: { name: Monthly care }, period: last_month, recipients: client, subject: 'Of {{site.url}}' }
    limits: { stop_after_failures: 100% }
    retry: { attempts: 1 }
`;

let sandbox: Sandbox;
let desk: Desk;
let daemon: Started;
let url = '';
const heard: string[] = [];
/** Each text of the product, by where it was printed. */
const told = new Map<string, string>();

async function printed(...args: string[]): Promise<string> {
  const { stdout, stderr } = await desk.run(args);
  told.set(`caretaker ${args.join(' ')}`, `${stdout}${stderr}`);
  return stdout;
}

async function signIn(): Promise<string> {
  const answer = await fetch(`${url}/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: url },
    body: new URLSearchParams({ password: PASSWORD }),
  });
  return answer.headers.get('set-cookie')?.split(';')[0] ?? '';
}

async function served(path: string, cookie: string): Promise<void> {
  const answer = await fetch(url + path, { headers: { cookie } });
  // What the plan excluded has no page of its own.
  expect([200, 404], path).toContain(answer.status);
  told.set(`GET ${path}`, await answer.text());
}

beforeAll(async () => {
  await clearOfTheHour();
  const receiver = createServer((request, response) => {
    request.setEncoding('utf8').on('data', (part) => heard.push(part));
    request.on('end', () => response.writeHead(204).end());
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const { port } = receiver.address() as { port: number };
  stops.push(async () => {
    receiver.close();
    receiver.closeAllConnections();
  });

  sandbox = await startSandbox({
    sites: 8,
    speed: 60,
    rateLimit: 0,
    token: TOKEN,
    faults: { 'hostile-text': 1, 'failing-tasks': 0.3 },
  });
  const [first = '', second = '', third = '', fourth = ''] = sandbox.siteIds();
  const [, , , inUrl, sso] = hostileSecrets;
  sandbox.site(first).isCalled({ url: `https://admin:${inUrl}@one.example/?sso=${sso}`, title: hostileText });
  sandbox.site(second).isCalled({ title: 'x'.repeat(6_000) });
  sandbox.site(second).failNextSync(hostileText);
  sandbox.site(third).disconnect();
  sandbox.site(fourth).lastSynced(86_400_000, hostileText);
  sandbox.staging.make(first, 30);

  desk = openDesk({ CARETAKER_BASE_URL: sandbox.url, CARETAKER_API_TOKEN: TOKEN });
  const config = `notifications: { ops: { webhook: { url: "http://127.0.0.1:${port}/hook" }, allow_private: true } }\n`;
  desk.write('config/caretaker.yaml', `dashboard: { port: 0, password: ${PASSWORD} }\n${config}`);
  rmSync(join(desk.folder, 'config/policies'), { recursive: true });
  mkdirSync(join(desk.folder, 'config/policies'));
  desk.write('config/policies/all.yaml', POLICIES);
  daemon = desk.start(['daemon']);
  [url = ''] = /http:\/\/127\S+/.exec(await daemon.line(/Dashboard: http/)) ?? [];
  await daemon.line(/the daemon is running/);
});

const stops: (() => Promise<void>)[] = [];
afterAll(async () => {
  await desk?.clear();
  await sandbox?.stop();
  for (const stop of stops) await stop();
});

test('no credential is stored or shown, and no text controls a terminal', { timeout: 400_000 }, async () => {
  const cookie = await signIn();
  for (const policy of ['sync', 'note', 'logs', 'updates', 'copies', 'reports']) {
    await printed('run', policy);
    const { run, targets } = JSON.parse(await printed('runs', 'show', 'last', '--json'));
    const [{ id }] = targets;
    for (const path of [`/runs/${run}`, `/policies/${policy}`, `/targets/default/${id}`])
      await served(path, cookie);
    for (const path of [
      `/api/v1/runs/${run}`,
      `/api/v1/runs/${run}/targets`,
      `/api/v1/targets/default/${id}`,
    ])
      await served(path, cookie);
    if (policy !== 'sync' && policy !== 'reports') continue;
    for (const words of [[], ['--json']]) await printed('plan', policy, ...words);
    await printed('runs', 'show', run);
    for (const format of ['csv', 'jsonl']) await printed('runs', 'export', run, '--output', format);
  }
  for (const words of [['runs'], ['policies'], ['doctor']]) await printed(...words);
  for (const path of ['/', '/runs', '/system', '/metrics', '/api/v1/runs', '/queues/board/api/queues'])
    await served(path, cookie);
  daemon.signal('SIGTERM');
  const { stdout, stderr } = await daemon.ended;
  told.set('the log of the daemon', stdout + stderr);
  told.set('notifications', heard.join('\n'));
  told.set('Redis', await dumpOf((await desk.keepRedis()).redis.store));

  // The texts were received.
  expect(told.get('caretaker run sync')).toContain('\\u001b[31mred\\u001b[0m');
  expect(told.get('caretaker run note')).toContain('contains a credential, and credentials are never stored');
  const all = [...told.values()].join('\n');
  expect(all.match(/\[hidden\]/g)?.length).toBeGreaterThan(50);
  expect(told.get('notifications')).toContain('"status"');
  expect(all).toContain('https://admin:[hidden]@one.example/?sso=[hidden]');
  const leaks = [...told].flatMap(([where, text]) =>
    SECRETS.filter((secret) => text.includes(secret)).map((secret) => `${secret} in ${where}`),
  );
  expect(leaks).toEqual([]);
  const steering = [...told].flatMap(([where, text]) => {
    // Redis stores texts unchanged, and a page shows them to a browser.
    if (where === 'Redis' || /^GET (?!\/api)/.test(where)) return [];
    // A line of CSV ends with both.
    const found = unseen.exec(where.endsWith('--output csv') ? text.replaceAll('\r\n', '\n') : text);
    return found ? [`${JSON.stringify(found[0])} in ${where}`] : [];
  });
  expect(steering).toEqual([]);
});
