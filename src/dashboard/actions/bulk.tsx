/** An act on several items of a list: each by the command for one, so each has its line in the audit log. */
import type { Child } from 'hono/jsx';
import { isPermitted, type Principal, type Subject } from '../../access/principal.ts';
import type { AnyCommand } from '../../control/command.ts';
import { CaretakerError } from '../../errors.ts';
import { principalOf } from '../auth/caller.ts';
import { showPage } from '../components/layout.tsx';
import { number } from '../components/progress.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { pageBefore, redirectWith } from '../http/toast.ts';
import { type Change, type Form, formOf, Hidden, showConfirmation } from './confirm.tsx';

interface Bulk<Item> {
  path: string;
  command: AnyCommand;
  verb: string;
  done: string;
  /** The field that names the items, and the word for several. */
  field: 'run' | 'policy';
  items: string;
  /** `3 runs`. */
  counted: (count: number) => string;
  /** At most this many at once: as many as a page of the list has. */
  limit: number;
  /** The list, and where those are to which it was done. */
  list: string;
  after: { path: string; word: string };
  find(context: DashboardContext, names: readonly string[]): Promise<ReadonlyMap<string, Item>>;
  subject(item: Item): Subject;
  /** Why it cannot be done to an item; without one: there is no such item. */
  whyNot(item: Item | undefined): string | undefined;
  text(context: DashboardContext, items: readonly Item[]): string | Promise<string>;
  fields?: Child;
  pathOf(name: string): string;
  act(c: Exchange, context: DashboardContext, form: Form): (name: string) => Promise<unknown>;
}

/** What was selected: the items that it can be done to, and why not to the others. */
interface Selection<Item> {
  items: Map<string, Item>;
  others: { name: string; why: string }[];
}

/** Without a principal no one is asked yet: the command refuses what is not permitted, for the audit log too. */
async function select<Item>(
  bulk: Bulk<Item>,
  context: DashboardContext,
  names: readonly string[],
  principal?: Principal,
): Promise<Selection<Item>> {
  const wanted = [...new Set(names)].slice(0, bulk.limit);
  const found = await bulk.find(context, wanted);
  const selection: Selection<Item> = { items: new Map(), others: [] };
  for (const name of wanted) {
    const item = found.get(name);
    const isRefused = item && principal && !isPermitted(principal, bulk.command.role, bulk.subject(item));
    const why = isRefused ? 'you may not do this' : bulk.whyNot(item);
    if (item && why === undefined) selection.items.set(name, item);
    else selection.others.push({ name, why: why ?? '' });
  }
  return selection;
}

export const bulkChange = <Item,>(bulk: Bulk<Item>): Change => ({
  path: bulk.path,
  // The command checks the role for each item.
  access: bulk.command.role,
  ask: async (c, context) => {
    const { verb, done, field, list, counted } = bulk;
    const back = pageBefore(c, context, list);
    const names = c.req.queries(field) ?? [];
    if (names.length === 0) return c.redirect(back, 303);
    const { items, others } = await select(bulk, context, names, principalOf(c));
    const skipped = others.length > 0 && (
      <ul>
        {others.map(({ name, why }) => (
          <li>
            <span class={classOf(field)}>{name}</span> is skipped: {why}.
          </li>
        ))}
      </ul>
    );
    if (items.size === 0) {
      return showPage(
        c,
        context,
        { title: `Nothing to ${verb.toLowerCase()}` },
        <section class="narrow card" id="question">
          <h1 id="question-title">
            None of these {bulk.items} can be {done}
          </h1>
          {skipped}
          <p class="actions">
            <a class="action" href={back} data-closes>
              Do nothing
            </a>
          </p>
        </section>,
      );
    }
    const title = `${verb} ${counted(items.size)}`;
    return showConfirmation(c, context, {
      title: `${title}?`,
      text: await bulk.text(context, [...items.values()]),
      button: title,
      back,
      fields: (
        <>
          {skipped}
          {bulk.fields}
          <Hidden fields={{ [field]: [...items.keys()] }} />
        </>
      ),
    });
  },
  act: async (c, context) => {
    const { done, field, list, counted, after, pathOf } = bulk;
    const back = pageBefore(c, context, list);
    const form = await formOf(c);
    const names = form.texts(field);
    if (names.length === 0) return c.redirect(back, 303);
    const act = bulk.act(c, context, form);
    const { items, others } = await select(bulk, context, names);
    const failures = [...others];
    for (const name of items.keys()) {
      const why = await whyFailed(act(name));
      if (why !== undefined) failures.push({ name, why });
    }
    const count = items.size + others.length - failures.length;
    return sendResult(c, context, {
      text: `${counted(count)} ${done}`,
      failures: failures.map((one) => ({ ...one, path: pathOf(one.name), class: classOf(field) })),
      after,
      back,
      here: list,
    });
  },
});

interface BulkButtonsProps {
  changes: Readonly<Record<string, Change>>;
  one: string;
  many: string;
}

/** What can be done with the selected items of a list; `client/selection.ts` says how many these are. */
export const BulkButtons = ({ changes, one, many }: BulkButtonsProps) => (
  <span class="actions" id="bulk" data-one={one} data-many={many}>
    <label class="inline" hidden>
      <input type="checkbox" id="select-all" autocomplete="off" /> Select all
    </label>
    {Object.entries(changes).map(([verb, { path }]) => (
      <button class="plain" type="submit" form="selection" formaction={path} data-asks data-verb={verb}>
        {verb} selected
      </button>
    ))}
  </span>
);

const classOf = (field: Bulk<unknown>['field']) => (field === 'run' ? 'id' : undefined);

/** The sentence for people; what else is changed does not depend on this one. */
export async function whyFailed(act: Promise<unknown>): Promise<string | undefined> {
  try {
    await act;
    return undefined;
  } catch (error) {
    if (!(error instanceof CaretakerError)) throw error;
    return error.message;
  }
}

interface BulkResult {
  /** `3 runs cancelled`. */
  text: string;
  /** What it was not done to, and why not. */
  failures: readonly { name: string; path: string; class?: string | undefined; why: string }[];
  /** The list where the others are now. */
  after: { path: string; word: string };
  /** The list where they were selected, and its entry in the sidebar. */
  back: string;
  here: string;
}

/** Leads back to the list with a line that says what was done; or shows what was not done, and why. */
export function sendResult(
  c: Exchange,
  context: DashboardContext,
  { text, failures, after, back, here }: BulkResult,
): Response | Promise<Response> {
  if (failures.length === 0)
    return redirectWith(c, context, back, {
      text: `${text}.`,
      link: { path: after.path, word: 'Show them' },
    });
  return showPage(
    c,
    context,
    { title: text, here },
    <section class="narrow card">
      <h1>
        {text}, {number(failures.length)} not
      </h1>
      <ul>
        {failures.map((one) => (
          <li>
            <a href={one.path} class={one.class}>
              {one.name}
            </a>
            : {one.why}
          </li>
        ))}
      </ul>
      <p class="actions">
        <a class="action" href={after.path}>
          {after.word}
        </a>
        <a class="action" href={back}>
          Back to the list
        </a>
      </p>
    </section>,
  );
}
