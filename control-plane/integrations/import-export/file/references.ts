import { type ErrorDetail, validationError } from '../../../foundation/web/server/errors.ts'

/** A record that a file can refer to. `id` is null when it was refused; entries that refer to it are skipped. */
export type ReferenceTarget = { name: string; id: string | null; writtenId?: string }

/** Resolves a reference to an id. Throws 400 when it matches nothing or several records. */
export type ResolveReference = (reference: string, path: string) => string | null

type Index = { byName: Map<string, ReferenceTarget[]>; byId: Map<string, ReferenceTarget> }

function buildIndex(targets: readonly ReferenceTarget[]): Index {
  const index: Index = { byName: new Map(), byId: new Map() }
  for (const target of targets) {
    const sharing = index.byName.get(target.name)
    if (sharing) sharing.push(target)
    else index.byName.set(target.name, [target])
    for (const id of [target.id, target.writtenId?.toLowerCase()]) {
      if (id && !index.byId.has(id)) index.byId.set(id, target)
    }
  }
  return index
}

/** Finds a record by its name if no other has it, else by its id. */
function findIn({ byName, byId }: Index, reference: string): ReferenceTarget | undefined {
  const [first, ...others] = byName.get(reference) ?? []
  return first && others.length === 0 ? first : byId.get(reference.toLowerCase())
}

/**
 * Creates a resolver of references, which are names, or ids when several records have the name. `noun` is used in
 * messages. Entries of the file (`named`) have priority over records that are only in the project (`others`).
 */
export function createReferenceResolver(
  noun: string,
  named: readonly ReferenceTarget[],
  others: readonly ReferenceTarget[],
): ResolveReference {
  const ofFile = buildIndex(named)
  const ofProject = buildIndex(others)
  return (reference, path) => {
    const source = ofFile.byName.has(reference) ? ofFile : ofProject
    const found = findIn(ofFile, reference) ?? findIn(source, reference)
    if (found) return found.id
    const count = source.byName.get(reference)?.length ?? 0
    const problem =
      count === 0 ? `does not name a known ${noun}` : `is the name of ${count} ${noun}s; use the id of one of them`
    throw validationError([{ path, message: `${path} "${reference}" ${problem}` }])
  }
}

/** Adds the name of the entry to each message: `monitors[17].url must be a string (Shop)`. */
export const addEntryNames = (details: readonly ErrorDetail[], file: unknown): ErrorDetail[] =>
  details.map(({ path, message }) => {
    const name = findEntryName(path, file)
    return { path, message: name === null ? message : `${message} (${name})` }
  })

/** Replaces the place in the file at the begin of a message: `monitors[17]: blocked` becomes `Shop: blocked`. */
export function beginWithName(message: string, file: unknown): string {
  const name = findEntryName(message, file)
  return name === null ? message : message.replace(/^\w+\[\d+\](: |\.)?/, () => `${name}: `)
}

/** The name of the entry that a path is about, without what exceeds 100 characters. */
function findEntryName(path: string, file: unknown): string | null {
  const sections = (file ?? {}) as Record<string, ({ name?: unknown; title?: unknown } | null)[]>
  const [, section = '', index = ''] = /^(\w+)\[(\d+)\]/.exec(path) ?? []
  const entry = sections[section]?.[Number(index)]
  const name = entry?.name ?? entry?.title
  return typeof name === 'string' && name !== '' ? name.slice(0, 100) : null
}

/** Returns the reference to each record: its name if it is unique, else its id. */
export function buildReferences(records: readonly { id: string; name: string }[]): ReadonlyMap<string, string> {
  const counts = new Map<string, number>()
  for (const { name } of records) counts.set(name, (counts.get(name) ?? 0) + 1)
  return new Map(records.map(({ id, name }) => [id, counts.get(name) === 1 ? name : id]))
}
