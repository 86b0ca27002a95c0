import type { Records } from '../records/records.ts';
import type { Run } from '../run/run.ts';

/** How many runs are kept. With more runs at a time, some are read again. */
const MAX_RUNS = 1_000;

/**
 * What never changes of a run, read once for all of its targets. Starts again when Redis was emptied or restored:
 * a run that is created after that may have the id of another one, with another version of its policy.
 */
export class RunCache<Kept> {
  private readonly runs = new Map<string, Kept>();
  private epoch = '';

  constructor(
    private readonly records: Pick<Records, 'runs' | 'generation'>,
    private readonly keep: (run: Run) => Kept,
  ) {}

  /** Undefined when there is no such run. */
  async get(id: string): Promise<Kept | undefined> {
    const { epoch } = this.records.generation;
    if (epoch !== this.epoch) this.runs.clear();
    this.epoch = epoch;
    const known = this.runs.get(id);
    if (known !== undefined) return known;
    const run = await this.records.runs.get(id);
    if (!run) return undefined;
    const [oldest] = this.runs.keys();
    if (oldest !== undefined && this.runs.size >= MAX_RUNS) this.runs.delete(oldest);
    const kept = this.keep(run);
    this.runs.set(id, kept);
    return kept;
  }
}
