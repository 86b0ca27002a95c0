/**
 * A label without what all addresses have in common: `https://a.example/` is `a.example`. The title has the whole label. A
 * site without an address and a title has its id.
 */
export const siteName = (label: string, id: string): string =>
  label.trim().replace(/^https?:\/\/([^/]+)\/?$/, '$1') || id;
