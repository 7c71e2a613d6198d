import type { DnsType } from '../../../../shared/checks/dns-types.ts'
import { createDeadline, queryDns } from '../../../../shared/egress/index.ts'
import type { Egress } from '../../../../shared/egress/types.ts'

/** What the system's resolvers say; `fault` tells who did not answer, null when the answer counts. */
export type DnsLookup = { values: string[]; fault: string | null }

const CONCLUSIVE_RCODES = ['NOERROR', 'NXDOMAIN']

/** The records of one type that stand at a name itself, aliases not followed. Never rejects. */
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
    if (error || !reply) return { values: [], fault: error?.message ?? `nobody answered for ${name}` }
    if (!CONCLUSIVE_RCODES.includes(reply.rcode))
      return { values: [], fault: `${reply.rcode} for ${type} records of ${name}` }
    const own = reply.records.filter(record => record.type === type)
    return { values: own.map(({ value }) => value), fault: null }
  } finally {
    deadline.clear()
  }
}
