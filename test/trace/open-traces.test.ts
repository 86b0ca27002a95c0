/** What one process makes of a run, with the real SDK and a real receiver. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { SentRequest } from '../../src/client/call-options.ts';
import type { Run } from '../../src/run/run.ts';
import { openTraces } from '../../src/trace/open-traces.ts';
import type { Traces } from '../../src/trace/traces.ts';
import { aRun, aTarget } from '../support/builders.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../support/otlp-receiver.ts';
import { keptLog } from '../support/quiet.ts';

const AT = Date.UTC(2026, 10, 22, 1);
const HOUR = 3_600_000;

let receiver: OtlpReceiver;
let log: ReturnType<typeof keptLog>;
beforeEach(async () => {
  receiver = await startOtlpReceiver();
  log = keptLog();
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', receiver.url);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await receiver.stop();
});

const open = (
  installation = 'these-records',
  instance = 'a',
  protocol: 'http/json' | 'http/protobuf' = 'http/json',
): Promise<Traces> =>
  openTraces({
    protocol,
    env: process.env,
    installation: () => installation,
    instance,
    version: '1',
    log,
  });

const runOf = (id: string): Run =>
  aRun({
    id,
    policy: 'nightly',
    status: 'succeeded',
    createdAt: AT,
    startedAt: AT + 1,
    finishedAt: AT + 5 * HOUR,
  });

const target = aTarget('4711', { state: 'ended', startedAt: AT + 2, finishedAt: AT + HOUR });

const request: SentRequest = {
  operation: 'syncSite',
  account: 'default',
  requestClass: 'action',
  method: 'POST',
  template: '/api/v6/sites/{site_id}/sync',
  server: { scheme: 'https', address: 'api.example', port: 443 },
  budgetWaitMs: 12,
  sentAt: AT + 3,
  endedAt: AT + 40,
  status: 201,
  requestId: 'req-1',
  resends: 0,
};

/** Tells one process everything about a run. */
function tellAll(traces: Traces, run: Run): void {
  traces.requestsOf({ run: run.id, target: target.id })?.(request);
  traces.targetEnded(run, target);
  traces.runEnded(run);
}

test('what three processes say of a run at three times fits together in one trace', async () => {
  const run = runOf('nightly.20261122T010000Z');
  const first = await open('these-records', 'a');
  first.requestsOf({ run: run.id, target: target.id })?.(request);
  await first.close();
  const second = await open('these-records', 'b');
  second.targetEnded(run, target);
  await second.close();
  const third = await open('these-records', 'c');
  third.runEnded(run);
  const id = third.traceOf(run.id);
  await third.close();

  const [sent, worked, root] = receiver.spans;
  expect(receiver.spans.map((span) => [span.process['service.instance.id'], span.name])).toEqual([
    ['a', 'POST /api/v6/sites/{site_id}/sync'],
    ['b', 'target site-sync'],
    ['c', 'run nightly'],
  ]);
  expect(receiver.spans.map(({ traceId }) => traceId)).toEqual([id, id, id]);
  expect([sent?.parentSpanId, worked?.parentSpanId]).toEqual([worked?.spanId, root?.spanId]);
  expect([root?.fromMs, root?.toMs]).toEqual([AT, AT + 5 * HOUR]);
  expect(sent?.attributes).toMatchObject({ 'http.response.header.x-request-id': ['req-1'] });
});

test('the same run on another Redis has another trace', async () => {
  const here = await open('these-records');
  const there = await open('other-records');
  expect(here.traceOf('nightly.20261122T010000Z')).not.toBe(there.traceOf('nightly.20261122T010000Z'));
  await here.close();
  await there.close();
});

test('a run is sampled whole or not at all, in every process alike', async () => {
  vi.stubEnv('OTEL_TRACES_SAMPLER', 'traceidratio');
  vi.stubEnv('OTEL_TRACES_SAMPLER_ARG', '0.5');
  const runs = Array.from({ length: 100 }, (_, number) => runOf(`nightly.${number}`));
  const one = await open();
  for (const run of runs) tellAll(one, run);
  await one.close();
  const other = await open();
  const sampled = runs.filter(({ id }) => other.traceOf(id) !== undefined).map(({ id }) => id);
  await other.close();

  expect(sampled.length).toBeGreaterThan(20);
  expect(sampled.length).toBeLessThan(80);
  const spans = new Map<string, number>();
  for (const { attributes } of receiver.spans) {
    const id = String(attributes['caretaker.run.id']);
    spans.set(id, (spans.get(id) ?? 0) + 1);
  }
  expect([...spans].sort()).toEqual(sampled.map((id) => [id, 3]).sort());
});

