/** Providers whose hosts take messages for all their customers: many channels to one of them are not an attack on one receiver. */
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

/** The host that requests to an address put load on; null where that is a chat provider's, or where there is none. */
export function findReceiverHost(address: string): string | null {
  if (!/^https?:/i.test(address) || !URL.canParse(address)) return null
  const host = new URL(address).hostname.replace(/\.$/, '')
  return CHAT_HOSTS.some(known => host === known || host.endsWith(`.${known}`)) ? null : host
}
