import { type Db, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'

export type DatabaseClock = {
  /** Sets how far the clock of the database is ahead, for all sessions. */
  setAhead(ms: number): Promise<void>
}

/**
 * Makes the clock of a database adjustable, for sessions that begin from now on: `now()` and `clock_timestamp()` are
 * found in a schema that comes before PostgreSQL's in the search path.
 */
export async function createDatabaseClock(db: Db): Promise<DatabaseClock> {
  await execute(db, 'CREATE SCHEMA wrong_clock')
  await execute(db, `CREATE TABLE wrong_clock.ahead AS SELECT interval '0' AS by`)
  for (const name of ['now', 'clock_timestamp']) {
    await execute(
      db,
      `CREATE FUNCTION wrong_clock.${name}() RETURNS timestamptz LANGUAGE sql VOLATILE
       AS 'SELECT pg_catalog.${name}() + (SELECT by FROM wrong_clock.ahead)'`,
    )
  }
  const [row] = await query<{ name: string }>(db, 'SELECT current_database() AS name')
  await execute(db, `ALTER DATABASE ${row!.name} SET search_path = public, wrong_clock, pg_catalog`)
  return {
    async setAhead(ms) {
      await execute(db, `UPDATE wrong_clock.ahead SET by = ? * interval '1 ms'`, [ms])
    },
  }
}
