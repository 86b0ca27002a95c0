/**
 * The connections to an account's base URL. undici is loaded when they are opened: it takes a tenth of the time of a
 * command, and most commands send no request.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { createRequire } from 'node:module';
import type { Dispatcher } from 'undici';
import { LateError } from './errors.ts';

const require = createRequire(import.meta.url);

/** A pool of keep-alive connections. A request with `isLate` is checked directly before its first byte. */
export function openPool(origin: string, connectTimeoutMs: number): Dispatcher {
  const { DecoratorHandler, Pool } = require('undici') as typeof import('undici');

  /** Checks the deadline once the connection is open, which may take a while. */
  class Guard extends DecoratorHandler implements Dispatcher.DispatchHandler {
    constructor(
      private readonly handler: Dispatcher.DispatchHandler,
      private readonly isLate: () => boolean,
    ) {
      super(handler);
    }

    onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void {
      if (this.isLate()) throw new LateError();
      this.handler.onRequestStart?.(controller, context);
    }

    /**
     * Drops informational responses (1xx). If they were passed on, the real response would count as a second
     * one.
     */
    onResponseStart(
      controller: Dispatcher.DispatchController,
      status: number,
      headers: IncomingHttpHeaders,
      statusMessage?: string,
    ): void {
      if (status >= 200) this.handler.onResponseStart?.(controller, status, headers, statusMessage);
    }
  }

  const guarded: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
    const { isLate } = options as { isLate?: () => boolean };
    return dispatch(options, isLate ? new Guard(handler, isLate) : handler);
  };

  return new Pool(origin, {
    // More than are ever in flight at once: a request that the budget granted must not wait in the pool's
    // queue.
    connections: 512,
    connect: { timeout: connectTimeoutMs },
  }).compose(guarded);
}
