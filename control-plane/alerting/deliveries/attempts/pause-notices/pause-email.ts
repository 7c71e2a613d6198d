import type { AccountEmail } from '../../../../accounts/email/outbox/account-email.tsx'

/** A channel that was paused, and why, as a sentence without its period. */
export type NoticeChannel = { id: string; name: string; reason: string }

type PauseNotice = {
  /** a name that is safe in an email, as those of the channels */
  organization: string
  channels: readonly NoticeChannel[]
  publicUrl: string
}

/** Channels that one email names. */
const MAX_NAMES = 10

/** An email to an admin about channels that send nothing any more. */
export function buildPauseEmail(to: string, { organization, channels, publicUrl }: PauseNotice): AccountEmail {
  const [first] = channels
  if (!first) throw new Error('an email about paused channels needs a channel')
  const isOne = channels.length === 1
  const names = channels.slice(0, MAX_NAMES).map(({ name }) => `“${name}”`)
  const more = channels.length - names.length
  if (more > 0) names.push(`${more} more`)
  const address = `${publicUrl}/settings/channels`
  return {
    to,
    subject: isOne
      ? `Alerts to the channel ${first.name} are paused`
      : `Alerts to ${channels.length} channels of ${organization} are paused`,
    paragraphs: [
      `Picket paused ${isOne ? `the channel ${names[0]}` : `the channels ${names.join(', ')}`} of ${organization}. No alerts are sent to ${isOne ? 'it' : 'them'} until ${isOne ? 'it is' : 'they are'} resumed.`,
      `Reason: ${first.reason}.`,
    ],
    link: isOne
      ? { label: 'Open the channel', url: `${address}/${first.id}` }
      : { label: 'Open the channels', url: address },
  }
}
