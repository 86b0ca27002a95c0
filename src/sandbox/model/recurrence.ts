export type Recurrence =
  | 'daily'
  | 'weekly_on_day'
  | 'biweekly'
  | 'monthly_on_date'
  | 'monthly_on_week'
  | 'monthly_last_day';
