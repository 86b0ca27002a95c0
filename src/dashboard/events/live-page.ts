import { type Delta, deltaOf, type Parts, partsOf } from '../client/page-text.ts';

/** Where `Layout` writes when the page was made: the only text that differs although nothing changed. */
const MADE_AT = / data-now="\d+"/;
const LIVE_ON = / data-live-on="([^"]*)"/;

/** A page that readers have open: its latest text, and what each reader is to be sent. */
export class LivePage {
  /** As it was last made; missing before that. */
  parts: Parts | undefined;
  /** The run whose events concern it, or `*` for any; undefined for a page that does not change any more. */
  on: string | undefined = '*';
  /** How many readers follow it. */
  readers = 0;
  private changed = new AbortController();
  /** Readers that have the same text are sent the same. */
  private readonly deltas = new WeakMap<Parts, { to: Parts; json: string }>();

  /** Takes a newly made text. */
  take(text: string): void {
    this.on = LIVE_ON.exec(text)?.[1];
    const parts = partsOf(text.replace(MADE_AT, ''));
    const { parts: before } = this;
    if (before && before.length === parts.length && before.every((part, at) => part === parts[at])) return;
    this.parts = parts;
    this.changed.abort();
    this.changed = new AbortController();
  }

  /** Aborts when the text changes. */
  get nextChange(): AbortSignal {
    return this.changed.signal;
  }

  /** What leads from the text that a reader has to the latest one, as JSON. */
  deltaFrom(held: Parts, to: Parts): string {
    const known = this.deltas.get(held);
    if (known?.to === to) return known.json;
    const json = JSON.stringify(deltaOf(held, to) satisfies Delta);
    this.deltas.set(held, { to, json });
    return json;
  }
}
