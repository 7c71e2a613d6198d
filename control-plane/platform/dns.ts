import type { DnsType } from '../../shared/dns-types.ts'
import { askDns, createDeadline, type Egress } from '../../shared/egress/index.ts'

/** What the system's resolvers say; `fault` tells who did not answer, null when the answer counts. */
export type Found = { values: string[]; fault: string | null }

const NO_SUCH = ['NOERROR', 'NXDOMAIN']

/** The records of one type that stand at a name itself, aliases not followed. Never rejects. */
export async function resolveRecords(name: string, type: DnsType, timeoutMs: number, egress: Egress): Promise<Found> {
  const deadline = createDeadline(timeoutMs)
  try {
    const { error, replies } = await askDns({ name, types: [type], server: null }, deadline.signal, egress)
    const [reply] = replies
    if (error || !reply) return { values: [], fault: error?.message ?? `nobody answered for ${name}` }
    if (!NO_SUCH.includes(reply.rcode)) return { values: [], fault: `${reply.rcode} for ${type} records of ${name}` }
    const own = reply.records.filter(record => record.type === type)
    return { values: own.map(({ value }) => value), fault: null }
  } finally {
    deadline.clear()
  }
}
