/**
 * While a run works, people change what its changes rest on. The journal of the sandbox shows that no change that cannot
 * be undone was made on a fact that was older than 15 seconds.
 */
import { expect, test } from 'vitest';
import { apiCall } from '../../../jobs/api-call/job.ts';
import { reportDispatch } from '../../../jobs/report-dispatch/job.ts';
import { stagingCleanup } from '../../../jobs/staging-cleanup/job.ts';
import type { Input, OperationId } from '../../../src/contract/operations.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import { randomFrom } from '../../../src/sandbox/world/random.ts';
import { aPolicy } from '../../support/builders.ts';
import type { World } from '../../support/caretaker.ts';
import { worldOfTest } from '../../support/world-of-test.ts';

const SITES = 16;
/** The bound, and what a request may take on a slow machine at ten times the speed. */
const BOUND_MS = 15_000 + 20_000;

const call = <Id extends OperationId>(world: World, operation: Id, input: Input<Id>) =>
  world.caretaker.link('default').client.call(operation, input, { requestClass: 'person' });

const aWorld = (seed: number) => worldOfTest({ sites: SITES, seed, speedUp: 10 });
const limits = { ...aPolicy().limits, concurrency: 1 };

/** Runs the policy while `change` is called for some of the sites, one after the other, at random times. */
async function whilePeopleChange(
  world: World,
  seed: number,
  policy: Policy,
  change: (site: string) => Promise<unknown>,
) {
  const { next: random } = randomFrom(seed);
  const sites = world.sandbox.siteIds().filter(() => random() < 0.5);
  const run = await world.fire(policy);
  let isOver = false;
  const people = (async () => {
    for (const site of sites) {
      await world.clock.sleep(random() * 8_000);
      if (isOver) return;
      await change(site);
    }
  })();
  // Each turn of a target takes some time, as in an account with little budget left.
  const ended = await world.ended(run);
  isOver = true;
  await people;
  return ended;
}

/** Lets 6 seconds pass with each change of the run. */
function slowly(world: World, operation: OperationId) {
  const { client } = world.caretaker.link('default');
  const real = client.call.bind(client);
  Object.assign(client, {
    call: async (id: OperationId, ...rest: never[]) => {
      const answer = await (real as (...args: unknown[]) => Promise<unknown>)(id, ...rest);
      if (id === operation) await world.clock.sleep(6_000);
      return answer;
    },
  });
}

const timesOf = (world: World, operation: OperationId) =>
  new Map(
    world.sandbox.journal.effects
      .filter((effect) => effect.operation === operation)
      .map(({ resource, at }) => [resource, at]),
  );

const seeds = Array.from({ length: 3 }, (_, i) => i + 1);

test.each(seeds.flatMap((seed) => (['staging-cleanup', 'api-call'] as const).map((job) => ({ seed, job }))))(
  '$job deletes no copy of a site that was protected before (seed $seed)',
  async ({ seed, job }) => {
    const world = await aWorld(seed);
    const { staging, siteIds } = world.sandbox;
    staging.clear();
    const siteOf = new Map(siteIds().map((site) => [staging.make(site, 20), site]));
    const { tag } = await call(world, 'createTag', { body: { tag: { name: 'keep' } } });
    slowly(world, 'deleteStagingSite');
    const policy =
      job === 'staging-cleanup'
        ? aPolicy({
            job,
            options: stagingCleanup.options.parse({
              action: 'delete',
              older_than: '14d',
              grace: 0,
              unless_tagged: [tag.id],
            }),
            limits,
          })
        : aPolicy({
            job,
            options: apiCall.options.parse({ operation: 'deleteStagingSite', confirm: 'deleteStagingSite' }),
            select: {
              from: 'listStagingSites',
              filters: {},
              join: { live: { list: 'listSites', on: 'site.id == staging.site_id', filters: {} } },
              where: '!live.tags.exists(t, t.name == "keep")',
            },
            limits,
          });
    const taggedAt = new Map<string, number>();

    const run = await whilePeopleChange(world, seed, policy, async (site) => {
      await call(world, 'assignTag', { tag_id: tag.id, body: { site_ids: [site] } });
      taggedAt.set(site, world.clock.now());
    });

    const late = [...timesOf(world, 'deleteStagingSite')].filter(([copy, at]) => {
      const since = taggedAt.get(siteOf.get(copy) ?? '');
      return since !== undefined && at > since + BOUND_MS;
    });
    expect(late, 'copies that were deleted long after their site was protected').toEqual([]);
    expect(run.counts.skipped).toBeGreaterThan(0);
    expect(run.counts.failed).toBe(0);
  },
);

test('no report goes to the former address of a client', async () => {
  const seed = 1;
  const world = await aWorld(seed);
  const { clients } = await call(world, 'listClients', {});
  await call(world, 'deleteClients', { body: { ids: clients.map(({ id }) => id) } });
  const clientOf = new Map<string, string>();
  for (const site of world.sandbox.siteIds()) {
    const client = { first_name: 'A', last_name: 'B', company_name: site, email: `${site}@old.example` };
    const made = await call(world, 'createClient', { body: { client: { ...client, site_ids: [site] } } });
    clientOf.set(site, made.client.id);
  }
  slowly(world, 'sendReportEmail');
  const options = { template: { name: 'Monthly care' }, period: 'last_week' };
  const policy = aPolicy({
    job: 'report-dispatch',
    options: reportDispatch.options.parse(options),
    limits: { ...limits, concurrency: 8 },
  });
  const movedAt = new Map<string, number>();

  const run = await whilePeopleChange(world, seed, policy, async (site) => {
    const client_id = clientOf.get(site) ?? '';
    await call(world, 'updateClient', { client_id, body: { client: { email: `${site}@new.example` } } });
    movedAt.set(site, world.clock.now());
  });

  const { reports } = await call(world, 'listReports', {});
  const wrong = reports.flatMap(({ site, email }) =>
    (email?.recipients ?? []).filter(({ email: to, sent_at }) => {
      const since = movedAt.get(site?.id ?? '');
      return (
        since !== undefined && to?.endsWith('@old.example') && Date.parse(sent_at ?? '') > since + BOUND_MS
      );
    }),
  );
  expect(wrong, 'mails to a former address').toEqual([]);
  expect(run.counts.failed).toBe(0);
});
