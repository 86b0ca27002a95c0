import { expect, test } from 'vitest';
import { aPolicy } from '../support/builders.ts';
import { worldOfTest } from '../support/world-of-test.ts';

test('a running process stops when a newer release has migrated the records, and sends no change from then on', async () => {
  let told: (error: Error) => void = () => undefined;
  const ends = new Promise<Error>((resolve) => {
    told = resolve;
  });
  const { caretaker, sandbox, clock, fire } = await worldOfTest({
    ...{ sites: 3, onOtherVersion: (error: Error) => told(error) },
  });

  await caretaker.redis.store.hset('{caretaker}:schema', 'version', 99);
  await fire(aPolicy());

  expect((await ends).message).toMatch(
    /^The records in Redis have version 99, and this release of Caretaker works with version \d+: upgrade Caretaker/,
  );
  // A minute in which the run would have been completed.
  await clock.sleep(60_000);
  expect(sandbox.journal.effects).toEqual([]);
});
