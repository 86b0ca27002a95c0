/** The score by room, and what survived. */
export function report(results) {
  const rooms = Map.groupBy ? Map.groupBy(results, roomOf) : grouped(results);
  const row = (name, of) => {
    const count = (is) => of.filter((one) => one.is === is).length;
    const noticed = count('killed') + count('timeout');
    const score = of.length === 0 ? 0 : Math.round((100 * noticed) / of.length);
    return `| ${name} | ${of.length} | ${count('killed')} | ${count('timeout')} | ${count('survived')} | ${count('untested')} | ${score}% |`;
  };
  const survivors = results.filter(({ is }) => is === 'survived' || is === 'untested');
  return [
    '| room | mutants | killed | timeout | survived | untested | score |',
    '|---|---|---|---|---|---|---|',
    ...[...rooms].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, of]) => row(name, of)),
    row('all', results),
    '',
    ...survivors.map(
      ({ file, line, operator, was, now }) =>
        `${file}:${line}  ${operator}: ${oneLine(was)} -> ${oneLine(now)}`,
    ),
    '',
  ].join('\n');
}

const roomOf = ({ file }) => (file.startsWith('src/') ? file.split('/').slice(0, 2).join('/') : 'jobs');

function grouped(results) {
  const rooms = new Map();
  for (const one of results) rooms.set(roomOf(one), [...(rooms.get(roomOf(one)) ?? []), one]);
  return rooms;
}

const oneLine = (text) => {
  const line = text.replace(/\s+/g, ' ');
  return line.length > 90 ? `${line.slice(0, 89)}…` : line;
};
