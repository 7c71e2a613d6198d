/**
 * CPU time of one check on a new connection, in turns with a bare loop of Node's own client on the same target. The target is
 * a separate process, so its work is not counted.
 * `node --import tsx test/bench/check-cpu.ts http|https [checks]`
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer, get } from 'node:http'
import { createServer as createTlsServer, get as getTls } from 'node:https'
import type { AddressInfo } from 'node:net'
import { runCheck } from '../../probe-agent/execution/run-check.ts'
import type { CheckSpec } from '../../shared/checks/check.ts'
import { createEgress } from '../../shared/egress/index.ts'
import type { Egress } from '../../shared/egress/types.ts'
import { createAuthority, type KeyPair } from '../support/certificates.ts'
import { createCheckSpec } from '../support/spec.ts'
import type { Teardown } from '../support/teardown.ts'
import { type Figure, figure, percentile, withTeardown } from './rig.ts'

const CONCURRENCY = 20
const ROUNDS = 5

type Scheme = 'http' | 'https'
type Costs = { bareUs: number; checkUs: number; ratio: number }

/** Returns the medians of rounds in which both are measured in turn. */
async function costOfCheck(t: Teardown, scheme: Scheme, checks: number): Promise<Costs> {
  const authority = createAuthority(t)
  const target = fork(import.meta.filename, ['serve'])
  t.teardown(() => target.kill())
  target.send(scheme === 'https' ? authority.issue('127.0.0.1', -1, 30) : {})
  const [port] = await once(target, 'message')
  const url = `${scheme}://127.0.0.1:${port}/`
  const egress = createEgress({ allow: ['127.0.0.0/8'], trust: [authority.ca] })
  const assertions = [{ type: 'status_code', operator: 'equals', value: '200' }]
  const spec = createCheckSpec({ url, timeoutMs: 30_000, assertions })
  const check = () => assertUp(spec, egress)
  const bare = () => bareLoop(url, egress)
  await cost(checks, bare)
  await cost(checks, check)
  const rounds: Costs[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const bareUs = await cost(checks, bare)
    const checkUs = await cost(checks, check)
    rounds.push({ bareUs, checkUs, ratio: checkUs / bareUs })
  }
  const median = (name: keyof Costs) =>
    percentile(
      rounds.map(round => round[name]),
      0.5,
    )
  return { bareUs: median('bareUs'), checkUs: median('checkUs'), ratio: median('ratio') }
}

export async function benchHttps(t: Teardown): Promise<Figure[]> {
  const { bareUs, checkUs, ratio } = await costOfCheck(t, 'https', 2_000)
  return [
    figure('CPU time an HTTPS check, full handshake', `${checkUs.toFixed(0)} µs`),
    figure(
      '  a bare `node:https` loop on the same target, in turns',
      `${bareUs.toFixed(0)} µs; ${ratio.toFixed(2)} times it`,
      '≤ 1.2 times',
      ratio <= 1.2,
    ),
  ]
}

async function assertUp(spec: CheckSpec, egress: Egress): Promise<void> {
  const { outcome, observation } = await runCheck(spec, egress)
  if (outcome !== 0) throw new Error(`a check failed: ${JSON.stringify(observation.error)}`)
}

/** The best case of Node: the certificate authorities are read once for all connections. */
function bareLoop(url: string, egress: Egress): Promise<void> {
  const isTls = url.startsWith('https:')
  const tls = isTls ? { secureContext: egress.secureContext() } : {}
  return new Promise((resolve, reject) => {
    const options = { agent: false, ...tls }
    const request = (isTls ? getTls : get)(url, options, response => {
      response.on('data', () => {})
      response.on('end', resolve)
    })
    request.on('error', reject)
  })
}

/** CPU time per call, in µs. */
async function cost(calls: number, call: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  let left = calls
  const lane = async () => {
    while (left-- > 0) await call()
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, lane))
  const { user, system } = process.cpuUsage(before)
  return (user + system) / calls
}

async function serve(): Promise<void> {
  const [pair] = (await once(process, 'message')) as [Partial<KeyPair>]
  const server = pair.key ? createTlsServer(pair) : createServer()
  server.on('request', (_request, response) => response.end('ok'))
  server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))
}

if (process.argv[2] === 'serve') await serve()
else if (import.meta.filename === process.argv[1]) {
  const [scheme = 'http', checks = '3000'] = process.argv.slice(2)
  console.log(await withTeardown(t => costOfCheck(t, scheme as Scheme, Number(checks))))
}
