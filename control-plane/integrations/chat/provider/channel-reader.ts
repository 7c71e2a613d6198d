import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import { monotonicMs } from '../../../foundation/platform/time/clock.ts'
import type { StoredInstallation } from '../installations/installation.ts'
import { getBotAuth } from './bot-token.ts'
import { type ListedChannel, parseChannels } from './channel-list.ts'
import { providerCallError } from './errors.ts'
import { callProvider, type Provider } from './provider-reader.ts'

/** Maximum age of a cached list. */
const CACHE_TIMEOUT_MS = 30_000
const MAX_CACHED_LISTS = 1_000
/** Each page has a thousand channels. */
const MAX_PAGES = 10

type Tools = { secrets: SecretCipher; provider: Provider }
type CachedChannels = { tokens: Buffer; readMs: number; channels: Promise<ListedChannel[]> }

/** Creates a reader of the public channels of a team, sorted by name, up to 30 s old. It throws 503, and 409 when the team removed the app. */
export function createChannelReader(tools: Tools): (installation: StoredInstallation) => Promise<ListedChannel[]> {
  const cache = new Map<string, CachedChannels>()
  return installation => {
    const { id, tokens } = installation
    const known = cache.get(id)
    if (known?.tokens.equals(tokens) && monotonicMs() - known.readMs < CACHE_TIMEOUT_MS) return known.channels
    if (cache.size >= MAX_CACHED_LISTS) cache.clear()
    const channels = fetchAllChannels(installation, tools)
    cache.set(id, { tokens, readMs: monotonicMs(), channels })
    channels.catch(() => cache.delete(id))
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
