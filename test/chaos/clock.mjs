/** The clock that all processes of a chaos share, with the jumps that `jumps.ts` describes. */
export const sharedClock = ({ from, began, speed, jumps = [] }, { sleep }) => ({
  now() {
    const passed = Date.now() - began;
    const { byMs = 0 } = jumps.findLast(({ afterMs }) => afterMs <= passed) ?? {};
    return Math.round(from + passed * speed) + byMs;
  },
  sleep: (ms, signal) => sleep(ms / speed, signal),
});
