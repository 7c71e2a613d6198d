/**
 * ClickHouse for one machine: chDB behind the part of ClickHouse's HTTP interface that @clickhouse/client uses. It is a
 * separate program, so that a crash of the native engine does not affect verdicts.
 *
 *   node clickhouse-server <data directory> <port> <pid file>
 *
 * It answers requests only after its parent has sent `{ password }`, because arguments and environment variables can be read
 * by other users.
 */
import { randomUUID } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { createGunzip } from 'node:zlib'
import { Session } from 'chdb'
import { findAuthenticationProblem } from './authentication.ts'
import { releasePages } from './mapped-pages.ts'
import { type ClickhouseRequest, parseRequest } from './request.ts'
import { writeAccessRights } from './rights.ts'
import { type ForbiddenIdentifiers, listForbiddenIdentifiers } from './statement.ts'

const [dataDir = '', port = '0', pidFile = ''] = process.argv.slice(2)

/** Reduces how often the engine measures itself, which is most of its work when idle. */
const LOW_OVERHEAD = ['--asynchronous_metrics_update_period_s=60', '--memory_worker_period_ms=1000']
const ARGUMENTS = [...LOW_OVERHEAD, `--config-file=${writeAccessRights(dataDir)}`]

const RELEASE_INTERVAL_MS = 60_000

// Keeps the engine open between requests. Each request has its own connection (0.3 ms), because a shared connection would
// keep the settings of one request for all later ones.
const mainSession = new Session(dataDir, { connectionArgs: ARGUMENTS })
const running = new Set<Promise<void>>()
// 160 of the 220 MB that the engine reads at its start are not used again
setInterval(releasePages, RELEASE_INTERVAL_MS, 'libchdb.so').unref()

const server = createServer((request, response) => {
  const work = handle(request, response).finally(() => running.delete(work))
  running.add(work)
})
server.keepAliveTimeout = 65_000
const forbidden = await listHarmfulCalls()
let password = ''
process.once('message', (message: { password: string }) => {
  password = message.password
  server.listen(Number(port), '127.0.0.1', () => {
    writeFileSync(pidFile, String(process.pid))
    process.send?.({ port: (server.address() as AddressInfo).port })
  })
})
server.once('error', error => {
  console.error(error.message)
  process.exit(1)
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop)
process.once('disconnect', stop)

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const refusal = findAuthenticationProblem(request.headers, password)
  if (refusal !== null) return refuseAccess(response, refusal)
  try {
    const url = new URL(request.url ?? '/', 'http://localhost')
    if (url.pathname === '/ping') return void response.end('Ok.\n')
    const gzipped = request.headers['content-encoding'] === 'gzip'
    const body = (await buffer(gzipped ? request.pipe(createGunzip()) : request)).toString('utf8')
    if (url.pathname === '/' && body === '' && !url.searchParams.has('query')) return void response.end('Ok.\n')
    await answer(
      parseRequest(url.searchParams, body, name => request.headers[name]?.toString(), forbidden),
      response,
    )
  } catch (error) {
    refuse(response, error instanceof Error ? error.message : String(error))
  }
}

async function answer(request: ClickhouseRequest, response: ServerResponse): Promise<void> {
  const started = process.hrtime.bigint()
  const nothingToInsert = request.insertedRows === 0 && !/\b(select|values)\b/i.test(request.sql)
  const result = nothingToInsert ? { bytes: new Uint8Array(), rowsRead: 0, bytesRead: 0 } : await run(request)
  const summary = {
    read_rows: String(result.rowsRead),
    read_bytes: String(result.bytesRead),
    written_rows: String(request.insertedRows ?? 0),
    written_bytes: '0',
    result_rows: String(request.insertedRows === null ? result.rowsRead : 0),
    elapsed_ns: String(process.hrtime.bigint() - started),
  }
  response.setHeader('x-clickhouse-query-id', request.queryId || randomUUID())
  response.setHeader('x-clickhouse-timezone', 'UTC')
  response.setHeader('x-clickhouse-summary', JSON.stringify(summary))
  response.setHeader('content-type', 'text/plain; charset=UTF-8')
  response.end(result.bytes)
}

async function run({ preparation, sql, format }: ClickhouseRequest) {
  const session = new Session(dataDir, { connectionArgs: ARGUMENTS })
  try {
    for (const statement of preparation) await session.queryAsync(statement)
    const result = await session.queryAsync(sql, { format })
    return { bytes: result.bytes(), rowsRead: result.rowsRead, bytesRead: result.bytesRead }
  } finally {
    session.close()
  }
}

function refuse(response: ServerResponse, message: string): void {
  const code = /^Code: (\d+)\./.exec(message)?.[1]
  response.statusCode = code === '60' || code === '81' ? 404 : 500
  response.setHeader('x-clickhouse-exception-code', code ?? '1002')
  response.end(`${code ? message : `Code: 1002. DB::Exception: ${message} (UNKNOWN_EXCEPTION)`}\n`)
}

/** Refuses a request without reading it. */
function refuseAccess(response: ServerResponse, why: string): void {
  response.writeHead(403, { 'x-clickhouse-exception-code': '516', connection: 'close' })
  response.end(`Code: 516. DB::Exception: ${why}. (AUTHENTICATION_FAILED)\n`)
}

/** Functions that no statement may use, in addition to the engine's access rights. The names are read from the engine, so that new versions are covered. */
async function listHarmfulCalls(): Promise<ForbiddenIdentifiers> {
  const names = async (sql: string) =>
    (await mainSession.queryAsync(sql, { format: 'LineAsString' })).text().split('\n').filter(Boolean)
  return listForbiddenIdentifiers(
    await names('SELECT name FROM system.table_functions'),
    await names(`SELECT name FROM system.functions WHERE categories IN
      ('AI', 'Machine Learning', 'Introspection', 'Dictionary', 'Embedded Dictionary')
      OR lower(name) IN ('file', 'catboostevaluate', 'aiclassify', 'aiextract', 'aigenerate', 'aitranslate', 'aiembed')`),
  )
}

let stopping = false
async function stop(): Promise<void> {
  if (stopping) return
  stopping = true
  server.close()
  server.closeIdleConnections()
  await Promise.allSettled(running)
  mainSession.close()
  rmSync(pidFile, { force: true })
  process.exit(0)
}
