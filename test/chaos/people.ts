/** People whose processes may be killed in the middle of an act, and who then ask for it again. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/clock.ts';
import type { Run } from '../../src/run/run.ts';
import type { FastClock } from '../support/caretaker.ts';
import type { Staff } from './story.ts';

const file = fileURLToPath(new URL('./person.mjs', import.meta.url));
/** The fraction of the processes that are killed, and the longest time until then, in real milliseconds. */
const KILLED = 0.6;
const KILLED_AFTER_MS = 400;
const AGAIN_MS = 300;

interface Setting {
  /** What a process is opened with: settings and clock. */
  facts: object;
  clock: FastClock;
  random: () => number;
  getRun: (id: string) => Promise<Run | undefined>;
  /** Called for each process that is killed. */
  onKill: () => void;
  /** Aborted when nothing is killed any more. */
  over: AbortSignal;
  patienceMs: number;
}

export function hireStaff({ facts, clock, random, getRun, onKill, over, patienceMs }: Setting): Staff {
  /** One process: its answer, or nothing when it was killed or could not reach Redis. */
  const attempt = async (act: object): Promise<{ code?: string; message?: string } | undefined> => {
    const isKilled = !over.aborted && random() < KILLED;
    const afterMs = random() * KILLED_AFTER_MS;
    const child = spawn(process.execPath, [file, JSON.stringify({ ...facts, ...act })], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => {
      if (said === '' && isKilled) setTimeout(() => child.kill('SIGKILL'), afterMs);
      said += chunk.toString();
    });
    const [, signal] = await once(child, 'close');
    if (signal === 'SIGKILL') onKill();
    const answer = said.split('\n')[1];
    return answer ? JSON.parse(answer) : undefined;
  };
  return {
    async waitFor(run, when) {
      for (const begun = Date.now(); Date.now() - begun < patienceMs; await systemClock.sleep(50)) {
        const found = await getRun(run);
        if (found && when(found)) return found;
      }
      return undefined;
    },
    think: (mostMs) => clock.sleep(random() * mostMs),
    async carryOut(command, input, key) {
      for (;;) {
        const answer = await attempt({ command, input, key });
        if (answer && answer.code === undefined) return undefined;
        // The process that died is taken for one that is still at work for a while.
        if (answer && answer.code !== 'KEY_BUSY') return `${answer.code}: ${answer.message}`;
        await systemClock.sleep(AGAIN_MS);
      }
    },
  };
}