test('a sampler that is not known here is named in the log, and every run is sampled', async () => {
  vi.stubEnv('OTEL_TRACES_SAMPLER', 'xray');
  const traces = await open();
  tellAll(traces, runOf('nightly.1'));
  await traces.close();

  expect(receiver.spans).toHaveLength(3);
  expect(log.lines).toEqual([
    expect.stringMatching(/^warn OpenTelemetry: OTEL_TRACES_SAMPLER value "xray" invalid/),
  ]);
});

test('failures have the status of an error: an answer, a lost answer, a target, a run', async () => {
  const traces = await open();
  const run = runOf('nightly.1');
  const note = traces.requestsOf({ run: run.id });
  note?.({ ...request, status: 409 });
  const { status: _none, ...unanswered } = request;
  note?.({ ...unanswered, error: 'ECONNRESET', resends: 2 });
  traces.targetEnded(run, { ...target, outcome: 'failed', reason: 'unknown-effect' });
  traces.runEnded({ ...run, status: 'failed' });
  await traces.close();

  expect(receiver.spans.map(({ status, attributes }) => [status, attributes['error.type']])).toEqual([
    [{ code: 2, message: '409' }, '409'],
    [{ code: 2, message: 'ECONNRESET' }, 'ECONNRESET'],
    [{ code: 2, message: 'unknown-effect' }, 'unknown-effect'],
    [{ code: 2, message: 'failed' }, 'failed'],
  ]);
  expect(receiver.spans[1]?.attributes).toMatchObject({ 'http.request.resend_count': 2 });
});

test('a target that was never started makes no span', async () => {
  const traces = await open();
  const { startedAt: _never, ...unstarted } = target;
  traces.targetEnded(runOf('nightly.1'), unstarted);
  traces.runEnded(runOf('nightly.1'));
  await traces.close();

  expect(receiver.spans.map(({ name }) => name)).toEqual(['run nightly']);
});

test('while the receiver refuses, the log has one line; when it accepts again, the number of lost spans', async () => {
  vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', '1');
  receiver.answers = 400;
  const traces = await open();
  for (let sent = 0; sent < 3; sent += 1) {
    traces.runEnded(runOf(`nightly.${sent}`));
    await receiver.until(() => receiver.bodies.length > sent);
  }
  receiver.answers = 200;
  traces.runEnded(runOf('nightly.last'));
  await traces.close();

  expect(log.lines.filter((line) => !line.startsWith('debug'))).toEqual([
    expect.stringMatching(/^warn traces could not be sent; work continues, and this is logged once/),
    expect.stringMatching(/^info the receiver of traces accepts them again; 3 spans were lost/),
  ]);
  expect(receiver.spans.map(({ attributes }) => attributes['caretaker.run.id'])).toEqual(['nightly.last']);
});

test('without a receiver work goes on, and the log has one line', async () => {
  await receiver.stop();
  vi.stubEnv('OTEL_EXPORTER_OTLP_TIMEOUT', '100');
  const traces = await open();
  tellAll(traces, runOf('nightly.1'));
  await traces.close();

  expect(log.lines.filter((line) => line.includes('traces could not be sent'))).toHaveLength(1);
  expect(log.lines.filter((line) => line.includes('OpenTelemetry:'))).toEqual([]);
});

test('traces are sent as protobuf, with the headers and names that the variables say', async () => {
  vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', 'authorization=Bearer%20of-the-receiver');
  vi.stubEnv('OTEL_SERVICE_NAME', 'night-shift');
  vi.stubEnv('OTEL_RESOURCE_ATTRIBUTES', 'deployment.environment.name=staging');
  const traces = await open('these-records', 'a', 'http/protobuf');
  traces.runEnded(runOf('nightly.20261122T010000Z'));
  await traces.close();

  const [body] = receiver.bodies;
  expect(body?.headers).toMatchObject({
    'content-type': 'application/x-protobuf',
    authorization: 'Bearer of-the-receiver',
  });
  for (const part of ['nightly.20261122T010000Z', 'night-shift', 'staging'])
    expect(body?.text).toContain(part);
});

test('spans that the receiver does not take in time are dropped: the memory is bounded', async () => {
  vi.stubEnv('OTEL_BSP_MAX_QUEUE_SIZE', '10');
  const traces = await open();
  for (let sent = 0; sent < 100; sent += 1) traces.runEnded(runOf(`nightly.${sent}`));
  await traces.close();

  // Those on their way, and a full queue.
  expect(receiver.spans).toHaveLength(20);
});

test('a text that looks like a secret is hidden in a span', async () => {
  const traces = await open();
  traces.targetEnded(runOf('nightly.1'), {
    ...target,
    id: 'https://somebody:password-of-somebody@example.org',
  });
  await traces.close();

  expect(receiver.bodies.map(({ text }) => text).join()).not.toContain('password-of-somebody');
});
