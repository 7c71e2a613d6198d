import { isDeepStrictEqual } from 'node:util'
import { changeSource, createSource } from '../data-sources/actions.ts'
import type { StoredField, StoredSource } from '../data-sources/types.ts'
import type { SourceEntry } from './document.ts'
import { concise, differences, type FieldChange, newFields } from './fields.ts'
import { attempt, noteUpdate } from './ledger.ts'
import { pairs, sameText, unpaired } from './pairs.ts'
import type { Run } from './run.ts'
import {
  FIELD_KEYS,
  fieldInputOf,
  newSourceFields,
  SOURCE_DEFAULTS,
  showSource,
  sourceBodyOf,
  sourceFieldsAfter,
  storedFieldEntry,
  storedSourceFields,
} from './source-fields.ts'

const RESOURCE = 'data_source'

/** The data sources of the file. Answers those that it does not name. */
export async function importSources(run: Run): Promise<StoredSource[]> {
  const { file, state, ledger } = run
  const entries = file.data_sources ?? []
  const stored = state.sources.map(({ source }) => source)
  const found = pairs(entries, stored, sameText('name'))
  for (const [index, entry] of entries.entries()) {
    const source = found[index] ?? null
    await attempt(ledger, `data_sources[${index}]`, () => (source ? update(run, entry, source) : add(run, entry)))
  }
  return file.data_sources ? unpaired(stored, found) : []
}

async function add({ tools, caller, ledger, now }: Run, entry: SourceEntry): Promise<void> {
  const fields = (entry.fields ?? []).map(field => fieldInputOf(field, null))
  await createSource(tools, caller, { ...sourceBodyOf(entry), fields }, now)
  const said = {
    ...concise(showSource(newSourceFields(entry)), SOURCE_DEFAULTS),
    fields: withoutIds(entry.fields ?? []),
  }
  ledger.changes.push({ action: 'create', resource: RESOURCE, key: entry.name, id: null, fields: newFields(said) })
}

async function update(run: Run, entry: SourceEntry, stored: StoredSource): Promise<void> {
  const { tools, caller, state, ledger, now } = run
  const before = storedSourceFields(stored, tools.secrets)
  const after = sourceFieldsAfter(entry, stored, tools.secrets)
  const own = differences(before, after, showSource)
  const storedFields = state.sources.find(({ source }) => source === stored)?.fields ?? []
  const { change, inputs } = fieldsAfter(run, entry, storedFields)
  const fields = { ...own, ...change }
  if (!noteUpdate(ledger, { resource: RESOURCE, key: entry.name, id: stored.id, fields })) return
  // what was masked stays masked, for the action to judge where it leads
  const cleared = Object.fromEntries(Object.keys(after).map(key => [key, null]))
  const body = { ...cleared, ...SOURCE_DEFAULTS, ...sourceBodyOf(entry) }
  await changeSource(tools, caller, stored.id, { ...body, ...(change.fields && { fields: inputs }) }, now)
}

/** The fields of the file, then those that it does not name: they go only where all such things do. */
function fieldsAfter({ ledger, isPruning }: Run, { fields: entries }: SourceEntry, stored: StoredField[]) {
  if (entries === undefined) return { change: {} as Record<string, FieldChange>, inputs: [] }
  const found = pairs(entries, stored, ...FIELD_KEYS)
  const others = unpaired(stored, found)
  if (!isPruning) ledger.extra += others.length
  const kept = isPruning ? [] : others.map(storedFieldEntry)
  const wanted = [...entries, ...kept]
  const inputs = wanted.map((entry, index) =>
    fieldInputOf(entry, found[index] ?? others[index - entries.length] ?? null),
  )
  const before = stored.map(field => fieldInputOf(storedFieldEntry(field), field))
  const isSame = isDeepStrictEqual(before, inputs)
  const change: Record<string, FieldChange> = isSame
    ? {}
    : { fields: { from: withoutIds(stored.map(storedFieldEntry)), to: withoutIds(wanted) } }
  return { change, inputs }
}

const withoutIds = (fields: { id?: string }[]) => fields.map(({ id, ...field }) => field)
