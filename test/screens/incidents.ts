/** What happened to the agency's sites in the last weeks: the history is not the same every day. */
import type { Incident } from './history.ts';

export const incident: Incident = async ({ services }, daysLeft) => {
  const { default: service } = services;
  const ids = service.siteIds();
  // Long syncs make long runs; these are short, so that the history is made in minutes.
  for (const id of ids) service.site(id).syncTakes(15_000 + (Number(id.replace(/\D/g, '')) % 7) * 5_000);
  // A bad week: the disks of a server.
  if (daysLeft < 6) {
    for (const id of ids.slice(0, 60)) service.site(id).failNextSync('The disk of the site is full.');
  }
  // Updates come out; one breaks the sites that run an older PHP, and none of those is among the first.
  if (daysLeft === 12) {
    for (const id of ids) service.site(id).fallBehind();
    service.schedules.breakSites([
      { filename: 'contact-form/contact-form.php', afterMs: 60_000, php: '8.1' },
    ]);
  }
  // A night in which a hoster was away.
  if (daysLeft === 20) for (const id of ids.slice(100, 160)) service.site(id).underMaintenance(true);
  if (daysLeft === 19) for (const id of ids.slice(100, 160)) service.site(id).underMaintenance(false);
};
