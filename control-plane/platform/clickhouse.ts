import { type ClickHouseClient, createClient } from '@clickhouse/client'

export type Clickhouse = ClickHouseClient

/** One ClickHouse path, by URL; the database is the URL's path (decisions 11.4). */
export function createClickhouse(url: string): Clickhouse {
  return createClient({
    url,
    application: 'picket',
    request_timeout: 30_000,
    max_open_connections: 10,
    compression: { request: false, response: false },
    clickhouse_settings: { date_time_input_format: 'best_effort' },
  })
}
