/** What is written to the sites while processes are killed: each entry, note and line once. */
import { apiCall } from '../../jobs/api-call/job.ts';
import type { Run, Target } from '../../src/run/run.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { nextSites, type Story, TARGETS } from './story.ts';

const NAME = 'chaos-record';

export const recordings: Story = {
  name: NAME,
  operations: ['updateSite'],
  begin: (sandbox, at) => ({
    policy: {
      job: 'api-call',
      select: { from: 'listSites', filters: {} },
      options: apiCall.options.parse({
        operation: 'updateSite',
        body: { site: { sync: { daily_sync_time: at % 2 === 0 ? '04:00Z' : '05:00Z' } } },
      }),
      record: { customWork: { title: 'Care' }, note: 'living' },
    },
    only: nextSites(sandbox, at),
    planned: () => TARGETS,
    *lies({ targets }) {
      for (const { id } of targets) yield* repeatedOn(sandbox, id);
    },
    recorded: recordedLies,
  }),
};

const notesOf = (sandbox: Sandbox, site: string) =>
  sandbox
    .site(site)
    .notes()
    .filter((content) => content.includes(`[Caretaker, ${NAME}: last runs]`));

/** What is on a site more than once. */
function* repeatedOn(sandbox: Sandbox, site: string): Iterable<string> {
  const references = sandbox
    .site(site)
    .customWorks()
    .flatMap(({ description }) => /Ref\. \w{8}$/.exec(description)?.[0] ?? []);
  if (new Set(references).size < references.length)
    yield `${site} has a custom work entry twice: ${references.join(', ')}`;
  const notes = notesOf(sandbox, site);
  if (notes.length > 1) yield `${site} has ${notes.length} living notes`;
  const lines = notes.flatMap((content) => content.split('\n').filter((line) => /^\d{4}-/.test(line)));
  if (new Set(lines).size < lines.length) yield `${site} has a line twice: ${lines.join(' / ')}`;
}

/** What is wrong after everything was written. */
function* recordedLies(run: Run, targets: readonly Target[], sandbox: Sandbox): Iterable<string> {
  const { wanted = 0, recorded = 0 } = run.recordings ?? {};
  if (recorded !== wanted) yield `recorded ${recorded} of ${wanted}: ${JSON.stringify(run.recordings)}`;
  for (const { id, outcome, changed } of targets) {
    yield* repeatedOn(sandbox, id);
    if (outcome !== 'succeeded' || !changed) continue;
    const name = run.id.slice(NAME.length + 1);
    if (!notesOf(sandbox, id).some((content) => content.includes(` done (${name})`)))
      yield `${id} is done, and its note does not show it`;
    if (
      !sandbox
        .site(id)
        .customWorks()
        .some(({ title }) => title === 'Care')
    )
      yield `${id} is done, and has no custom work entry`;
  }
}
