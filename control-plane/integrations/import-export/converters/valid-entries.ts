import { type FindFaults, toErrorDetails } from '../../../foundation/web/validation/validation-errors.ts'
import { ProjectFile } from '../file/project-file.ts'
import { type ImportWarning, LEFT_OUT } from '../import/import-report.ts'

const SECTIONS = ['alert_channels', 'monitors', 'maintenance_windows'] as const
type Section = (typeof SECTIONS)[number]
type Entry = NonNullable<ProjectFile[Section]>[number]

/** Removes entries that the schema refuses, with a warning for each. Checks every entry of a file of any length. */
export function dropInvalidEntries(
  file: ProjectFile,
  findFaults: FindFaults,
): { file: ProjectFile; warnings: ImportWarning[] } {
  const invalid = new Set<Entry>()
  const warnings: ImportWarning[] = []
  for (const section of SECTIONS) {
    for (const [index, entry] of (file[section] ?? []).entries()) {
      const faults = findFaults(ProjectFile.properties[section].items, entry)
      if (faults.length === 0) continue
      invalid.add(entry)
      const name = 'title' in entry ? entry.title : entry.name
      const problems = toErrorDetails(faults, 'entry').map(({ message }) => message)
      warnings.push({ path: `${section}[${index}]`, message: `${name}: ${problems.join('; ')}${LEFT_OUT}` })
    }
  }
  const onlyValid = <E extends Entry>(entries: E[] | undefined) => entries?.filter(entry => !invalid.has(entry))
  return {
    file: {
      ...file,
      alert_channels: onlyValid(file.alert_channels),
      monitors: onlyValid(file.monitors),
      maintenance_windows: onlyValid(file.maintenance_windows),
    },
    warnings,
  }
}
