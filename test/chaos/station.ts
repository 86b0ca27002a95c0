/**
 * The address under which one daemon reaches Redis, where its death can be placed in the middle of a script about targets:
 * before it arrives, or once it had its effect and its answer is lost. Scripts of one turn of the event loop are sent as
 * one, so what dies is a group of claims, of intents or of results.
 */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { TestRedis } from '../support/redis.ts';
import { openRelay } from '../support/relay.ts';

export interface Station {
  /** The socket of the address. */
  path: string;
  /** Resolves at the next script about targets, after which nothing passes on its connection. Kill the daemon then. */
  atNextScript(when: 'before' | 'after'): Promise<void>;
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
  let armed: { when: 'before' | 'after'; reached: () => void } | undefined;
  const join = (near: Socket, far: Socket) => {
    let isSilent = false;
    let answered: (() => void) | undefined;
    near.on('data', (bytes: Buffer) => {
      if (isSilent) return;
      if (armed && isAboutTargets(bytes)) {
        const { when, reached } = armed;
        armed = undefined;
        isSilent = true;
        if (when === 'before') return reached();
        answered = reached;
      }
      far.write(bytes);
    });
    far.on('data', (bytes: Buffer) => {
      if (isSilent) answered?.();
      else near.write(bytes);
    });
  };
  const { server, close } = openRelay(to, join);
  server.listen(path);
  await once(server, 'listening');
  return {
    path,
    atNextScript: (when) =>
      new Promise((resolve) => {
        armed = { when, reached: resolve };
      }),
    stop: close,
  };
}
