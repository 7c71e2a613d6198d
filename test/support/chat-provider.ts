import { createHmac } from 'node:crypto'
import { type Answer, type ReceivedRequest, type Receiver, startReceiver } from './receiver.ts'
import type { Teardown } from './teardown.ts'

/** One call of the provider's API. */
type ReceivedCall = { method: string; fields: Record<string, string>; token: string; received: ReceivedRequest }

type Person = { id: string; email: string; team?: string }

/** The result of a consent, returned once for its code. */
type Consent = { team?: string; channel?: string; expiresIn?: number; more?: object }

/** A chat provider as described by its public documentation, on a free port of 127.0.0.1. */
export type ChatProvider = {
  origin: string
  /** the settings of a control plane with an app of this provider */
  env: Record<string, string>
  people: Person[]
  channels: string[]
  /** gives a consent; returns the code for the callback */
  consent(consent?: Consent): string
  /** sets the responses of the next calls of a method, in order */
  next(method: string, ...answers: (Answer | object)[]): void
  /** refuses every call with this token */
  refuse(token: string, error: string): void
  calls(method: string): ReceivedCall[]
  /** parsed bodies of the calls of a method */
  // biome-ignore lint/suspicious/noExplicitAny: tests inspect messages of every kind
  bodies(method: string): any[]
  /** signed headers for a text */
  signed(text: string, atSeconds?: number, secret?: string): Record<string, string>
  receiver: Receiver
}

const CLIENT = { id: '1.2', secret: 'client-secret-of-the-app', signing: 'signing-secret-of-the-app' }

export async function startChatProvider(t: Teardown): Promise<ChatProvider> {
  const receiver = await startReceiver(t)
  const origin = new URL(receiver.url).origin
  const consents = new Map<string, Consent>()
  const renewals = new Map<string, Consent>()
  const scripts = new Map<string, (Answer | object)[]>()
  const refusals = new Map<string, string>()
  const people: Person[] = []
  const channels: string[] = ['C1', 'C2', 'C3']
  let count = 0

  const grant = (consent: Consent) => {
    const { team = 'T1', channel = 'C1', expiresIn, more = {} } = consent
    const number = ++count
    const renewal = `xoxe-1-${number}`
    if (expiresIn) renewals.set(renewal, consent)
    return {
      ok: true,
      access_token: `xoxb-${number}-${team}`,
      token_type: 'bot',
      scope: 'chat:write,channels:read,commands,incoming-webhook,users:read,users:read.email,im:write',
      team: { id: team, name: `Team ${team}` },
      incoming_webhook: { channel: `#${channel.toLowerCase()}`, channel_id: channel, url: 'https://hooks.example/x' },
      ...(expiresIn && { expires_in: expiresIn, refresh_token: renewal }),
      ...more,
    }
  }

  const exchange = ({ fields, received }: ReceivedCall) => {
    const basic = Buffer.from(`${CLIENT.id}:${CLIENT.secret}`).toString('base64')
    if (received.headers.authorization !== `Basic ${basic}`) return no('bad_client_secret')
    const isRenewal = fields.grant_type === 'refresh_token'
    const [known, key] = isRenewal ? [renewals, fields.refresh_token] : [consents, fields.code]
    const consent = known.get(key ?? '')
    known.delete(key ?? '')
    return consent ? grant(consent) : no(isRenewal ? 'invalid_refresh_token' : 'invalid_code')
  }

  const buildPersonAnswer = (person: Person | undefined) =>
    person
      ? {
          ok: true,
          user: {
            id: person.id,
            team_id: person.team ?? 'T1',
            deleted: false,
            is_bot: false,
            is_email_confirmed: true,
            profile: { email: person.email },
          },
        }
      : no('users_not_found')

  const methods: Record<string, (called: ReceivedCall) => object> = {
    'oauth.v2.access': exchange,
    'auth.test': () => ({ ok: true }),
    'auth.revoke': () => ({ ok: true, revoked: true }),
    'users.lookupByEmail': ({ fields }) => buildPersonAnswer(people.find(({ email }) => email === fields.email)),
    'users.info': ({ fields }) => buildPersonAnswer(people.find(({ id }) => id === fields.user)),
    'conversations.open': ({ fields }) => ({ ok: true, channel: { id: `D${fields.users}` } }),
    'conversations.list': ({ fields }) => buildChannelPage(channels, fields),
    'chat.postMessage': () => ({ ok: true, channel: 'C1', ts: `1700000000.${++count}` }),
    'chat.update': () => ({ ok: true }),
    response: () => ({ ok: true }),
  }

  receiver.always(received => {
    const called = toReceivedCall(received)
    const scripted = scripts.get(called.method)?.shift()
    if (scripted !== undefined) return isAnswer(scripted) ? scripted : json(scripted)
    const refusal = refusals.get(called.token)
    return json(refusal ? no(refusal) : (methods[called.method]?.(called) ?? no('unknown_method')))
  })

  const calls = (method: string) => receiver.received.map(toReceivedCall).filter(called => called.method === method)
  return {
    origin,
    env: {
      CHAT_CLIENT_ID: CLIENT.id,
      CHAT_CLIENT_SECRET: CLIENT.secret,
      CHAT_SIGNING_SECRET: CLIENT.signing,
      CHAT_AUTHORIZE_URL: `${origin}/oauth/v2/authorize`,
      CHAT_API_URL: `${origin}/api`,
    },
    people,
    channels,
    receiver,
    calls,
    bodies: method => calls(method).map(({ received, fields }) => received.json ?? fields),
    consent(consent = {}) {
      const code = `code-of-consent-${++count}`
      consents.set(code, consent)
      return code
    },
    next: (method, ...answers) => void scripts.set(method, [...(scripts.get(method) ?? []), ...answers]),
    refuse: (token, error) => void refusals.set(token, error),
    signed(text, atSeconds = Math.floor(Date.now() / 1_000), secret = CLIENT.signing) {
      const signature = createHmac('sha256', secret).update(`v0:${atSeconds}:${text}`).digest('hex')
      return {
        'content-type': 'application/x-www-form-urlencoded',
        'x-slack-request-timestamp': String(atSeconds),
        'x-slack-signature': `v0=${signature}`,
      }
    },
  }
}

const no = (error: string) => ({ ok: false, error })
const json = (body: object) => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})
const isAnswer = (scripted: Answer | object): scripted is Answer => typeof scripted !== 'object' || 'status' in scripted

function toReceivedCall(received: ReceivedRequest): ReceivedCall {
  const isForm = received.headers['content-type']?.startsWith('application/x-www-form-urlencoded')
  return {
    method: received.path.split('/').at(-1) ?? '',
    fields: isForm ? Object.fromEntries(new URLSearchParams(received.rawBody)) : {},
    token: received.headers.authorization?.replace(/^Bearer /, '') ?? '',
    received,
  }
}

/** Returns a page of two channels, whatever limit is requested. */
function buildChannelPage(channels: string[], { cursor = '0' }: Record<string, string>) {
  const from = Number(cursor)
  const next = from + 2 < channels.length ? String(from + 2) : ''
  const shown = channels.slice(from, from + 2)
  return {
    ok: true,
    channels: shown.map(id => ({ id, name: `name-of-${id.toLowerCase()}`, is_member: id === 'C1', is_private: false })),
    response_metadata: { next_cursor: next },
  }
}
