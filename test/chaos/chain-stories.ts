/**
 * Policies that start when a run of another has ended (`schedule.after`): each end that counts starts one run of each
 * of them, or is recorded as missed by the one with the short window. The daemons schedule them.
 */
import { apiCall } from '../../jobs/api-call/job.ts';
import type { Caretaker } from '../../src/app/caretaker.ts';
import type { Policy } from '../../src/policy/policy.ts';
import { isFinal } from '../../src/run/moves.ts';
import type { Run } from '../../src/run/run.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { aPolicy, aSchedule } from '../support/builders.ts';
import { countBy, type Story, targetsOf, timesOn, wrongOf } from './story.ts';

const NAME = 'chaos-chain';
const HOUR_MS = 3_600_000;
/** Kills delay a scheduler by more than this from time to time. */
const SHORT_MS = 60_000;
/** A few sites: what matters are the runs. */
const SITES = 5;
const MOST_RUNS = 10_000;

const follower = (name: string, withinMs: number): Policy =>
  aPolicy({
    name: `${NAME}-${name}`,
    hash: name,
    job: 'api-call',
    select: { from: 'listSites', filters: {}, limit: SITES },
    options: apiCall.options.parse({
      operation: 'createSiteNote',
      body: { note: { content: noteOf(name) } },
    }),
    timeout: { targetMs: HOUR_MS, runMs: 2 * HOUR_MS },
    schedule: aSchedule({
      cron: [],
      overlap: 'queue-all',
      after: { policy: NAME, status: ['succeeded', 'partial'], withinMs },
    }),
  });
const noteOf = (follower: string): string => `After the chain: ${follower}.`;

const names = ['always', 'soon'] as const;
/** The policies that follow: the second only within a minute. */
export const following: readonly Policy[] = [follower('always', 24 * HOUR_MS), follower('soon', SHORT_MS)];

/** The policies that the daemons know: those that follow, and the one that they follow. */
export const scheduled: readonly Policy[] = [aPolicy({ name: NAME }), ...following];

/** The first of the chain. Its second run fails, so that nothing may follow it. */
export const chains: Story = {
  name: NAME,
  operations: ['enableSiteActivityLogs', 'disableSiteActivityLogs', 'assignTag'],
  begin: (_sandbox, at) => ({
    policy: (round) => ({
      job: 'api-call',
      select: { from: 'listSites', filters: {}, limit: SITES },
      options: apiCall.options.parse(
        round === 1
          ? {
              operation: 'assignTag',
              params: { tag_id: '999999' },
              body: { site_ids: [{ cel: 'site.id' }] },
            }
          : at % 2 === 0
            ? { operation: 'disableSiteActivityLogs', confirm: 'disableSiteActivityLogs' }
            : { operation: 'enableSiteActivityLogs' },
      ),
    }),
    rounds: 3,
    // There is no such tag, so it is not even planned.
    planned: (round) => (round === 1 ? 0 : SITES),
    *lies({ run, round, effects }) {
      if (round === 1 && run.status === 'succeeded') yield 'has succeeded, although there is no such tag';
      if (countBy(effects, 'assignTag').size > 0) yield 'has assigned a tag that does not exist';
    },
  }),
  async atEnd(caretaker, sandbox) {
    const wrong: string[] = [];
    const firsts = await runsOf(caretaker, NAME);
    let waitingFor: string | undefined;
    for (const policy of following) {
      const found = await judgeFollower(caretaker, policy, firsts);
      waitingFor ??= found.waitingFor;
      wrong.push(...found.wrong);
    }
    if (waitingFor === undefined) wrong.push(...(await judgeNotes(caretaker, sandbox)));
    return { wrong, ...(waitingFor === undefined ? {} : { waitingFor }) };
  },
};

const runsOf = ({ records }: Caretaker, policy: string): Promise<Run[]> =>
  records.runs.list({ policy, limit: MOST_RUNS });

/** Each end that counts has one run, or, when it was noticed too late, a record of that; no other end has any. */
async function judgeFollower(caretaker: Caretaker, { name, schedule }: Policy, firsts: readonly Run[]) {
  const runs = await runsOf(caretaker, name);
  const ledger = await caretaker.records.ledger.between(name, 0, Number.MAX_SAFE_INTEGER, MOST_RUNS);
  const { status = [], withinMs = 0 } = schedule?.after ?? {};
  const ends = await caretaker.records.ends.between(NAME, 0, Number.POSITIVE_INFINITY, MOST_RUNS);
  const endedAt = new Map(ends.map(({ run, at }) => [run, at]));
  const wrong: string[] = [];
  for (const { id, status: end } of firsts) {
    const own = runs.filter(({ afterRun }) => afterRun === id);
    const records = ledger.filter(({ after }) => after === id);
    const missed = records.filter((one) => one.is === 'missed');
    const expected = (status as readonly string[]).includes(end) ? 1 : 0;
    const found = own.length + missed.length;
    const says = `${id} ended ${end}: ${own.length} runs of ${name}, records: ${records.map((one) => one.is).join()}`;
    if (!isFinal(end) || found < expected) return { wrong, waitingFor: says };
    const at = endedAt.get(id) ?? Number.NaN;
    wrong.push(
      ...wrongOf(says, [
        [found !== expected, `and ${expected} were to be`],
        [records.length > 1, 'and more than one record'],
        [Number.isNaN(at), 'and its end is not recorded'],
        [missed.some((late) => late.at - at <= withinMs), 'and was not missed'],
        [own.some(({ scheduledFor }) => scheduledFor !== at), `and its time is not ${at}`],
      ]),
    );
  }
  const known = new Set(firsts.map(({ id }) => id));
  wrong.push(
    ...runs.flatMap(({ id, afterRun = '' }) => (known.has(afterRun) ? [] : [`${id} follows nothing`])),
  );
  const open = runs.find(({ status: of }) => !isFinal(of));
  return open ? { wrong, waitingFor: `the end of ${open.id}` } : { wrong };
}

/** The runs of the followers made one note for each target that is done. */
async function judgeNotes(caretaker: Caretaker, sandbox: Sandbox): Promise<string[]> {
  const wrong: string[] = [];
  for (const name of names) {
    const reasons = await reasonsBySite(caretaker, `${NAME}-${name}`);
    for (const [site, ended] of reasons) {
      const least = ended.filter((reason) => reason === 'done').length;
      const most = least + ended.filter((reason) => reason === 'unknown-effect').length;
      const times = timesOn(sandbox, site, noteOf(name));
      if (times < least || times > most)
        wrong.push(`${site} has ${times} notes of ${name}, and ${least} to ${most} were made`);
    }
  }
  return wrong;
}

/** How the targets of all runs of a policy ended, by their sites. */
async function reasonsBySite(caretaker: Caretaker, policy: string): Promise<Map<string, string[]>> {
  const reasons = new Map<string, string[]>();
  for (const { id: run } of await runsOf(caretaker, policy))
    for (const { id, reason = 'none' } of await targetsOf(caretaker, run))
      reasons.set(id, [...(reasons.get(id) ?? []), reason]);
  return reasons;
}
