/**
 * One Chromium for all tests of a run: started when the first of them needs it, and closed after the last. To start
 * one takes seconds of CPU. Tests learn its address over a socket, because they run in other processes.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserServer } from 'playwright-core';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Answers with the address of the browser. */
    browserSocket: string;
  }
}

const args =
  '--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync';

export function setup(project: TestProject): () => Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'caretaker-browser-'));
  let browser: Promise<BrowserServer> | undefined;
  const start = async (executablePath: string): Promise<BrowserServer> => {
    const { chromium } = await import('playwright-core');
    return chromium.launchServer({ executablePath, args: args.split(' ') });
  };
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '/', 'http://browser');
    browser ??= start(searchParams.get('executable') ?? 'chromium');
    browser.then(
      (started) => response.end(started.wsEndpoint()),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  const socket = join(folder, 'browser.sock');
  server.listen(socket);
  // A run without tests of the browser ends without this.
  server.unref();
  project.provide('browserSocket', socket);
  return async () => {
    server.close();
    server.closeAllConnections();
    const started = await browser?.catch(() => undefined);
    await started?.close();
    rmSync(folder, { recursive: true, force: true });
  };
}
