// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how placeholders are written in policy files.
/** Changes of the text of a policy file: its bytes, its words, and what YAML makes of it. */
import { type Chance, pick } from './changes.ts';

const words = [
  ...'&a *a *b <<: !!map !!binary !!js/function !custom | > |+ >- - ? : , [ ] { } # % @ ` " \' --- ... ~ null true .inf .nan -.inf 1e999 0x1F 0o17 0b1 1_000'.split(
    ' ',
  ),
  ...['\t', '\r\n', '\r', '\u0000', '\uFEFF', '\u2028', '\u00A0', '\uD800', '𝒳', '\u001b[31m', '  '],
  ...['\n\n', '\n---\n', '\n...\n', '%YAML 1.1\n---\n', '%TAG ! x\n---\n', '__proto__: 1'],
  ...['constructor: {}', '"__proto__": { x: 1 }', '${{ vars.x }}', '${{', '}}', '{{', '{{site.url}}'],
  ...['2026-02-30', '9'.repeat(400), 'x'.repeat(5000), '&a [*a]', '<<: *a', '? [a, b] : c'],
  ...['? { a: 1 }\n: 2', '!!set { a }', '!!timestamp 2026-01-01', '!!python/object:os.system x'],
  ...['12345678901234567890123', '-0', '08', '1:30'],
];

/** Whole files that ask for much. */
const heavy: readonly ((text: string) => string)[] = [
  (text) => `${text}\nx: ${'['.repeat(3000)}${']'.repeat(3000)}\n`,
  (text) => `${text}\nx: ${'{a: '.repeat(2000)}1${'}'.repeat(2000)}\n`,
  (text) =>
    `${'a:\n'.repeat(1)}${Array.from({ length: 800 }, (_, i) => `${' '.repeat(i)}a:\n`).join('')}${text}`,
  (text) =>
    `vars:\n  a: &a [1,1,1,1,1,1,1,1,1,1]\n  b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n  c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n  d: [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n${text}`,
  (text) =>
    `vars:\n${Array.from({ length: 30 }, (_, i) => `  v${i}: "\${{ vars.v${i + 1} }}\${{ vars.v${i + 1} }}"\n`).join('')}  v30: x\n${text}`,
  (text) =>
    `vars:\n${Array.from({ length: 200 }, (_, i) => `  v${i}: "\${{ vars.v${(i + 1) % 200} }}"\n`).join('')}${text}`,
  (text) =>
    `policies:\n${Array.from({ length: 40 }, (_, i) => `  - { name: p${i}, job: site-sync, matrix: { a: [1, 2, 3, 4, 5], b: [1, 2, 3] }, with: { message: "\${{ matrix.a }}\${{ matrix.b }}" } }\n`).join('')}${text.replace(/^policies:/m, 'x:')}`,
  (text) => `${text}${`    where: ${'('.repeat(4000)}true${')'.repeat(4000)}\n`}`,
  (text) => text.replace(/where: .*/, `where: '${'site.url == "a" || '.repeat(3000)}true'`),
  (text) => text.replace(/where: .*/, `where: 'site.url.re("${'(a+)+'.repeat(200)}$")'`),
  (text) => text.replace(/cron: .*/, `cron: "${'*/1,'.repeat(4000)}* * * * *"`),
  (text) => text.replace(/name: .*/, `name: ${'a'.repeat(200_000)}`),
  (text) => text.replace(/timezone: .*/, `timezone: ${'Europe/'.repeat(20_000)}`),
  (text) => `${text}${'# a\n'.repeat(50_000)}`,
  (text) => `${text}\n${Array.from({ length: 5000 }, (_, i) => `k${i}: 1\n`).join('')}`,
];

const lineAt = (lines: string[], below: Chance) => below(Math.max(lines.length, 1));

/** Changes a text in one way. `other` is another policy file. */
function change(text: string, other: string, below: Chance): string {
  const at = below(text.length + 1);
  const lines = text.split('\n');
  const line = lineAt(lines, below);
  switch (below(16)) {
    case 0:
      return text.slice(0, at) + String.fromCharCode(below(300)) + text.slice(at);
    case 1:
      return text.slice(0, at) + text.slice(at + 1 + below(4));
    case 2:
      return text.slice(0, at) + pick(below, words) + text.slice(at);
    case 3:
      return lines.toSpliced(line, 1).join('\n');
    case 4:
      return lines.toSpliced(line, 0, lines[lineAt(lines, below)] ?? '').join('\n');
    case 5:
      return lines
        .with(Math.min(line, lines.length - 1), `${' '.repeat(below(5))}${lines[line] ?? ''}`)
        .join('\n');
    case 6:
      return lines
        .with(
          Math.min(line, lines.length - 1),
          (lines[line] ?? '').replace(/: .*/, `: ${pick(below, words)}`),
        )
        .join('\n');
    case 7:
      return lines
        .with(Math.min(line, lines.length - 1), (lines[line] ?? '').replace(/: /, `: &a${below(3)} `))
        .join('\n');
    case 8:
      return lines
        .with(Math.min(line, lines.length - 1), (lines[line] ?? '').replace(/: .*/, `: *a${below(3)}`))
        .join('\n');
    case 9:
      return text.replaceAll('\n', pick(below, ['\r\n', '\r', '\n\n', '\n\t']));
    case 10:
      return pick(below, ['\uFEFF', '---\n', '\t', '%YAML 1.2\n---\n', '# c\n']) + text;
    case 11:
      return `${text}${pick(below, ['---\n', '...\n', ''])}${other}`;
    case 12:
      return text.slice(0, at);
    case 13:
      return text.replaceAll('  ', pick(below, ['\t', ' ', '   ', '']));
    case 14:
      return lines
        .with(Math.min(line, lines.length - 1), `${' '.repeat(below(8))}${pick(below, words)}`)
        .join('\n');
    default:
      return text.slice(0, at) + other.slice(below(other.length), below(other.length)) + text.slice(at);
  }
}

/** A text with one to four changes; one in a hundred asks for much. */
export function changedText(text: string, other: string, below: Chance): string {
  let changed = text;
  for (let count = 1 + below(4); count > 0; count -= 1) changed = change(changed, other, below);
  return below(100) === 0 ? pick(below, heavy)(changed) : changed;
}
