import { assertStatement, countRows, type ForbiddenIdentifiers, isAllowedSetting } from './statement.ts'

/** A request of ClickHouse's HTTP interface, as Picket's client sends it, converted to statements. */
export type ClickhouseRequest = {
  /** statements to run first on the request's connection: database, settings, query parameters */
  preparation: string[]
  sql: string
  format: string
  queryId: string
  /** number of rows in the body of an insert; otherwise null */
  insertedRows: number | null
}

/** Parameters of the HTTP layer that are not engine settings. */
const HTTP_ONLY = new Set([
  'query',
  'database',
  'default_format',
  'query_id',
  'session_id',
  'session_timeout',
  'user',
  'password',
  'role',
  'compress',
  'decompress',
  'wait_end_of_query',
  'buffer_size',
  'send_progress_in_http_headers',
  'http_headers_progress_interval_ms',
  'http_response_buffer_size',
  'enable_http_compression',
  'http_zlib_compression_level',
  'cancel_http_readonly_queries_on_client_close',
  'readonly',
  // there is one writer, and an insert is answered when it is stored
  'async_insert',
  'wait_for_async_insert',
])

/**
 * Parses a request. `body` is the statement, or with `?query=INSERT …` the rows of an insert. Throws for statements and
 * settings that Picket does not send, and for `forbidden` functions.
 */
export function parseRequest(
  search: URLSearchParams,
  body: string,
  header: (name: string) => string | undefined,
  forbidden: ForbiddenIdentifiers,
): ClickhouseRequest {
  const query = search.get('query')
  const database = search.get('database') ?? header('x-clickhouse-database')
  const preparation: string[] = []
  if (database && database !== 'default') preparation.push(`USE ${quoteName(database)}`)
  for (const [name, value] of search) {
    if (HTTP_ONLY.has(name)) continue
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || !isAllowedSetting(name))
      throw new Error(`Code: 115. DB::Exception: Unknown setting '${name}'. (UNKNOWN_SETTING)`)
    preparation.push(`SET ${name} = ${quoteText(value)}`)
  }
  const isInsert = query !== null && /^\s*insert\s/i.test(query)
  const sql = query === null ? body : isInsert || body !== '' ? `${query}\n${body}` : query
  assertStatement(isInsert ? query : sql, forbidden)
  const format = search.get('default_format') ?? header('x-clickhouse-format') ?? 'TabSeparated'
  if (!/^[A-Za-z0-9]+$/.test(format)) throw new Error('Code: 73. DB::Exception: Unknown format. (UNKNOWN_FORMAT)')
  const queryId = search.get('query_id') ?? ''
  return { preparation, sql, format, queryId, insertedRows: isInsert ? countRows(query, body) : null }
}

function quoteName(name: string): string {
  return `\`${name.replace(/[\\`]/g, '\\$&')}\``
}

function quoteText(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}
