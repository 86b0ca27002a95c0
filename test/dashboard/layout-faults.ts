/** Finds errors in the layout of a page as the browser draws it. A string, because it runs in the browser. */

/** The minimum width of a policy's name, in pixels. */
const MIN_NAME = 150;

/**
 * Returns a sentence for each error: text that is outside the page, cut off, outside its cell, or over other
 * text.
 */
export const LAYOUT_FAULTS = `(() => {
  const faults = [];
  // What can be opened is measured too; of the notices only as they are when nobody has opened one.
  for (const folded of document.querySelectorAll('main > :not(#warnings) details')) folded.open = true;
  const page = document.documentElement;
  if (page.scrollWidth > innerWidth) faults.push('the page scrolls sideways by ' + (page.scrollWidth - innerWidth) + ' px');
  const tell = (what, text, rest) => faults.push(what + ': "' + text.slice(0, 60) + '"' + (rest ? ' ' + rest : ''));
  const boxes = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.data.trim();
    const parent = node.parentElement;
    if (!text || parent.closest('.unseen, .skip, script, option, datalist') || !parent.checkVisibility()) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    // Of a notice that is not opened, the lines after the first are not drawn.
    const fold = parent.closest('details:not([open]) > summary > .sentence');
    const end = fold ? fold.getBoundingClientRect().bottom : Infinity;
    for (const rect of range.getClientRects()) {
      if (rect.width > 0 && rect.height > 0 && rect.top < end) boxes.push({ text, rect, parent, node });
    }
  }
  for (const { text, rect, parent } of boxes) {
    let holder = parent;
    while (holder && getComputedStyle(holder).overflowX === 'visible') holder = holder.parentElement;
    const scrolls = holder && ['auto', 'scroll'].includes(getComputedStyle(holder).overflowX);
    if (!scrolls && (rect.left < -0.5 || rect.right > innerWidth + 0.5)) tell('outside of the page', text);
    if (holder && !scrolls && holder !== page && rect.right > holder.getBoundingClientRect().right + 0.5) tell('cut off', text);
    const cell = parent.closest('td, th, dd, a.card');
    if (cell && !scrolls && rect.right > cell.getBoundingClientRect().right + 0.5) tell('outside of its cell', text);
  }
  // The notices lie over the page: they are compared with each other alone.
  const isNotice = ({ parent }) => parent.closest('#warnings') !== null;
  boxes.forEach((one, at) => {
    for (const other of boxes.slice(at + 1)) {
      // The lines of one text may touch each other.
      if (one.node === other.node || isNotice(one) !== isNotice(other)) continue;
      const across = Math.min(one.rect.right, other.rect.right) - Math.max(one.rect.left, other.rect.left);
      const down = Math.min(one.rect.bottom, other.rect.bottom) - Math.max(one.rect.top, other.rect.top);
      if (across > 1 && down > 2) tell('over other text', one.text, 'and "' + other.text.slice(0, 40) + '"');
    }
  });
  for (const cell of document.querySelectorAll('#policies td:first-child')) {
    const { paddingLeft, paddingRight } = getComputedStyle(cell);
    const width = cell.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
    if (width < ${MIN_NAME}) tell('the name has ' + Math.round(width) + ' px', cell.textContent);
  }
  const notices = document.querySelector('#warnings');
  const share = notices ? notices.getBoundingClientRect().height / innerHeight : 0;
  if (share > 0.3) faults.push('the notices take ' + Math.round(share * 100) + '% of the page');
  return faults.slice(0, 5);
})()`;
