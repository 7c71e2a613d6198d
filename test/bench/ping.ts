/**
 * CPU time of an ICMP echo, 1,000 a second over one socket, of checks as the probe runs them, to this machine itself. Its
 * own kernel's work for both directions is in it. `node --import tsx test/bench/ping.ts [per second] [seconds]`
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

export type PingBench = {
  way: string
  echoes: number
  lost: number
  notUp: number
  cpuUsPerEcho: number
}

/** All of them are checked while it warms up. */
const MONITORS = 500
const ECHOES_A_CHECK = 3
const WARM_UP_MS = 3000
const AIM_US = 60

/** @param seconds how long is counted, after a time of warming up */
async function benchPing(perSecond: number, seconds: number): Promise<PingBench> {
  const icmp = createIcmp()
  const egress = createEgress({ allow: ['127.0.0.0/8'], icmp })
  const specs = Array.from({ length: MONITORS }, (_, i) =>
    specOf({ type: 'ping', url: `127.0.${i >> 6}.${(i & 63) + 1}` }),
  )
  const seen = { echoes: 0, lost: 0, notUp: 0 }
  const check = async (index: number) => {
    const { outcome, observation } = await runCheck(specs[index % specs.length]!, egress)
    const { sent = 0, received = 0 } = observation.ping ?? {}
    seen.echoes += sent
    seen.lost += sent - received
    if (outcome !== Outcome.UP) seen.notUp++
  }
  let started = 0
  const beganMs = performance.now()
  const pump = () => {
    const due = ((performance.now() - beganMs) * perSecond) / ECHOES_A_CHECK / 1000
    while (started < due) void check(started++)
    timer = setTimeout(pump, Math.ceil(((started - due) * ECHOES_A_CHECK * 1000) / perSecond))
  }
  let timer = setTimeout(pump, 0)
  await pause(WARM_UP_MS)
  const before = { ...seen, cpu: process.cpuUsage() }
  await pause(seconds * 1000)
  const { user, system } = process.cpuUsage(before.cpu)
  clearTimeout(timer)
  const echoes = seen.echoes - before.echoes
  return {
    way: icmp(4).kind,
    echoes,
    lost: seen.lost - before.lost,
    notUp: seen.notUp - before.notUp,
    cpuUsPerEcho: Math.round((user + system) / echoes),
  }
}

export async function benchPingFigures(t: Teardown): Promise<Figure[]> {
  const child = fork(import.meta.filename, ['1000', '20'])
  t.teardown(() => child.kill())
  const [{ way, echoes, lost, notUp, cpuUsPerEcho: us }] = (await once(child, 'message')) as [PingBench]
  const what = 'CPU time an ICMP echo, in checks of three, at 1,000 echoes a second over one socket'
  if (way !== 'socket') return [figure(what, 'no ICMP socket: set net.ipv4.ping_group_range', `≤ ${AIM_US} µs`, false)]
  const text = `${us} µs (${lost} of ${echoes} lost, ${notUp} checks not up)`
  return [figure(what, text, `≤ ${AIM_US} µs`, us <= AIM_US && lost === 0)]
}

if (import.meta.filename === process.argv[1]) {
  const [perSecond = 1000, seconds = 20] = process.argv.slice(2).map(Number)
  const result = await benchPing(perSecond, seconds)
  if (process.send) process.send(result)
  else console.log(result)
  process.exit(0)
}
