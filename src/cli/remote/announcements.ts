/** Announced changes, on a server. */
import { noAnnouncement } from '../../control/announcements.ts';
import type { CancelledAnswer } from '../../control/commands/announcements.ts';
import {
  type AnnouncementOptions,
  type ListedAnnouncements,
  printCancelled,
  showAnnouncements,
} from '../commands/announcements.ts';
import type { ReasonOption } from '../context.ts';
import { exit, UsageError } from '../exit.ts';
import type { Terminal } from '../output/terminal.ts';
import { foundOr404 } from './act-on-run.ts';
import type { Server } from './server.ts';

/** Lists the announced changes of the server. */
export async function listAnnouncements(
  terminal: Terminal,
  server: Server,
  _args: string[],
  options: AnnouncementOptions,
): Promise<number> {
  const { policy, limit } = options;
  const found = await server.get<ListedAnnouncements>('/announcements', { policy, limit });
  return showAnnouncements(found, terminal, options);
}

/** Cancels announced changes on the server. */
export async function cancelAnnouncements(
  terminal: Terminal,
  server: Server,
  ids: string[],
  { reason }: ReasonOption,
): Promise<number> {
  for (const id of ids) {
    const body = reason === undefined ? {} : { reason };
    const cancelled = await foundOr404(() =>
      server.post<CancelledAnswer>(`/announcements/${encodeURIComponent(id)}/cancel`, body),
    );
    if (!cancelled) throw new UsageError(noAnnouncement(id));
    printCancelled(cancelled, terminal);
  }
  return exit.ok;
}
