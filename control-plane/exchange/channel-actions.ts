import { changeChannel, createChannel } from '../alerts/channel-actions.ts'
import { acceptConfig } from '../alerts/channel-config.ts'
import type { StoredChannel } from '../alerts/channel-store.ts'
import type { StoredSubscription } from '../alerts/subscription.ts'
import { subscribe } from '../alerts/subscription-actions.ts'
import { openConfig } from '../channels/sealed.ts'
import { validationError } from '../web/errors.ts'
import { CHANNEL_DEFAULTS, channelBodyOf, channelFields, showChannel, storedChannelFields } from './channel-fields.ts'
import type { ChannelEntry } from './document.ts'
import { concise, differences, newFields } from './fields.ts'
import { attempt, noteUpdate } from './ledger.ts'
import { type Find, finder, type Named } from './names.ts'
import { pairs, unpaired } from './pairs.ts'
import type { Run } from './run.ts'

const RESOURCE = 'alert_channel'

/** Channels of one name and of two kinds are two. */
const keyOf = ({ name, type }: { name: string; type: string }) => `${type} ${name}`
const KEY = { ofEntry: keyOf, ofRow: keyOf }

export type ImportedChannels = {
  find: Find
  /** of the project, and not of the file; subscriptions of channels that name theirs */
  unnamed: StoredChannel[]
  subscriptions: StoredSubscription[]
}

/** The channels of the file and what they hear of the whole project. `find`: what other entries mean by a name. */
export async function importChannels(run: Run): Promise<ImportedChannels> {
  const { file, state } = run
  const entries = file.alert_channels ?? []
  const found = pairs(entries, state.channels, KEY)
  const named: Named[] = []
  const subscriptions: StoredSubscription[] = []
  for (const [index, entry] of entries.entries()) {
    const place = `alert_channels[${index}]`
    const id = await importChannel(run, entry, found[index] ?? null, place)
    named.push({ name: entry.name, id, writtenId: entry.id })
    if (id !== null) subscriptions.push(...(await importSubscriptions(run, entry, id, place)))
  }
  const unnamed = unpaired(state.channels, found)
  const find = finder('alert channel', [...named, ...unnamed])
  return { find, unnamed: file.alert_channels ? unnamed : [], subscriptions }
}

async function importChannel(run: Run, entry: ChannelEntry, stored: StoredChannel | null, place: string) {
  return await attempt(run.ledger, place, () =>
    stored === null ? addChannel(run, entry) : updateChannel(run, entry, stored),
  )
}

async function addChannel({ tools, caller, ledger, now }: Run, entry: ChannelEntry): Promise<string> {
  const body = channelBodyOf(entry)
  const { channel } = await createChannel(tools, caller, body, now)
  const fields = newFields(concise(showChannel(channelFields(body)), CHANNEL_DEFAULTS))
  ledger.changes.push({ action: 'create', resource: RESOURCE, key: entry.name, id: null, fields })
  return channel.id
}

async function updateChannel(run: Run, entry: ChannelEntry, stored: StoredChannel): Promise<string> {
  const { tools, caller, ledger, now } = run
  const body = channelBodyOf(entry)
  const { config, problems } = acceptConfig(entry.type, entry.config, openConfig(stored, tools.secrets), tools)
  if (problems.length > 0) throw validationError(problems)
  const after = channelFields({ ...body, config })
  const fields = differences(storedChannelFields(stored, tools.secrets), after, showChannel)
  const change = { resource: RESOURCE, key: entry.name, id: stored.id, fields } as const
  if (noteUpdate(ledger, change)) {
    await changeChannel(tools, caller, stored.id, { ...body, is_default: body.is_default ?? false }, now)
  }
  return stored.id
}

/** Answers those beside them, when the file names any. */
async function importSubscriptions(
  run: Run,
  { name, subscriptions: wanted }: ChannelEntry,
  channelId: string,
  place: string,
) {
  const { tx, tools, caller, state, ledger, now } = run
  if (wanted === undefined) return []
  const stored = state.subscriptions.filter(({ alertChannelId }) => alertChannelId === channelId)
  const known = stored.map(({ alertType }) => alertType)
  ledger.unchanged += wanted.filter(type => known.includes(type)).length
  for (const type of wanted.filter(type => !known.includes(type))) {
    const body = { alert_channel_id: channelId, alert_type: type }
    await attempt(ledger, `${place}.subscriptions`, () => subscribe(tx, caller.projectId, body, tools.limits, now))
    const key = `${name} → ${type}`
    ledger.changes.push({ action: 'create', resource: 'alert_subscription', key, id: null, fields: {} })
  }
  return stored.filter(({ alertType }) => !wanted.includes(alertType))
}
