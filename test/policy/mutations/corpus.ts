/** Every policy file that we show or ship. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { everyLine, policyWith } from '../p.ts';
import { callTexts } from './calls.ts';

/** Policies that share what they have. */
const sharing = `
vars: { tags: [gold, silver], message: Nightly, window: { window: 2h, mode: all } }
defaults:
  job: site-sync
  schedule: { cron: "0 2 * * *", timezone: Europe/Berlin, catchup: "\${{ vars.window }}" }
  select: { filters: { connection_status: { eq: connected } } }
  with: { message: "\${{ vars.message }} \${{ matrix.tag }}" }
  notify: [{ to: ops }]
policies:
  - name: nightly
    matrix: { tag: "\${{ vars.tags }}", exclude: [{ tag: silver }] }
    select: { filters: { tags: { in: [{ name: "\${{ matrix.tag }}" }] } }, sort: "last_sync_at,asc" }
  - name: without-a-message
    schedule: { after: { policy: nightly-gold, status: [succeeded, partial] }, cron: ~, catchup: ~ }
    with: ~
  - name: look
    job: check
    select: { from: listSites, where: 'site.url != ""' }
    with: { severity: error, message: "{{site.title}}" }
`;

/** The texts of all policy files: of the docs, of `config/`, one with every key, and one for each call. */
export function policyTexts(): string[] {
  const pages = [
    'README.md',
    'config/README.md',
    'jobs/README.md',
    ...inFolder('docs', '.md').filter((page) => page !== 'docs/writing-a-job.md'),
    ...inFolder('docs/jobs', '.md'),
  ];
  const shown = pages.flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/^```yaml\n((?:#.*\n|vars:|defaults:|policies:)[\s\S]*?)^```/gm)]
      .map(([, text = '']) => text)
      .filter((text) => /^policies:/m.test(text)),
  );
  const shipped = ['config/policies', 'config/examples'].flatMap((folder) => inFolder(folder, '.yaml'));
  // `depth` is an option of the small job in `tiny-job.ts`.
  const everyKey = policyWith(everyLine.replace(', depth: quick', ''));
  const files = shipped.map((file) => readFileSync(file, 'utf8'));
  return [...shown, ...files, everyKey, sharing, ...callTexts()];
}

const inFolder = (folder: string, ending: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => name.endsWith(ending))
        .map((name) => join(folder, name))
    : [];
