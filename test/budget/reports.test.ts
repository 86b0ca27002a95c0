/** Reports of answers that come at the same time are sent together, without losing what one of them shows. */
import { expect, test } from 'vitest';
import { Reports } from '../../src/budget/reports.ts';
import type { WindowReport } from '../../src/budget/ticket.ts';

/** Redis, of which the test decides when it answers. */
function slowRedis() {
  const sent: string[] = [];
  const answers: (() => void)[] = [];
  const reports = new Reports((ticket, report, at) => {
    sent.push(
      `window ${ticket.window} at ${at}: ${report?.kind ?? 'nothing'} ${report?.remaining ?? ''}`.trim(),
    );
    return new Promise((resolve) => answers.push(resolve));
  });
  const answered = (remaining: number, change: Partial<WindowReport> = {}): WindowReport => ({
    kind: 'answered',
    limit: 200,
    remaining,
    resetMs: 30_000,
    ...change,
  });
  return {
    sent,
    answered,
    learn: (window: number, report: WindowReport | undefined, at = 0) =>
      reports.learn({ window }, report, at),
    async answerNext() {
      answers.shift()?.();
      for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
    },
  };
}

test('the first report is sent at once; those that come meanwhile are sent as one, with the smallest count', async () => {
  const { sent, answered, learn, answerNext } = slowRedis();
  const all = [100, 97, 99, 98].map((remaining, at) => learn(7, answered(remaining), at));
  expect(sent).toEqual(['window 7 at 0: answered 100']);

  await answerNext();
  expect(sent).toEqual(['window 7 at 0: answered 100', 'window 7 at 3: answered 97']);
  await answerNext();
  await Promise.all(all);
});

test('answers without numbers are reported together too, and the last of them is not left out', async () => {
  const { sent, answered, learn, answerNext } = slowRedis();
  const all = [1, 2, 3].map((at) => learn(7, { kind: 'answered' }, at));
  expect(sent).toEqual(['window 7 at 1: answered']);
  await answerNext();
  expect(sent).toEqual(['window 7 at 1: answered', 'window 7 at 3: answered']);

  all.push(learn(7, { kind: 'answered' }, 4), learn(7, answered(50), 5));
  expect(sent.slice(2)).toEqual(['window 7 at 4: answered', 'window 7 at 5: answered 50']);
  for (let left = 0; left < 3; left += 1) await answerNext();
  await Promise.all(all);
});

test('a report of another window, one with another limit or end, and one with some numbers are sent at once', () => {
  const { sent, answered, learn } = slowRedis();
  void learn(7, answered(100));
  void learn(7, answered(99));
  void learn(8, answered(200));
  expect(sent.slice(1)).toEqual(['window 7 at 0: answered 99', 'window 8 at 0: answered 200']);

  void learn(8, answered(150));
  void learn(8, answered(149, { limit: 300 }));
  void learn(8, answered(148, { limit: 300, resetMs: 60_000 }));
  void learn(8, answered(147, { resetMs: 0 }));
  void learn(8, { kind: 'answered', remaining: 146 });
  expect(sent.slice(3).map((line) => line.replace(/.*: /, ''))).toEqual([
    'answered 150',
    'answered 149',
    'answered 148',
    'answered 147',
    'answered 146',
  ]);
});

test('a failure, a 429 and an aborted request are sent at once, after the answers that came before them', () => {
  for (const report of [{ kind: 'failed' }, { kind: 'limited', remaining: 0 }, undefined] as const) {
    const { sent, answered, learn } = slowRedis();
    void learn(7, answered(100), 1);
    void learn(7, answered(99), 2);
    void learn(7, report, 3);
    expect(sent.slice(0, 2)).toEqual(['window 7 at 1: answered 100', 'window 7 at 2: answered 99']);
    expect(sent).toHaveLength(3);
  }
});

test('when a report cannot be sent, the next one is sent nevertheless', async () => {
  const sent: number[] = [];
  const reports = new Reports((_, report) => {
    sent.push(report?.remaining ?? -1);
    return sent.length === 1 ? Promise.reject(new Error('Redis is unavailable')) : Promise.resolve();
  });
  const report = { kind: 'answered', limit: 200, remaining: 10, resetMs: 30_000 } as const;
  const first = reports.learn({ window: 1 }, report, 0);
  const second = reports.learn({ window: 1 }, { ...report, remaining: 9 }, 0);
  await expect(first).rejects.toThrow('Redis is unavailable');
  await second;
  expect(sent).toEqual([10, 9]);
});
