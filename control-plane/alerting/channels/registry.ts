import { discord } from './kinds/discord.ts'
import { email } from './kinds/email.ts'
import { slack } from './kinds/slack.ts'
import { teams } from './kinds/teams.ts'
import { webhook } from './kinds/webhook.ts'
import type { ChannelKind } from './types.ts'

export type {
  ChannelKind,
  ChannelMessage,
  CheckLiteral,
  Digest,
  MailContent,
} from './types.ts'

/** The kinds of channels. A new kind is one file and one line here. */
const CHANNEL_KINDS = {
  webhook,
  email,
  chat_a: slack,
  chat_b: discord,
  chat_c: teams,
} satisfies Record<string, ChannelKind>
export type ChannelType = keyof typeof CHANNEL_KINDS

export const CHANNEL_TYPES = Object.keys(CHANNEL_KINDS) as ChannelType[]

export function getChannelKind(type: ChannelType): ChannelKind {
  return CHANNEL_KINDS[type]
}
