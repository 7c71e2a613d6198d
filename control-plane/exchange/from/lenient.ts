import { detailsOf, type Fault } from '../../web/validation.ts'
import type { ProjectFile } from '../document.ts'
import type { Warning } from '../ledger.ts'

const PLACE = /^\/(alert_channels|monitors|maintenance_windows)\/(\d+)/
type Section = 'alert_channels' | 'monitors' | 'maintenance_windows'

/** Without the entries that a schema finds fault with, each of which is told. */
export function withoutFaulty(file: ProjectFile, faults: Fault[]): { file: ProjectFile; warnings: Warning[] } {
  const faulty = new Map<string, Fault[]>()
  for (const fault of faults) {
    const place = PLACE.exec(fault.instancePath)?.[0]
    if (place !== undefined) faulty.set(place, [...(faulty.get(place) ?? []), fault])
  }
  const keep = (section: Section) => file[section]?.filter((_, index) => !faulty.has(`/${section}/${index}`))
  const warnings = [...faulty].map(([place, faults]) => {
    const [, section, index] = PLACE.exec(place)!
    const entry = file[section as Section]![Number(index)]!
    const name = 'title' in entry ? entry.title : entry.name
    const problems = detailsOf(faults, 'entry').map(({ message }) => message.replace(/^\w+\[\d+\]\.?/, ''))
    return { path: `${section}[${index}]`, message: `${name}: ${problems.join('; ')}; it was left out` }
  })
  return {
    file: {
      ...file,
      alert_channels: keep('alert_channels') as ProjectFile['alert_channels'],
      monitors: keep('monitors') as ProjectFile['monitors'],
      maintenance_windows: keep('maintenance_windows') as ProjectFile['maintenance_windows'],
    },
    warnings,
  }
}
