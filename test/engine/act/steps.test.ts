import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createEngine } from '../../../src/engine/engine.ts';
import type { Answer } from '../../../src/job/answer.ts';
import { type AnyJob, defineJob } from '../../../src/job/job.ts';
import { createRegistry } from '../../../src/job/registry.ts';
import { partsOf } from '../../support/between.ts';
import { aPolicy } from '../../support/builders.ts';
import { startWorld, type World } from '../../support/caretaker.ts';
import { quickSyncs } from '../../support/quick-syncs.ts';

let world: World;
let stop: () => Promise<void> = async () => undefined;
afterEach(async () => {
  await stop();
  stop = async () => undefined;
  await world.stop();
});

const State = z.discriminatedUnion('step', [
  z.object({ step: z.literal('synced'), tags: z.array(z.string()) }),
  z.object({ step: z.literal('noted'), noteId: z.string(), how: z.string() }),
]);
type State = z.output<typeof State>;

/** Syncs a site, creates a note with the result of the sync, and checks that the note exists. */
const syncAndNote = defineJob({
  name: 'sync-and-note',
  summary: 'Syncs a site and notes how it went.',
  options: z.strictObject({}),
  candidates: 'listSites',
  state: State,
  target: ({ id, url }) => ({ id, label: url }),
  requestsPerTarget: 3,
  async act({ api, target, state, ended, now }): Promise<Answer<State>> {
    if (state?.step === 'synced') {
      const how = `${ended?.is} ${ended?.reason}, ${state.tags.length} tags`;
      const { note } = await api.createSiteNote({
        site_id: target.id,
        body: { note: { content: how } },
      });
      return { is: 'next', state: { step: 'noted', noteId: note.id, how } };
    }
    if (state?.step === 'noted') {
      const { note } = await api.showSiteNote({ site_id: target.id, note_id: state.noteId });
      const findings = [{ severity: 'info' as const, about: target.label, message: note.content ?? '' }];
      return { is: 'done', reason: 'done', detail: state.how, findings };
    }
    const { sync } = await api.syncSite({ site_id: target.id });
    return {
      is: 'following',
      watch: { kind: 'sync', siteId: target.id, snapshotId: sync.snapshot_id, since: now },
      next: { step: 'synced', tags: [] },
    };
  },
  reconcile: async () => ({ is: 'unknown' }),
});

/** A world whose Caretaker has these jobs. */
async function worldWith(jobs: AnyJob[], sites: number) {
  world = await startWorld({ before: quickSyncs, sites, work: false });
  const engine = createEngine({ ...partsOf(world.caretaker), registry: createRegistry(jobs) });
  const working = engine.work(50);
  stop = () => working.stop();
  return engine;
}

describe('work in several steps', () => {
  test('keeps its state from step to step, also after followed work that failed, and each effect happens once', async () => {
    await worldWith([syncAndNote], 2);
    world.sandbox.site('site-0002').failNextSync('disk full');

    const run = await world.ended(await world.fire(aPolicy({ job: 'sync-and-note' })));

    expect(run).toMatchObject({ status: 'succeeded', counts: { succeeded: 2 } });
    const targets = new Map((await world.targets(run)).map((target) => [target.id, target]));
    const first = targets.get('site-0001');
    // An empty list in a state is still a list after it was stored in Redis.
    expect(first).toMatchObject({ outcome: 'succeeded', detail: 'done done, 0 tags' });
    expect(first?.findings).toEqual([
      { severity: 'info', about: first?.label, message: 'done done, 0 tags' },
    ]);
    expect(first).not.toHaveProperty('jobState');
    expect(targets.get('site-0002')).toMatchObject({
      outcome: 'succeeded',
      detail: 'failed task-failed, 0 tags',
    });
    expect(world.sandbox.journal.effectsOf('syncSite')).toHaveLength(2);
    expect(world.sandbox.journal.effectsOf('createSiteNote')).toHaveLength(2);
  });

  test('stops following at the time the job set, not only at the time limit of the target', async () => {
    const impatient: AnyJob = {
      ...syncAndNote,
      act: async (acting: Parameters<typeof syncAndNote.act>[0]) => {
        const answer = await syncAndNote.act(acting);
        if (answer.is !== 'following') return answer;
        return { is: 'following', watch: { ...answer.watch, until: acting.now + 30_000 } };
      },
    };
    await worldWith([impatient], 1);
    world.sandbox.site('site-0001').syncTakes(3_600_000);

    const run = await world.ended(await world.fire(aPolicy({ job: 'sync-and-note' })));

    const [target] = await world.targets(run);
    expect(target).toMatchObject({
      outcome: 'failed',
      reason: 'timeout',
      detail: 'The sync was still under way.',
    });
    expect((target?.finishedAt ?? 0) - (target?.startedAt ?? 0)).toBeLessThan(600_000);
  });
});

