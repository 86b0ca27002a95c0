/** Targets that a person names as a plan prints them: by the address of the site. */
import { expect, test } from 'vitest';
import { idsOfTargets } from '../../../src/engine/plan/named-sites.ts';
import { registry } from '../../policy/tiny-job.ts';
import { aPolicy } from '../../support/builders.ts';

const sites = [
  { id: 's-1', url: 'https://acorn.example' },
  { id: 's-2', url: 'https://www.oak.example/' },
  { id: 's-3', url: 'https://oak.example/shop/' },
  { id: 's-4', url: 'https://müller.example' },
  { id: 's-5', url: 'https://xn--bcher-kva.example' },
  { id: 's-6', url: 'http://elm.example:8080' },
];
const policy = aPolicy({ job: 'site-sync' });
/** An account with these sites. The service compares as they are written. */
const deps = {
  registry,
  link: () => ({
    client: {
      call: async (_list: string, { filters }: { filters: { url: { contains: string } } }) => ({
        sites: sites.filter(({ url }) => url.includes(filters.url.contains)),
      }),
    },
  }),
} as unknown as Parameters<typeof idsOfTargets>[0];

test.each([
  ['https://acorn.example', 's-1'],
  ['https://acorn.example/', 's-1'],
  ['http://www.acorn.example', 's-1'],
  ['acorn.example', 's-1'],
  ['ACORN.example/', 's-1'],
  ['https://oak.example', 's-2'],
  ['www.oak.example/shop', 's-3'],
  ['https://müller.example/', 's-4'],
  ['https://xn--mller-kva.example', 's-4'],
  ['bücher.example', 's-5'],
  ['elm.example:8080', 's-6'],
  // Other texts stay as they are.
  ['s-1', 's-1'],
  ['s-1/akismet.php', 's-1/akismet.php'],
  ['hello.php', 'hello.php'],
])('%s is the target %s', async (text, id) => {
  expect(await idsOfTargets(deps, policy, [text])).toEqual([id]);
});

test('an address that several sites have is refused with their ids, however many sites their host has', async () => {
  const many = Array.from({ length: 150 }, (_, at) => ({
    id: `many-${at}`,
    url: `https://ash.example/${at % 149}`,
  }));
  const paged = {
    registry,
    link: () => ({
      client: {
        call: async (_list: string, { page, perPage }: { page: number; perPage: number }) => ({
          sites: many.slice((page - 1) * perPage, page * perPage),
          meta: { pagination: { totalItems: many.length, totalPages: 2 } },
        }),
      },
    }),
  } as unknown as typeof deps;

  expect(await idsOfTargets(paged, policy, ['ash.example/148'])).toEqual(['many-148']);
  await expect(idsOfTargets(paged, policy, ['ash.example/0'])).rejects.toThrow(
    /have the address ash\.example\/0: many-0, many-149\. Use the id of one of them\.$/,
  );
});

test('an address that no site has is named', async () => {
  await expect(idsOfTargets(deps, policy, ['s-1', 'https://corn.example'])).rejects.toThrow(
    /^The account "\w+" has no site with the address https:\/\/corn\.example\.$/,
  );
});
