/** The one-page PDF of a report that callers download (spec 4.9). */
import { createRequire } from 'node:module';
import type PDFDocument from 'pdfkit';
import { dayIn } from '../../dates.ts';
import type { Report } from '../model/reporting.ts';
import type { World } from '../model/world.ts';
import { snapshotsOf } from '../world/snapshots.ts';
import { sitesProgress } from './tasks.ts';

type Pdf = InstanceType<typeof PDFDocument>;

const MARGIN = 56;
const INK = '#222222';
const FAINT = '#777777';

/** Draws the report. The same report gives the same bytes as long as its site does not change. */
export function reportPdf(world: World, report: Report): Buffer {
  // Loaded for the first report only: loading takes a tenth of a second, and most callers never need it.
  const Document = createRequire(import.meta.url)('pdfkit') as typeof PDFDocument;
  const made = new Date(report.createdAt);
  const info = { Title: report.title, Author: 'Site Management Service', CreationDate: made, ModDate: made };
  const pdf = new Document({ size: 'A4', margin: MARGIN, info });
  drawHead(pdf, report);
  for (const name of report.content.section_order) drawSection(pdf, world, report, name);
  drawFoot(pdf, report);
  pdf.end();
  // The document is synchronous and complete now, so one read returns all of it.
  const bytes: unknown = pdf.read();
  if (!Buffer.isBuffer(bytes)) throw new Error(`The report ${report.id} could not be drawn.`);
  return bytes;
}

function drawHead(pdf: Pdf, { content, title, site, client, startDate, endDate }: Report): void {
  pdf.rect(0, 0, pdf.page.width, 12).fill(content.general.primary_color);
  pdf.fillColor(content.general.primary_color).font('Helvetica-Bold').fontSize(24).text(line(title, 60));
  pdf.moveDown(0.3).font('Helvetica').fontSize(11).fillColor(INK);
  pdf.text(`${line(site.url, 80)}   ${startDate} to ${endDate}`);
  if (client) pdf.text(`For ${line(client.name, 60)}`);
}

/** No further section is drawn below this position, so that the report stays on one page. */
const MAX_SECTION_Y = 700;

function drawSection(pdf: Pdf, world: World, report: Report, name: string): void {
  const section = report.content.sections[name];
  if (!section?.visible || pdf.y > MAX_SECTION_Y) return;
  pdf.moveDown(1).font('Helvetica-Bold').fontSize(14).fillColor(report.content.general.primary_color);
  pdf.text(line(section.heading, 70));
  pdf.font('Helvetica').fontSize(10).fillColor(INK);
  if (section.description !== '') pdf.text(line(section.description, 300));
  for (const fact of facts[name]?.(world, report) ?? []) pdf.text(`-  ${fact}`);
}

function drawFoot(pdf: Pdf, { id, createdAt }: Report): void {
  const foot = `${id}, made on ${new Date(createdAt).toISOString()}`;
  const below = pdf.page.height - MARGIN - 12;
  pdf.fontSize(8).fillColor(FAINT).text(foot, MARGIN, below, { lineBreak: false });
}

/** The facts of each section. Other sections show their description only. */
const facts: Record<string, (world: World, report: Report) => string[]> = {
  backups: (world, report) => {
    const inPeriod = snapshotsIn(world, report);
    const good = inPeriod.filter(({ status }) => status === 'succeeded');
    return [
      `${good.length} of ${inPeriod.length} backups succeeded`,
      `${good.at(-1)?.filesSynced ?? 0} files and ${good.at(-1)?.tablesSynced ?? 0} tables in the last one`,
    ];
  },
  security: (world, report) => {
    const scans = snapshotsIn(world, report).filter(({ scanner }) => scanner !== null);
    const bad = scans.filter(({ scanner }) => scanner === 'hacked').length;
    return [`${scans.length} scans, ${bad === 0 ? 'nothing found' : `malware found in ${bad} of them`}`];
  },
  updates: (world, report) => {
    const updates = updatesIn(world, report);
    return [`${updates.length} updates installed`, ...updates.slice(0, 6)];
  },
};

function snapshotsIn(world: World, report: Report) {
  const site = world.sites.get(report.site.id);
  return site ? snapshotsOf(site).filter(({ createdAt }) => isInPeriod(report, createdAt)) : [];
}

/** The updates of the site's auto update runs that succeeded. */
function updatesIn(world: World, report: Report): string[] {
  return world.updates.runs.flatMap(({ performedOn, taskId, sites }) => {
    const task = world.tasks.get(taskId ?? '');
    const here = sites.find(({ id }) => id === report.site.id);
    if (!task || !here || !isInPeriod(report, performedOn)) return [];
    const end = sitesProgress(task, task.endsAt).find(({ id }) => id === report.site.id);
    if (end?.status !== 'completed') return [];
    return [...here.plugins, ...here.themes].map(
      ({ name, current_version, target_version }) => `${name} ${current_version} to ${target_version}`,
    );
  });
}

function isInPeriod({ startDate, endDate }: Report, at: number): boolean {
  const day = dayIn('UTC', at);
  return day >= startDate && day <= endDate;
}

/** Texts come from callers: one line, of limited length, with the characters that the font has. */
const line = (text: string, most: number): string =>
  text
    .replace(/\s+/g, ' ')
    .replace(/[^\x20-\x7e\u00a0-\u00ff]/g, '?')
    .slice(0, most);
