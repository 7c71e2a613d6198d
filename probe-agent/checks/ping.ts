import type { CheckFunction, CheckSpec } from '../../shared/checks/check.ts'
import { parseTarget } from '../../shared/checks/target.ts'
import { pingHost } from '../../shared/egress/index.ts'

const ECHOES = 3
const GAP_MS = 200

const hosts = new WeakMap<CheckSpec, string>()

/** Sends three ICMP echoes. One answer is enough; the result contains the number of lost echoes. */
export const checkPing: CheckFunction = async (spec, signal, egress) => {
  const options = { host: getHost(spec), count: ECHOES, gapMs: GAP_MS }
  const { error, timings, totalUs, resolvedIp, ping } = await pingHost(options, signal, egress)
  return { error, timings, totalUs, resolvedIp, ping, statusCode: null, headers: null, body: null, certificate: null }
}

function getHost(spec: CheckSpec): string {
  const known = hosts.get(spec)
  if (known) return known
  const target = parseTarget('ping', spec.url)
  if ('error' in target) throw new Error(target.error)
  hosts.set(spec, target.host)
  return target.host
}
