import fc from 'fast-check';
import { expect, test } from 'vitest';
import { applyDelta, deltaOf, partsOf } from '../../../src/dashboard/client/page-text.ts';

const tags = fc.constantFrom('<tr>', '<td>', '</td>', '</tr>', '7 of 9', '<b>failed</b>', 'x < y', ' ');
const texts = fc.array(tags, { maxLength: 60 }).map((all) => all.join(''));

test('a reader who had any text has exactly the new one after the delta, also after several', () => {
  fc.assert(
    fc.property(fc.array(texts, { minLength: 1, maxLength: 5 }), (all) => {
      let held: string[] = [];
      for (const text of all) {
        const sent = JSON.parse(JSON.stringify(deltaOf(held, partsOf(text))));
        held = applyDelta(held, sent);
        expect(held.join('')).toBe(text);
        expect(held).toEqual(partsOf(text));
      }
    }),
  );
});

test('of a long list only the row that changed is sent', () => {
  const list = (done: number) =>
    Array.from(
      { length: 200 },
      (_, row) => `<tr><td>run ${row}</td><td>${row === 7 ? done : 0} of 40</td></tr>`,
    );
  const before = partsOf(list(1).join(''));

  const delta = deltaOf(before, partsOf(list(2).join('')));

  expect(delta.filter((one) => typeof one === 'string')).toEqual(['<td>2 of 40']);
  expect(JSON.stringify(delta).length).toBeLessThan(60);
});
