/**
 * The records, with a span for each end that this process writes. An end is written by exactly one process, so
 * its span is sent once.
 */
import type { Log } from '../log.ts';
import type { Records } from '../records/records.ts';
import type { RunStore } from '../records/run-store.ts';
import type { TargetStore } from '../records/target-store.ts';
import { isFinal, isIn } from '../run/moves.ts';
import type { Traces } from './traces.ts';

/** The same records. A move to an end costs one read more. */
export const tracedRecords = (records: Records, traces: Traces): Records => ({
  ...records,
  runs: withMethods(records.runs, endsOfRuns(records.runs, traces)),
  targets: withMethods(records.targets, endsOfTargets(records.targets, traces)),
});

/** A store whose other methods are those of `store`. */
const withMethods = <Store extends object>(store: Store, methods: Partial<Store>): Store =>
  Object.assign(Object.create(store) as Store, methods);

const endsOfRuns = (runs: RunStore, traces: Traces): Pick<RunStore, 'create' | 'move'> => ({
  async create(run, ...rest) {
    const creation = await runs.create(run, ...rest);
    // A run that was skipped has ended when it is created.
    if (creation === 'created' && isFinal(run.status)) traces.runEnded(run);
    return creation;
  },
  async move(run, to, change) {
    const moved = await runs.move(run, to, change);
    if (!moved || !isFinal(to) || traces.traceOf(run.id) === undefined) return moved;
    // Without Redis, the span has the counts of the run as it was read before.
    const ended = await runs.get(run.id).catch(() => undefined);
    traces.runEnded(ended ?? { ...run, status: to, finishedAt: change.at });
    return moved;
  },
});

const endsOfTargets = (targets: TargetStore, traces: Traces): Pick<TargetStore, 'move'> => ({
  async move(run, target, change) {
    const isTraced = traces.traceOf(run.id) !== undefined;
    const leaves = isTraced && change.from.includes('following') && target.watch === undefined;
    const was = leaves ? await targets.get(run.id, target.id) : undefined;
    const moved = await targets.move(run, target, change);
    if (!moved || !isTraced) return moved;
    if (was && isIn(was, 'following')) traces.followed(run, { was, now: target, at: change.at });
    if (isIn(target, 'ended')) traces.targetEnded(run, target);
    return moved;
  },
});

// Adds the id of its trace to the log lines of a run.

/** The same log; a line with a field `run` gets a field `trace_id`. */
export function tracedLog(log: Log, { traceOf }: Pick<Traces, 'traceOf'>): Log {
  const withTrace = (facts: object): object => {
    const trace_id = 'run' in facts && typeof facts.run === 'string' ? traceOf(facts.run) : undefined;
    return trace_id === undefined ? facts : { ...facts, trace_id };
  };
  const at = (level: 'debug' | 'info' | 'warn' | 'error') => (facts: object | string, message?: string) => {
    if (typeof facts === 'string') return log[level](facts);
    if (message === undefined) return log[level](withTrace(facts));
    log[level](withTrace(facts), message);
  };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (facts) => tracedLog(log.child(withTrace(facts)), { traceOf }),
  };
}
