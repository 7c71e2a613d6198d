import type { Metrics } from '../platform/metrics.ts'
import type { Desk } from './desk.ts'
import { ownedBy } from './plan.ts'

export function fleetMeters(metrics: Metrics) {
  return {
    probes: metrics.gauge('picket_fleet_probes', 'Probes connected to this process', ['region']),
    assignments: metrics.gauge('picket_fleet_assignments', 'Monitors assigned to probes of this process', ['region']),
    unassigned: metrics.gauge(
      'picket_fleet_unassigned_monitors',
      'Monitors of a region that no live probe of it can check',
      ['region'],
    ),
    epoch: metrics.gauge('picket_fleet_epoch', 'Epoch of the live set', ['region']),
    silence: metrics.gauge('picket_fleet_silence_seconds', 'Longest time since a heartbeat', ['region']),
    monitors: metrics.gauge('picket_fleet_monitors', 'Monitors known, those not checked too'),
    closed: metrics.counter('picket_fleet_links_closed_total', 'Links to probes that ended', ['reason']),
    lost: metrics.counter('picket_fleet_hints_lost_total', 'Hints that a slow probe was not told', ['what']),
  }
}

export type FleetMeters = ReturnType<typeof fleetMeters>

/** Sets the gauges from what the desk has in hand; `atMs` is monotonic. */
export function measure({ book, links, meters }: Desk, atMs: number): void {
  meters.monitors.set(book.roster.entries.size)
  for (const gauge of [meters.probes, meters.assignments, meters.silence]) gauge.reset()
  for (const [region, plan] of book.plans) {
    const mine = [...links.values()].filter(link => link.region === region)
    meters.epoch.set({ region }, plan.epoch)
    meters.unassigned.set({ region }, plan.orphans.size)
    meters.probes.set({ region }, mine.length)
    meters.assignments.set(
      { region },
      mine.reduce((sum, link) => sum + ownedBy(plan, link.probeId).size, 0),
    )
    meters.silence.set({ region }, Math.max(0, ...mine.map(link => atMs - link.lastHeardMs)) / 1_000)
  }
}
