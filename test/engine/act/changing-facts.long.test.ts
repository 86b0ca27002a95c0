/**
 * While a run works, people change what its changes rest on. The journal of the sandbox shows that no change that cannot
 * be undone was made on a fact that was older than 15 seconds: for every job that deletes or mails, and every fact.
 */
import { expect, test } from 'vitest';
import { apiCall } from '../../../jobs/api-call/job.ts';
import { reportDispatch } from '../../../jobs/report-dispatch/job.ts';
import { stagingCleanup } from '../../../jobs/staging-cleanup/job.ts';
import { GoneError } from '../../../src/client/errors.ts';
import type { OperationId } from '../../../src/contract/operations.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import { randomFrom } from '../../../src/sandbox/world/numbers.ts';
import { around } from '../../support/between.ts';
import { aPolicy } from '../../support/builders.ts';
import type { World } from '../../support/caretaker.ts';
import { worldOfTest } from '../../support/world-of-test.ts';
import { call, tagged } from '../person.ts';

const SITES = 12;
/** `npm run chaos` has another one each time. */
const SEED = Number(process.env['CHAOS_SEED'] ?? 1);
/** The bound, and what a request may take on a slow machine at ten times the speed. */
const BOUND_MS = 15_000 + 20_000;

/** What belongs to a site of the account: a client of its own, and a staging copy. */
interface Belonging {
  client: string;
  copy: string;
}

interface Agency {
  world: World;
  /** The tag that protects. */
  tag: string;
  of(site: string): Belonging;
}

/** An account in which each site has a client of its own, with an address that names it, and one old staging copy. */
async function anAgency(seed: number): Promise<Agency> {
  const world = await worldOfTest({ sites: SITES, seed, speedUp: 10 });
  const { staging, siteIds } = world.sandbox;
  staging.clear();
  const { clients } = await call(world, 'listClients', {});
  await call(world, 'deleteClients', { body: { ids: clients.map(({ id }) => id) } });
  const belongings = new Map<string, Belonging>();
  for (const site of siteIds()) {
    const client = await createClient(world, site, 'Old');
    belongings.set(site, { client, copy: staging.make(site, 20) });
  }
  const tag = await tagged(world, 'keep', []);
  const of = (site: string) => {
    const found = belongings.get(site);
    if (!found) throw new Error(`There is no site ${site}.`);
    return found;
  };
  return { world, tag, of };
}

async function createClient(world: World, site: string, name: string): Promise<string> {
  const email = `${site}@${name.toLowerCase()}.example`;
  const client = { first_name: 'A', last_name: 'B', company_name: `${name} ${site}`, email };
  const made = await call(world, 'createClient', { body: { client: { ...client, site_ids: [site] } } });
  return made.client.id;
}

interface Fact {
  /** Holds for every site and copy until the fact changes. */
  where?: string;
  change(agency: Agency, site: string): Promise<object | string>;
}

const facts = {
  tag: {
    where: '!site.tags.exists(t, t.name == "keep")',
    change: ({ world, tag }, site) => call(world, 'assignTag', { tag_id: tag, body: { site_ids: [site] } }),
  },
  client: {
    where: 'site.client.company_name.startsWith("Old")',
    async change({ world, of }, site) {
      const { client: client_id } = of(site);
      await call(world, 'updateClient', { client_id, body: { client: { site_ids: [] } } });
      return createClient(world, site, 'New');
    },
  },
  address: {
    where: 'site.client.email.endsWith("@old.example")',
    change: ({ world, of }, site) =>
      call(world, 'updateClient', {
        client_id: of(site).client,
        body: { client: { email: `${site}@new.example` } },
      }),
  },
  'use of the copy': {
    where: 'staging.status == "suspended"',
    change: ({ world, of }, site) =>
      call(world, 'extendStagingSiteExpiry', { staging_site_id: of(site).copy, body: { days: 1 } }),
  },
  'site gone': {
    async change({ world }, site) {
      await call(world, 'deleteSite', { site_id: site });
      return site;
    },
  },
} satisfies Record<string, Fact>;
type FactName = keyof typeof facts;

/** Runs the policy while a fact of some of the sites changes, one after the other, at random times. Gives when. */
async function whilePeopleChange(
  agency: Agency,
  { seed, fact }: { seed: number; fact: Fact },
  policy: Policy,
) {
  const { world } = agency;
  const { next: random } = randomFrom(seed);
  const sites = world.sandbox.siteIds().filter(() => random() < 0.5);
  const changedAt = new Map<string, number>();
  const run = await world.fire(policy);
  let isOver = false;
  const people = (async () => {
    for (const site of sites) {
      await world.clock.sleep(random() * 8_000);
      if (isOver) return;
      const isThere = await fact.change(agency, site).catch((error: unknown) => {
        // Its turn was before: the copy is deleted.
        if (error instanceof GoneError) return undefined;
        throw error;
      });
      if (isThere !== undefined) changedAt.set(site, world.clock.now());
    }
  })();
  const ended = await world.ended(run);
  isOver = true;
  await people;
  return { run: ended, targets: await world.targets(run), changedAt };
}

