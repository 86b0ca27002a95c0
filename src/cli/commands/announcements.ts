/** Announced changes: lists them, and cancels them. */
import { isoMinute } from '../../clock.ts';
import {
  cancelAnnouncement,
  listAnnouncements as list,
  sentencesOf,
} from '../../control/commands/announcements.ts';
import { withClient, withReader } from '../client.ts';
import type { GlobalOptions, ReasonOption } from '../context.ts';
import { exit } from '../exit.ts';
import { show } from '../output/show.ts';
import { type Terminal, table } from '../output/terminal.ts';

interface AnnouncementOptions extends GlobalOptions {
  policy?: string[];
  limit: number;
}

/** Lists the announced changes, the next one first. */
export const listAnnouncements = (terminal: Terminal, options: AnnouncementOptions): Promise<number> =>
  withReader('records', terminal, options, async ({ read }) => {
    const { policy, limit } = options;
    const { announcements, total } = await read(list, { policy, limit }, { announcements: [], total: 0 });
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
        terminal.message(
          `${total - announcements.length} more: --limit ${Math.min(total, 1000)} lists them.`,
        );
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
  });

/** Cancels announced changes. Two requests each, to remove its note. */
export const cancelAnnouncements = (
  terminal: Terminal,
  ids: string[],
  options: GlobalOptions & ReasonOption,
): Promise<number> =>
  withClient('caretaker', terminal, options, async ({ act }) => {
    for (const announcement of ids) {
      const answer = await act(cancelAnnouncement, { announcement, reason: options.reason });
      terminal.message(sentencesOf(answer).join(' '));
    }
    return exit.ok;
  });
