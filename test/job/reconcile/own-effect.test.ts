/** Which item in the account was created by a lost request, and when that cannot be determined. */
import { describe, expect, test } from 'vitest';
import { ownOf } from '../../../src/job/reconcile/own-effect.ts';

const INTENT = Date.parse('2026-11-21T02:00:00.500Z');
const intent = { operation: 'createSiteNote', at: INTENT };
const at = (ms: number) => new Date(INTENT + ms).toISOString();

/**
 * An account where some ids belong to other targets. Its clock is known to this many milliseconds in both
 * directions.
 */
function account(others: readonly string[] = [], sharpness = 1_000) {
  const claimed: string[] = [];
  return {
    claimed,
    looking: {
      serviceTime: async (time: number) => ({ earliest: time - sharpness, latest: time + sharpness }),
      effects: {
        claim: async (_: string, id: string) => !others.includes(id) && claimed.push(id) > 0,
        belongsToOther: async (_: string, id: string) => others.includes(id),
      },
    },
  };
}

/** What is found of items by the times of their creation, the `vague` ones of which do not show what for. */
const own = (
  candidates: Record<string, string | undefined>,
  { looking } = account(),
  vague: readonly string[] = [],
) =>
  ownOf(
    looking,
    'createSiteNote',
    intent,
    Object.entries(candidates).map(([id, createdAt]) => ({ id, createdAt, isSure: !vague.includes(id) })),
  );

describe('an item that was created', () => {
  test('after the intent is the effect of the target, which claims it', async () => {
    const now = account();
    expect(await own({ a: at(2_000) }, now)).toEqual({ is: 'found', id: 'a' });
    expect(now.claimed).toEqual(['a']);
  });

  test('before the intent is not', async () => {
    expect(await own({ a: at(-2_500) })).toEqual({ is: 'absent' });
  });

  test('by another target is not, at any time', async () => {
    const others = account(['a', 'b']);
    expect(await own({ a: at(2_000), b: at(100) }, others)).toEqual({ is: 'absent' });
    expect(await own({ a: at(2_000), c: at(3_000) }, others)).toEqual({ is: 'found', id: 'c' });
  });

  test('at about the time of the intent is the effect if it is the only one and belongs to no other target', async () => {
    expect(await own({ a: at(20) })).toEqual({ is: 'found', id: 'a' });
    expect(await own({ a: at(20), b: at(-20) })).toMatchObject({ is: 'unknown' });
    expect(await own({ a: undefined })).toEqual({ is: 'found', id: 'a' });
  });

  test('at any time is unknown when the service’s clock is not known', async () => {
    const unsharp = account([], 86_400_000);
    expect(await own({ a: at(2_000) }, unsharp)).toMatchObject({ is: 'unknown' });
    expect(await own({ a: undefined }, unsharp)).toMatchObject({ is: 'unknown' });
    expect(await own({}, unsharp)).toEqual({ is: 'absent' });
  });

  test('after the intent, but for an unknown purpose, is unknown', async () => {
    const one = { a: at(2_000) };
    expect(await own(one, account(), ['a'])).toEqual({
      is: 'unknown',
      detail: 'Something of this kind was created since, but does not show what for.',
    });
    expect(await own(one, account(['a']), ['a'])).toEqual({ is: 'absent' });
    expect(await own({ ...one, b: at(2_000) }, account(), ['a'])).toEqual({ is: 'found', id: 'b' });
  });
});
