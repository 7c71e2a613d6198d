import { defineChatWebhook } from './kinds/chat-webhook.ts'
import { buildDiscordLayout } from './kinds/discord.ts'
import { email } from './kinds/email.ts'
import { slack } from './kinds/slack.ts'
import { buildTeamsLayout } from './kinds/teams.ts'
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
  chat_b: defineChatWebhook(buildDiscordLayout, { changes: 50 }),
  chat_c: defineChatWebhook(buildTeamsLayout, { changes: 25 }),
} satisfies Record<string, ChannelKind>
export type ChannelType = keyof typeof CHANNEL_KINDS

export const CHANNEL_TYPES = Object.keys(CHANNEL_KINDS) as ChannelType[]

export function getChannelKind(type: ChannelType): ChannelKind {
  return CHANNEL_KINDS[type]
}
