import { type CheckSpec, isCheckType } from '../../../shared/checks/check.ts'
import { type CheckError, FailureSource, type Observation } from '../../../shared/checks/result.ts'
import { parseTarget } from '../../../shared/checks/target.ts'
import type { DoubtDetector } from './doubt.ts'

/** What a network, firewall, resolver or proxy on our side may say as well as the target, when it says so of many hosts at once. */
const DOUBTFUL_CODES = new Set([
  'timeout',
  'dns_timeout',
  'host_unreachable',
  'connection_refused',
  'connection_reset',
  'dns_not_found',
  'tls_error',
])

/**
 * Notes whether the host of a check answered. True for a failure that is doubted: the probe had a doubt at any time of the attempt.
 * Faults of the probe itself are not noted.
 */
export function recordReachability(
  doubt: DoubtDetector,
  spec: CheckSpec,
  observation: Observation,
  nowUs: number,
  startedUs: number,
): boolean {
  const { error, resolvedIp } = observation
  if (error?.source === FailureSource.INTERNAL && error.code !== 'probe_offline') return false
  const host = getHost(spec)
  if (!isUnanswered(observation)) {
    doubt.recordAnswer(spec.url, host, nowUs)
    return false
  }
  doubt.recordFailure(spec.url, resolvedIp ?? host, nowUs)
  return doubt.isDoubting(nowUs, startedUs)
}

/** Whether a check failed in a way that many hosts may have at once because of the network of the probe. */
export const isUnanswered = ({ error, statusCode }: Observation): boolean =>
  error !== null && statusCode === null && isDoubtful(error)

const isDoubtful = ({ code, source }: CheckError) => source !== FailureSource.TARGET || DOUBTFUL_CODES.has(code)

const HOSTS_KNOWN = 50_000
const hosts = new Map<string, string>()

/** The host of a check; each address is read once. */
function getHost({ type, url }: CheckSpec): string {
  const known = hosts.get(url)
  if (known !== undefined) return known
  const target = isCheckType(type) ? parseTarget(type, url) : { error: '' }
  const host = 'host' in target ? target.host : url
  if (hosts.size >= HOSTS_KNOWN) hosts.clear()
  hosts.set(url, host)
  return host
}
