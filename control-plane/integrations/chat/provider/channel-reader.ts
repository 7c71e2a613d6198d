import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import { nowMs } from '../../../foundation/platform/time/clock.ts'
import type { StoredInstallation } from '../installations/installation.ts'
import { getBotAuth } from './bot-token.ts'
import { type ListedChannel, parseChannels } from './channel-list.ts'
import { providerCallError } from './errors.ts'
import { callProvider, type Provider } from './provider-reader.ts'

/** How old a list may be, and how many are kept. */
const CACHE_TIMEOUT_MS = 30_000
const MAX_CACHED_LISTS = 1_000
/** A thousand channels each. */
const MAX_PAGES = 10

type Tools = { secrets: SecretCipher; provider: Provider }
type CachedChannels = { tokens: Buffer; readMs: number; channels: Promise<ListedChannel[]> }

/** The public channels of a team by their names, up to 30 s old. Throws 503, and 409 when the team removed the app. */
export function createChannelReader(tools: Tools): (installation: StoredInstallation) => Promise<ListedChannel[]> {
  const kept = new Map<string, CachedChannels>()
  return installation => {
    const { id, tokens } = installation
    const known = kept.get(id)
    if (known?.tokens.equals(tokens) && nowMs() - known.readMs < CACHE_TIMEOUT_MS) return known.channels
    if (kept.size >= MAX_CACHED_LISTS) kept.clear()
    const channels = fetchAllChannels(installation, tools)
    kept.set(id, { tokens, readMs: nowMs(), channels })
    channels.catch(() => kept.delete(id))
    return channels
  }
}

async function fetchAllChannels(
  installation: StoredInstallation,
  { secrets, provider }: Tools,
): Promise<ListedChannel[]> {
  const as = getBotAuth(installation, secrets)
  const channels = new Map<string, ListedChannel>()
  let cursor = ''
  for (let calls = 0; calls < MAX_PAGES; calls++) {
    const fields = { types: 'public_channel', exclude_archived: 'true', limit: '1000', ...(cursor && { cursor }) }
    const answer = await callProvider(provider, 'conversations.list', { as, fields })
    if (!answer.ok) throw providerCallError(answer)
    const page = parseChannels(answer.fields)
    for (const channel of page.channels) channels.set(channel.id, channel)
    cursor = page.cursor
    if (cursor === '') break
  }
  return [...channels.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}
