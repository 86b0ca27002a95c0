/**
 * Changes part of the page into a newer version of it and keeps every node that stands for the same thing.
 * So no one loses what they have focused, opened or typed. Idiomorph does the same by ids; rows here have keys, which
 * need not be unique in the page, and it is ten times as large.
 */

/** Makes the attributes and the content of `old` those of `fresh`. */
export function patchElement(old: Element, fresh: Element): void {
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && !isReaders(old, name)) old.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (old.getAttribute(name) !== value && !isReaders(old, name)) old.setAttribute(name, value);
  }
  patchContent(old, fresh);
}

/** Whether details are open is up to the reader. */
const isReaders = ({ nodeName }: Element, attribute: string): boolean =>
  attribute === 'open' && nodeName === 'DETAILS';

/** Makes the content of `old` that of `fresh`. Nodes of `fresh` may move into `old`. */
export function patchContent(old: Element, fresh: Element): void {
  const byKey = new Map([...old.children].map((child) => [keyOf(child), child]));
  let at: ChildNode | null = old.firstChild;
  for (const node of [...fresh.childNodes]) {
    const key = keyOf(node);
    const same = key === undefined ? (isSimilar(at, node) ? at : undefined) : byKey.get(key);
    if (!same) {
      old.insertBefore(node, at);
      continue;
    }
    if (same === at) at = at.nextSibling;
    else old.insertBefore(same, at);
    patchNode(same, node);
  }
  removeFrom(at);
}

function patchNode(old: Node, fresh: Node): void {
  if (old instanceof Element && fresh instanceof Element) patchElement(old, fresh);
  else if (old.nodeValue !== fresh.nodeValue) old.nodeValue = fresh.nodeValue;
}

function removeFrom(first: ChildNode | null): void {
  for (let at = first; at; ) {
    const next: ChildNode | null = at.nextSibling;
    at.remove();
    at = next;
  }
}

/** What an element stands for, where its position does not say it: rows and cards have a `data-key`. */
const keyOf = (node: Node): string | undefined =>
  (node instanceof Element && node.getAttribute('data-key')) || undefined;

const idOf = (node: Node): string => (node instanceof Element ? node.id : '');

/** Whether a node without a key can become the other one. */
const isSimilar = (old: Node | null, fresh: Node): boolean =>
  old !== null && old.nodeName === fresh.nodeName && idOf(old) === idOf(fresh) && keyOf(old) === undefined;

/** What changes all the time: times, progress. A change of it alone is not marked. */
const MOVING = 'time, .ago, .lasts, [data-moving]';
const LASTS_MS = 1_600;

const rowsIn = (root: Element): Map<string, HTMLElement> =>
  new Map(
    [...root.querySelectorAll<HTMLElement>('tr[data-key]')].map((row) => [row.dataset['key'] ?? '', row]),
  );

function wordsOf(row: Element): string {
  const copy = row.cloneNode(true) as Element;
  for (const one of copy.querySelectorAll(MOVING)) one.remove();
  return copy.textContent;
}

/** The rows of `old` that say something else in `fresh`. */
export function changedRows(old: Element, fresh: Element): HTMLElement[] {
  const shown = rowsIn(old);
  return [...rowsIn(fresh)].flatMap(([key, row]) => {
    const before = shown.get(key);
    return before && wordsOf(before) !== wordsOf(row) ? [before] : [];
  });
}

/** Colours a row, which fades. Nothing for those who asked for less motion. */
export function markChanged(row: HTMLElement): void {
  if (matchMedia('(prefers-reduced-motion: reduce)').matches || row.getAnimations().length > 0) return;
  const colour = { backgroundColor: 'var(--selected)' };
  row.animate([{ ...colour, offset: 0 }, { ...colour, offset: 0.4 }, {}], LASTS_MS);
}
