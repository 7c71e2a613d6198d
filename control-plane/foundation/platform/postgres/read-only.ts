/** SQLSTATE read_only_sql_transaction. */
const READ_ONLY = '25006'
/** SQLSTATE object_not_in_prerequisite_state: functions of the WAL fail with it on a standby. */
const NOT_IN_STATE = '55000'

/** The address of PostgreSQL leads to a standby. It has the code with which PostgreSQL refuses writes. */
export class StandbyError extends Error {
  readonly code = READ_ONLY
  constructor() {
    super('PostgreSQL is a standby and accepts no writes')
  }
}

/** True for the error of a statement that a standby, or a server that is set to be read-only, refuses. */
export function isReadOnlyError(error: unknown): boolean {
  const { code, message = '' } = error as { code?: string; message?: string }
  return code === READ_ONLY || (code === NOT_IN_STATE && message.includes('recovery is in progress'))
}
