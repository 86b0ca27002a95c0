/** What an append-only file of Redis consists of. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The bytes of its commands, by the kind of their first key: its name without what differs between runs and targets. */
export async function bytesByKind(dir) {
  const folder = join(dir, 'appendonlydir');
  const bytes = {};
  for (const file of (await readdir(folder)).filter((name) => name.endsWith('.aof'))) {
    for (const { words, size } of commandsIn(await readFile(join(folder, file)))) {
      const kind = kindOf(words);
      bytes[kind] = (bytes[kind] ?? 0) + size;
    }
  }
  return bytes;
}

/** The commands in the protocol of Redis: `*2`, then `$4` and four bytes for each word. */
function* commandsIn(file) {
  let at = 0;
  const line = () => {
    const end = file.indexOf('\r\n', at);
    const text = file.toString('latin1', at, end);
    at = end + 2;
    return text;
  };
  while (at < file.length) {
    const begun = at;
    const count = line();
    // An annotation with the time.
    if (!count.startsWith('*')) continue;
    const words = [];
    for (let left = Number(count.slice(1)); left > 0; left -= 1) {
      const length = Number(line().slice(1));
      words.push(file.toString('latin1', at, at + Math.min(length, 200)));
      at += length + 2;
    }
    yield { words, size: at - begun };
  }
}

function kindOf([command = '', key = '']) {
  const name = command.toLowerCase();
  if (['multi', 'exec', 'select'].includes(name)) return name;
  const parts = key.replace('{caretaker}:', '').split(':');
  const kind = parts[0] === 'queue' ? parts.slice(0, 2) : parts.slice(0, 1);
  return `${kind.join(':')} ${name}`;
}
