/** The trace of a run: real processes, a real service, a real receiver. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type Desk, type Ended, openDesk } from '../support/cli.ts';
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from '../support/otlp-receiver.ts';

const TOKEN = 'the-token-of-the-account';
const KEY = 'the-key-of-the-receiver';

let sandbox: Sandbox;
let desk: Desk;
let receiver: OtlpReceiver;

beforeAll(async () => {
  sandbox = await startSandbox({ sites: 4, speed: 200, rateLimit: 0, token: TOKEN });
  for (const id of sandbox.siteIds()) sandbox.site(id).lastSynced(30 * 3_600_000);
  receiver = await startOtlpReceiver();
  desk = openDesk({ CARETAKER_BASE_URL: sandbox.url, CARETAKER_API_TOKEN: TOKEN });
  desk.write('config/caretaker.yaml', 'dashboard: { port: 0 }\n');
  await desk.keepRedis();
});
afterAll(async () => {
  await desk.clear();
  await sandbox.stop();
  await receiver.stop();
});

const traced = () => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  OTEL_EXPORTER_OTLP_HEADERS: `api-key=${KEY}`,
});

/** A run that one process fires and another one, the daemon, works on. */
async function runBetweenProcesses(env: Record<string, string>): Promise<{ run: string; daemon: Ended }> {
  const daemon = desk.spawn(['daemon'], env);
  await daemon.line(/the daemon is running/);
  const { stdout } = await desk.spawn(['run', 'nightly-sync', '--detach'], env).ended;
  const run = stdout.trim();
  await daemon.line(/a run ended/);
  daemon.child.kill('SIGTERM');
  return { run, daemon: await daemon.ended };
}

const logLines = ({ stderr }: Ended): Record<string, unknown>[] =>
  stderr
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));

