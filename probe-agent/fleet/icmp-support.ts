import type { Icmp } from '../../shared/egress/index.ts'
import type { Log } from '../../shared/process/log.ts'

/** Logs how this probe sends pings. Returns false when it cannot; its ping checks are then `icmp_unavailable`. */
export function detectIcmpSupport(icmp: Icmp, log: Log): boolean {
  const [ipv4, ipv6] = [icmp(4).kind, icmp(6).kind]
  const isNone = ipv4 === 'none' && ipv6 === 'none'
  const sentence = `icmp: ${ipv4}${ipv6 === ipv4 ? '' : `, for IPv6 ${ipv6}`}`
  if (isNone) log.warn({ event: 'icmp', ipv4, ipv6 }, `${sentence}; set net.ipv4.ping_group_range or install ping`)
  else log.info({ event: 'icmp', ipv4, ipv6 }, sentence)
  return !isNone
}
