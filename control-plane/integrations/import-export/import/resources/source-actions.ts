import { isDeepStrictEqual } from 'node:util'
import { changeSource, createSource } from '../../../data-sources/configuration/source-actions.ts'
import type { StoredField, StoredSource } from '../../../data-sources/types.ts'
import { describeNewFields, diffFields, type FieldChange, omitDefaults } from '../../fields/fields.ts'
import {
  FIELD_KEYS,
  isPausedAfter,
  maskSourceFields,
  mergeSourceFields,
  SOURCE_DEFAULTS,
  toFieldEntry,
  toFieldInput,
  toNewSourceFields,
  toSourceBody,
  toStoredSourceFields,
} from '../../fields/source-fields.ts'
import type { SourceEntry } from '../../file/project-file.ts'
import { attempt, recordUpdate } from '../import-report.ts'
import type { ImportRun } from '../import-run.ts'
import { listUnmatched, matchBy, matchEntries } from '../matching.ts'

const RESOURCE = 'data_source'

/** Imports data sources. Returns those that the file does not name. */
export async function importSources(run: ImportRun): Promise<StoredSource[]> {
  const { file, state, report } = run
  const entries = file.data_sources ?? []
  const stored = state.sources.map(({ source }) => source)
  const found = matchEntries(entries, stored, matchBy('name'))
  for (const [index, entry] of entries.entries()) {
    const source = found[index] ?? null
    await attempt(report, `data_sources[${index}]`, () => (source ? update(run, entry, source) : add(run, entry)))
  }
  return file.data_sources ? listUnmatched(stored, found) : []
}

async function add({ tools, caller, report, now }: ImportRun, entry: SourceEntry): Promise<void> {
  const fields = (entry.fields ?? []).map(field => toFieldInput(field, null))
  await createSource(tools, caller, { ...toSourceBody(entry), fields }, now)
  const created = {
    ...omitDefaults(maskSourceFields(toNewSourceFields(entry)), SOURCE_DEFAULTS),
    fields: omitIds(entry.fields ?? []),
  }
  report.changes.push({
    action: 'create',
    resource: RESOURCE,
    key: entry.name,
    id: null,
    fields: describeNewFields(created),
  })
}

async function update(run: ImportRun, entry: SourceEntry, stored: StoredSource): Promise<void> {
  const { tools, caller, state, report, now } = run
  const before = toStoredSourceFields(stored, tools.secrets)
  const after = mergeSourceFields(entry, stored, tools.secrets)
  const own = diffFields(before, after, maskSourceFields)
  const storedFields = state.sources.find(({ source }) => source === stored)?.fields ?? []
  const { change, inputs, deleted } = diffSourceFields(run, entry, storedFields)
  const fields = { ...own, ...change }
  if (!recordUpdate(report, { resource: RESOURCE, key: entry.name, id: stored.id, fields })) return
  // masks are kept, so that the action checks where secrets would go
  const cleared = Object.fromEntries(Object.keys(after).map(key => [key, null]))
  const body = { ...cleared, ...SOURCE_DEFAULTS, ...toSourceBody(entry), is_paused: isPausedAfter(entry, stored) }
  await changeSource(tools, caller, stored.id, { ...body, ...(change.fields && { fields: inputs }) }, now)
  // listed one by one, because the apply of a plan deletes only what the plan lists
  for (const { id, nameTemplate } of deleted) {
    const key = `${entry.name} / ${nameTemplate}`
    report.changes.push({ action: 'delete', resource: 'data_source_field', key, id, fields: {} })
  }
}

/** Compares fields: those of the file, then those that it does not name, which are deleted only when pruning. */
function diffSourceFields({ report, isPruning }: ImportRun, { fields: entries }: SourceEntry, stored: StoredField[]) {
  if (entries === undefined)
    return { change: {} as Record<string, FieldChange>, inputs: [], deleted: [] as StoredField[] }
  const found = matchEntries(entries, stored, ...FIELD_KEYS)
  const others = listUnmatched(stored, found)
  if (!isPruning) report.extra += others.length
  const kept = isPruning ? [] : others.map(toFieldEntry)
  const wanted = [...entries, ...kept]
  const inputs = wanted.map((entry, index) =>
    toFieldInput(entry, found[index] ?? others[index - entries.length] ?? null),
  )
  const before = stored.map(field => toFieldInput(toFieldEntry(field), field))
  const isSame = isDeepStrictEqual(before, inputs)
  const change: Record<string, FieldChange> = isSame
    ? {}
    : { fields: { from: omitIds(stored.map(toFieldEntry)), to: omitIds(wanted) } }
  return { change, inputs, deleted: isPruning ? others : [] }
}

const omitIds = (fields: { id?: string }[]) => fields.map(({ id, ...field }) => field)
