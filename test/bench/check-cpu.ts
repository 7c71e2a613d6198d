/**
 * CPU time of one HTTP check on a new connection, beside a bare `node:http` loop on the same target, in turns. The
 * target is a process of its own, so that its work is not counted. `node --import tsx test/bench/check-cpu.ts [checks]`
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { runCheck } from '../../probe-agent/run.ts'
import type { CheckSpec } from '../../shared/check.ts'
import { createEgress } from '../../shared/egress/index.ts'

const CONCURRENCY = 20
const ROUNDS = 5

function serve(): void {
  const server = createServer((_request, response) => response.end('ok'))
  server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))
}

function bareLoop(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: false }, response => {
      response.on('data', () => {})
      response.on('end', resolve)
    })
    request.on('error', reject)
  })
}

/** Microseconds of CPU time a call. */
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

async function main(): Promise<void> {
  const checks = Number(process.argv[2] ?? 3000)
  const target = fork(import.meta.filename, ['serve'])
  const [port] = await once(target, 'message')
  const url = `http://127.0.0.1:${port}/`
  const egress = createEgress({ allow: ['127.0.0.0/8'] })
  const spec: CheckSpec = {
    type: 'http',
    url,
    method: 'GET',
    headers: {},
    timeoutMs: 30_000,
    assertions: [{ type: 'status_code', operator: 'equals', value: '200' }],
    keywordType: 'contains',
    sslCheck: false,
    screenshotOnFailure: false,
    screenshotCompare: false,
    screenshotThreshold: 0.05,
  }
  const check = async () => {
    const { outcome, observation } = await runCheck(spec, egress)
    if (outcome !== 0) throw new Error(`a check failed: ${JSON.stringify(observation.error)}`)
  }
  const bare = () => bareLoop(url)
  await cost(checks, bare)
  await cost(checks, check)
  const ratios: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const bareUs = await cost(checks, bare)
    const checkUs = await cost(checks, check)
    ratios.push(checkUs / bareUs)
    console.log(`bare ${bareUs.toFixed(0)} µs, check ${checkUs.toFixed(0)} µs, ratio ${ratios.at(-1)!.toFixed(2)}`)
  }
  console.log(`median ratio ${ratios.sort((a, b) => a - b)[ROUNDS >> 1]!.toFixed(2)}`)
  target.kill()
}

if (process.argv[2] === 'serve') serve()
else await main()
