import { decryptConfig } from '../../../../alerting/channels/config/encrypted-config.ts'
import { changeChannel, createChannel } from '../../../../alerting/routing/alert-channels/actions.ts'
import { resolveConfig } from '../../../../alerting/routing/alert-channels/config.ts'
import type { StoredChannel } from '../../../../alerting/routing/alert-channels/store.ts'
import type { StoredSubscription } from '../../../../alerting/routing/rules/subscription.ts'
import { subscribe } from '../../../../alerting/routing/rules/subscription-actions.ts'
import { validationError } from '../../../../foundation/web/server/errors.ts'
import {
  CHANNEL_DEFAULTS,
  maskChannelFields,
  toChannelBody,
  toChannelFields,
  toStoredChannelFields,
} from '../../fields/channel-fields.ts'
import { describeNewFields, diffFields, omitDefaults } from '../../fields/fields.ts'
import type { ChannelEntry } from '../../file/project-file.ts'
import { createReferenceResolver, type ReferenceTarget, type ResolveReference } from '../../file/references.ts'
import { attempt, recordUpdate } from '../import-report.ts'
import type { ImportRun } from '../import-run.ts'
import { listUnmatched, matchEntries } from '../matching.ts'

const RESOURCE = 'alert_channel'

/** Channels with the same name and different types are different channels. */
const getKey = ({ name, type }: { name: string; type: string }) => `${type} ${name}`
const MATCH_BY_TYPE_AND_NAME = { ofEntry: getKey, ofRow: getKey }

type ImportedChannels = {
  find: ResolveReference
  /** channels that the file does not name; empty without the section */
  unnamed: StoredChannel[]
  subscriptions: StoredSubscription[]
}

/** Imports channels with their project subscriptions. `find` resolves references of other entries. */
export async function importChannels(run: ImportRun): Promise<ImportedChannels> {
  const { file, state } = run
  const entries = file.alert_channels ?? []
  const found = matchEntries(entries, state.channels, MATCH_BY_TYPE_AND_NAME)
  const named: ReferenceTarget[] = []
  const subscriptions: StoredSubscription[] = []
  for (const [index, entry] of entries.entries()) {
    const place = `alert_channels[${index}]`
    const id = await importChannel(run, entry, found[index] ?? null, place)
    named.push({ name: entry.name, id, writtenId: entry.id })
    if (id !== null) subscriptions.push(...(await importSubscriptions(run, entry, id, place)))
  }
  const unnamed = listUnmatched(state.channels, found)
  const find = createReferenceResolver('alert channel', named, unnamed)
  return { find, unnamed: file.alert_channels ? unnamed : [], subscriptions }
}

async function importChannel(run: ImportRun, entry: ChannelEntry, stored: StoredChannel | null, place: string) {
  return await attempt(run.report, place, () =>
    stored === null ? addChannel(run, entry) : updateChannel(run, entry, stored),
  )
}

async function addChannel({ tools, caller, report, now }: ImportRun, entry: ChannelEntry): Promise<string> {
  const body = toChannelBody(entry)
  const { channel } = await createChannel(tools, caller, body, now)
  const fields = describeNewFields(omitDefaults(maskChannelFields(toChannelFields(body)), CHANNEL_DEFAULTS))
  report.changes.push({ action: 'create', resource: RESOURCE, key: entry.name, id: null, fields })
  return channel.id
}

async function updateChannel(run: ImportRun, entry: ChannelEntry, stored: StoredChannel): Promise<string> {
  const { tools, caller, report, now } = run
  const body = toChannelBody(entry)
  const { config, problems } = resolveConfig(entry.type, entry.config, decryptConfig(stored, tools.secrets), tools)
  if (problems.length > 0) throw validationError(problems)
  const after = toChannelFields({ ...body, config })
  const fields = diffFields(toStoredChannelFields(stored, tools.secrets), after, maskChannelFields)
  const change = { resource: RESOURCE, key: entry.name, id: stored.id, fields } as const
  if (recordUpdate(report, change)) {
    await changeChannel(tools, caller, stored.id, { ...body, is_default: body.is_default ?? false }, now)
  }
  return stored.id
}

/** Imports the subscriptions of a channel. Returns stored ones that the file does not name, if it names any. */
async function importSubscriptions(
  run: ImportRun,
  { name, subscriptions: wanted }: ChannelEntry,
  channelId: string,
  place: string,
) {
  const { tx, tools, caller, state, report, now } = run
  if (wanted === undefined) return []
  const stored = state.subscriptions.filter(({ alertChannelId }) => alertChannelId === channelId)
  const known = stored.map(({ alertType }) => alertType)
  report.unchanged += wanted.filter(type => known.includes(type)).length
  for (const type of wanted.filter(type => !known.includes(type))) {
    const body = { alert_channel_id: channelId, alert_type: type }
    await attempt(report, `${place}.subscriptions`, () => subscribe(tx, caller.projectId, body, tools.limits, now))
    const key = `${name} → ${type}`
    report.changes.push({ action: 'create', resource: 'alert_subscription', key, id: null, fields: {} })
  }
  return stored.filter(({ alertType }) => !wanted.includes(alertType))
}
