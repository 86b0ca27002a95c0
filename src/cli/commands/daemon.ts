import { join } from 'node:path';
import { openCaretaker } from '../../app/caretaker.ts';
import { type Daemon, startDaemon } from '../../app/daemon.ts';
import { type Role, roles } from '../../app/roles.ts';
import type { Log } from '../../log.ts';
import { projectOf } from '../../settings/load-settings.ts';
import type { Settings } from '../../settings/settings.ts';
import { suggestionFor } from '../../suggest.ts';
import { type GlobalOptions, logTo, readSettings } from '../context.ts';
import { exit, UsageError } from '../exit.ts';
import { findWhyNotRecorded, untilSignal } from '../interruption.ts';
import type { Terminal } from '../output/terminal.ts';

/** Runs until a signal. Then it takes no new work, records work in progress, and exits; while it starts, at once. */
export async function daemon(
  terminal: Terminal,
  options: GlobalOptions & { roles: string; port?: number },
): Promise<number> {
  const chosen = rolesOf(options.roles);
  const { io } = terminal;
  const read = (config: string | undefined) =>
    withPort(readSettings(terminal, { ...options, ...(config !== undefined && { config }) }), options.port);
  const settings = read(options.config);
  const log = await logTo(io, options.verbose ? 'debug' : 'info');
  const signalled = untilSignal(io);
  let isRunning = false;
  // Redis may keep it waiting for ever.
  void signalled.then(() => {
    if (isRunning) return;
    log.info('stopped while it was starting');
    io.exit(exit.ok);
  });
  const caretaker = await openCaretaker({ settings, log, clock: io.clock });
  const file = settings.file;
  const config =
    file === undefined
      ? {}
      : { config: { files: [file, join(projectOf(file), '.env')], read: () => read(file) } };
  const running = await startDaemon({ caretaker, roles: chosen, ...config }).catch(async (error: unknown) => {
    await caretaker.close();
    throw error;
  });
  isRunning = true;
  if (running.dashboard) reportAddress(running.dashboard, terminal, log);
  log.info({ roles: chosen }, `the daemon is running; its Redis: ${caretaker.redis.where}`);

  const signal = await signalled;
  log.info({ signal }, 'stopping: no new work is started, work in progress is being recorded');
  const stopped = new AbortController();
  void findWhyNotRecorded(
    () => caretaker.records.presence.running(caretaker.clock.now()),
    stopped.signal,
  ).then((why) => {
    if (!why) return;
    const because =
      why === 'no-redis'
        ? 'without Redis, which does not respond'
        : 'before all work was recorded, because the time limit was reached';
    log.warn(`stopped ${because}; the next daemon continues the work in progress`);
    io.exit(exit.ok);
  });
  await running.stop();
  await caretaker.close();
  stopped.abort();
  log.info('stopped');
  return exit.ok;
}

/**
 * Reports the address of the dashboard. At a terminal, with the sign-in link. In a log, without it: a log is
 * kept, and anyone who reads an unused link can sign in with it.
 */
function reportAddress(
  { url, signInLink }: NonNullable<Daemon['dashboard']>,
  terminal: Terminal,
  log: Log,
): void {
  if (terminal.io.stderr.isTTY)
    terminal.message(signInLink ? `Dashboard: ${signInLink} (the link works once)` : `Dashboard: ${url}`);
  else
    log.info(
      `Dashboard: ${url} (sign in ${signInLink ? 'with a link: a button on the first page writes one to this log' : 'with the password'})`,
    );
}

const withPort = (settings: Settings, port: number | undefined): Settings =>
  port === undefined ? settings : { ...settings, dashboard: { ...settings.dashboard, port } };

function rolesOf(text: string): Role[] {
  return text.split(',').map((word) => {
    const role = roles.find((one) => one === word.trim());
    if (role) return role;
    const hint = suggestionFor(word, roles);
    throw new UsageError(`There is no role "${word}"${hint ? `: ${hint}` : '.'}`);
  });
}
