import { type FindFaults, toErrorDetails } from '../../../foundation/web/validation/validation-errors.ts'
import { ProjectFile } from '../file/project-file.ts'
import type { ImportWarning } from '../import/import-report.ts'

const SECTIONS = ['alert_channels', 'monitors', 'maintenance_windows'] as const
type Section = (typeof SECTIONS)[number]
type Entry = NonNullable<ProjectFile[Section]>[number]

/** Without the entries that the schema refuses; a warning says why for each. Entries are checked one by one, however many. */
export function dropInvalidEntries(
  file: ProjectFile,
  findFaults: FindFaults,
): { file: ProjectFile; warnings: ImportWarning[] } {
  const faulty = new Set<Entry>()
  const warnings: ImportWarning[] = []
  for (const section of SECTIONS) {
    for (const [index, entry] of (file[section] ?? []).entries()) {
      const faults = findFaults(ProjectFile.properties[section].items, entry)
      if (faults.length === 0) continue
      faulty.add(entry)
      const name = 'title' in entry ? entry.title : entry.name
      const problems = toErrorDetails(faults, 'entry').map(({ message }) => message)
      warnings.push({ path: `${section}[${index}]`, message: `${name}: ${problems.join('; ')}; it was left out` })
    }
  }
  const good = <E extends Entry>(entries: E[] | undefined) => entries?.filter(entry => !faulty.has(entry))
  return {
    file: {
      ...file,
      alert_channels: good(file.alert_channels),
      monitors: good(file.monitors),
      maintenance_windows: good(file.maintenance_windows),
    },
    warnings,
  }
}
