/**
 * CPU time of an ICMP echo, 1,000 a second over one socket, in checks as the probe runs them, and for comparison the same
 * echoes without checks. The target is this machine, so both include the kernel's work for both directions. Runs in its own
 * network namespace where this is permitted: there the kernel gives the socket to all users.
 * `node --import tsx test/bench/ping.ts [checks|bare]`
 */
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { runCheck } from '../../probe-agent/execution/run-check.ts'
import { Outcome } from '../../shared/checks/result.ts'
import { createEgress, createIcmp } from '../../shared/egress/index.ts'
import { bringUpLoopback, hasOwnNetwork, runInOwnNetwork } from '../support/own-network.ts'
import { createCheckSpec } from '../support/spec.ts'
import { type Figure, figure } from './rig.ts'

type PingBench = { echoes: number; lost: number; notUp: number; cpuUsPerEcho: number }
type Mode = 'checks' | 'bare'

const ECHOES_A_SECOND = 1000
const SECONDS = 20
const ECHOES_A_CHECK = 3
/** All monitors are checked during the warm-up. */
const MONITORS = 500
/** The warm-up lasts until V8 has compiled the code. */
const WARM_UP_MS = 20_000
const AIM_US = 60

const seen = { echoes: 0, lost: 0, notUp: 0 }

/** Returns the repeated work: three echoes. Null without an ICMP socket. */
function createWork(mode: Mode): ((index: number) => void) | null {
  const icmp = createIcmp()
  const way = icmp(4)
  if (way.kind !== 'socket') return null
  const urls = Array.from({ length: MONITORS }, (_, i) => `127.0.${i >> 6}.${(i & 63) + 1}`)
  const count = (sent: number, received: number) => {
    seen.echoes += sent
    seen.lost += sent - received
  }
  if (mode === 'bare') {
    const plan = { count: ECHOES_A_CHECK, gapMs: 200, lostAfterMs: () => 1000 }
    return index => {
      const echoes = way.socket.start(urls[index % MONITORS]!, plan, () => count(echoes.sent, echoes.rttsUs.length))
    }
  }
  const egress = createEgress({ allow: ['127.0.0.0/8'], icmp })
  const specs = urls.map(url => createCheckSpec({ type: 'ping', url }))
  const check = async (index: number) => {
    const { outcome, observation } = await runCheck(specs[index % MONITORS]!, egress)
    const { sent = 0, received = 0 } = observation.ping ?? {}
    count(sent, received)
    if (outcome !== Outcome.UP) seen.notUp++
  }
  return index => void check(index)
}

async function benchPing(mode: Mode): Promise<PingBench | null> {
  const work = createWork(mode)
  if (!work) return null
  const perMs = ECHOES_A_SECOND / ECHOES_A_CHECK / 1000
  const beganMs = performance.now()
  let started = 0
  const pump = () => {
    const due = (performance.now() - beganMs) * perMs
    while (started < due) work(started++)
    timer = setTimeout(pump, Math.ceil((started - due) / perMs))
  }
  let timer = setTimeout(pump, 0)
  await pause(WARM_UP_MS)
  const before = { ...seen, cpu: process.cpuUsage() }
  await pause(SECONDS * 1000)
  const { user, system } = process.cpuUsage(before.cpu)
  clearTimeout(timer)
  const echoes = seen.echoes - before.echoes
  const cpuUsPerEcho = Math.round((user + system) / echoes)
  return { echoes, lost: seen.lost - before.lost, notUp: seen.notUp - before.notUp, cpuUsPerEcho }
}

type Job = { mode: Mode; isOwnNetwork: boolean }

/** Measures in a process that does nothing else. */
async function inProcess(mode: Mode): Promise<PingBench | null> {
  if (hasOwnNetwork()) return runInOwnNetwork(import.meta.filename, { mode, isOwnNetwork: true } satisfies Job)
  const job = JSON.stringify({ mode, isOwnNetwork: false } satisfies Job)
  const { stdout } = await promisify(execFile)(process.execPath, ['--import=tsx', import.meta.filename, job])
  return JSON.parse(stdout)
}

export async function benchPingFigures(): Promise<Figure[]> {
  const what = 'ping: CPU time an ICMP echo, in checks of three, at 1,000 echoes a second over one socket'
  const checks = await inProcess('checks')
  const bare = await inProcess('bare')
  if (!checks || !bare) return [figure(what, 'no ICMP socket: set net.ipv4.ping_group_range', `≤ ${AIM_US} µs`, false)]
  const { cpuUsPerEcho: us, lost, echoes, notUp } = checks
  return [
    figure(what, `${us} µs (${lost} of ${echoes} lost, ${notUp} checks not up)`, `≤ ${AIM_US} µs`, us <= AIM_US),
    figure('  the same echoes without checks, at the same pace', `${bare.cpuUsPerEcho} µs`),
  ]
}

if (import.meta.filename === process.argv[1]) {
  const [asked = 'checks'] = process.argv.slice(2)
  if (asked === 'checks' || asked === 'bare') console.log(await inProcess(asked))
  else {
    const { mode, isOwnNetwork }: Job = JSON.parse(asked)
    if (isOwnNetwork) {
      bringUpLoopback()
      writeFileSync('/proc/sys/net/ipv4/ping_group_range', '0 0')
    }
    console.log(JSON.stringify(await benchPing(mode)))
  }
  process.exit(0)
}
