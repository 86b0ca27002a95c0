/** What the tests use of the package. */
declare module 'smtp-server' {
  import type { AddressInfo } from 'node:net';
  import type { Readable } from 'node:stream';

  type Done = (error?: (Error & { responseCode?: number }) | null, result?: unknown) => void;
  export class SMTPServer {
    readonly server: { address(): AddressInfo };
    constructor(options: {
      authOptional?: boolean;
      disabledCommands?: string[];
      logger?: boolean;
      onConnect?(session: object, done: Done): void;
      onAuth?(auth: { username?: string; password?: string }, session: object, done: Done): void;
      onRcptTo?(address: { address: string }, session: object, done: Done): void;
      onData?(stream: Readable, session: object, done: Done): void;
    });
    listen(port: number, host: string, listening: () => void): void;
    close(closed: () => void): void;
    on(event: 'error', listener: (error: Error) => void): void;
  }
}
