/**
 * The address under which one daemon reaches Redis, where its death can be placed in the middle of a script about
 * targets: before it arrives, or once it had its effect and its answer is lost. Scripts of one turn of the event loop
 * are sent as one, so what dies is a group of claims, of intents or of results.
 */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestRedis } from '../support/redis.ts';
import { openRelay } from '../support/relay.ts';

export interface Station {
  /** The socket of the address. */
  path: string;
  /**
   * Waits for the next script about targets, at most this long. After it nothing passes on its connection: kill the
   * daemon then. False when there was none.
   */
  atNextScript(when: 'before' | 'after', mostMs: number): Promise<boolean>;
  stop(): void;
}

/** A script that plans, dispatches or claims targets, or records their intents or their results. */
const isAboutTargets = (bytes: Buffer): boolean => {
  const text = bytes.toString('latin1');
  return /evalsha/i.test(text) && text.includes(':targets');
};

export type Daemon = 'A' | 'B';

export async function openStations({ serverDir, socketPath }: TestRedis) {
  const of: Record<Daemon, Station> = {
    A: await openStation(`${serverDir}/a.sock`, socketPath),
    B: await openStation(`${serverDir}/b.sock`, socketPath),
  };
  const stop = () => {
    for (const station of Object.values(of)) station.stop();
  };
  return { of, stop };
}

async function openStation(path: string, to: string): Promise<Station> {
  let armed: { when: 'before' | 'after'; reached: (isReached: boolean) => void } | undefined;
  const join = (near: Socket, far: Socket) => {
    let isSilent = false;
    let answered: ((isReached: boolean) => void) | undefined;
    near.on('data', (bytes: Buffer) => {
      if (isSilent) return;
      if (armed && isAboutTargets(bytes)) {
        const { when, reached } = armed;
        armed = undefined;
        isSilent = true;
        if (when === 'before') return reached(true);
        answered = reached;
      }
      far.write(bytes);
    });
    far.on('data', (bytes: Buffer) => {
      if (isSilent) answered?.(true);
      else near.write(bytes);
    });
  };
  const { server, close } = openRelay(to, join);
  server.listen(path);
  await once(server, 'listening');
  return {
    path,
    async atNextScript(when, mostMs) {
      const next = new Promise<boolean>((resolve) => {
        armed = { when, reached: resolve };
      });
      const isReached = await Promise.race([next, sleep(mostMs, false)]);
      // The daemon that is started again passes.
      armed = undefined;
      return isReached;
    },
    stop: close,
  };
}
