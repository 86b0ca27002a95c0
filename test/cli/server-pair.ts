/**
 * A command with `--server` against the same command on the machine of the server: what both print, and their exit
 * codes. A real daemon, and real commands.
 */
import { mkdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { fastClock } from '../support/caretaker.ts';
import { type Desk, type Ended, openDesk, type Started } from '../support/cli.ts';

const PASSWORD = 'open-sesame-please';
export const OPERATOR = 'a-token-of-an-operator-alone';

export interface Pair {
  sandbox: Sandbox;
  desk: Desk;
  daemon: Started;
  server: string;
  /** On the machine of the server. */
  here(args: string[]): Promise<Ended>;
  /** In a folder without a configuration, and without Redis. */
  remote(args: string[], token?: string): Promise<Ended>;
  /** One after the other; what both print, which has to be the same. */
  same(args: string[]): Promise<Ended>;
  /** `same` for each of these command lines, in turn. */
  sameEach(lines: readonly string[]): Promise<void>;
  /** The same for commands that each start a run of their own, one after the other. */
  sameBut(args: string[]): Promise<{ local: Ended; away: Ended }>;
  clear(): Promise<void>;
}

/** Starts a daemon with these policies, and waits until it runs. */
export async function openPair(policies: string): Promise<Pair> {
  const clock = fastClock(5);
  const sandbox = await startSandbox({ sites: 12, seed: 3, rateLimit: 0, clock });
  for (const id of sandbox.siteIds()) sandbox.site(id).syncTakes(1_000);
  const desk = openDesk({ CARETAKER_BASE_URL: sandbox.url, CARETAKER_API_TOKEN: sandbox.token }, clock);
  desk.write(
    'config/caretaker.yaml',
    `dashboard: { port: 0, password: ${PASSWORD} }\npolicies: ./mine\nnotifications: { ops: { webhook: { url: "${sandbox.url}/hook" }, allow_private: true } }\naccess: { tokens: { ci: { token: ${OPERATOR}, roles: [operator] } } }\n`,
  );
  mkdirSync(join(desk.folder, 'config/mine'));
  desk.write('config/mine/all.yaml', policies);
  await desk.keepRedis();
  const daemon = desk.start(['daemon']);
  const address = await daemon.line(/Dashboard: http/);
  const [server = ''] = /http:\/\/127[^\s"]+/.exec(address) ?? [];
  await daemon.line(/the daemon is running/);

  const here = (args: string[]) => desk.run(args);
  const remote = (args: string[], token = PASSWORD) =>
    desk.run(
      args,
      {
        CARETAKER_SERVER: server,
        CARETAKER_SERVER_TOKEN: token,
        CARETAKER_BASE_URL: '',
        CARETAKER_API_TOKEN: '',
      },
      dirname(desk.folder),
    );
  const same = async (args: string[]) => {
    const local = await here(args);
    const away = await remote(args);
    expect(ofSameMinutes(inFolder(away, desk), local), args.join(' ')).toEqual(inFolder(local, desk));
    return local;
  };
  return {
    sandbox,
    desk,
    daemon,
    server,
    here,
    remote,
    same,
    async sameEach(lines) {
      for (const line of lines) await same(line.split(' '));
    },
    async sameBut(args) {
      const local = await here(args);
      const away = await remote(args);
      expect(alike(away)).toEqual(alike(local));
      return { local, away };
    },
    async clear() {
      await desk.clear();
      await sandbox.stop();
    },
  };
}

/**
 * Two commands that start runs differ in times, durations, reads, ids of the service and who started them, and in
 * nothing else.
 */
export const alike = ({ code, stdout, stderr }: Ended) => {
  const text = (output: string) =>
    output
      .replaceAll(/\d{8}T\d{6}(\d{3})?Z(-[\w-]+)?/g, '<time>')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
      // Runs that were started one after the other may wait until different minutes.
      .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\dZ/g, '<minute>')
      // Whether a site is looked at once more depends on how long its sync takes.
      .replaceAll(/\{"operation":"showSite"[^}]*\},?/g, '')
      .replaceAll(/\b\d+:\d\d\b/g, '<duration>')
      .replaceAll(/\(\d+ requests, [\d.]+ per target\)/g, '(<requests>)')
      .replaceAll(/"requests(_by_operation)?":(\d+|\{[^}]*\})/g, '"requests":"<requests>"')
      .replaceAll(/\{"kind":"(local|user)","name":"[^"]*"\}/g, '<who>')
      .replaceAll(/snapshot-[\d-]+/g, '<snapshot>')
      .replaceAll(/\bsandbox-\d+/g, '<request>')
      .replaceAll(/"ms":\d+/g, '"ms":"<ms>"')
      .replaceAll(/Hash \w+/g, 'Hash <hash>')
      .replaceAll(/by (admin|root)/g, 'by <who>')
      // Progress is printed every ten seconds.
      .replaceAll(/^\S+ \w+: .*, <duration>\n/gm, '');
  return { code, stdout: text(stdout), stderr: text(stderr) };
};

/** Times to the minute as in `other`, where they differ by one: a minute may end between two commands. */
export function ofSameMinutes(one: Ended, other: Ended): Ended {
  const minute = /\d{4}-\d\d-\d\d \d\d:\d\dZ/g;
  const like = (text: string, model: string) => {
    const times = model.match(minute) ?? [];
    let at = -1;
    return text.replace(minute, (time) => {
      at += 1;
      const its = times[at] ?? time;
      return Math.abs(Date.parse(time) - Date.parse(its)) <= 60_000 ? its : time;
    });
  };
  return {
    ...one,
    stdout: like(one.stdout, other.stdout),
    stderr: like(one.stderr, other.stderr),
  };
}

/** A file is named as seen from the folder of the command. */
const inFolder = ({ code, stdout, stderr }: Ended, { folder }: Desk): Ended => {
  const name = `${basename(folder)}/`;
  return { code, stdout: stdout.replaceAll(name, ''), stderr: stderr.replaceAll(name, '') };
};
