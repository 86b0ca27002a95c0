/**
 * `caretaker apply` is killed at random times, before its run exists, between two batches, during a gate and while it
 * writes to the sites, and then started again: its plan is applied once, and the same run goes on to its end.
 */
import { systemClock } from '../../src/clock.ts';
import { isFinal } from '../../src/run/moves.ts';
import type { Run, Target } from '../../src/run/run.ts';
import { parseFaults } from '../../src/sandbox/faults/names.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { openDesk } from '../support/cli.ts';
import { liesAboutBatch } from './rollout-stories.ts';
import { targetsOf, wrongOf } from './story.ts';

const SITES = 6;
/** How often one `apply` is killed at most, and the longest time until then, in real milliseconds. */
const MOST_KILLS = 5;
const ALIVE_MS = 5_000;

const policy = (name: string) => `policies:
  - name: ${name}
    job: api-call
    select: { from: listSites }
    with: { operation: createSiteNote, body: { note: { content: ${name} } }, once: ${name} }
    rollout: { batches: [1, 50%] }
    record: { note: living }
`;

/** Kills it so many times. Gives what was wrong. `random` gives numbers from 0 to 1. */
export async function killApply(
  kills: number,
  random: () => number,
  say: (line: string) => void,
): Promise<string[]> {
  const faults = parseFaults('reset-after:0.05,error-after:0.05');
  const sandbox = await startSandbox({ sites: SITES, speed: 20, rateLimit: 0, token: 't', faults });
  const desk = openDesk({ CARETAKER_BASE_URL: sandbox.url, CARETAKER_API_TOKEN: 't' });
  /** Killed, unless it has ended by itself before. */
  const applyAndKill = async (file: string): Promise<boolean> => {
    const { child, ended } = desk.spawn(['apply', file, '--yes']);
    const isOver = await Promise.race([ended, systemClock.sleep(random() * ALIVE_MS)]);
    if (!isOver) child.kill('SIGKILL');
    await ended;
    return !isOver;
  };
  const wrong: string[] = [];
  try {
    const { records } = await desk.keepRedis();
    for (let plan = 1, done = 0; done < kills; plan += 1) {
      const name = `applied-${plan}`;
      const file = `${name}.plan`;
      desk.write('config/policies/applied.yaml', policy(name));
      const planned = await desk.run(['plan', name, '--out', file]);
      if (planned.code !== 0) throw new Error(planned.stderr);
      const most = Math.min(kills - done, Math.ceil(random() * MOST_KILLS));
      let killed = 0;
      while (killed < most && (await applyAndKill(file))) killed += 1;
      done += killed;
      const { code, stderr } = await desk.spawn(['apply', file, '--yes']).ended;
      const [run, ...others] = await records.runs.list({ policy: name, limit: 10 });
      const targets = run ? await targetsOf({ records }, run.id) : [];
      const found = wrongOf(`${name} (${code}: ${stderr.trim()})`, [
        [others.length > 0, `and it has ${others.length + 1} runs`],
        [targets.length !== SITES, `and it has ${targets.length} targets`],
      ]);
      found.push(...(run ? lies(run, targets, sandbox) : ['has no run']));
      say(`${name}: ${killed} kills, ${run?.status}, ${JSON.stringify(run?.counts)}`);
      for (const one of found) say(`  WRONG: ${one}`);
      wrong.push(...found);
    }
  } finally {
    await desk.clear();
    await sandbox.stop();
  }
  return wrong;
}

function* lies(run: Run, targets: readonly Target[], sandbox: Sandbox): Iterable<string> {
  if (!isFinal(run.status)) yield `${run.id} is ${run.status}`;
  for (const { id, reason } of targets) {
    const notes = sandbox.site(id).notes();
    const times = notes.filter((content) => content === run.policy).length;
    const living = notes.filter((content) =>
      content.includes(`[Caretaker, ${run.policy}: last runs]`),
    ).length;
    yield* wrongOf(`${run.id}: ${id} is ${reason} and has ${times} notes`, [
      [times > 1, 'more than one'],
      [reason !== 'unknown-effect' && (reason === 'done') !== (times === 1), 'which is wrong'],
      [living > 1, `and ${living} living notes`],
    ]);
  }
  for (const [at, batch] of (run.rollout?.batches ?? []).entries())
    yield* liesAboutBatch(at, batch, run, targets);
}
