/**
 * CPU time of an ICMP echo, 1,000 a second over one socket, in checks as the probe runs them; beside it the same echoes
 * without checks. To this machine itself, so its kernel's work for both directions is in both.
 * `node --import tsx test/bench/ping.ts [echoes a second] [seconds] [checks|bare]`
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { runCheck } from '../../probe-agent/run.ts'
import { createEgress, createIcmp } from '../../shared/egress/index.ts'
import { Outcome } from '../../shared/result.ts'
import { specOf } from '../support/spec.ts'
import type { Teardown } from '../support/teardown.ts'
import { type Figure, figure } from './rig.ts'

type PingBench = { echoes: number; lost: number; notUp: number; cpuUsPerEcho: number }
type Mode = 'checks' | 'bare'

const ECHOES_A_CHECK = 3
/** All of them are checked while it warms up. */
const MONITORS = 500
/** Until the compiler is done with what runs in a probe for months. */
const WARM_UP_MS = 20_000
const AIM_US = 60

const seen = { echoes: 0, lost: 0, notUp: 0 }

/** What is done over and over, and how many echoes that is. Null without an ICMP socket. */
function workOf(mode: Mode): { once: (index: number) => void; echoes: number } | null {
  const icmp = createIcmp()
  const way = icmp(4)
  if (way.kind !== 'socket') return null
  const urls = Array.from({ length: MONITORS }, (_, i) => `127.0.${i >> 6}.${(i & 63) + 1}`)
  if (mode === 'bare') {
    return { once: index => void way.socket.send(urls[index % MONITORS]!, () => seen.echoes++), echoes: 1 }
  }
  const egress = createEgress({ allow: ['127.0.0.0/8'], icmp })
  const specs = urls.map(url => specOf({ type: 'ping', url }))
  const check = async (index: number) => {
    const { outcome, observation } = await runCheck(specs[index % MONITORS]!, egress)
    const { sent = 0, received = 0 } = observation.ping ?? {}
    seen.echoes += sent
    seen.lost += sent - received
    if (outcome !== Outcome.UP) seen.notUp++
  }
  return { once: index => void check(index), echoes: ECHOES_A_CHECK }
}

/** @param seconds how long is counted, after a time of warming up */
async function benchPing(perSecond: number, seconds: number, mode: Mode): Promise<PingBench | null> {
  const work = workOf(mode)
  if (!work) return null
  const perMs = perSecond / work.echoes / 1000
  const beganMs = performance.now()
  let started = 0
  const pump = () => {
    const due = (performance.now() - beganMs) * perMs
    while (started < due) work.once(started++)
    timer = setTimeout(pump, Math.ceil((started - due) / perMs))
  }
  let timer = setTimeout(pump, 0)
  await pause(WARM_UP_MS)
  const before = { ...seen, cpu: process.cpuUsage() }
  await pause(seconds * 1000)
  const { user, system } = process.cpuUsage(before.cpu)
  clearTimeout(timer)
  const echoes = seen.echoes - before.echoes
  const cpuUsPerEcho = Math.round((user + system) / echoes)
  return { echoes, lost: seen.lost - before.lost, notUp: seen.notUp - before.notUp, cpuUsPerEcho }
}

async function inProcess(t: Teardown, mode: Mode): Promise<PingBench | null> {
  const child = fork(import.meta.filename, ['1000', '20', mode])
  t.teardown(() => child.kill())
  const [result] = (await once(child, 'message')) as [{ bench: PingBench | null }]
  return result.bench
}

export async function benchPingFigures(t: Teardown): Promise<Figure[]> {
  const what = 'ping: CPU time an ICMP echo, in checks of three, at 1,000 echoes a second over one socket'
  const checks = await inProcess(t, 'checks')
  const bare = await inProcess(t, 'bare')
  if (!checks || !bare) return [figure(what, 'no ICMP socket: set net.ipv4.ping_group_range', `≤ ${AIM_US} µs`, false)]
  const { cpuUsPerEcho: us, lost, echoes, notUp } = checks
  return [
    figure(what, `${us} µs (${lost} of ${echoes} lost, ${notUp} checks not up)`, `≤ ${AIM_US} µs`, us <= AIM_US),
    figure('  the same echoes without checks, at the same pace', `${bare.cpuUsPerEcho} µs`),
  ]
}

if (import.meta.filename === process.argv[1]) {
  const [perSecond = 1000, seconds = 20] = process.argv.slice(2, 4).map(Number)
  const bench = await benchPing(perSecond, seconds, process.argv[4] === 'bare' ? 'bare' : 'checks')
  if (process.send) process.send({ bench })
  else console.log(bench ?? 'no ICMP socket: set net.ipv4.ping_group_range')
  process.exit(0)
}
