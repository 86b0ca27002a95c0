/**
 * The facts that a decision about a target rests on: the fields of the service's items that were read while it was
 * made, with their values. `facts()` gives them by their paths, as conditions name them: `site.sync.paused`.
 *
 * A list is one fact, with the fields that were read of its items: their order does not count, because the service
 * does not promise one. A field that the service did not show is not among the facts.
 */
import { isSecretKey, redact } from '../../secrets.ts';

export type Facts = Readonly<Record<string, unknown>>;

/** A field that changed between a plan and now; without `from` or `to`, it was not read or not shown. */
export interface Difference {
  field: string;
  from?: unknown;
  to?: unknown;
}

/** What was read of a value. `isWhole`: its fields were listed, so all of it counts. */
interface Seen {
  readonly fields: Map<string, Seen>;
  isWhole: boolean;
}

const nothingSeen = (): Seen => ({ fields: new Map(), isWhole: false });

function fieldOf(seen: Seen, name: string): Seen {
  const known = seen.fields.get(name);
  if (known) return known;
  const field = nothingSeen();
  seen.fields.set(name, field);
  return field;
}

/** Observes which fields of items are read. */
export class Reads {
  private readonly items = new Map<string, { item: unknown; seen: Seen }>();

  /** The same item; what is read of it from now on is a fact. `name` is what conditions call it. */
  observe<T>(name: string, item: T): T {
    const known = this.items.get(name)?.seen ?? nothingSeen();
    this.items.set(name, { item, seen: known });
    return observed(item, known) as T;
  }

  /** Adds a field that someone else has compared: the service, when it applies a filter. */
  add(name: string, path: readonly string[]): void {
    const { seen } = this.items.get(name) ?? {};
    if (seen) path.reduce(fieldOf, seen);
  }

  /** What was read, without secrets. */
  facts(): Facts {
    const facts: Record<string, unknown> = {};
    for (const [name, { item, seen }] of this.items) collect(facts, name, item, seen);
    return Object.fromEntries(Object.entries(facts).sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

function observed(value: unknown, seen: Seen): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return new Proxy(value, {
    get(target, key) {
      const found: unknown = Reflect.get(target, key);
      if (typeof key === 'symbol' || typeof found === 'function') return found;
      // What is read of any item of a list counts for all of them.
      if (Array.isArray(target)) return key === 'length' ? found : observed(found, seen);
      return observed(found, fieldOf(seen, key));
    },
    has(target, key) {
      if (typeof key === 'string' && !Array.isArray(target)) fieldOf(seen, key);
      return Reflect.has(target, key);
    },
    ownKeys(target) {
      seen.isWhole = true;
      return Reflect.ownKeys(target);
    },
  });
}

function collect(facts: Record<string, unknown>, path: string, value: unknown, seen: Seen): void {
  const isInner = typeof value === 'object' && value !== null && !Array.isArray(value) && !seen.isWhole;
  if (isInner) {
    for (const [name, inner] of seen.fields)
      if (Object.hasOwn(value, name))
        collect(facts, `${path}.${name}`, isSecretKey(name) ? '[hidden]' : Reflect.get(value, name), inner);
    return;
  }
  if (value !== undefined) facts[path] = redact(partOf(value, seen));
}

/** The part of a value that was read. */
function partOf(value: unknown, seen: Seen): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const parts = value.map((one) => partOf(one, seen));
    return parts
      .map(textOf)
      .sort()
      .map((text) => JSON.parse(text) as unknown);
  }
  const names = seen.isWhole ? Object.keys(value) : [...seen.fields.keys()];
  return Object.fromEntries(
    names
      .filter((name) => Object.hasOwn(value, name))
      .sort()
      .map((name) => {
        const inner = seen.isWhole ? everything : fieldOf(seen, name);
        return [name, partOf(Reflect.get(value, name), inner)];
      }),
  );
}

const everything: Seen = { fields: new Map(), isWhole: true };

const textOf = (value: unknown): string => JSON.stringify(value) ?? 'null';

/**
 * What differs, by field. When fields that both have differ, only those: what else was read then follows from
 * them.
 */
export function differencesOf(before: Facts, now: Facts): Difference[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])].sort();
  const all = names.flatMap((field): Difference[] => {
    const [from, to] = [before[field], now[field]];
    if (textOf(from) === textOf(to) && Object.hasOwn(before, field) === Object.hasOwn(now, field)) return [];
    return [{ field, ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) }];
  });
  const inBoth = all.filter(({ from, to }) => from !== undefined && to !== undefined);
  return inBoth.length > 0 ? inBoth : all;
}
