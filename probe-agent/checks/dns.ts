import { listDnsTypes } from '../../shared/assertions/dns-record.ts'
import type { CheckFunction, CheckSpec } from '../../shared/checks/check.ts'
import type { DnsType } from '../../shared/checks/dns-types.ts'
import type { DnsTarget } from '../../shared/checks/dns-uri.ts'
import { type CheckError, type DnsAnswer, type DnsRecord, FailureSource } from '../../shared/checks/result.ts'
import { parseDnsTarget } from '../../shared/checks/target.ts'
import { type DnsQueryResult, type DnsReply, queryDns } from '../../shared/egress/index.ts'

type Plan = Pick<DnsTarget, 'name' | 'server'> & {
  types: readonly DnsType[]
  /** the monitor names record types: every one has to be answered with NOERROR, not only one */
  isExplicit: boolean
  /** `dns_record` assertions replace the rule that a record has to exist */
  hasRecordAssertion: boolean
}

const plans = new WeakMap<CheckSpec, Plan>()

/** Queries the records of a name. Succeeds when there is a record, or when the `dns_record` assertions hold. */
export const checkDns: CheckFunction = async (spec, signal, egress) => {
  const plan = buildPlan(spec)
  const seen = await queryDns({ ...plan, isOneEnough: !plan.isExplicit }, signal, egress)
  const { timings, totalUs, resolvedIp } = seen
  const dns = toDnsAnswer(seen)
  const error = seen.error ?? errorIn(plan, seen.replies, dns)
  return { error, timings, totalUs, resolvedIp, statusCode: null, headers: null, body: null, certificate: null, dns }
}

function buildPlan(spec: CheckSpec): Plan {
  const known = plans.get(spec)
  if (known) return known
  const target = parseDnsTarget(spec.url)
  if ('error' in target) throw new Error(target.error)
  const named = new Set([...(target.type ? [target.type] : []), ...listDnsTypes(spec.assertions)])
  const plan: Plan = {
    name: target.name,
    server: target.server,
    types: named.size > 0 ? [...named] : ['A', 'AAAA'],
    isExplicit: named.size > 0,
    hasRecordAssertion: spec.assertions.some(({ type }) => type === 'dns_record'),
  }
  plans.set(spec, plan)
  return plan
}

/** Merges all replies: the first rcode that is not NOERROR, and every record once. */
function toDnsAnswer({ replies, server }: DnsQueryResult): DnsAnswer | null {
  if (replies.length === 0) return null
  const rcode = replies.find(reply => reply.rcode !== 'NOERROR')?.rcode ?? 'NOERROR'
  const records = new Map<string, DnsRecord>()
  for (const record of replies.flatMap(reply => reply.records)) {
    records.set(`${record.type} ${record.name} ${record.value}`, record)
  }
  return { rcode, server, records: [...records.values()] }
}

function errorIn(plan: Plan, replies: DnsReply[], answer: DnsAnswer | null): CheckError | null {
  const bad = replies.find(({ rcode }) => rcode !== 'NOERROR')
  const isFound = answer?.records.some(({ type }) => plan.types.some(asked => asked === type)) ?? false
  // Some servers answer A or AAAA with an error; the name exists when the other type has a record.
  if (bad && (plan.isExplicit || !isFound)) return rcodeError(plan, bad)
  if (isFound || plan.hasRecordAssertion) return null
  return {
    source: FailureSource.TARGET,
    code: 'dns_no_records',
    message: `${plan.name} has no ${plan.types.join(' or ')} record`,
  }
}

const RCODE_MESSAGES: Record<string, string> = {
  NXDOMAIN: 'the name does not exist',
  SERVFAIL: 'the server failed to resolve the name',
  REFUSED: 'the server refuses the query',
  FORMERR: 'the server reports a malformed query',
  NOTIMP: 'the server does not support this query',
}

/** NXDOMAIN is the target's fault. Other errors of the probe's own resolver have the source `resolver`. */
function rcodeError({ server }: Plan, { rcode, type }: DnsReply): CheckError {
  const isTargets = server !== null || rcode === 'NXDOMAIN'
  return {
    source: isTargets ? FailureSource.TARGET : FailureSource.RESOLVER,
    code: `dns_${rcode.toLowerCase()}`,
    message: `query for ${type}: ${RCODE_MESSAGES[rcode] ?? 'the server answered with an error'} (${rcode})`,
  }
}
