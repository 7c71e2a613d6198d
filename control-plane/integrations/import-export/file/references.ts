import { type ErrorDetail, validationError } from '../../../foundation/web/server/errors.ts'

/** Something that a file may refer to. `id` null: it was refused, so what refers to it waits for that. */
export type ReferenceTarget = { name: string; id: string | null; writtenId?: string }

/** Finds what a reference means. Throws 400 when that is nothing, or several. */
export type ResolveReference = (reference: string, path: string) => string | null

/**
 * References are names; where several have one name, an id. `noun`: what they name, for the sentence. What the file holds
 * comes before what is in the project only.
 */
export function createReferenceResolver(noun: string, named: readonly ReferenceTarget[]): ResolveReference {
  const byName = new Map<string, ReferenceTarget[]>()
  const byId = new Map<string, ReferenceTarget>()
  for (const one of named) {
    byName.set(one.name, [...(byName.get(one.name) ?? []), one])
    for (const id of [one.id, one.writtenId?.toLowerCase()]) if (id && !byId.has(id)) byId.set(id, one)
  }
  return (reference, path) => {
    const several = byName.get(reference) ?? []
    if (several.length === 1) return several[0]!.id
    const found = byId.get(reference.toLowerCase())
    if (found) return found.id
    const what =
      several.length === 0
        ? `is no ${noun} of the file or the project`
        : `is the name of ${several.length} of the ${noun}s; write the id of one of them`
    throw validationError([{ path, message: `${path} "${reference}" ${what}` }])
  }
}

/** Each sentence with what people call the entry that its place is in: `monitors[17].url must be a string (Shop)`. */
export function addEntryNames(details: readonly ErrorDetail[], file: unknown): ErrorDetail[] {
  const sections = (file ?? {}) as Record<string, ({ name?: unknown; title?: unknown } | null)[]>
  return details.map(({ path, message }) => {
    const [, section = '', index = ''] = /^(\w+)\[(\d+)\]/.exec(path) ?? []
    const entry = sections[section]?.[Number(index)]
    const name = entry?.name ?? entry?.title
    return { path, message: typeof name === 'string' && name !== '' ? `${message} (${name.slice(0, 100)})` : message }
  })
}

/** How a file refers to each of some records: by name where that says which, else by id. */
export function buildReferences(records: readonly { id: string; name: string }[]): ReadonlyMap<string, string> {
  const counts = new Map<string, number>()
  for (const { name } of records) counts.set(name, (counts.get(name) ?? 0) + 1)
  return new Map(records.map(({ id, name }) => [id, counts.get(name) === 1 ? name : id]))
}
