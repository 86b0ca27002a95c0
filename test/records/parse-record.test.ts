/** Records are parsed when they are read: an invalid record is reported with its key, and never misread. */
import { beforeEach, expect, test } from 'vitest';
import { keys } from '../../src/records/keys.ts';
import { openRecords } from '../../src/records/records.ts';
import { aTarget } from '../support/builders.ts';
import { redisOfFile } from '../support/redis-of-file.ts';
import { planning } from './begun.ts';

const { redis } = await redisOfFile();
const records = openRecords(redis);
beforeEach(() => redis.flushall());

test('a run and a target are read as they were written', async () => {
  const run = (await planning(records, [aTarget('a')])).run;

  expect(await records.runs.get(run.id)).toEqual({
    ...run,
    ...{ status: 'planning', startedAt: 2_000, counts: { ...run.counts, planned: 1 } },
  });
  expect(await records.targets.get(run.id, 'a')).toEqual(aTarget('a'));
});

test('a run with an unknown status is an error that names its key and the field', async () => {
  const run = (await planning(records, [aTarget('a')])).run;
  await redis.hset(keys.run(run.id), 'status', 'resting');

  await expect(records.runs.get(run.id)).rejects.toMatchObject({
    code: 'INVALID_RECORD',
    message: expect.stringMatching(`^The record "${keys.run(run.id)}" in Redis cannot be read: "status" `),
  });
});

test('a target that lacks a field, or is not JSON, is also an error', async () => {
  const run = (await planning(records, [aTarget('a')])).run;
  const { waits: _lost, ...rest } = aTarget('a');
  for (const [json, why] of [
    [JSON.stringify(rest), '"waits" is missing'],
    ['{"id"', 'it is not JSON'],
  ] as const) {
    await redis.hset(keys.targets(run.id), 'a', json);
    await expect(records.targets.get(run.id, 'a')).rejects.toThrow(why);
  }
});

test('an invalid number is an error', async () => {
  await redis.hset(keys.policy('nightly'), 'cursor', 'yesterday');

  await expect(records.policies.state('nightly')).rejects.toThrow(`"${keys.policy('nightly')}"`);
});

test('an event of an unknown type is ignored, and the next one is received', async () => {
  const heard: string[] = [];
  let ring = () => {};
  const rung = new Promise<void>((resolve) => {
    ring = resolve;
  });
  const stop = await records.listen((event) => {
    heard.push(event.type);
    ring();
  });
  await redis.publish(keys.events, '{"type":"run.moved"}');
  await redis.publish(keys.events, 'not JSON');
  await redis.publish(keys.events, '{"type":"freeze.changed","at":1}');
  await rung;
  await stop();

  expect(heard).toEqual(['freeze.changed']);
});
