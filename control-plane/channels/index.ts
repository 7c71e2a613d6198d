import { chatA } from './chat-a.ts'
import { chatB } from './chat-b.ts'
import { chatC } from './chat-c.ts'
import { email } from './email.ts'
import type { ChannelKind } from './types.ts'
import { webhook } from './webhook.ts'

export type {
  ChannelKind,
  CheckLiteral,
  Digest,
  MailContent,
  MailMessage,
  Message,
  RenderContext,
} from './types.ts'

/** The registry: a new kind of channel is one file and one line here. */
export const CHANNEL_KINDS = {
  webhook,
  email,
  chat_a: chatA,
  chat_b: chatB,
  chat_c: chatC,
} satisfies Record<string, ChannelKind>
export type ChannelType = keyof typeof CHANNEL_KINDS

export const CHANNEL_TYPES = Object.keys(CHANNEL_KINDS) as ChannelType[]

export function kindOf(type: ChannelType): ChannelKind {
  return CHANNEL_KINDS[type]
}
