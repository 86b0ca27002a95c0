import { built } from '../support/built.mjs';

const { applyDelta } = await built('dashboard/client/page-text');

/** A page that somebody has open: it is read once, and followed as `client/live.ts` does. */
export async function openPage(address, path, cookie) {
  const gone = new AbortController();
  const answer = await fetch(`${address}${path}`, { headers: { cookie, accept: 'text/html' } });
  const page = await answer.text();
  const since = /data-now="(\d+)"/.exec(page)?.[1];
  if (!answer.ok || !since) throw new Error(`${path} was answered with HTTP ${answer.status}.`);
  let updates = 0;
  let bytes = page.length;
  let parts = [];
  const query = new URLSearchParams({ page: path, since });
  const stream = await fetch(`${address}/events?${query}`, { headers: { cookie }, signal: gone.signal });
  const follow = async () => {
    let text = '';
    for await (const part of stream.body.pipeThrough(new TextDecoderStream())) {
      bytes += part.length;
      text += part;
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const [, event, data] = /^event: (.*)\ndata: (.*)$/.exec(text.slice(0, end)) ?? [];
        text = text.slice(end + 2);
        if (event !== 'page') continue;
        parts = applyDelta(parts, JSON.parse(data));
        if (!parts.at(-1)?.startsWith('</html>')) throw new Error(`An update of ${path} is not whole.`);
        updates += 1;
      }
    }
  };
  follow().catch((error) => {
    if (!gone.signal.aborted) throw error;
  });
  return { seen: () => ({ updates, bytes }), close: () => gone.abort() };
}
