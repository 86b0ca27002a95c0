import { expect, test } from 'vitest';
import { closest, editDistance, suggestionFor } from '../src/suggest.ts';

test('two letters in the wrong order are one mistake', () => {
  expect(editDistance('filters', 'fitlers')).toBe(1);
});

test.each([
  ['filter', 'filters'],
  ['acounts', 'accounts'],
  ['SORT', 'sort'],
  ['max-targets', 'max_targets'],
  ['timzeone', 'timezone'],
])('who writes %s means %s', (typed, meant) => {
  const words = ['filters', 'sort', 'where', 'timezone', 'limit', 'accounts', 'max_targets'];
  expect(closest(typed, words)).toBe(meant);
});

test('nothing is suggested for a word that is near to none', () => {
  expect(closest('schedule', ['job', 'name', 'with'])).toBeUndefined();
});

test('without a near word the names there are listed, unless these are very many', () => {
  expect(suggestionFor('cron', ['url', 'tags'])).toBe('available: url, tags');
  expect(
    suggestionFor(
      'cron',
      Array.from({ length: 400 }, (_, i) => `zone-${i}`),
    ),
  ).toBeUndefined();
});
