import * as clickhouse from '../../control-plane/foundation/platform/clickhouse.ts'

/** Inserts lines as the recorder does. `table` includes the names of the columns. */
export const insertLines = (client: clickhouse.Clickhouse, table: string, lines: string[]): Promise<void> =>
  clickhouse.insertLines(client, table, Buffer.from(lines.join('')))
