/** How many targets a process works on at the same time. Those who wait for a slot get it in their order. */
export class Slots {
  private readonly waiting: ((isFree: boolean) => void)[] = [];
  private isClosed = false;

  constructor(private left: number) {}

  /** Takes a slot if one is free. */
  takeNow(): boolean {
    if (this.isClosed || this.left === 0) return false;
    this.left -= 1;
    return true;
  }

  /** Waits for a slot, when none is free now, and takes it. False when no more are given out. */
  async take(): Promise<boolean> {
    return !this.isClosed && new Promise((resolve) => this.waiting.push(resolve));
  }

  free(): void {
    const next = this.waiting.shift();
    if (next) next(true);
    else this.left += 1;
  }

  /** Gives out no more slots. */
  close(): void {
    this.isClosed = true;
    for (const refuse of this.waiting.splice(0)) refuse(false);
  }
}