/** Lets 6 seconds pass with each change of the run, as in an account with little budget left. */
function slowly(world: World, operation: OperationId) {
  around(world.caretaker.link('default').client, 'call', async (send, id) => {
    const answer = await send();
    if (id === operation) await world.clock.sleep(6_000);
    return answer as never;
  });
}

/** When each copy was deleted, by the site that it belongs to. */
function deletions({ world, of }: Agency, sites: readonly string[]): [string, number][] {
  const siteOf = new Map(sites.map((site) => [of(site).copy, site]));
  return world.sandbox.journal.effects
    .filter(({ operation }) => operation === 'deleteStagingSite')
    .map(({ resource, at }) => [siteOf.get(resource) ?? '', at]);
}

/** When each mail to a first client was sent, by the site that the address names. */
async function mails({ world }: Agency): Promise<[string, number][]> {
  const { reports } = await call(world, 'listReports', {});
  return reports.flatMap(({ email }) =>
    (email?.recipients ?? []).flatMap(({ email: to = '', sent_at }): [string, number][] =>
      to?.endsWith('@old.example') ? [[to.split('@')[0] ?? '', Date.parse(sent_at ?? '')]] : [],
    ),
  );
}

const limits = { ...aPolicy().limits, concurrency: 1 };

/** How each job is asked for, by the fact that its policy rests on. */
const jobs = {
  'staging-cleanup': ({ tag }: Agency, name: FactName): Policy =>
    aPolicy({
      job: 'staging-cleanup',
      options: stagingCleanup.options.parse({
        ...{ action: 'delete', older_than: '14d', grace: 0 },
        ...(name === 'tag' && { unless_tagged: [tag] }),
      }),
      // It looks itself at the copy, and at the tags of the live site.
      select: {
        filters: {},
        ...(name === 'client' || name === 'address' ? { where: facts[name].where } : {}),
      },
      limits,
    }),
  'api-call': (_: Agency, name: FactName): Policy => {
    const { where }: Fact = facts[name];
    return aPolicy({
      job: 'api-call',
      options: apiCall.options.parse({ operation: 'deleteStagingSite', confirm: 'deleteStagingSite' }),
      select: {
        ...{ from: 'listStagingSites', filters: {} },
        join: { live: { list: 'listSites', on: 'site.id == staging.site_id', filters: {} } },
        ...(where === undefined ? {} : { where: where.replaceAll('site.', 'live.') }),
      },
      limits,
    });
  },
  'report-dispatch': (_: Agency, name: FactName): Policy =>
    aPolicy({
      job: 'report-dispatch',
      options: reportDispatch.options.parse({ template: { name: 'Monthly care' }, period: 'last_week' }),
      select: { filters: {}, ...(name === 'tag' ? { where: facts[name].where } : {}) },
      limits: { ...limits, concurrency: 6 },
    }),
};

const cases = (Object.keys(jobs) as (keyof typeof jobs)[]).flatMap((job) =>
  (Object.keys(facts) as FactName[])
    .filter((fact) => job !== 'report-dispatch' || fact !== 'use of the copy')
    .map((fact, i) => ({ job, fact, seed: SEED + i })),
);

test.each(cases)('$job makes no change on an older fact: $fact (seed $seed)', async ({ job, fact, seed }) => {
  const agency = await anAgency(seed);
  const sites = agency.world.sandbox.siteIds();
  slowly(agency.world, job === 'report-dispatch' ? 'sendReportEmail' : 'deleteStagingSite');

  const { run, targets, changedAt } = await whilePeopleChange(
    agency,
    { seed, fact: facts[fact] },
    jobs[job](agency, fact),
  );

  const effects = job === 'report-dispatch' ? await mails(agency) : deletions(agency, sites);
  const late = effects.filter(([site, at]) => at > (changedAt.get(site) ?? at) + BOUND_MS);
  expect(late, 'sites and times of changes that were made long after the fact had changed').toEqual([]);
  // With another seed, it can be that all changes came too late, or before all targets.
  if (SEED !== 1) return;
  expect(effects.length).toBeGreaterThan(0);
  expect(targets.filter(({ reason }) => reason !== 'done').length).toBeGreaterThan(0);
  if (fact !== 'site gone') expect(run.counts.failed).toBe(0);
});
