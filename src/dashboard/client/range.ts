/** Dragging over the day of the page Schedule asks what runs in that time. Without a mouse, the fields above it ask the same. */

/** Times are rounded to this. */
const STEP_MS = 300_000;
/** A shorter movement is a click. */
const MIN_PIXELS = 6;

export function followRange(): void {
  const day = document.getElementById('day');
  if (!day || !document.getElementById('range-form')) return;
  day.addEventListener('pointerdown', (event) => {
    const { target, button, pointerType, clientX: begin } = event;
    const lanes = target instanceof Element ? target.closest<HTMLElement>('.day-lanes') : null;
    const box = lanes?.querySelector('svg')?.getBoundingClientRect();
    // A finger scrolls.
    if (!lanes || !box || begin < box.left || begin > box.right || button !== 0 || pointerType === 'touch')
      return;
    event.preventDefault();
    const { from = '0', to = '0' } = lanes.dataset;
    const timeAt = (x: number) => {
      const part = Math.min(1, Math.max(0, (x - box.left) / box.width));
      return Math.round((Number(from) + part * (Number(to) - Number(from))) / STEP_MS) * STEP_MS;
    };
    const mark = document.createElement('div');
    mark.className = 'range-mark';
    const { top, height } = lanes.getBoundingClientRect();
    Object.assign(mark.style, { top: `${top}px`, height: `${height}px` });
    // Not in the live part, which an update brings up to date.
    document.body.append(mark);
    const stop = new AbortController();
    const { signal } = stop;
    const follow = ({ clientX: x }: PointerEvent) => {
      const [left, right] = [Math.max(box.left, Math.min(begin, x)), Math.min(box.right, Math.max(begin, x))];
      mark.style.left = `${left}px`;
      mark.style.width = `${Math.max(0, right - left)}px`;
    };
    const end = ({ type, clientX: x }: PointerEvent) => {
      stop.abort();
      mark.remove();
      const [first = 0, last = 0] = [timeAt(begin), timeAt(x)].sort((a, b) => a - b);
      if (type === 'pointercancel' || Math.abs(x - begin) < MIN_PIXELS || first === last) return;
      const address = new URL(location.href);
      for (const [name, at] of Object.entries({ from: first, to: last }))
        address.searchParams.set(name, `${new Date(at).toISOString().slice(0, 16)}Z`);
      location.assign(address);
    };
    document.addEventListener('pointermove', follow, { signal });
    document.addEventListener('pointerup', end, { signal });
    document.addEventListener('pointercancel', end, { signal });
  });
}
