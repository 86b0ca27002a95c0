/** The address of a page of ours, also where a proxy serves all of them under a path: this script is two folders below it. */
export function pathHere(path: string): string {
  const { pathname, search, hash } = new URL(`../..${path}`, import.meta.url);
  return pathname + search + hash;
}
