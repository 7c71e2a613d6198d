import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Log } from '../../shared/process/log.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import type { HostAndPort } from '../config.ts'
import { type ProbeMetrics, registerProbeMetrics } from './metrics.ts'
import { computeReadiness, type ReadinessConditions } from './readiness.ts'

type OperationsOptions = {
  address: HostAndPort
  collectMetrics: () => ProbeMetrics
  readinessConditions: () => ReadinessConditions
  log: Log
}

/** Limits against slow or oversized requests. */
const LIMITS = { headersTimeout: 5000, requestTimeout: 5000, keepAliveTimeout: 5000, connectionsCheckingInterval: 1000 }
const MAX_HEADERS_BYTES = 8192
const IDLE_TIMEOUT_MS = 10_000
const MAX_CONNECTIONS = 32

type Answer = { status: number; contentType: string; text: string }

/**
 * Serves `GET /metrics`, `/healthz` (alive) and `/readyz` (ready, or the reasons why not) for Prometheus and the kubelet.
 * If the port cannot be opened, an error is logged and checks continue. Returns a function that closes the port.
 */
export function serveOperations({ address, collectMetrics, readinessConditions, log }: OperationsOptions): () => void {
  const metrics = createMetrics()
  const setMetrics = registerProbeMetrics(metrics)

  async function createAnswer({ method, url = '' }: IncomingMessage): Promise<Answer> {
    if (method !== 'GET') return refusal(405, 'method_not_allowed', 'only GET is supported')
    const [path] = url.split('?')
    if (path === '/healthz') return json(200, { status: 'ok' })
    if (path === '/readyz') {
      const readiness = computeReadiness(readinessConditions())
      return json(readiness.status === 'ready' ? 200 : 503, readiness)
    }
    if (path !== '/metrics') return refusal(404, 'not_found', 'not found; available are /metrics, /healthz and /readyz')
    setMetrics(collectMetrics())
    return { status: 200, ...(await metrics.render()) }
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, contentType, text } = await createAnswer(request)
    response.writeHead(status, {
      'content-type': contentType,
      'content-length': Buffer.byteLength(text),
      'cache-control': 'no-store',
      ...(status === 405 && { allow: 'GET', connection: 'close' }),
    })
    response.end(text)
  }

  const server = createServer({ ...LIMITS, maxHeaderSize: MAX_HEADERS_BYTES }, (request, response) => {
    answer(request, response).catch(error => {
      log.error({ err: error }, 'a request to the metrics port failed')
      response.destroy()
    })
  })
  server.maxConnections = MAX_CONNECTIONS
  server.timeout = IDLE_TIMEOUT_MS
  server.on('error', error => log.error({ err: error, ...address }, 'cannot listen on METRICS_ADDRESS'))
  server.listen(address.port, address.host, () => {
    log.info({ event: 'metrics', address: server.address() }, 'serving metrics and readiness')
  })
  return () => {
    server.close()
    server.closeAllConnections()
  }
}

const json = (status: number, value: object): Answer => ({
  status,
  contentType: 'application/json; charset=utf-8',
  text: JSON.stringify(value),
})

const refusal = (status: number, code: string, message: string) => json(status, { error: { code, message, status } })
