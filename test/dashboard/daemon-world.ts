/** The dashboard of a real daemon, with the sandbox as its account, as somebody sees it who has signed in. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDaemon } from '../../src/app/daemon.ts';
import type { Role } from '../../src/app/roles.ts';
import { startWorld, until, type World, type WorldOptions } from '../support/caretaker.ts';
import { type Ask, PASSWORD, postForm, type Seen, seenIn, sessionOf } from './world.ts';

export interface DaemonWorld {
  world: World;
  url: string;
  /** Sends requests with the session. */
  ask: Ask;
  look(path: string): Promise<Seen>;
  /** Sends a form like a page of the dashboard, with these headers instead of its own. */
  press(path: string, fields?: Record<string, string>, changed?: Record<string, string>): Promise<Response>;
  /** Writes the file of its policies. */
  write(policies: string): void;
  /** Resolves when the daemon has said that it is running. */
  isSeen(): Promise<void>;
  stop(): Promise<void>;
}

type Options = WorldOptions & {
  roles?: Role[];
  /** The file of its policies. */
  policies?: (world: World) => string;
};

export async function startDaemonWorld({
  roles = ['dashboard'],
  policies,
  ...options
}: Options): Promise<DaemonWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'caretaker-policies-'));
  const write = (text: string) => writeFileSync(join(folder, 'policies.yaml'), text);
  const world = await startWorld({ work: false, policiesDir: folder, ...options });
  if (policies) write(policies(world));
  const daemon = await startDaemon({ caretaker: world.caretaker, roles });
  const { url = '', signInLink } = daemon.dashboard ?? {};
  const isSeen = () =>
    until(world, async () => (await world.caretaker.records.presence.running(world.clock.now())).length > 0);
  await isSeen();
  const send: Ask = (path, init) => fetch(url + path, { redirect: 'manual', ...init });
  const cookie = sessionOf(
    await (signInLink === undefined
      ? postForm(send, url, '/sign-in', { password: PASSWORD })
      : fetch(signInLink, { redirect: 'manual' })),
  );
  const ask: Ask = (path, init = {}) => send(path, { ...init, headers: { cookie, ...init.headers } });
  return {
    world,
    url,
    ask,
    look: async (path) => seenIn(await ask(path, { headers: { accept: 'text/html' } })),
    press: (path, fields = {}, changed = {}) =>
      ask(path, {
        method: 'POST',
        headers: { origin: url, accept: 'text/html', ...changed },
        body: new URLSearchParams(fields),
      }),
    write,
    isSeen,
    async stop() {
      await daemon.stop();
      await world.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
