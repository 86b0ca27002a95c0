/** A policy changes settings (`undoable`), and another reverses what that one changed (`undo_of`), twice. */
import { apiCall } from '../../jobs/api-call/job.ts';
import type { Reason } from '../../src/run/reasons.ts';
import { countBy, nextSites, type Story, TARGETS, wrongOf } from './story.ts';

const NAME = 'chaos-undo';
/** Every fourth schedule is paused already, so the policy does not change it. */
const isPausedBefore = (i: number): boolean => i % 4 === 0;
/** Ends that leave open whether a request had its effect. */
const unclear = new Set<Reason>(['unknown-effect', 'unavailable', 'timeout', 'internal']);

/** Ends with which a change was not reversed. */
const kept = new Set<Reason>(['not-eligible', 'already-done']);

export const undos: Story = {
  name: NAME,
  operations: ['enableAutoUpdateSchedule', 'disableAutoUpdateSchedule'],
  begin(sandbox, at) {
    const before = new Map(
      nextSites(sandbox, at).map((site, i) => {
        const status = isPausedBefore(i) ? 'paused' : 'active';
        return [sandbox.schedules.make(site, status), status] as const;
      }),
    );
    const name = `${NAME}-${at}`;
    const call = (options: object) => ({
      job: 'api-call',
      select: { from: 'listAutoUpdateSchedules' as const, filters: {} },
      options: apiCall.options.parse(options),
    });
    const pause = { operation: 'disableAutoUpdateSchedule', confirm: 'disableAutoUpdateSchedule' };
    /** What the records said of each schedule after the round before. */
    const reasons: Map<string, Reason>[] = [];
    return {
      policy: (round) =>
        round === 0
          ? { ...call({ ...pause, undoable: true }), name }
          : { ...call({ operation: 'enableAutoUpdateSchedule', undo_of: name }), name: `${name}-back` },
      only: [...before.keys()],
      rounds: 3,
      planned: () => TARGETS,
      *lies({ targets, effects, allEffects, round }) {
        const paused = countBy(effects, 'disableAutoUpdateSchedule');
        const enabled = countBy(effects, 'enableAutoUpdateSchedule');
        const enabledEver = countBy(allEffects, 'enableAutoUpdateSchedule');
        const own = new Map(targets.map(({ id, reason = 'internal' }) => [id, reason]));
        const details = new Map(targets.map(({ id, detail = '' }) => [id, detail]));
        reasons.push(own);
        for (const [id, reason] of own) {
          const { status } = sandbox.schedule(id).state();
          const was = before.get(id);
          const first = reasons[0]?.get(id) ?? 'internal';
          const made = (round === 0 ? paused : enabled).get(id) ?? 0;
          const isDone = reason === 'done';
          const isPaused = status === 'paused';
          yield* wrongOf(`${id} was ${was} and ${first}, is ${reason} and ${status} in round ${round + 1}`, [
            [(enabledEver.get(id) ?? 0) > 1, 'and was enabled twice'],
            [was === 'paused' && !isPaused, 'although the policy had not paused it'],
            [isDone && made !== 1, `and was changed ${made} times`],
            [!isDone && !unclear.has(reason) && made > 0, 'and was changed'],
            [round === 0 && (isDone || reason === 'already-done') && !isPaused, 'and has to be paused'],
            [round > 0 && made > 0 && first !== 'done', 'and was enabled'],
            [round > 0 && isDone && isPaused, 'and has to be active'],
            // What the policy is known to have changed has to be reversed, unless the attempt failed or its state is hidden.
            [
              round === 1 &&
                first === 'done' &&
                kept.has(reason) &&
                !details.get(id)?.includes('does not show'),
              `and was not reversed: ${details.get(id)}`,
            ],
            [round === 2 && reasons[1]?.get(id) === 'done' && made > 0, 'and was enabled again'],
          ]);
        }
      },
    };
  },
};
