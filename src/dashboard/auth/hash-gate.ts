/** Checks of passwords that run at the same time: each needs 32 MiB and a thread of the process. */
const MAX_RUNNING = 2;
/** Attempts that may wait for their turn, about a second. Further ones are refused at once. */
const MAX_WAITING = 16;

/** Bounds what attempts to sign in cost the process, whatever their number. */
export class HashGate {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  /** Runs the check when it is its turn; `'busy'` when too many wait already. */
  async run<T>(check: () => Promise<T>): Promise<T | 'busy'> {
    if (this.running >= MAX_RUNNING) {
      if (this.waiting.length >= MAX_WAITING) return 'busy';
      // The one that ends hands over its place.
      await new Promise<void>((turn) => this.waiting.push(turn));
    } else this.running += 1;
    try {
      return await check();
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.running -= 1;
    }
  }
}
