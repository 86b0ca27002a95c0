/** Finds errors in the layout of a page as the browser draws it. A string, because it runs in the browser. */

/** The minimum width of a policy's name, in pixels. */
const MIN_NAME = 150;

/**
 * Returns a sentence for each error: text that is outside the page, cut off, outside its cell, or over other
 * text.
 */
export const LAYOUT_FAULTS = `(() => {
  const faults = [];
  const page = document.documentElement;
  const scrolls = (as) => {
    if (page.scrollWidth > innerWidth) faults.push('the page scrolls sideways by ' + (page.scrollWidth - innerWidth) + ' px' + as);
  };
  scrolls('');
  // What can be opened is measured too.
  for (const folded of document.querySelectorAll('main details')) folded.open = true;
  scrolls(', with all details open');
  const tell = (what, text, rest) => faults.push(what + ': "' + text.slice(0, 60) + '"' + (rest ? ' ' + rest : ''));
  const boxes = [];
  // The part of a text that is drawn: what ends in an ellipsis is not drawn to its end.
  const visibleOf = ({ left, right, top, bottom }, parent) => {
    let holder = parent;
    while (holder && getComputedStyle(holder).textOverflow !== 'ellipsis') holder = holder.parentElement;
    if (!holder || getComputedStyle(holder).overflowX !== 'hidden') return { left, right, top, bottom };
    return { left, right: Math.min(right, holder.getBoundingClientRect().right), top, bottom };
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.data.trim();
    const parent = node.parentElement;
    if (!text || parent.closest('.unseen, .skip, script, option, datalist') || !parent.checkVisibility()) continue;
    // Words for screen readers alone, such as those of the sidebar when it has icons only.
    if (parent.getBoundingClientRect().width <= 1) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const rect of range.getClientRects()) {
      if (rect.width > 0 && rect.height > 0) boxes.push({ text, rect, parent, node, seen: visibleOf(rect, parent) });
    }
  }
  for (const { text, rect, parent } of boxes) {
    let holder = parent;
    while (holder && getComputedStyle(holder).overflowX === 'visible') holder = holder.parentElement;
    // Texts that end in an ellipsis and have the whole as their title.
    if (holder && getComputedStyle(holder).textOverflow === 'ellipsis' && holder.closest('[title]')) continue;
    const scrolls = holder && ['auto', 'scroll'].includes(getComputedStyle(holder).overflowX);
    if (!scrolls && (rect.left < -0.5 || rect.right > innerWidth + 0.5)) tell('outside of the page', text);
    if (holder && !scrolls && holder !== page && rect.right > holder.getBoundingClientRect().right + 0.5) tell('cut off', text);
    const cell = parent.closest('td, th, dd, a.card');
    if (cell && !scrolls && rect.right > cell.getBoundingClientRect().right + 0.5) tell('outside of its cell', text);
  }
  boxes.forEach((one, at) => {
    for (const other of boxes.slice(at + 1)) {
      // The lines of one text may touch each other.
      if (one.node === other.node) continue;
      const across = Math.min(one.seen.right, other.seen.right) - Math.max(one.seen.left, other.seen.left);
      const down = Math.min(one.seen.bottom, other.seen.bottom) - Math.max(one.seen.top, other.seen.top);
      if (across > 1 && down > 2) tell('over other text', one.text, 'and "' + other.text.slice(0, 40) + '"');
    }
  });
  for (const cell of document.querySelectorAll('#policies td:first-child')) {
    if (!cell.checkVisibility()) continue;
    const { paddingLeft, paddingRight } = getComputedStyle(cell);
    const width = cell.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
    if (width < ${MIN_NAME}) tell('the name has ' + Math.round(width) + ' px', cell.textContent);
  }
  return faults.slice(0, 5);
})()`;
