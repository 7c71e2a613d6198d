import type { Static, TSchema } from 'typebox'
import type { ErrorDetail } from '../../foundation/web/server/errors.ts'
import type { Envelope } from '../events/envelope.ts'

/** A request, before it is signed. Header names in lower case. */
export type HttpMessage = {
  via: 'http'
  method: 'POST'
  url: string
  headers: Record<string, string>
  body: Buffer
  /** the id at the relay that sends the request */
  relaySourceId?: string
  /** `url` is a method of the chat provider's API, called with the token of the channel's installation */
  byApp?: true
}

/** An email. `url` is its `mailto:` for the log; `body` is a MailContent as JSON, which is converted to MIME when it is sent. */
export type MailMessage = { via: 'mail'; to: string[]; url: string; headers: Record<string, never>; body: Buffer }

/** A rendered event or digest. Its body is stored before it is sent, and every retry sends the stored body. */
export type ChannelMessage = HttpMessage | MailMessage

/** The content of an email, which must not change between attempts. Ids are in angle brackets. */
export type MailContent = {
  subject: string
  message_id: string
  /** ids of the conversation: the same for every email about one incident, monitor or vendor */
  references: string[]
  /** ISO 8601 UTC */
  date: string
  /** ends the subscription, also by a POST of the mail program (RFC 8058) */
  unsubscribe_url?: string
  text: string
  html: string
}

/** Inputs of a message in addition to its event. */
export type RenderContext = {
  /** the origin of links, without a slash at the end */
  publicUrl: string
  /** null: a new event. Otherwise the monitor is still down: reminder `number` (from 1), down for "2 hours 5 minutes". */
  reminder: { number: number; downFor: string } | null
}

/** Many changes of a project in one message, for chats and email. */
export type Digest = {
  deliveryId: string
  projectName: string
  /** ISO 8601 UTC: the first and the last of the changes */
  from: string
  to: string
  /**
   * One change for each monitor. `status`: the last status (up, down, degraded). `words`: the text if there were several, for
   * example "down, then up".
   */
  changes: { name: string; status: string; words?: string; at: string; url: string }[]
  dashboardUrl: string
}

/** Returns why a host may not be reached, or null (shared/egress: `checkLiteral`). */
export type CheckLiteral = (host: string) => string | null

/** Everything that one kind of alert channel defines. Pure. */
export type ChannelKind<Config extends object = Record<string, unknown>> = {
  /** schema of `config`; further properties are kept and ignored */
  schema: TSchema
  /** whether deliveries are signed with the channel's secret */
  isSigned: boolean
  /** checks what the schema cannot; paths start with `config` */
  findProblems(config: Config, checkLiteral: CheckLiteral): ErrorDetail[]
  /** the destination as a URL, which stored secrets belong to */
  getAddress(config: Config): string
  /** the id at the relay that sends the messages; null or omitted: none */
  getRelayId?(config: Config): string | null
  /** the installation of the chat app that sends the messages; null or omitted: none */
  getInstallationId?(config: Config): string | null
  /** the email addresses that must be confirmed; omitted: none */
  getRecipients?(config: Config): string[]
  /** the config as reads show it */
  mask(config: Config): Config
  /** the config as keys with scope `read` see it; omitted: the same as `mask` */
  maskForReadOnly?(config: Config): Config
  /** replaces masks in a config that was sent back by the stored secrets */
  unmask(sent: Config, stored: Config | null): { config: Config; problems: ErrorDetail[] }
  render(envelope: Envelope, config: Config, context: RenderContext): ChannelMessage
  /** null for kinds that receive each change separately */
  renderDigest: ((digest: Digest, config: Config, context: RenderContext) => ChannelMessage) | null
}

/** Binds a kind's functions to the type of its schema. */
export function defineKind<S extends TSchema>(kind: ChannelKind<Static<S> & object> & { schema: S }): ChannelKind {
  return kind as unknown as ChannelKind
}
