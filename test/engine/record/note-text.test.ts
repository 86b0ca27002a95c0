import { describe, expect, test } from 'vitest';
import { lineOf, withLines } from '../../../src/engine/record/living-note.ts';

const POLICY = 'nightly';
const BEGIN = '[Caretaker, nightly: last runs]';
const END = '[Caretaker, nightly: end. Write above or below; this part is replaced.]';

const scheduled = (day: number, result = { done: 1, failed: 0 }) => {
  const scheduledFor = Date.UTC(2026, 0, day, 3);
  return lineOf({ id: 'nightly.x', policy: POLICY, trigger: 'schedule', scheduledFor }, result);
};
const line = (day: number) => scheduled(day).text;
const written = (content: string | undefined, ...lines: ReturnType<typeof scheduled>[]) => {
  const text = withLines(content, POLICY, lines);
  return text.is === 'changed' ? text.content : text.is;
};

test('a new note has the marks and one line for each run, the newest first', () => {
  expect(written(undefined, scheduled(1), scheduled(2))).toBe(`${BEGIN}\n${line(2)}\n${line(1)}\n${END}`);
  expect(line(2)).toBe('2026-01-02 03:00Z done');
});

test('a run that is in the note already changes nothing, and a new result replaces its line', () => {
  const note = written(undefined, scheduled(1), scheduled(2));
  expect(written(note, scheduled(2))).toBe('unchanged');
  const failed = scheduled(2, { done: 2, failed: 1 });
  expect(written(note, failed)).toBe(`${BEGIN}\n2026-01-02 03:00Z 2 done, 1 failed\n${line(1)}\n${END}`);
});

test('two manual runs of one minute have a line each', () => {
  const manual = (id: string) =>
    lineOf(
      { id: `nightly.${id}`, policy: POLICY, trigger: 'manual', scheduledFor: Date.UTC(2026, 0, 1, 3) },
      { done: 0, failed: 1, why: 'The time limit passed.' },
    );
  const note = written(undefined, manual('20260101T030000Z-aaaa'));
  const both = written(note, manual('20260101T030001Z-bbbb'));
  expect(both.match(/failed: The time limit passed\. \(20260101T03000\dZ-\w{4}\)/g)).toHaveLength(2);
  expect(written(both, manual('20260101T030000Z-aaaa'))).toBe('unchanged');
});

describe('what people write', () => {
  const note = `Ask Ines first.\n${BEGIN}\n${line(1)}\n${END}\nThe shop is busy on Fridays.`;

  test('above and below the marks stays as it is', () => {
    expect(written(note, scheduled(2))).toBe(
      `Ask Ines first.\n${BEGIN}\n${line(2)}\n${line(1)}\n${END}\nThe shop is busy on Fridays.`,
    );
  });

  test('between the marks is moved below them', () => {
    const edited = note.replace(line(1), `${line(1)}\r\nThis one was slow.`);
    expect(written(edited, scheduled(2))).toBe(
      `Ask Ines first.\n${BEGIN}\n${line(2)}\n${line(1)}\n${END}\nThis one was slow.\nThe shop is busy on Fridays.`,
    );
  });

  test('in place of one of the marks makes the note theirs', () => {
    expect(written(note.replace(BEGIN, ''), scheduled(2))).toBe('removed');
    expect(written(note.replace(END, 'end'), scheduled(2))).toBe('removed');
  });

  test('leaves fewer lines, and is never cut', () => {
    const text = 'x'.repeat(2200);
    const full = written(
      `${text}${BEGIN}\n${END}`,
      ...Array.from({ length: 28 }, (_, i) => scheduled(i + 1)),
    );
    expect(full.length).toBeLessThanOrEqual(2500);
    expect(full).toContain(`${text}${BEGIN}\n${line(28)}\n`);
    expect(written(`${'x'.repeat(2390)}${BEGIN}\n${END}`, scheduled(1))).toBe('full');
  });
});

test('as many lines are kept as a note can hold', () => {
  const lines = Array.from({ length: 200 }, (_, i) => scheduled(i + 1));
  const note = written(undefined, ...lines);
  expect(note.length).toBeLessThanOrEqual(2500);
  expect(note.length).toBeGreaterThan(2450);
  expect(note).toContain(scheduled(200).text);
});