describe('a job that surveys the account while planning', () => {
  const surveying = defineJob({
    name: 'surveying',
    summary: 'Works on sites with clients of the first page, and on one other thing.',
    options: z.strictObject({}),
    candidates: 'listSites',
    related: ['listClients'],
    target: ({ id, url }) => ({ id, label: url }),
    requestsPerTarget: 0,
    async prepare({ all, previousAt, earlier }) {
      const clients = new Map<string, object>();
      for await (const client of all('listClients', {})) clients.set(client.id, client);
      const before: string[] = [];
      for await (const { id, reason } of earlier()) before.push(`${id} ${reason}`);
      return { clients, previousAt, before };
    },
    relate: (site, { clients }) => ({ client: clients.get(site.client?.id ?? '') }),
    evaluate: (site) => (site.locked ? { is: 'excluded', why: 'It is locked' } : { is: 'target' }),
    *extraTargets({ prepared: { clients, previousAt, before } }) {
      const why = previousAt === undefined ? 'There was no run before.' : `Before: ${before.at(-1)}.`;
      yield { is: 'ineligible', id: 'clients', label: `${clients.size} clients`, why };
    },
    act: async () => ({ is: 'done', reason: 'already-done' }),
    reconcile: async () => ({ is: 'absent' }),
  });

  test('checks conditions on related items too, plans extra targets, and receives the previous run', async () => {
    const engine = await worldWith([surveying], 30);
    const clients = world.sandbox.journal.countOf('listClients');
    const policy = aPolicy({
      job: 'surveying',
      select: { filters: {}, where: 'client.email != "" && site.url != ""' },
    });

    const preview = await engine.preview(policy);
    const first = await world.ended(await engine.fire(policy, { trigger: 'manual', scheduledFor: 1 }));
    const second = await world.ended(await engine.fire(policy, { trigger: 'manual', scheduledFor: 2 }));

    expect(preview.targets.length).toBeGreaterThan(0);
    expect(preview.excluded.length).toBeGreaterThan(0);
    expect(world.sandbox.journal.countOf('listClients') - clients).toBe(3);
    const detailOf = async (run: typeof first) =>
      (await world.targets(run)).find(({ id }) => id === 'clients')?.detail;
    expect(await detailOf(first)).toBe('There was no run before.');
    expect(await detailOf(second)).toBe('Before: clients not-eligible.');
  });

  test('cannot change anything while it plans', async () => {
    const meddling: AnyJob = {
      ...surveying,
      prepare: ({ api }: Parameters<NonNullable<typeof surveying.prepare>>[0]) =>
        api.syncSite({ site_id: 'site-0001' }),
    };
    await worldWith([meddling], 1);

    const run = await world.ended(await world.fire(aPolicy({ job: 'surveying' })));

    expect(run).toMatchObject({ status: 'failed' });
    expect(run.detail).toContain('Only "act" may change something; syncSite has an effect.');
    expect(world.sandbox.journal.effects).toEqual([]);
  });
});
