import t from 'tap'
import { createClickhouse } from '../../control-plane/foundation/platform/clickhouse.ts'
import { analyticsRoutes } from '../../control-plane/insight/analytics/routes.ts'
import { startFixedResponse } from '../support/raw-server.ts'
import { createResourceApi } from '../support/resource-api.ts'
import { insertMonitor } from '../support/verdict.ts'

const respond = (status: string, headers: string, body: string) =>
  `HTTP/1.1 ${status}\r\n${headers}Connection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`
const exception = (code: number, message: string, type: string) =>
  respond(
    '500 Internal Server Error',
    `X-ClickHouse-Exception-Code: ${code}\r\n`,
    `Code: ${code}. DB::Exception: ${message}. (${type}) (version 26.7.2)`,
  )

const ANSWERS: [string, string, RegExp][] = [
  ['no memory', exception(241, 'Memory limit exceeded', 'MEMORY_LIMIT_EXCEEDED'), /temporarily unavailable/],
  ['no schema', exception(60, 'Table picket.results does not exist', 'UNKNOWN_TABLE'), /temporarily unavailable/],
  ['a limit of time', exception(159, 'Timeout exceeded', 'TIMEOUT_EXCEEDED'), /the history took too long/],
  ['a page of a proxy', respond('502 Bad Gateway', '', '<html>Bad Gateway</html>'), /temporarily unavailable/],
]

for (const [what, answer, message] of ANSWERS) {
  t.test(`Reads of the history are 503 unavailable when ClickHouse answers with ${what}`, async t => {
    const clickhouse = createClickhouse(`http://127.0.0.1:${await startFixedResponse(t, answer)}/x`)
    t.teardown(() => clickhouse.close())
    const resource = await createResourceApi(t, (app, handles) =>
      analyticsRoutes(app, { ...handles, clickhouse, sign: () => '' }),
    )
    const { call, projectId } = await resource.account()
    const id = await insertMonitor(resource.db, projectId)
    for (const path of [
      `monitors/${id}/checks`,
      `analytics/latency?monitor_id=${id}`,
      `analytics/heatmap?monitor_id=${id}`,
    ]) {
      const { status, body, headers } = await call(`GET /${path}`)
      t.match({ status, body }, { status: 503, body: { error: { code: 'unavailable', message } } }, path)
      t.equal(headers['retry-after'], '5')
    }
  })
}
