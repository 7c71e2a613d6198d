/**
 * Ping checks in their own network namespace, which has only a loopback interface (own-network.ts): one scenario, the argument,
 * or one for each line of standard input.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { type CheckExecution, runCheck } from '../../probe-agent/execution/run-check.ts'
import { createEgress, createIcmp } from '../../shared/egress/index.ts'
import { bringUpLoopback } from './own-network.ts'
import { createCheckSpec } from './spec.ts'
import { HANG_MS } from './wait.ts'

export type PingScenario = {
  /** the ping sockets that the kernel allows */
  sockets: 'allowed' | 'refused'
  /** the name of the system's ping */
  program?: string
  hosts: string[]
  /** addresses of the name `shop.test` */
  addresses?: string[]
  /** default: one that only a hang reaches */
  timeoutMs?: number
  /** the number of echoes that are not answered, over IPv4 and over IPv6 */
  lost?: number
  allow?: string[]
}

export type PingObservation = {
  ways: [ipv4: string, ipv6: string]
  ran: CheckExecution[]
  elapsedMs: number
  /** whether a plain timer with the timeout of the checks fired before their end */
  hasTimerFired: boolean
  /** whether more echoes were lost than the scenario says; then the checks were not waited for */
  isLossLate: boolean
  /** the echoes that arrived until the first check ended */
  echoesAtFirstEnd: number
}

const SETTINGS = '/proc/sys/net'
const set = (name: string, value: string) => writeFileSync(`${SETTINGS}/${name}`, value)
/** The number of received echoes, answered or not. */
const countEchoes = {
  4: () => {
    const [names = [], values = []] = readLines('snmp', 'Icmp:')
    return Number(values[names.indexOf('InEchos')])
  },
  6: () => Number(readLines('snmp6', 'Icmp6InEchos')[0]?.[1]),
}
const readLines = (file: string, beginning: string) =>
  readFileSync(`/proc/self/net/${file}`, 'utf8')
    .split('\n')
    .filter(line => line.startsWith(beginning))
    .map(line => line.split(/\s+/))

/**
 * Drops echoes by number, not by time, because a ping program may start slowly. Calls `onLate` when it dropped more, because
 * the machine stopped this program for longer than the gap between two echoes. Call the returned function to stop.
 */
function lose(echoes: number, family: 4 | 6, setting: string, onLate: () => void): () => void {
  const enough = countEchoes[family]() + echoes
  set(setting, '1')
  const timer = setInterval(() => {
    if (countEchoes[family]() < enough) return
    clearInterval(timer)
    set(setting, '0')
    if (countEchoes[family]() > enough) onLate()
  }, 2)
  return () => {
    clearInterval(timer)
    set(setting, '0')
  }
}

async function play(scene: PingScenario): Promise<PingObservation> {
  const { hosts, addresses = [], timeoutMs = HANG_MS, lost = 0, allow = ['127.0.0.0/8', '::1'] } = scene
  set('ipv4/ping_group_range', scene.sockets === 'allowed' ? '0 0' : '1 0')
  const icmp = createIcmp(scene.program ? { program: scene.program } : {})
  const egress = createEgress({ allow, icmp, resolver: async () => addresses })
  const ways: PingObservation['ways'] = [icmp(4).kind, icmp(6).kind]
  let isLossLate = false
  let endLate = () => {}
  const lateLoss = new Promise<CheckExecution[]>(resolve => {
    endLate = () => {
      isLossLate = true
      resolve([])
    }
  })
  const losing =
    lost > 0
      ? [lose(lost, 4, 'ipv4/icmp_echo_ignore_all', endLate), lose(lost, 6, 'ipv6/icmp/echo_ignore_all', endLate)]
      : []
  const startedMs = performance.now()
  const before = countEchoes[4]() + countEchoes[6]()
  const checks = hosts.map(url => runCheck(createCheckSpec({ type: 'ping', url, timeoutMs }), egress))
  let hasTimerFired = false
  const timer = setTimeout(() => {
    hasTimerFired = true
  }, timeoutMs)
  const arrived = () => countEchoes[4]() + countEchoes[6]() - before
  const echoesAtEnd = Promise.race([...checks, lateLoss]).then(arrived)
  const [echoesAtFirstEnd, ran] = await Promise.all([echoesAtEnd, Promise.race([Promise.all(checks), lateLoss])])
  clearTimeout(timer)
  for (const leaveOff of losing) leaveOff()
  return { ways, ran, elapsedMs: performance.now() - startedMs, hasTimerFired, isLossLate, echoesAtFirstEnd }
}

bringUpLoopback()
const [, , alone] = process.argv
for await (const scenario of alone === undefined ? createInterface(process.stdin) : [alone])
  console.log(JSON.stringify(await play(JSON.parse(scenario))))
process.exit(0)
