/** Says what becomes of the batches of a run while a command follows it: one line for each change. */
import { isoEnd } from '../../clock.ts';
import { isFinal } from '../../run/moves.ts';
import { type Batch, begunBatches, formatBatch, type Rollout } from '../../run/rollout.ts';
import type { Run } from '../../run/run.ts';
import { countOf } from '../../text.ts';

/** Something that happened to a batch. */
interface Change {
  key: string;
  at: number;
  line: string;
}

/** Remembers which changes were shown. */
export class RolloutLines {
  private shown: Set<string> | undefined;
  private trouble: string | undefined;

  /** The lines for what has changed since the previous look. The first look at a run shows only its last change. */
  next(run: Run, now: number): string[] {
    const { rollout } = run;
    if (!rollout || isWhole(rollout)) {
      if (!isFinal(run.status)) this.shown ??= new Set();
      return [];
    }
    const changes = rollout.batches
      .flatMap((batch, index) => changesOf({ run, rollout, now }, batch, index))
      .sort((a, b) => a.at - b.at);
    const known = this.shown ?? new Set(changes.slice(0, -1).map(({ key }) => key));
    const fresh = changes.filter(({ key }) => !known.has(key));
    this.shown = new Set(changes.map(({ key }) => key));
    return [...fresh.map(({ line }) => line), ...this.newTrouble(run, rollout)];
  }

  /** Why a gate or the next batch could not be asked about, each text once. */
  private newTrouble({ status, detail }: Run, rollout: Rollout): string[] {
    const isAsked = status === 'running' && (rollout.is === 'asking' || rollout.is === 'checking');
    const text = isAsked ? detail : undefined;
    const isNew = text !== undefined && text !== this.trouble;
    this.trouble = text;
    return isNew ? [text] : [];
  }
}

/** A run that only waits for an approval has one batch with all targets. */
const isWhole = ({ batches: [only, ...more] }: Rollout): boolean =>
  more.length === 0 && (only === undefined || only.takes === 'all targets');

const because = (reason: string | undefined): string => (reason === undefined ? '.' : `: ${reason}`);
const capital = (text: string): string => `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}`;

interface Look {
  run: Run;
  rollout: Rollout;
  now: number;
}

function changesOf({ run, rollout, now }: Look, batch: Batch, index: number): Change[] {
  const { targets, begunAt, endedAt, gate, pauseSkipped, resumed } = batch;
  const name = formatBatch(rollout, index);
  const change = (what: string, at: number, line: string): Change => ({ key: `${index} ${what}`, at, line });
  if (begunAt === undefined) return [];
  if (begunAt === endedAt)
    return [change('passed', begunAt, `${capital(name)} has no targets and is passed over.`)];
  const isLast = begunBatches(rollout) === index + 1;
  const pause =
    isLast && rollout.is === 'pausing' && (rollout.until ?? 0) > (endedAt ?? 0)
      ? ` The run pauses until ${isoEnd(rollout.until ?? 0)}.`
      : '';
  return [
    change('begun', begunAt, `${capital(name)} has begun: ${countOf(targets, 'target')}.`),
    ...(endedAt === undefined ? [] : [change('ended', endedAt, `${capital(name)} has ended.${pause}`)]),
    ...(pauseSkipped
      ? [
          change(
            'skipped',
            pauseSkipped.at,
            `${pauseSkipped.by} skipped the pause${because(pauseSkipped.reason)}`,
          ),
        ]
      : []),
    // A run that a closed gate stops at once says so in its result.
    ...(gate && (gate.is === 'open' || resumed || isWaiting(run, rollout, now))
      ? [
          change(
            `gate ${gate.at}`,
            gate.at,
            `The gate after ${name} is ${gate.is}: ${gate.why}${waiting(run, rollout)}`,
          ),
        ]
      : []),
    ...(resumed ? [change('resumed', resumed.at, `${resumed.by} resumed it${because(resumed.reason)}`)] : []),
  ];
}

/** Whether a closed gate leaves a person time to decide. */
const isWaiting = ({ status }: Run, { is, until }: Rollout, now: number): boolean =>
  status === 'running' && is === 'closed' && (until ?? 0) > now;

/** What a person can do about a closed gate. */
const waiting = ({ id }: Run, { is, until }: Rollout): string =>
  is === 'closed'
    ? ` The run waits for a person until ${isoEnd(until ?? 0)}: caretaker runs resume ${id}, or caretaker runs cancel ${id}`
    : '';
