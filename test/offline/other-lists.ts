/** Policies over lists of each site and over joined lists. */
export const otherLists = `
policies:
  - name: outdated-notes
    job: api-call
    select:
      from: listSiteNotes
      for_each: { list: listSites, where: '!site.locked' }
      where: note.content.contains("outdated")
    with: { operation: deleteSiteNote, confirm: deleteSiteNote }
  - name: without-schedule
    job: check
    select:
      from: listSites
      join:
        schedules:
          list: listAutoUpdateSchedules
          on: schedule.scope.sites.selection == "all" || site.id in schedule.scope.sites.ids
      where: schedules.size() == 0
  - name: logins
    job: check
    select: { from: listSiteActivityLogs, for_each: listSites, filters: { event_type: { eq: login } } }
`;
