import { type ErrorDetail, validationError } from '../../../foundation/web/server/errors.ts'

/** A record that a file can refer to. `id` is null when it was refused; entries that refer to it are skipped. */
export type ReferenceTarget = { name: string; id: string | null; writtenId?: string }

/** Resolves a reference to an id. Throws 400 when it matches nothing or several records. */
export type ResolveReference = (reference: string, path: string) => string | null

/**
 * Creates a resolver of references, which are names, or ids when several records have the name. `noun` is used in
 * messages. Entries of the file have priority over other records of the project.
 */
export function createReferenceResolver(noun: string, named: readonly ReferenceTarget[]): ResolveReference {
  const byName = new Map<string, ReferenceTarget[]>()
  const byId = new Map<string, ReferenceTarget>()
  for (const target of named) {
    byName.set(target.name, [...(byName.get(target.name) ?? []), target])
    for (const id of [target.id, target.writtenId?.toLowerCase()]) if (id && !byId.has(id)) byId.set(id, target)
  }
  return (reference, path) => {
    const several = byName.get(reference) ?? []
    if (several.length === 1) return several[0]!.id
    const found = byId.get(reference.toLowerCase())
    if (found) return found.id
    const problem =
      several.length === 0
        ? `does not name a known ${noun}`
        : `is the name of ${several.length} ${noun}s; use the id of one of them`
    throw validationError([{ path, message: `${path} "${reference}" ${problem}` }])
  }
}

/** Adds the name of the entry to each message: `monitors[17].url must be a string (Shop)`. */
export function addEntryNames(details: readonly ErrorDetail[], file: unknown): ErrorDetail[] {
  const sections = (file ?? {}) as Record<string, ({ name?: unknown; title?: unknown } | null)[]>
  return details.map(({ path, message }) => {
    const [, section = '', index = ''] = /^(\w+)\[(\d+)\]/.exec(path) ?? []
    const entry = sections[section]?.[Number(index)]
    const name = entry?.name ?? entry?.title
    return { path, message: typeof name === 'string' && name !== '' ? `${message} (${name.slice(0, 100)})` : message }
  })
}

/** Returns the reference to each record: its name if it is unique, else its id. */
export function buildReferences(records: readonly { id: string; name: string }[]): ReadonlyMap<string, string> {
  const counts = new Map<string, number>()
  for (const { name } of records) counts.set(name, (counts.get(name) ?? 0) + 1)
  return new Map(records.map(({ id, name }) => [id, counts.get(name) === 1 ? name : id]))
}
