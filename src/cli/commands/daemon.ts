import { join } from 'node:path';
import { openCaretaker } from '../../app/caretaker.ts';
import { type Daemon, type Role, roles, startDaemon } from '../../app/daemon.ts';
import { type Log, openLog } from '../../log.ts';
import { projectOf } from '../../settings/load-settings.ts';
import type { Settings } from '../../settings/settings.ts';
import { suggestionFor } from '../../suggest.ts';
import { type GlobalOptions, settingsOf } from '../context.ts';
import { exit, UsageError } from '../exit.ts';
import { redisIsUnavailable } from '../interruption.ts';
import type { Terminal } from '../output/terminal.ts';
import { untilSignal } from '../signals.ts';

/**
 * After so long the process ends even if something of it does not; what was under way is picked up by the
 * next.
 */
const STOP_TIMEOUT_MS = 28_000;

/** Runs until a signal; then takes no new work, records what is in progress, and ends. */
export async function daemon(
  terminal: Terminal,
  options: GlobalOptions & { roles: string; port?: number },
): Promise<number> {
  const given = rolesOf(options.roles);
  const read = () => withPort(settingsOf(options), options.port);
  const settings = read();
  const log = await openLog({
    level: options.verbose ? 'debug' : 'info',
    form: process.stderr.isTTY ? 'pretty' : 'json',
  });
  const asked = untilSignal();
  const caretaker = await openCaretaker({ settings, log });
  const file = settings.file;
  const config = file === undefined ? {} : { config: { files: [file, join(projectOf(file), '.env')], read } };
  const running = await startDaemon({ caretaker, roles: given, ...config }).catch(async (error: unknown) => {
    await caretaker.close();
    throw error;
  });
  if (running.dashboard) tellAddress(running.dashboard, terminal, log);
  log.info({ roles: given }, `the daemon is running; its Redis: ${caretaker.redis.where}`);

  const signal = await asked;
  log.info({ signal }, 'stopping: nothing new is started, work in progress is being recorded');
  const leave = (why: string) => {
    log.warn(`stopped ${why}; what was under way is picked up by the next daemon`);
    process.exit(exit.ok);
  };
  const late = setTimeout(() => leave('without waiting any longer'), STOP_TIMEOUT_MS);
  const over = new AbortController();
  void redisIsUnavailable(() => caretaker.records.presence.running(caretaker.clock.now()), over.signal).then(
    (isAway) => {
      if (isAway) leave('without Redis, which does not answer');
    },
  );
  await running.stop();
  over.abort();
  await caretaker.close();
  clearTimeout(late);
  log.info('stopped');
  return exit.ok;
}

/**
 * Where the dashboard is. At a terminal with the link that signs in; elsewhere as a line of the log and
 * without it: a log is kept, and the link opens the dashboard until somebody uses it.
 */
function tellAddress(
  { url, signInLink }: NonNullable<Daemon['dashboard']>,
  terminal: Terminal,
  log: Log,
): void {
  if (process.stderr.isTTY)
    terminal.message(signInLink ? `Dashboard: ${signInLink} (the link works once)` : `Dashboard: ${url}`);
  else
    log.info(
      `Dashboard: ${url} (sign in ${signInLink ? 'by a link: a button on its first page writes one to this log' : 'with the password'})`,
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
