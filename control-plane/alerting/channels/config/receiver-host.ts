/** Hosts of providers that accept messages for all their customers. Limits for one host do not apply to them. */
const CHAT_HOSTS = [
  'slack.com',
  'discord.com',
  'discordapp.com',
  'office.com',
  'office365.com',
  'logic.azure.com',
  'powerplatform.com',
  'chat.googleapis.com',
]

/** Returns the host that requests to an address put load on. Null for hosts of chat providers and for other kinds of address. */
export function findReceiverHost(address: string): string | null {
  if (!/^https?:/i.test(address) || !URL.canParse(address)) return null
  const host = new URL(address).hostname.replace(/\.$/, '')
  return CHAT_HOSTS.some(known => host === known || host.endsWith(`.${known}`)) ? null : host
}
