/** The clock of the world of the screens: it runs as fast as it is told, and leaps from one firing to the next. */
import { type Clock, systemClock } from '../../src/clock.ts';

export interface MovingClock extends Clock {
  /** From now on it runs so many times as fast as the machine's. */
  runAt(speed: number): void;
  /** Moves it forward to a time; never back. */
  leapTo(at: number): void;
}

export function movingClock(from: number): MovingClock {
  let [at, since, speed] = [from, performance.now(), 1];
  const now = () => Math.round(at + (performance.now() - since) * speed);
  const move = (to: number, faster: number) => {
    [at, since, speed] = [to, performance.now(), faster];
  };
  return {
    now,
    sleep: (ms, signal) => systemClock.sleep(ms / speed, signal),
    runAt: (faster) => move(now(), faster),
    leapTo: (to) => move(Math.max(to, now()), speed),
  };
}
