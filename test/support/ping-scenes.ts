/** Ping checks in a network of their own, which has nothing but a loopback; see own-network.ts. */
import { writeFileSync } from 'node:fs'
import { type Ran, runCheck } from '../../probe-agent/run.ts'
import { createEgress, createIcmp } from '../../shared/egress/index.ts'
import { bringUpLoopback } from './own-network.ts'
import { specOf } from './spec.ts'

export type PingScene = {
  /** what the kernel allows */
  sockets: 'allowed' | 'refused'
  /** the name of the system's ping */
  program?: string
  hosts: string[]
  /** addresses of the name `shop.test` */
  addresses?: string[]
  timeoutMs?: number
  /** echoes are not answered for so long */
  silentMs?: number
  allow?: string[]
}

export type PingSeen = {
  ways: [ipv4: string, ipv6: string]
  ran: Ran[]
  elapsedMs: number
  /** how long a bare timer took for the timeout, beside the checks: more where the machine had no time */
  timerMs: number
}

const SETTINGS = '/proc/sys/net'
const ECHO_SWITCHES = ['ipv4/icmp_echo_ignore_all', 'ipv6/icmp/echo_ignore_all']
const set = (name: string, value: string) => writeFileSync(`${SETTINGS}/${name}`, value)
const ignoreEchoes = (isIgnored: boolean) => {
  for (const name of ECHO_SWITCHES) set(name, isIgnored ? '1' : '0')
}

async function play(scene: PingScene): Promise<PingSeen> {
  const { hosts, addresses = [], timeoutMs = 5000, silentMs = 0, allow = ['127.0.0.0/8', '::1'] } = scene
  set('ipv4/ping_group_range', scene.sockets === 'allowed' ? '0 0' : '1 0')
  const icmp = createIcmp(scene.program ? { program: scene.program } : {})
  const egress = createEgress({ allow, icmp, resolver: async () => addresses })
  const ways: PingSeen['ways'] = [icmp(4).kind, icmp(6).kind]
  ignoreEchoes(silentMs > 0)
  if (silentMs > 0) setTimeout(ignoreEchoes, silentMs, false)
  const startedMs = performance.now()
  const checks = hosts.map(url => runCheck(specOf({ type: 'ping', url, timeoutMs }), egress))
  let timerMs = 0
  const timer = setTimeout(() => {
    timerMs = performance.now() - startedMs
  }, timeoutMs)
  const ran = await Promise.all(checks)
  clearTimeout(timer)
  return { ways, ran, elapsedMs: performance.now() - startedMs, timerMs }
}

bringUpLoopback()
const seen: PingSeen[] = []
for (const scene of JSON.parse(process.argv[2]!) as PingScene[]) seen.push(await play(scene))
console.log(JSON.stringify(seen))
process.exit(0)
