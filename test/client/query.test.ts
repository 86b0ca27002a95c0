import { expect, test } from 'vitest';
import { encodeQuery } from '../../src/client/request-sender.ts';

const decoded = (query: Parameters<typeof encodeQuery>[0]) => decodeURIComponent(encodeQuery(query));

test('filters are written in the format of the service, with repeated list values', () => {
  expect(
    decoded({
      page: 2,
      sort: 'url,asc',
      filters: { url: { contains: 'shop' }, tags: { in: ['12', '7'] }, locked: { eq: false } },
    }),
  ).toBe(
    '?page=2&sort=url,asc&filters[url:contains]=shop&filters[tags:in][]=12&filters[tags:in][]=7&filters[locked:eq]=false',
  );
});

test('an empty query has no query string', () => {
  expect(encodeQuery({})).toBe('');
  expect(encodeQuery({ filters: {} })).toBe('');
});

test('undefined values are not sent', () => {
  const leftOut = { sort: undefined, filters: { url: { contains: undefined } } } as unknown as {
    sort: string;
  };
  expect(encodeQuery({ page: 1, ...leftOut })).toBe('?page=1');
});

test('a value in a policy cannot become another parameter', () => {
  expect(encodeQuery({ filters: { url: { contains: 'a&page=9#x y' } } })).toBe(
    '?filters%5Burl%3Acontains%5D=a%26page%3D9%23x+y',
  );
});
