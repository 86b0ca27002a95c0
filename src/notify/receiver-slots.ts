/**
 * How many attempts one process makes at one receiver at the same time. One that does not answer holds its own slots, and
 * the messages to others go on.
 */
interface Slots {
  busy: number;
  /** The deliveries that found no free slot. They are still due: this process only need not look for them again. */
  waiting: Set<string>;
}

export class ReceiverSlots {
  private readonly receivers = new Map<string, Slots>();
  private isStopped = false;

  constructor(
    private readonly attempt: (delivery: string) => Promise<unknown>,
    private readonly max: number,
  ) {}

  /** Whether the delivery waits here for a free slot. */
  has(to: string, delivery: string): boolean {
    return this.receivers.get(to)?.waiting.has(delivery) ?? false;
  }

  /**
   * Attempts the delivery, and then those that found no free slot meanwhile. Resolves at once when there is none: then
   * another call attempts it.
   */
  async take(to: string, delivery: string): Promise<void> {
    const slots = this.receivers.get(to) ?? { busy: 0, waiting: new Set() };
    this.receivers.set(to, slots);
    slots.waiting.add(delivery);
    if (slots.busy >= this.max) return;
    slots.busy += 1;
    try {
      for (const next of slots.waiting) {
        if (this.isStopped) return;
        slots.waiting.delete(next);
        await this.attempt(next);
      }
    } finally {
      slots.busy -= 1;
      // What still waits after an error is due, and found again.
      if (slots.busy === 0) this.receivers.delete(to);
    }
  }

  /** Begins no other attempt. */
  stop(): void {
    this.isStopped = true;
  }
}
