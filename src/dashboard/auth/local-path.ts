const HERE = 'http://here';

/**
 * The path and query of an address, and never more: wherever it points to, following the result stays on this
 * server.
 */
export function localPath(address: string): string {
  if (!URL.canParse(address, HERE)) return '/';
  const { pathname, search } = new URL(address, HERE);
  // Two slashes in front would be the name of another server.
  return `/${pathname.replace(/^[/\\]+/, '')}${search}`;
}
