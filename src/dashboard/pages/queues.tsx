/** The queues as people who use BullMQ know them: bull-board, in a frame, because it is a program of its own. */
import { besideQueues, readQueues } from '../../control/commands/list-queues.ts';
import { showPage } from '../components/layout.tsx';
import { BOARD_PATH } from '../http/board.ts';
import type { DashboardContext, Exchange } from '../http/context.ts';

export async function showQueues(c: Exchange, context: DashboardContext): Promise<Response> {
  const beside = besideQueues(await readQueues(context.control, context.clock.now()));
  return showPage(
    c,
    context,
    { title: 'Queues', here: '/queues', live: '*' },
    <section class="queues">
      <div class="page-head">
        <h1>Queues</h1>
        <p class="dim">
          Entries of BullMQ that wait, are in work, or ended in the last day. <a href="/runs">Runs</a> show
          the result of each site.
        </p>
      </div>
      <div id="beside-queues" data-live>
        {beside.map((line) => (
          <p>
            {line} <a href="/runs?status=running">Running runs</a>
          </p>
        ))}
      </div>
      <iframe src={BOARD_PATH} title="bull-board: the entries of the queues"></iframe>
    </section>,
  );
}
