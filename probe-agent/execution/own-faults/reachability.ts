import { type CheckSpec, isCheckType } from '../../../shared/checks/check.ts'
import { type CheckError, FailureSource, type Observation } from '../../../shared/checks/result.ts'
import { parseTarget } from '../../../shared/checks/target.ts'
import type { DoubtDetector } from './doubt.ts'

/** Errors that a network, firewall, resolver or proxy on the probe's side can cause as well as the target. */
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
 * Records whether the host of a check answered. Returns true for a doubted failure: a doubt existed at any time during
 * the attempt. Faults of the probe itself are not recorded.
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

/** Whether a check failed in a way that the network of the probe can cause for many hosts at the same time. */
export const isUnanswered = ({ error, statusCode }: Observation): boolean =>
  error !== null && statusCode === null && isDoubtful(error)

const isDoubtful = ({ code, source }: CheckError) => source !== FailureSource.TARGET || DOUBTFUL_CODES.has(code)

const MAX_CACHED_HOSTS = 50_000
const hosts = new Map<string, string>()

/** The host of a check. Each URL is parsed once. */
function getHost({ type, url }: CheckSpec): string {
  const known = hosts.get(url)
  if (known !== undefined) return known
  const target = isCheckType(type) ? parseTarget(type, url) : { error: '' }
  const host = 'host' in target ? target.host : url
  if (hosts.size >= MAX_CACHED_HOSTS) hosts.clear()
  hosts.set(url, host)
  return host
}
