import type { ChannelKind } from './types.ts'
import { webhook } from './webhook.ts'

export type { ChannelKind, CheckLiteral, Digest, MailContent, Message, RenderContext } from './types.ts'

/** The registry: a new kind of channel is one file and one line here. */
export const CHANNEL_KINDS = { webhook } satisfies Record<string, ChannelKind>
export type ChannelType = keyof typeof CHANNEL_KINDS

/** Types that the specification lists and no version has had so far. */
export const PLANNED_CHANNEL_TYPES = ['chat_a', 'chat_b', 'chat_c', 'email'] as const

export const CHANNEL_TYPES = Object.keys(CHANNEL_KINDS) as ChannelType[]

export function kindOf(type: ChannelType): ChannelKind {
  return CHANNEL_KINDS[type]
}
