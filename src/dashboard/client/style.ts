import type { Exchange } from '../http/context.ts';

/** The style sheet of every page of ours. A text, so that it is there after any build. */
const style = `
:root {
  color-scheme: light dark;
  --page: #f5f6f8; --card: #fff; --line: #dfe3e9; --text: #1c2430; --dim: #525d6c; --link: #1f5fbf;
  --good: #136a38; --bad: #b01f33; --warn: #7f5000; --busy: #1f5fbf; --calm: #525d6c; --tint: 12%;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #12161c; --card: #1a2028; --line: #2c3541; --text: #e4e9f0; --dim: #97a3b4; --link: #7db0ff;
    --good: #4cc883; --bad: #ff7b88; --warn: #e5b04d; --busy: #7db0ff; --calm: #a9b4c4; --tint: 20%;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.6 system-ui, sans-serif; }
/* Underlined, but where its form says that it is a link: nobody has to tell it by its colour. */
a { color: var(--link); text-decoration: underline 1px; text-underline-offset: .2em; }
a:hover { text-decoration-thickness: 2px; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 3px; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: .25rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 0 0 .6rem; }
h3 { font-size: 1rem; margin: 1.1rem 0 .5rem; overflow-wrap: anywhere; }
.card h3 { margin: 0; }
pre { font: .82rem/1.45 ui-monospace, monospace; overflow-x: auto; margin: .4rem 0; }
p { margin: .3rem 0; }
code, .id { font: .86em ui-monospace, monospace; overflow-wrap: anywhere; }
.dim { color: var(--dim); }
time { white-space: nowrap; }
.ago, td { font-variant-numeric: tabular-nums; }
.ago { white-space: nowrap; }
.lead { font-size: 1.05rem; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: .5rem; top: .5rem; background: var(--card); padding: .4rem .8rem; z-index: 1; }

header { display: flex; flex-wrap: wrap; gap: .3rem 1.4rem; align-items: center; padding: .6rem 1.2rem;
  background: var(--card); border-bottom: 1px solid var(--line); }
header nav { display: flex; gap: 1.1rem; flex: 1; }
header a, a.card, a.action, a.plain, .filters a { text-decoration: none; }
header a:hover, .filters a:hover { text-decoration: underline; }
header nav a[aria-current] { color: var(--text); font-weight: 600; }
footer { max-width: 72rem; margin: 0 auto; padding: 0 1.2rem 1.5rem; font-size: .82rem; }
.brand { font-weight: 700; color: var(--text); }
main { max-width: 72rem; margin: 0 auto; padding: 1.2rem; display: grid; gap: 1.8rem; grid-template-columns: minmax(0, 1fr); }
.narrow { max-width: 24rem; width: 100%; margin: 12vh auto 0; }
/* Always in sight, and over the page rather than in it: nothing moves when one comes. */
#warnings { position: sticky; bottom: 0; max-height: 40vh; overflow-y: auto; background: var(--page); }
#warnings > :last-child { margin-bottom: .5rem; }
/* A notice has two lines until somebody opens it. */
#warnings summary { display: flex; gap: .5rem; }
#warnings summary::before { content: "▸"; flex: none; }
#warnings [open] > summary::before { content: "▾"; }
#warnings details:not([open]) > summary .says { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; }
#warnings .more { background: var(--page); } /* what is in it has its own tint */
#warnings ul { margin: .3rem 0; padding-left: 1.2rem; }
#warnings:empty, #paused:empty { display: none; }

.card { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 1rem; color: inherit; }
.cards { display: grid; gap: .8rem; grid-template-columns: repeat(auto-fill, minmax(min(20rem, 100%), 1fr)); }
a.card:hover { border-color: var(--link); }

.badge, .note { --tone: var(--calm); background: color-mix(in srgb, var(--tone) var(--tint), transparent); }
.badge { display: inline-block; padding: 0 .5em; border-radius: 1em; font-size: .8rem; font-weight: 600;
  line-height: 1.6; color: var(--tone); vertical-align: middle; white-space: nowrap; }
.note { border-left: 4px solid var(--tone); padding: .5rem .8rem; border-radius: 4px; margin: 0 0 .5rem; overflow-wrap: anywhere; }
.is-succeeded { --tone: var(--good); }
.is-failed, .is-stopped { --tone: var(--bad); }
.is-partial, .is-blocked, .is-paused, .is-disabled, .is-waiting { --tone: var(--warn); }
.is-running, .is-planning, .is-acting, .is-following { --tone: var(--busy); }

.bar { display: block; width: 100%; height: .55rem; margin: .6rem 0; border-radius: 3px; background: var(--line); }
.bar rect { fill: var(--tone, var(--calm)); }

dl { display: grid; gap: .7rem 1.5rem; grid-template-columns: repeat(auto-fill, minmax(min(11.5rem, 45%), 1fr)); margin: 1rem 0 0; }
dt { color: var(--dim); font-size: .82rem; }
dd { margin: 0; overflow-wrap: anywhere; }

table { width: 100%; table-layout: fixed; border-collapse: separate; border-spacing: 0; background: var(--card);
  border: 1px solid var(--line); border-radius: 8px; }
th { text-align: left; font-size: .82rem; font-weight: 600; color: var(--dim); }
th, td { padding: .5rem .8rem; vertical-align: top; }
td { border-top: 1px solid var(--line); overflow-wrap: anywhere; }
td p { margin: 0; }
td .id { display: block; }
td ul { margin: .2rem 0; padding-left: 1.2rem; }

.filters, .pager { display: flex; flex-wrap: wrap; gap: .4rem; margin: 0 0 .7rem; align-items: center; }
.filters a { padding: .1rem .7rem; border: 1px solid var(--line); border-radius: 1em; background: var(--card); }
.filters a[aria-current] { border-color: var(--link); font-weight: 600; }
.pager { margin: .7rem 0 0; gap: 1rem; }

a.plain { display: inline-block; color: inherit; }
a.plain .moment { display: block; } /* the same place, however long the word before it is */
a.plain time { text-decoration: underline 1px; text-underline-offset: .2em; }
a.plain:hover time { text-decoration-thickness: 2px; }
.w-run { width: 14rem; } .w-name { width: 11rem; } .w-target { width: 16rem; } .w-in { width: 14rem; }
.w-do { width: 9.5rem; } .w-badge { width: 8rem; } .w-count { width: 9rem; } .w-word { width: 7rem; }

.actions { display: flex; flex-wrap: wrap; gap: .4rem .8rem; align-items: center; }
a.action { display: inline-block; padding: .1rem .6rem; border: 1px solid var(--line); border-radius: 6px; background: var(--card); white-space: nowrap; }
a.action:hover { border-color: var(--link); }
.search { display: flex; flex-wrap: wrap; gap: .5rem .7rem; align-items: center; margin: 0 0 .8rem; }
.search label { display: flex; flex: 0 1 20rem; align-items: center; gap: .5rem; margin: 0; }
.search input, .search select { flex: 1 1 10rem; width: auto; min-width: 0; background: var(--card); }
.search > input { max-width: 24rem; }

form { margin: 0; }
label { display: grid; gap: .3rem; margin: .6rem 0 .9rem; }
input, button, select { font: inherit; padding: .45rem .7rem; border-radius: 6px; border: 1px solid var(--line); }
input, select { background: var(--page); color: var(--text); border-color: var(--calm); }
input { width: 100%; }
button { background: #1f5fbf; border-color: #1f5fbf; color: #fff; cursor: pointer; }
button.quiet { background: none; border-color: transparent; color: var(--dim); padding: .2rem .4rem; }
button.quiet:hover { color: var(--text); text-decoration: underline; }
summary { cursor: pointer; }

/* Between a phone and a desk, columns have shares of the width, so that all of them leave room for the one that has none. */
@media (max-width: 72rem) {
  th, td { padding: .5rem .6rem; }
  td time { white-space: normal; }
  .w-run { width: 21%; } .w-name { width: 18%; } .w-target { width: 28%; } .w-in { width: 30%; }
  .w-do { width: 15%; } .w-badge { width: 15%; } .w-count { width: 18%; } .w-word { width: 12%; }
}
@media (max-width: 47.9rem) {
  dd time { white-space: normal; }
  thead { display: none; }
  tr { display: block; border-top: 1px solid var(--line); padding: .5rem 0; }
  tbody tr:first-child { border-top: 0; }
  td { display: block; position: relative; min-height: 1.9rem; border: 0; padding: .15rem .8rem .15rem 7.2rem; }
  td::before { content: attr(data-label); position: absolute; left: .8rem; color: var(--dim); font-size: .82rem; }
}
@media (max-width: 42rem) {
  header { padding: .5rem .8rem; column-gap: .9rem; }
  header nav { order: 3; flex-basis: 100%; }
  .brand { flex: 1; }
  footer { padding: 0 .8rem 1rem; }
  main { padding: .8rem; }
  .note { padding: .5rem .6rem; }
  .search label { flex-basis: 100%; }
  #warnings details:not([open]) > summary .says { -webkit-line-clamp: 1; }
}
`;

export const sendStyle = (c: Exchange): Response =>
  c.body(style, 200, { 'Content-Type': 'text/css; charset=UTF-8', 'Cache-Control': 'no-cache' });

/** On bull-board's page only the way back is ours; the corner is free on all of its pages. */
const boardStyle = `
#way-back { position: fixed; right: 1rem; bottom: 1rem; z-index: 10000; padding: .5rem .9rem; border-radius: 1.5rem;
  background: #1f5fbf; color: #fff; font: 600 15px/1.4 system-ui, sans-serif; text-decoration: none; }
#way-back:focus-visible { outline: 3px solid #7db0ff; outline-offset: 2px; }
`;

export const sendBoardStyle = (c: Exchange): Response =>
  c.body(boardStyle, 200, { 'Content-Type': 'text/css; charset=UTF-8', 'Cache-Control': 'no-cache' });
