/** A tick in a circle. */
export const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="8" fill="#2c57c9"/><path d="m4.5 8.5 2.5 2.5 4.5-5.5" fill="none" stroke="#fff" stroke-width="1.8"/></svg>',
)}`;
