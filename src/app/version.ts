import { createRequire } from 'node:module';

/** The version in `package.json`. */
export const version: string = (createRequire(import.meta.url)('#root/package.json') as { version: string })
  .version;
