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
