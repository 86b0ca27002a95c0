/** Shows the rings of a policy (`update-rings`), holds them, and releases versions. */
import { isoMinute } from '../../clock.ts';
import {
  holdRings as hold,
  type RingsAnswer,
  releaseVersion as release,
  showRings as rings,
  unholdRings as unhold,
} from '../../control/commands/rings.ts';
import { countOf } from '../../text.ts';
import { withClient, withReader } from '../client.ts';
import type { GlobalOptions, ReasonOption } from '../context.ts';
import { exit, UsageError } from '../exit.ts';
import { type List, listTable } from '../output/list.ts';
import { show } from '../output/show.ts';
import type { Terminal } from '../output/terminal.ts';

type Options = GlobalOptions & ReasonOption;
type Version = RingsAnswer['rings'][number]['versions'][number] & { ring: string };

const list: List<Version> = {
  table: {
    ring: ({ ring }) => ring,
    item: ({ item }) => item,
    version: ({ version }) => version,
    is: ({ is }, { paint }) => paint(is === 'proven' ? 'green' : is === 'waiting' ? 'yellow' : 'red', is),
    at: ({ at }) => at && isoMinute(Date.parse(at)),
    why: ({ why }) => why,
  },
  shrink: ['why: 20', 'item: 14'],
};

/** Shows what each ring does and why, and the versions on the move. Reads what the last run saw; costs no request. */
export const showRings = (terminal: Terminal, policy: string, options: GlobalOptions): Promise<number> =>
  withReader('policies', terminal, options, async ({ read }) => {
    const answer: RingsAnswer = await read(rings, { policy }, () => {
      throw new UsageError(`No run of ${policy} has looked at its rings yet.`);
    });
    await show(terminal, options, {
      value: answer,
      rows: answer.rings,
      text: () => printRings(terminal, answer),
    });
    return exit.ok;
  });

export function printRings(terminal: Terminal, { at, run, rings, suspects, released }: RingsAnswer): void {
  terminal.data(`As the run ${run} saw it at ${isoMinute(Date.parse(at))}:`);
  for (const ring of rings) printRing(terminal, ring);
  // Each item once: at the first ring where its last version is not proven.
  const moving = new Map<string, Version>();
  for (const { name, versions } of rings)
    for (const one of versions)
      if (one.is !== 'proven' && !moving.has(one.item)) moving.set(one.item, { ...one, ring: name });
  terminal.data('');
  if (rings.every(({ versions }) => versions.length === 0)) terminal.data('No ring has taken a version yet.');
  else if (moving.size === 0) terminal.data('Every version that was taken is proven in every ring.');
  else terminal.data(listTable(list, [...moving.values()], terminal));
  for (const { item, version, broken, taken } of suspects)
    terminal.data(`Suspect: ${item} ${version}: ${broken.length} of ${countOf(taken, 'site')} broke.`);
  for (const { item, version, by } of released) terminal.data(`Released: ${item} ${version}, by ${by}.`);
}

function printRing(
  terminal: Terminal,
  { name, sites, is, why, held, last_run: last, broken }: RingsAnswer['rings'][number],
): void {
  const ran = last
    ? `last ran ${isoMinute(Date.parse(last.at))}: ${last.status} (${countOf(last.sites, 'site')})`
    : 'never ran';
  terminal.data(`\n${name}, ${countOf(sites, 'site')}: ${held ? `held by ${held.by}` : words[is]}; ${ran}.`);
  for (const line of held ? [held.reason ?? 'No reason was given.'] : why) terminal.data(`  ${line}`);
  for (const one of broken.slice(0, MAX_BROKEN)) terminal.data(`  Broke: ${one.label}: ${one.why}`);
  if (broken.length > MAX_BROKEN) terminal.data(`  and ${broken.length - MAX_BROKEN} more`);
}

const MAX_BROKEN = 5;
const words = {
  run: 'it updates',
  promote: 'it is enabled for its next run',
  wait: 'it waits',
  hold: 'it is held',
} as const;

const NEXT = (policy: string) => `It takes effect with the next run: "caretaker run ${policy}" starts one.`;

const changing =
  (command: typeof hold | typeof unhold, said: string) =>
  (
    terminal: Terminal,
    policy: string,
    ring: string | undefined,
    { reason, ...options }: Options,
  ): Promise<number> =>
    withClient('policies', terminal, options, async ({ act }) => {
      const { rings } = await act(command, { policy, ring, reason });
      terminal.message(
        rings.length === 0
          ? 'Nothing was changed: no person holds it.'
          : `${said}: ${rings.join(', ')}. ${NEXT(policy)}`,
      );
      return exit.ok;
    });

export const holdRings = changing(hold, 'Held');
export const unholdRings = changing(unhold, 'No longer held');

export const releaseVersion = (
  terminal: Terminal,
  policy: string,
  item: string,
  version: string,
  { reason, ...options }: Options,
): Promise<number> =>
  withClient('policies', terminal, options, async ({ act }) => {
    await act(release, { policy, item, version, reason });
    terminal.message(`Released: ${item} ${version}. ${NEXT(policy)}`);
    return exit.ok;
  });
