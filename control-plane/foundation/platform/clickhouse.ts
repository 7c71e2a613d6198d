import { Readable } from 'node:stream'
import { type ClickHouseClient, ClickHouseError, ClickHouseLogLevel, createClient } from '@clickhouse/client'

export type Clickhouse = ClickHouseClient

/** The client of an embedded or external ClickHouse. The path of the URL is the database. See docs/design/storage.md#clickhouse. */
export function createClickhouse(url: string): Clickhouse {
  return createClient({
    url,
    application: 'picket',
    request_timeout: 30_000,
    max_open_connections: 10,
    compression: { request: false, response: false },
    // errors are thrown; the client would print them as well
    log: { level: ClickHouseLogLevel.OFF },
  })
}

/**
 * Inserts lines of JSONCompactEachRow, each ending in a line break; `table` includes the column names. Resolves when the
 * server has stored them. Uses no insert tokens, which would remain for later inserts.
 */
export async function insertLines(clickhouse: Clickhouse, table: string, lines: string[]): Promise<void> {
  const { stream } = await clickhouse.exec({
    query: `INSERT INTO ${table} FORMAT JSONCompactEachRow`,
    values: Readable.from([Buffer.from(lines.join(''))], { objectMode: false }),
  })
  stream.resume()
  await new Promise((resolve, reject) => stream.once('end', resolve).once('error', reject))
}

/** Rows of a query, values bound as `{name:Type}`. */
export async function select<Row>(
  clickhouse: Clickhouse,
  sql: string,
  parameters: Record<string, unknown> = {},
): Promise<Row[]> {
  const answer = await clickhouse.query({ query: sql, query_params: parameters, format: 'JSONEachRow' })
  return answer.json<Row>()
}

/** False when the server rejected the data or the query: repeating it cannot succeed. */
export function isClickhouseAway(error: unknown): boolean {
  return !(error instanceof ClickHouseError)
}
