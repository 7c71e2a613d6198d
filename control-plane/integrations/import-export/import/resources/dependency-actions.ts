import { toStoredOverrides } from '../../../../alerting/routing/rules/dependency-override.ts'
import { conflict, notFound, validationError } from '../../../../foundation/web/server/errors.ts'
import { findCatalogEntry } from '../../../vendors/dependencies/catalog.ts'
import { changeDependency, createDependency } from '../../../vendors/dependencies/dependency-actions.ts'
import { trackCatalogEntry, trackOwnAddress } from '../../../vendors/dependencies/tracked-vendor.ts'
import type { Dependency } from '../../../vendors/types.ts'
import {
  getDependencyDefaults,
  getDependencyName,
  OVERRIDE_DEFAULTS,
  toDependencyBody,
  toDependencyFields,
  toOverrideFields,
} from '../../fields/dependency-fields.ts'
import { describeNewFields, diffFields, omitDefaults, type RecordFields } from '../../fields/fields.ts'
import type { DependencyEntry } from '../../file/project-file.ts'
import type { ResolveReference } from '../../file/references.ts'
import { attempt, recordUpdate } from '../import-report.ts'
import type { ImportRun } from '../import-run.ts'
import { listUnmatched, type MatchKey, matchEntries } from '../matching.ts'

const RESOURCE = 'dependency'
const BY_NAME: MatchKey<DependencyEntry, Dependency> = { ofEntry: getDependencyName, ofRow: ({ name }) => name }

/** Imports dependencies. Returns those that the file does not name. */
export async function importDependencies(run: ImportRun, findChannel: ResolveReference): Promise<Dependency[]> {
  const { file, state, report } = run
  const entries = file.dependencies ?? []
  const found = matchEntries(entries, state.dependencies, BY_NAME)
  for (const [index, entry] of entries.entries()) {
    await attempt(report, `dependencies[${index}]`, async () => {
      const channels = entry.overrides?.map(({ channel }, i) => findChannel(channel, `overrides[${i}].channel`))
      if (channels?.includes(null)) return
      await importDependency(run, entry, (channels ?? null) as string[] | null, found[index] ?? null)
    })
  }
  return file.dependencies ? listUnmatched(state.dependencies, found) : []
}

/** `channels`: the resolved channels of its overrides; null: the file has no overrides. */
async function importDependency(
  run: ImportRun,
  entry: DependencyEntry,
  channels: string[] | null,
  stored: Dependency | null,
) {
  const { tools, caller, state, report, now } = run
  const key = getDependencyName(entry)
  const after = buildFields(run, entry)
  const overrides =
    channels && (entry.overrides ?? []).map(({ channel, ...on }, i) => ({ alert_channel_id: channels[i]!, ...on }))
  const overrideFields = overrides && toOverrideFields(toStoredOverrides('', overrides))
  if (stored === null) {
    const body = { ...toDependencyBody(entry), ...(overrides && { overrides }) }
    await createDependency(tools, caller.projectId, body, now)
    const created = omitDefaults({ ...after, overrides: entry.overrides }, getDependencyDefaults(entry.slug))
    report.changes.push({ action: 'create', resource: RESOURCE, key, id: null, fields: describeNewFields(created) })
    return
  }
  if ((entry.slug ?? null) !== stored.slug) {
    throw conflict('the slug of a dependency cannot be changed; create another dependency')
  }
  const before = { ...toDependencyFields(stored), overrides: listStoredOverrides(run, stored) }
  const wanted = { ...after, overrides: overrideFields ?? before.overrides }
  const show = createDisplay(state.names.channels)
  const fields = diffFields(before, wanted, show)
  if (!recordUpdate(report, { resource: RESOURCE, key, id: stored.id, fields })) return
  const { slug, ...changed } = Object.fromEntries(Object.entries(after).filter(([name]) => name in fields))
  await changeDependency(
    tools,
    caller.projectId,
    stored.id,
    { ...changed, ...(fields.overrides && overrides && { overrides }) },
    now,
  )
}

/** Builds the fields of a dependency. Throws 400, and 404 for an unknown slug. */
function buildFields({ tools }: ImportRun, entry: DependencyEntry): RecordFields {
  const body = toDependencyBody(entry)
  const listed = entry.slug === undefined ? null : findCatalogEntry(entry.slug)
  if (entry.slug !== undefined && listed === null) throw notFound('catalog vendor')
  const { tracked, problems } = listed ? trackCatalogEntry(listed, body) : trackOwnAddress(body, tools.checkLiteral)
  if (problems.length > 0) throw validationError(problems)
  return toDependencyFields(tracked)
}

const listStoredOverrides = ({ state }: ImportRun, { id }: Dependency) =>
  toOverrideFields(state.overrides.filter(({ dependencyId }) => dependencyId === id))

/** Replaces ids of channels by their references. */
const createDisplay =
  (names: ReadonlyMap<string, string>) =>
  (fields: RecordFields): RecordFields => ({
    ...fields,
    overrides: (fields.overrides as RecordFields[]).map(({ channel, ...on }) => ({
      channel: names.get(channel as string) ?? channel,
      ...omitDefaults(on, OVERRIDE_DEFAULTS),
    })),
  })
