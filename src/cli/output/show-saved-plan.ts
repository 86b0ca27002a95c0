/** A saved plan, as people read it before they apply it. */
import { isoMinute } from '../../clock.ts';
import { policyIn, type SavedPlan } from '../../engine/plan/saved-plan.ts';
import { formatBatchRule } from '../../run/rollout.ts';
import { countOf, visibleLine } from '../../text.ts';
import { foldSame } from './list.ts';
import { type Terminal, table } from './terminal.ts';

/** The maximum number of targets that are shown without `--all`. */
export const MAX_ROWS = 20;

/** The summary, what is done to each target (to at most `rows` of them), and what is not part of it. */
export function printSavedPlan(plan: SavedPlan, terminal: Terminal, { rows: maxRows = MAX_ROWS } = {}): void {
  const { policy, targets, settled, excluded, recording, warnings, totals, account } = plan;
  const { data, paint } = terminal;
  data(
    `${paint('bold', policy.name)} (${policy.job}), planned ${timeOf(plan.planned_at)} for ${account.name} (${account.base_url})`,
  );
  data(`${countOf(totals.targets, 'target')}, ${countOf(totals.requests, 'request')} that change something:`);
  data(`  ${operationCounts(plan)}`);
  const given = targets.map((target) => [target.id, target.label, formatRequests(target)]);
  const { rows, folded } =
    maxRows === Number.POSITIVE_INFINITY ? { rows: given, folded: false } : foldSame(given);
  const shown = rows.slice(0, maxRows);
  if (shown.length > 0)
    data(
      `\n${table(['target', 'label', 'does'], shown, paint, {
        columns: terminal.dataColumns,
        shrink: ['label: 16', 'does: 24', 'label: 6', 'does: 8'],
      })}`,
    );
  if (maxRows > 0 && rows.length > shown.length)
    data(`… and ${rows.length - shown.length} more (--all lists them)`);
  else if (maxRows > 0 && folded) data('(--all lists each target)');
  if (settled.length > 0 || excluded.length > 0) {
    const others = excluded.reduce((sum, { count }) => sum + count, 0);
    const parts = [
      ...(settled.length > 0 ? [`${settled.length} with an outcome already`] : []),
      ...(others > 0 ? [`${others} excluded`] : []),
    ];
    data(`\nNot part of it: ${parts.join(', ')}.`);
  }
  const { rollout } = policyIn(plan, 'The plan');
  if (rollout) {
    const takesAll = rollout.batches.some((rule) => 'percent' in rule && rule.percent === 100);
    const batches = [...rollout.batches.map(formatBatchRule), ...(takesAll ? [] : ['the rest'])];
    data(`\nIts run works in batches: ${visibleLine(batches.join(', then '))}.`);
  }
  if (recording)
    data(
      `Afterwards, what was done is recorded on at most ${countOf(recording.sites, 'site')}. Those requests are not in the plan.`,
    );
  for (const one of warnings) data(`${paint('yellow', 'warning')}: ${one}`);
  data(
    `\nCosts about ${countOf(plan.cost.acting + plan.cost.following, 'request')}. Can be applied until ${timeOf(plan.expires_at)}. Hash ${plan.hash.slice(0, 12)}.`,
  );
}

const timeOf = (text: string): string => isoMinute(text);

/** `syncSite 12, updateSite 3` */
function operationCounts({ targets }: SavedPlan): string {
  const counts = new Map<string, number>();
  for (const { operation } of targets.flatMap(({ requests }) => requests))
    counts.set(operation, (counts.get(operation) ?? 0) + 1);
  const texts = [...counts].map(([operation, count]) => `${operation} ${count}`);
  return texts.length === 0 ? 'none' : visibleLine(texts.join(', '));
}

/** The maximum length of the requests in a row. `--json` has the whole. */
const MAX_REQUEST_LENGTH = 400;

interface Requested {
  id: string;
  requests: readonly { operation: string; params: Readonly<Record<string, unknown>>; body?: unknown }[];
  more?: string;
}

/** The requests of a target, without the id of the target itself. */
export function formatRequests({ id, requests, more }: Requested): string {
  const texts = requests.map(({ operation, params, body }) => {
    const others = Object.entries(params).filter(
      ([, value]) => value !== id && !id.split('/').includes(String(value)),
    );
    const parts = [
      ...others.map(([name, value]) => `${name}=${String(value)}`),
      ...(body === undefined ? [] : [JSON.stringify(body)]),
    ];
    return [operation, ...parts].join(' ');
  });
  const rest = more === undefined ? [] : [`then what is not known yet: ${more}`];
  const text = visibleLine([...texts, ...rest].join('; '));
  return text.length > MAX_REQUEST_LENGTH ? `${text.slice(0, MAX_REQUEST_LENGTH - 1)}…` : text;
}
