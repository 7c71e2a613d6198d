import type { ChannelType } from '../../../../alerting/channels/registry.ts'

/** A field of a channel's configuration. `path`: its name in `config`. */
export type ChannelField = {
  path: string
  label: string
  hint: string
  kind: 'text' | 'addresses' | 'headers'
  isOptional?: true
}

type ChannelKindForm = { name: string; explanation: string; fields: readonly ChannelField[] }

const chat = (name: string): ChannelKindForm => ({
  name,
  explanation: `Messages in a channel of ${name.replace('-compatible chat', '')}, by an incoming webhook`,
  fields: [
    {
      path: 'webhook_url',
      label: 'Address of the incoming webhook',
      hint: 'Every client that knows it can post, so it is encrypted and only its host is shown.',
      kind: 'text',
    },
  ],
})

/**
 * The kinds of channels and the fields of their configuration. The compiler asks for each kind of the registry, and a test
 * compares the fields with its schema (`control-plane/alerting/channels/registry.ts`).
 */
export const CHANNEL_KINDS: Record<ChannelType, ChannelKindForm> = {
  webhook: {
    name: 'Webhook',
    explanation: 'Signed JSON to an address of yours, one request for each change',
    fields: [
      { path: 'url', label: 'Address', hint: 'For example https://hooks.example.com/picket', kind: 'text' },
      { path: 'headers', label: 'Headers', hint: 'Sent with each request', kind: 'headers', isOptional: true },
      {
        path: 'relay_source_id',
        label: 'Relay source',
        hint: 'Only for installations that send by an external relay: the id of the source there.',
        kind: 'text',
        isOptional: true,
      },
    ],
  },
  email: {
    name: 'Email',
    explanation: 'One message to all addresses, which have to be confirmed by their owners',
    fields: [{ path: 'to', label: 'Addresses', hint: 'One on each line, up to 20.', kind: 'addresses' }],
  },
  chat_a: chat('Slack-compatible chat'),
  chat_b: chat('Discord-compatible chat'),
  chat_c: chat('Teams-compatible chat'),
}

export const CHANNEL_TYPES = Object.keys(CHANNEL_KINDS) as ChannelType[]

/** Set by the installed chat app. The form shows them, and other forms of the configuration do not have them. */
export const INSTALLED_FIELDS = ['installation_id', 'channel_id', 'channel_name'] as const
