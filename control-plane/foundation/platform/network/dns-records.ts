import type { DnsType } from '../../../../shared/checks/dns-types.ts'
import { createDeadline, queryDns } from '../../../../shared/egress/index.ts'
import type { Egress } from '../../../../shared/egress/types.ts'

/** The answer of the system's resolvers. `fault`: why there is no conclusive answer; null when there is one. */
type DnsLookup = { values: string[]; fault: string | null }

const CONCLUSIVE_RCODES = ['NOERROR', 'NXDOMAIN']

/** The records of one type at a name itself; aliases are not followed. Never rejects. */
export async function resolveRecords(
  name: string,
  type: DnsType,
  timeoutMs: number,
  egress: Egress,
): Promise<DnsLookup> {
  const deadline = createDeadline(timeoutMs)
  try {
    const { error, replies } = await queryDns({ name, types: [type], server: null }, deadline.signal, egress)
    const [reply] = replies
    if (error || !reply) return { values: [], fault: error?.message ?? `no resolver answered for ${name}` }
    if (!CONCLUSIVE_RCODES.includes(reply.rcode))
      return { values: [], fault: `${reply.rcode} for ${type} records of ${name}` }
    const own = reply.records.filter(record => record.type === type)
    return { values: own.map(({ value }) => value), fault: null }
  } finally {
    deadline.clear()
  }
}
