import { overridesOf } from '../alerts/override.ts'
import { changeDependency, createDependency } from '../vendors/actions.ts'
import { catalogEntry } from '../vendors/catalog.ts'
import { trackedOfBody, trackedOfEntry } from '../vendors/tracked.ts'
import type { Dependency } from '../vendors/types.ts'
import { conflict, notFound, validationError } from '../web/errors.ts'
import {
  dependencyBodyOf,
  dependencyDefaults,
  dependencyNameOf,
  OVERRIDE_DEFAULTS,
  overrideFields,
  trackedFields,
} from './dependency-fields.ts'
import type { DependencyEntry } from './document.ts'
import { concise, differences, type Fields, newFields } from './fields.ts'
import { attempt, noteUpdate } from './ledger.ts'
import type { Find } from './names.ts'
import { type Key, pairs, unpaired } from './pairs.ts'
import type { Run } from './run.ts'

const RESOURCE = 'dependency'
const BY_NAME: Key<DependencyEntry, Dependency> = { ofEntry: dependencyNameOf, ofRow: ({ name }) => name }

/** The vendors that the file tracks. Answers those that it does not name. */
export async function importDependencies(run: Run, findChannel: Find): Promise<Dependency[]> {
  const { file, state, ledger } = run
  const entries = file.dependencies ?? []
  const found = pairs(entries, state.dependencies, BY_NAME)
  for (const [index, entry] of entries.entries()) {
    await attempt(ledger, `dependencies[${index}]`, async () => {
      const channels = entry.overrides?.map(({ channel }, i) => findChannel(channel, `overrides[${i}].channel`))
      if (channels?.includes(null)) return
      await importDependency(run, entry, (channels ?? null) as string[] | null, found[index] ?? null)
    })
  }
  return file.dependencies ? unpaired(state.dependencies, found) : []
}

/** `channels`: what its overrides refer to; null: the file says nothing of them. */
async function importDependency(
  run: Run,
  entry: DependencyEntry,
  channels: string[] | null,
  stored: Dependency | null,
) {
  const { tools, caller, state, ledger, now } = run
  const key = dependencyNameOf(entry)
  const after = fieldsAfter(run, entry)
  const overrides =
    channels && (entry.overrides ?? []).map(({ channel, ...on }, i) => ({ alert_channel_id: channels[i]!, ...on }))
  const heard = overrides && overrideFields(overridesOf('', overrides))
  if (stored === null) {
    const body = { ...dependencyBodyOf(entry), ...(overrides && { overrides }) }
    await createDependency(tools, caller.projectId, body, now)
    const said = concise({ ...after, overrides: entry.overrides }, dependencyDefaults(entry.slug))
    ledger.changes.push({ action: 'create', resource: RESOURCE, key, id: null, fields: newFields(said) })
    return
  }
  if ((entry.slug ?? null) !== stored.slug) {
    throw conflict('a dependency stays with the slug of the catalogue, or the address, that it was made with')
  }
  const before = { ...trackedFields(stored), overrides: storedOverrides(run, stored) }
  const wanted = { ...after, overrides: heard ?? before.overrides }
  const show = shownBy(state.names.channels)
  const fields = differences(before, wanted, show)
  if (!noteUpdate(ledger, { resource: RESOURCE, key, id: stored.id, fields })) return
  const { slug, ...changed } = Object.fromEntries(Object.entries(after).filter(([name]) => name in fields))
  await changeDependency(
    tools,
    caller.projectId,
    stored.id,
    { ...changed, ...(fields.overrides && overrides && { overrides }) },
    now,
  )
}

/** Throws 400, and 404 for a slug that the catalogue has not. */
function fieldsAfter({ tools }: Run, entry: DependencyEntry): Fields {
  const body = dependencyBodyOf(entry)
  const listed = entry.slug === undefined ? null : catalogEntry(entry.slug)
  if (entry.slug !== undefined && listed === null) throw notFound('vendor of the catalogue')
  const { tracked, problems } = listed ? trackedOfEntry(listed, body) : trackedOfBody(body, tools.checkLiteral)
  if (problems.length > 0) throw validationError(problems)
  return trackedFields(tracked)
}

const storedOverrides = ({ state }: Run, { id }: Dependency) =>
  overrideFields(state.overrides.filter(({ dependencyId }) => dependencyId === id))

/** Channels by their names. */
const shownBy =
  (names: ReadonlyMap<string, string>) =>
  (fields: Fields): Fields => ({
    ...fields,
    overrides: (fields.overrides as Fields[]).map(({ channel, ...on }) => ({
      channel: names.get(channel as string) ?? channel,
      ...concise(on, OVERRIDE_DEFAULTS),
    })),
  })
