/**
 * Handles the entries of this process. Does once what many targets have in common.
 *
 * The fixed fields of a run are read once. The follow-up work for changed targets is done outside the queue's
 * slots, in one round after the other. Each round covers all targets that changed since the round before. So
 * a slot takes its next entry at once, and with fifty busy slots one round serves many targets. If a round is
 * lost, the supervisor does its work.
 */
import { setMaxListeners } from 'node:events';
import { defined } from '../../defined.ts';
import type { Entry, Report } from '../../queue/entry.ts';
import { type EngineDeps, policyOf, RunCache } from '../deps.ts';
import { afterTargets, type Moved } from '../finish-run.ts';
import { contextTimeOf } from '../plan/planning-of-run.ts';
import { type ActingRun, act } from './act.ts';
import { Claims } from './ownership.ts';
import { reportAct, reportNothingDone } from './report-act.ts';
import { Verifier } from './verifier.ts';

export class Actor {
  private readonly runs: RunCache<ActingRun>;
  /** Targets that changed and still wait for a round, by account. */
  private readonly moved = new Map<string, Moved[]>();
  private readonly rounds = new Map<string, Promise<void>>();

  private readonly stopping = new AbortController();
  private readonly claims: Claims;
  private readonly verifier: Verifier;

  constructor(private readonly deps: EngineDeps) {
    this.claims = new Claims(deps.clock);
    this.verifier = new Verifier(deps, this.stopping.signal);
    this.runs = new RunCache(deps.records, (run) => {
      const { id, account, address, job, planHash } = run;
      const isPlanned = planHash !== undefined;
      const service = address === undefined ? {} : { address };
      const times = { at: contextTimeOf(run), ...defined({ windowEndsAt: run.windowEndsAt }) };
      return { id, account, ...service, job, isPlanned, ...times, policy: policyOf(run) };
    });
    // Every request adds a listener.
    setMaxListeners(0, this.stopping.signal);
  }

  /** Stops waiting for answers. The next worker on each target reconciles its request. */
  stopWaiting(): void {
    this.stopping.abort();
  }

  /** Handles one entry; see `act`. */
  async act(entry: Extract<Entry, { kind: 'act' }>): Promise<Report> {
    const run = await this.runs.get(entry.run);
    const { claims, verifier } = this;
    const stopping = this.stopping.signal;
    const acted = run && (await act(this.deps, run, entry, { claims, verifier, stopping }));
    if (!acted) return reportNothingDone(run !== undefined);
    const { target } = acted;
    const { account } = run;
    const moved = this.moved.get(account);
    if (moved) moved.push({ run, target });
    else this.moved.set(account, [{ run, target }]);
    if (!this.rounds.has(account)) this.rounds.set(account, this.continueRuns(account));
    return reportAct(run, acted);
  }

  /** Resolves when no round is running or due. */
  async whenIdle(): Promise<void> {
    await Promise.all(this.rounds.values());
  }

  private async continueRuns(account: string): Promise<void> {
    for (let moved = this.moved.get(account); moved; moved = this.moved.get(account)) {
      this.moved.delete(account);
      await afterTargets(this.deps, account, moved).catch((error: unknown) =>
        this.deps.log.warn(
          { account, err: error },
          'the runs of changed targets could not be continued; the supervisor continues them',
        ),
      );
    }
    this.rounds.delete(account);
  }
}
