import { nowMs } from '../platform/clock.ts'
import type { Secrets } from '../platform/secrets.ts'
import { botOf } from './bot.ts'
import { type ListedChannel, readChannels } from './channel-list.ts'
import type { StoredInstallation } from './installation.ts'
import { callProvider, type Provider } from './provider-reader.ts'
import { refusedCall } from './refusals.ts'

/** How old a list may be, and how many are kept. */
const KEPT_MS = 30_000
const MOST_KEPT = 1_000
/** A thousand channels each. */
const MOST_CALLS = 10

type Tools = { secrets: Secrets; provider: Provider }
type Kept = { tokens: Buffer; readMs: number; channels: Promise<ListedChannel[]> }

/** The public channels of a team by their names, up to 30 s old. Throws 503, and 409 when the team removed the app. */
export function createChannelReader(tools: Tools): (installation: StoredInstallation) => Promise<ListedChannel[]> {
  const kept = new Map<string, Kept>()
  return installation => {
    const { id, tokens } = installation
    const known = kept.get(id)
    if (known?.tokens.equals(tokens) && nowMs() - known.readMs < KEPT_MS) return known.channels
    if (kept.size >= MOST_KEPT) kept.clear()
    const channels = readAll(installation, tools)
    kept.set(id, { tokens, readMs: nowMs(), channels })
    channels.catch(() => kept.delete(id))
    return channels
  }
}

async function readAll(installation: StoredInstallation, { secrets, provider }: Tools): Promise<ListedChannel[]> {
  const as = botOf(installation, secrets)
  const channels = new Map<string, ListedChannel>()
  let cursor = ''
  for (let calls = 0; calls < MOST_CALLS; calls++) {
    const fields = { types: 'public_channel', exclude_archived: 'true', limit: '1000', ...(cursor && { cursor }) }
    const answer = await callProvider(provider, 'conversations.list', { as, fields })
    if (!answer.ok) throw refusedCall(answer)
    const page = readChannels(answer.fields)
    for (const channel of page.channels) channels.set(channel.id, channel)
    cursor = page.cursor
    if (cursor === '') break
  }
  return [...channels.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}
