/** A receiver that does not answer, and the variables that say what is sent. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type Desk, openDesk } from '../support/cli.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../support/otlp-receiver.ts';

let sandbox: Sandbox;
let desk: Desk;
let receiver: OtlpReceiver;

beforeEach(async () => {
  sandbox = await startSandbox({ sites: 2, speed: 200, rateLimit: 0, token: 't' });
  for (const id of sandbox.siteIds()) sandbox.site(id).lastSynced(30 * 3_600_000);
  receiver = await startOtlpReceiver();
  desk = openDesk({ CARETAKER_BASE_URL: sandbox.url, CARETAKER_API_TOKEN: 't' });
  desk.write('config/caretaker.yaml', 'dashboard: { port: 0 }\n');
  await desk.keepRedis();
});
afterEach(async () => {
  await desk.clear();
  await sandbox.stop();
  await receiver.stop();
});

/** A run by a daemon with these variables, and the log of the daemon. */
async function runWith(env: Record<string, string>): Promise<{ report: object; log: string[] }> {
  const daemon = desk.spawn(['daemon'], env);
  await daemon.line(/the daemon is running/);
  const { stdout } = await desk.spawn(['run', 'nightly-sync', '--json'], env).ended;
  daemon.child.kill('SIGTERM');
  const { stderr } = await daemon.ended;
  return { report: JSON.parse(stdout), log: stderr.trim().split('\n') };
}

const succeeded = { status: 'succeeded', counts: { succeeded: 2, failed: 0 } };

test('a receiver that does not answer delays neither the run nor the end of the daemon for long', async () => {
  receiver.answers = 'hang';
  const asked = performance.now();

  const { report, log } = await runWith({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });

  expect(report).toMatchObject(succeeded);
  expect(log.at(-1)).toContain('stopped');
  expect(receiver.bodies.length).toBeGreaterThan(0);
  expect(performance.now() - asked).toBeLessThan(28_000);
});

test('traces are sent as protobuf unless it is changed, with what the variables say, which may be in .env', async () => {
  desk.write(
    '.env',
    `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=${receiver.url}/traces
OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20of-the-receiver"
OTEL_SERVICE_NAME=night-shift
OTEL_RESOURCE_ATTRIBUTES=deployment.environment.name=staging
`,
  );

  const { report } = await runWith({});

  const types = receiver.bodies.map(({ headers }) => [headers['content-type'], headers['authorization']]);
  expect(types[0]).toEqual(['application/x-protobuf', 'Bearer of-the-receiver']);
  const sent = receiver.bodies.map(({ text }) => text).join('');
  for (const part of [(report as { run: string }).run, 'night-shift', 'staging'])
    expect(sent).toContain(part);
});
