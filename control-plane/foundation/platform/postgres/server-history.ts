/** SQL: the timeline of the WAL that the server writes. Fails on a standby. A promoted server continues with another one. */
export const TIMELINE_SQL = 'left(pg_walfile_name(pg_current_wal_lsn()), 8)'

/**
 * SQL: identifies the history in which a transaction id is used once: the timeline, and the time of the last crash, at which
 * the server discards its statistics. After a promotion or a crash, ids whose WAL was not on disk are given out again.
 */
export const SERVER_HISTORY_SQL = `concat(${TIMELINE_SQL}, ' ', extract(epoch FROM pg_stat_get_bgwriter_stat_reset_time()))`
