/** A label without what all addresses have in common: `https://a.example/` is `a.example`. The title has the whole label. */
export const siteName = (label: string): string => label.replace(/^https?:\/\/([^/]+)\/?$/, '$1');
