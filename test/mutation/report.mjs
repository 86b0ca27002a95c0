/** The score by room, and what no test noticed. */
export function report(mutants, isReached) {
  const isOf = (one) => (one.by ? 'noticed' : isReached.has(one.id) ? 'survived' : 'unreached');
  const rooms = grouped(mutants, ({ file }) => roomOf(file));
  const row = (name, of) => {
    const count = (is) => of.filter((one) => isOf(one) === is).length;
    const tried = count('noticed') + count('survived');
    const score = tried === 0 ? '' : `${Math.round((100 * count('noticed')) / tried)}%`;
    return `| ${name} | ${of.length} | ${count('noticed')} | ${count('survived')} | ${count('unreached')} | ${score} |`;
  };
  return [
    '| room | mutants | noticed | survived | not reached by a test | noticed of those reached |',
    '|---|---|---|---|---|---|',
    ...Object.keys(rooms)
      .sort()
      .map((name) => row(name, rooms[name])),
    row('all', mutants),
    '',
    ...mutants
      .filter((one) => isOf(one) === 'survived')
      .sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.start - b.start))
      .map(
        ({ file, line, column, operator, was, tried }) =>
          `${file}:${line}:${column}  ${operator}: ${oneLine(was)}  (${tried.length} tests)`,
      ),
    '',
  ].join('\n');
}

/** The values by their key; `Object.groupBy` is not in Node 20. */
export function grouped(values, keyOf) {
  const groups = {};
  for (const one of values) {
    const key = keyOf(one);
    groups[key] ??= [];
    groups[key].push(one);
  }
  return groups;
}

const roomOf = (file) => (file.startsWith('src/') ? file.split('/').slice(0, 2).join('/') : 'jobs');

const oneLine = (text) => {
  const line = text.replace(/\s+/g, ' ');
  return line.length > 90 ? `${line.slice(0, 89)}…` : line;
};
