/** A period is announced a day ahead; at most 30 days. */
export const DEFAULT_ANNOUNCE_MINUTES = 24 * 60
export const MAX_ANNOUNCE_MINUTES = 30 * 24 * 60

/** Recurring windows send notices only on request, because subscribers would get up to three messages for each period. */
export const notifiesByDefault = (cron: string | null | undefined): boolean => cron == null
