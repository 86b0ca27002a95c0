/** Announced changes: lists them, and cancels them. */
import { isoMinute } from '../../clock.ts';
import type { AnnouncementReport } from '../../control/announcements.ts';
import { carryOut } from '../../control/carry-out.ts';
import {
  type CancelledAnswer,
  cancelAnnouncement,
  listAnnouncements as list,
  sentencesOf,
} from '../../control/commands/announcements.ts';
import { NotFoundError } from '../../control/errors.ts';
import { carryOutHere } from '../carry-out-here.ts';
import {
  type GlobalOptions,
  hasRecords,
  type ReasonOption,
  settingsOf,
  withCaretaker,
  withRecords,
} from '../context.ts';
import { exit, UsageError } from '../exit.ts';
import { localActor } from '../local-actor.ts';
import { type OutputOption, show } from '../output/show.ts';
import { type Terminal, table } from '../output/terminal.ts';

export interface AnnouncementOptions extends OutputOption {
  policy?: string;
  limit: number;
}

/** The announcements of a list, and how many there are in all. */
export interface ListedAnnouncements {
  announcements: AnnouncementReport[];
  total: number;
}

/** Lists the announced changes, the next one first. */
export async function listAnnouncements(
  terminal: Terminal,
  options: GlobalOptions & AnnouncementOptions,
): Promise<number> {
  const settings = settingsOf(terminal, options);
  const { policy, limit } = options;
  // A command that only reads does not start the embedded Redis.
  const found = hasRecords(settings)
    ? await withRecords(terminal, options, settings, async (opened) =>
        list.toAnswer(await carryOut(list, opened, { policy, limit }, localActor()), { policy, limit }),
      )
    : { announcements: [], total: 0 };
  return showAnnouncements(found as ListedAnnouncements, terminal, options);
}

export async function showAnnouncements(
  { announcements, total }: ListedAnnouncements,
  terminal: Terminal,
  options: AnnouncementOptions,
): Promise<number> {
  const text = () => {
    if (total === 0) {
      terminal.message('No change is announced.');
      return;
    }
    const rows = announcements.map((one) => [
      one.change_from === null ? '' : isoMinute(Date.parse(one.change_from)),
      one.policy,
      one.operation ?? '',
      one.label,
      one.cancelled_by === null ? '' : `cancelled by ${one.cancelled_by}`,
      one.id,
    ]);
    const { paint, dataColumns } = terminal;
    terminal.data(
      table(['from', 'policy', 'change', 'target', '', 'id'], rows, paint, {
        columns: dataColumns,
        shrink: [
          { column: 2, min: 16 },
          { column: 3, min: 12 },
        ],
      }),
    );
    if (total > announcements.length)
      terminal.message(`${total - announcements.length} more: --limit ${Math.min(total, 1000)} lists them.`);
    terminal.message('Cancel one: caretaker announcements cancel <id>.');
  };
  const columns = [
    'id',
    'policy',
    'account',
    'target',
    'label',
    'operation',
    'site',
    'change_from',
    'cancelled_by',
  ];
  await show(terminal, options, { value: announcements, columns, text });
  return exit.ok;
}

/** Cancels announced changes. Two requests each, to remove its note. */
export async function cancelAnnouncements(
  terminal: Terminal,
  ids: string[],
  options: GlobalOptions & ReasonOption,
): Promise<number> {
  return withCaretaker(terminal, options, settingsOf(terminal, options), async (caretaker) => {
    for (const announcement of ids) {
      const input = { announcement, reason: options.reason };
      const cancelled = await carryOutHere(cancelAnnouncement, caretaker, input, terminal).catch(
        (error: unknown) => {
          throw error instanceof NotFoundError ? new UsageError(error.message) : error;
        },
      );
      printCancelled(cancelAnnouncement.toAnswer(cancelled, input) as CancelledAnswer, terminal);
    }
    return exit.ok;
  });
}

export function printCancelled(answer: CancelledAnswer, { message }: Terminal): void {
  message(sentencesOf(answer).join(' '));
}
