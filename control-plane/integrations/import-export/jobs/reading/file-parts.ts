import type { ConvertedFile } from '../../converters/foreign-file.ts'
import type { ProjectFile } from '../../file/project-file.ts'

/** A list of entries of one section, or another section, as JSON. Each takes milliseconds to parse. */
export type FilePart = string

const ENTRIES_PER_PART = 100
/** Not a section of files. */
const WARNINGS = 'conversion_warnings'

/** Splits a file with its warnings into parts, so that no process has to parse a long file at once. */
export function splitFile({ file, warnings }: ConvertedFile): FilePart[] {
  return Object.entries({ ...file, [WARNINGS]: warnings }).flatMap(([section, value]) => {
    if (value === undefined) return []
    if (!Array.isArray(value) || value.length === 0) return [JSON.stringify([section, value])]
    const count = Math.ceil(value.length / ENTRIES_PER_PART)
    return Array.from({ length: count }, (_, i) =>
      JSON.stringify([section, value.slice(i * ENTRIES_PER_PART, (i + 1) * ENTRIES_PER_PART)]),
    )
  })
}

/** Joins the parts of `splitFile`, in their order. */
export async function joinFile(parts: readonly FilePart[], pause: () => Promise<void>): Promise<ConvertedFile> {
  const file: Record<string, unknown> = {}
  for (const part of parts) {
    const [section, value] = JSON.parse(part) as [string, unknown]
    const before = file[section]
    if (Array.isArray(before) && Array.isArray(value)) before.push(...value)
    else file[section] = value
    await pause()
  }
  const { [WARNINGS]: warnings, ...sections } = file
  return { file: sections, warnings } as unknown as ConvertedFile
}

/** The number of entries of all sections. */
export const countEntries = (file: ProjectFile): number =>
  Object.values(file).reduce<number>((sum, value) => sum + (Array.isArray(value) ? value.length : 0), 0)
