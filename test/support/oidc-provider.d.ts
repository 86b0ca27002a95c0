/** What the tests use of the package, which has no types of its own. */
declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http';
  // biome-ignore lint/style/noDefaultExport: the package has one.
  export default class Provider {
    constructor(issuer: string, configuration: object);
    callback(): RequestListener;
  }
}
