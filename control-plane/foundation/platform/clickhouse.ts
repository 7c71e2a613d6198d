import { Readable } from 'node:stream'
import { type ClickHouseClient, ClickHouseError, ClickHouseLogLevel, createClient } from '@clickhouse/client'

export type Clickhouse = ClickHouseClient

/** One ClickHouse path, by URL; the database is the URL's path (decisions 11.4). */
export function createClickhouse(url: string): Clickhouse {
  return createClient({
    url,
    application: 'picket',
    request_timeout: 30_000,
    max_open_connections: 10,
    compression: { request: false, response: false },
    // errors are thrown to whoever asked; the client would print them besides
    log: { level: ClickHouseLogLevel.OFF },
  })
}

/**
 * Inserts lines of JSONCompactEachRow, each ending in a line break; `table` names the columns too. Resolves once the
 * server has them; never uses insert tokens, which would stay for later inserts.
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

/** False when the server refused the data or the query itself: trying the same again cannot help. */
export function isClickhouseAway(error: unknown): boolean {
  return !(error instanceof ClickHouseError)
}
