import { sentIn, type TestReport } from '../../control/commands/test-receiver.ts';
import { formatTestResult } from '../../notify/send-test.ts';
import { exit } from '../exit.ts';
import type { Terminal } from '../output/terminal.ts';
import { asUsage } from './act-on-run.ts';
import type { Server } from './server.ts';

/** Has the server send a test message to one of its receivers, once. */
export async function testChannel(
  terminal: Terminal,
  server: Server,
  [name = '']: string[],
): Promise<number> {
  const path = `/receivers/${encodeURIComponent(name)}/test`;
  const report = await asUsage(() => server.post<TestReport>(path, {}));
  terminal.message(formatTestResult(name, sentIn(report)));
  return report.result === 'delivered' ? exit.ok : exit.notAllWell;
}