describe('a run that one process fires and another one works on', () => {
  let run: string;
  let daemon: Ended;
  let spans: ReceivedSpan[];
  const named = (name: string | RegExp) =>
    spans.filter((span) => (typeof name === 'string' ? span.name === name : name.test(span.name)));
  const parentOf = ({ parentSpanId }: ReceivedSpan) => spans.find(({ spanId }) => spanId === parentSpanId);
  beforeAll(async () => {
    ({ run, daemon } = await runBetweenProcesses(traced()));
    ({ spans } = receiver);
  });

  test('is one trace, to which both processes add, and whose only root is the run', () => {
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    expect(spans.filter(({ parentSpanId }) => !parentSpanId).map(({ name }) => name)).toEqual([
      'run nightly-sync',
    ]);
    expect(spans.filter((span) => span.parentSpanId && !parentOf(span))).toEqual([]);
    expect(new Set(spans.map((span) => span.process['service.instance.id'])).size).toBe(2);
    expect(spans.map((span) => span.process['service.name'])).toEqual(spans.map(() => 'caretaker'));
  });

  test('the span of the run has its times, status, counts and cost', async () => {
    const shown = JSON.parse((await desk.run(['runs', 'show', run, '--json'])).stdout);
    const [root] = named('run nightly-sync');
    expect(root).toMatchObject({
      kind: 1,
      attributes: {
        'caretaker.run.id': run,
        'caretaker.policy': 'nightly-sync',
        'caretaker.job': 'site-sync',
        'caretaker.account': 'default',
        'caretaker.run.trigger': 'manual',
        'caretaker.run.status': 'succeeded',
        'caretaker.run.requests': shown.requests,
        'caretaker.run.targets.planned': 4,
        'caretaker.run.targets.succeeded': 4,
      },
      events: ['planning starts'],
    });
    expect(new Date(root?.toMs ?? 0).toISOString().slice(0, 19)).toBe(shown.finished_at.slice(0, 19));
  });

  test('each target is a span below it, with what came of it', () => {
    const [root] = named('run nightly-sync');
    const targets = named('target site-sync');
    expect(targets.map((span) => span.attributes['caretaker.target.id']).sort()).toEqual(
      [...sandbox.siteIds()].sort(),
    );
    for (const target of targets) {
      expect(parentOf(target)).toBe(root);
      expect(target.attributes).toMatchObject({
        'caretaker.target.outcome': 'succeeded',
        'caretaker.target.attempts': expect.any(Number),
        'caretaker.target.reason': expect.any(String),
      });
      expect(target.fromMs).toBeGreaterThanOrEqual(root?.fromMs ?? 0);
      expect(target.toMs).toBeLessThanOrEqual(root?.toMs ?? 0);
    }
  });

  test('each request is a span of an HTTP client, below its target or, for lists, below the run', () => {
    const posts = named(/^POST /);
    expect(posts.map(({ name }) => name)).toEqual(
      posts.map(() => expect.stringMatching(/^POST .*\/sites\/\{site_id\}\/sync$/)),
    );
    expect(posts.map((span) => parentOf(span)?.attributes['caretaker.target.id']).sort()).toEqual(
      [...sandbox.siteIds()].sort(),
    );
    const { hostname, port } = new URL(sandbox.url);
    for (const post of posts)
      expect(post).toMatchObject({
        kind: 3,
        attributes: {
          'http.request.method': 'POST',
          'http.response.status_code': 200,
          'url.scheme': 'http',
          'server.address': hostname,
          'server.port': Number(port),
          'caretaker.operation': 'syncSite',
          'caretaker.request.class': 'action',
          'caretaker.budget.wait_ms': expect.any(Number),
        },
      });
    const lists = named(/^GET .*\/sites$/);
    expect(lists.length).toBeGreaterThan(0);
    expect(new Set(lists.map((span) => parentOf(span)?.name))).toEqual(new Set(['run nightly-sync']));
  });

  test('following a sync is a span below its target, as long as the sync was followed', () => {
    const follows = named(/^follow /);
    expect(follows).toHaveLength(4);
    for (const follow of follows) {
      const target = parentOf(follow);
      expect(target?.name).toBe('target site-sync');
      expect(follow.toMs).toBe(target?.toMs);
      expect(follow.attributes).toMatchObject({
        'caretaker.target.id': target?.attributes['caretaker.target.id'],
      });
    }
  });

  test('the entries of the queues are messaging spans of BullMQ below the run; the other work of BullMQ is left out', () => {
    const [root] = named('run nightly-sync');
    const queued = spans.filter(({ scope }) => scope === 'bullmq');
    expect(new Set(queued.map(({ name }) => name))).toEqual(
      new Set(
        ['plans', 'actions'].flatMap((queue) =>
          ['addBulk', 'process', 'complete'].map((one) => `${one} ${queue}`),
        ),
      ),
    );
    for (const sent of named(/^addBulk /)) {
      expect(parentOf(sent)).toBe(root);
      expect(sent).toMatchObject({ kind: 4, attributes: { 'messaging.operation.type': 'send' } });
    }
    for (const settled of named(/^complete /)) {
      expect(parentOf(settled)?.name).toBe(settled.name.replace('complete', 'process'));
      expect(settled.attributes).toMatchObject({ 'messaging.operation.type': 'settle' });
    }
    for (const done of named(/^process /)) {
      expect(parentOf(done)?.name).toBe(done.name.replace('process', 'addBulk'));
      expect(done).toMatchObject({
        kind: 5,
        attributes: { 'messaging.system': 'bullmq', 'messaging.operation.type': 'process' },
      });
    }
  });

  test('no name of a span has an id, and nothing that was sent has a secret', () => {
    const ids = [run, ...sandbox.siteIds()];
    expect(spans.filter(({ name }) => ids.some((id) => name.includes(id)))).toEqual([]);
    const sent = receiver.bodies.map(({ text }) => text).join('\n');
    expect(sent).not.toContain(TOKEN);
    expect(sent).not.toContain(KEY);
    expect(sent).not.toMatch(/authorization|bearer/i);
    expect(receiver.bodies.map(({ headers }) => headers['api-key'])).toEqual(receiver.bodies.map(() => KEY));
  });

  test('its log lines have the id of the trace', () => {
    const lines = logLines(daemon).filter((line) => line['run'] === run);
    expect(lines.map(({ msg }) => msg)).toEqual(expect.arrayContaining(['a run starts', 'a run ended']));
    expect(new Set(lines.map((line) => line['trace_id']))).toEqual(new Set([spans[0]?.traceId]));
  });
});
