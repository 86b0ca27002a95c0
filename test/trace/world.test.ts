/** The traces of runs in which something goes wrong: every span has its place, and none is missing. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ContractError } from '../../src/contract/answers.ts';
import type { Run } from '../../src/run/run.ts';
import { around } from '../support/between.ts';
import { aPolicy } from '../support/builders.ts';
import { startWorld, type World } from '../support/caretaker.ts';
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from '../support/otlp-receiver.ts';

let world: World;
let receiver: OtlpReceiver;
beforeEach(async () => {
  receiver = await startOtlpReceiver();
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', receiver.url);
  vi.stubEnv('OTEL_EXPORTER_OTLP_PROTOCOL', 'http/json');
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await receiver.stop();
});

/** The spans of the world, once it has stopped. */
async function spansAfter(): Promise<ReceivedSpan[]> {
  await world.stop();
  return receiver.spans;
}

const parentsOf = (spans: readonly ReceivedSpan[]) => {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  return ({ parentSpanId = '' }: ReceivedSpan) => byId.get(parentSpanId);
};
const named = (spans: readonly ReceivedSpan[], pattern: RegExp) =>
  spans.filter(({ name }) => pattern.test(name));
const startedOf = async (run: Run) => (await world.targets(run)).filter(({ startedAt }) => startedAt);

test('a run with failures has a span for each target that was started and each request, all in their places', async () => {
  world = await startWorld({ sites: 20 });
  world.sandbox.failNext({ operation: 'syncSite', times: 2 }, 'reset-before');
  const run = await world.ended(await world.fire(aPolicy()));
  const started = await startedOf(run);

  const spans = await spansAfter();

  const parentOf = parentsOf(spans);
  expect(
    named(spans, /^target /)
      .map(({ attributes }) => attributes['caretaker.target.id'])
      .sort(),
  ).toEqual(started.map(({ id }) => id).sort());
  const requested: Record<string, number> = {};
  for (const { attributes } of named(spans, /^(GET|POST) /)) {
    const operation = String(attributes['caretaker.operation']);
    requested[operation] = (requested[operation] ?? 0) + 1;
  }
  expect(requested).toEqual(world.sandbox.journal.totals.requests);
  expect(spans.filter((span) => span.parentSpanId && !parentOf(span))).toEqual([]);
  expect(spans.filter(({ parentSpanId }) => !parentSpanId).map(({ name }) => name)).toEqual([
    'run nightly-sync',
  ]);
  const failed = named(spans, /^target /).filter(({ status }) => status?.code === 2);
  expect(failed.map(({ status }) => status?.message).sort()).toEqual(
    started
      .filter(({ outcome }) => outcome === 'failed')
      .map(({ reason }) => reason ?? '')
      .sort(),
  );
  expect(
    named(spans, /^POST /).filter(({ attributes }) => attributes['error.type'] === 'UND_ERR_SOCKET'),
  ).toHaveLength(2);
});

test('requests for the status of one sync are below the following of that sync', async () => {
  world = await startWorld({ sites: 3 });
  let lists = 0;
  around(world.caretaker.link('default').client, 'call', (call, id) => {
    // The first list is the one of the plan.
    if (id !== 'listSites' || lists++ === 0) return call();
    return Promise.reject(new ContractError(id, 'sites[0].id', 'is missing'));
  });
  await world.ended(await world.fire(aPolicy()));

  const spans = await spansAfter();

  const polls = named(spans, /^GET .*\/sites\/\{site_id\}$/);
  expect(polls.length).toBeGreaterThan(0);
  expect(new Set(polls.map((poll) => parentsOf(spans)(poll)?.name))).toEqual(new Set(['follow sync']));
});

test('a run that a person ends at once has the spans of what it had begun', async () => {
  // A leap over the waiting could pass the time limit of the targets, and then none would be followed any more.
  world = await startWorld({ sites: 3, leaps: false });
  for (const id of world.sandbox.siteIds()) world.sandbox.site(id).syncTakes(86_400_000);
  const fired = await world.fire(aPolicy());
  const { engine, records } = world.caretaker;
  await world.ended(fired, ({ requestsByOperation }) => (requestsByOperation?.['syncSite'] ?? 0) >= 3);
  while ((await records.targets.inState(fired.id, 'following', 3)).length < 3) await world.clock.sleep(500);
  await engine.forceEnd(fired.id);

  const spans = await spansAfter();

  expect(named(spans, /^run /).map(({ attributes }) => attributes['caretaker.run.status'])).toEqual([
    'cancelled',
  ]);
  expect(named(spans, /^target /)).toHaveLength(3);
  expect(named(spans, /^follow /)).toHaveLength(3);
  expect(named(spans, /^follow /).map((span) => parentsOf(spans)(span)?.name)).toEqual(
    Array.from({ length: 3 }, () => 'target site-sync'),
  );
});

test('a run that is skipped is a trace of one span', async () => {
  world = await startWorld({ sites: 1, work: false });
  await world.fire(aPolicy());
  const skipped = await world.fire(aPolicy());
  expect(skipped.status).toBe('skipped');

  const spans = await spansAfter();

  const own = spans.filter(({ attributes }) => attributes['caretaker.run.id'] === skipped.id);
  expect(own).toMatchObject([
    { name: 'run nightly-sync', attributes: { 'caretaker.run.status': 'skipped' } },
  ]);
});

test('a protocol that is not supported is named in the log, and work goes on without traces', async () => {
  vi.stubEnv('OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc');
  world = await startWorld({ sites: 1 });
  const run = await world.ended(await world.fire(aPolicy()));

  expect(await spansAfter()).toEqual([]);
  expect(receiver.bodies).toEqual([]);
  const log = world.log.lines.join('\n');
  expect(log).toContain('there are no traces: OTEL_EXPORTER_OTLP_PROTOCOL may be http/protobuf or http/json');
  expect(log).toContain(run.id);
  expect(log).not.toContain('trace_id');
});
