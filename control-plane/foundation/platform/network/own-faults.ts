import { getDomain } from 'tldts'
import { FailureSource } from '../../../../shared/checks/result.ts'
import { RESOLVER_UNREACHABLE } from '../../../../shared/egress/failure.ts'
import type { HttpResponse } from '../../../../shared/egress/index.ts'

/** Which part of the installation failed, and not the host (docs/design/deliveries.md#faults-of-picket). */
export type NetworkFault = 'network' | 'resolver'

/** This machine has no route, address, port, file descriptor or memory for the connection. Nothing was sent. */
const LOCAL_CODES = new Set(['network_unreachable', 'local_resources'])
/** The cause may be a router or firewall on either side. */
const UNCLEAR_CODES = new Set(['host_unreachable', 'local_firewall'])

/** An unclear failure is Picket's when receivers of this number of domains fail within the time and none succeeds. */
const MIN_FAILING_DOMAINS = 3
/** Longer than the longest wait of a postponed attempt together with the attempt itself. */
const FAILURE_WINDOW_MS = 120_000

/** A receiver without a route while others answer for so long has an address that this machine never reaches, such as IPv6. */
const MAX_UNREACHED_MS = 10 * 60_000
/** Failures of a host that are further apart are two series. Attempts come once a minute, and any of several processes makes them. */
const UNREACHED_WINDOW_MS = 30 * 60_000
/** How many failing hosts are remembered. */
const MAX_HOSTS = 10_000

/** Whether the detector finds out whose fault this failure is, also with one host. Only its answer counts then. */
export const isKnownToDetector = (code: string): boolean => LOCAL_CODES.has(code)

type RequestEnd = Pick<HttpResponse, 'error' | 'statusCode' | 'timings'>

export type OwnFaultDetector = {
  /**
   * Notes the end of a request to `host`. Returns the fault of Picket that made it fail, or null. `nowMs` is monotonic.
   * `intervalMs`: of the requests to the host, when it may be longer than some minutes.
   */
  inspect(host: string, end: RequestEnd, nowMs: number, intervalMs?: number): NetworkFault | null
}

/** Learns from all requests of a process: one receiver alone cannot show that the resolver is the cause. */
export function createOwnFaultDetector(): OwnFaultDetector {
  const lookups = createSharedFailure()
  const connections = createSharedFailure()
  const unreached = createUnreachedHosts()
  return {
    inspect(host, { error, statusCode, timings }, nowMs, intervalMs = 0) {
      if (isResolved({ error, timings })) lookups.clear()
      if (statusCode !== null) {
        connections.clear()
        unreached.noteAnswer(host, nowMs)
      }
      if (error === null) return null
      if (error.source === FailureSource.INTERNAL && LOCAL_CODES.has(error.code))
        return unreached.mayBeOurFault(host, nowMs, intervalMs) ? 'network' : null
      if (error.message === RESOLVER_UNREACHABLE) return 'resolver'
      // several hosts of one domain may share a broken zone or one network
      const domain = getDomain(host) ?? host
      if (error.source === FailureSource.RESOLVER) return lookups.add(domain, nowMs) ? 'resolver' : null
      if (UNCLEAR_CODES.has(error.code)) return connections.add(domain, nowMs) ? 'network' : null
      return null
    },
  }
}

/** Whether the resolver has answered. A kept connection shows nothing: it has no time of connecting. */
const isResolved = ({ error, timings: { dnsUs, connectUs } }: Pick<RequestEnd, 'error' | 'timings'>): boolean =>
  error?.code === 'dns_not_found' || (dnsUs > 0 && connectUs > 0)

/** Failures of one kind by domain, since the last success. */
function createSharedFailure() {
  const failedAtMs = new Map<string, number>()
  return {
    clear: () => failedAtMs.clear(),
    /** Returns whether enough domains fail. */
    add(domain: string, nowMs: number): boolean {
      for (const [other, atMs] of failedAtMs) if (nowMs - atMs > FAILURE_WINDOW_MS) failedAtMs.delete(other)
      failedAtMs.set(domain, nowMs)
      return failedAtMs.size >= MIN_FAILING_DOMAINS
    },
  }
}

/** Hosts to which this machine has no route, with the times of the first and the last failure since a response. */
function createUnreachedHosts() {
  const failures = new Map<string, { firstMs: number; lastMs: number }>()
  let answeredAtMs = Number.NEGATIVE_INFINITY
  return {
    noteAnswer(host: string, nowMs: number): void {
      failures.delete(host)
      answeredAtMs = nowMs
    },
    /** Notes a failure. Returns false when, for a long time, other receivers have answered and this one was not reached. */
    mayBeOurFault(host: string, nowMs: number, intervalMs: number): boolean {
      const known = failures.get(host)
      const isSameSeries = known !== undefined && nowMs - known.lastMs <= Math.max(UNREACHED_WINDOW_MS, 2 * intervalMs)
      const firstMs = isSameSeries ? known.firstMs : nowMs
      if (failures.size >= MAX_HOSTS) failures.clear()
      failures.set(host, { firstMs, lastMs: nowMs })
      return answeredAtMs - firstMs <= MAX_UNREACHED_MS
    },
  }
}
