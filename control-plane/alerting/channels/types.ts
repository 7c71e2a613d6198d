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
  /** asks for the relay, under this name */
  relaySourceId?: string
  /** `url` is a method of the chat provider's API, which is called in the name of the channel's installation */
  byApp?: true
}

/** A mail. `url` is its `mailto:` for the log; `body` is a MailContent as JSON, which becomes MIME when it is sent. */
export type MailMessage = { via: 'mail'; to: string[]; url: string; headers: Record<string, never>; body: Buffer }

/** What a channel makes of an event or a digest. Its body is stored before it is sent, and stays in every retry. */
export type ChannelMessage = HttpMessage | MailMessage

/** The bytes of a mail, with all of it that must not change from one attempt to the next. Ids are in angle brackets. */
export type MailContent = {
  subject: string
  message_id: string
  /** what the conversation hangs on: the same for every mail about one incident, monitor or vendor */
  references: string[]
  /** ISO 8601 UTC */
  date: string
  /** ends the subscription at one click, also by a POST of the reader's mail program (RFC 8058) */
  unsubscribe_url?: string
  text: string
  html: string
}

/** What a message says beside its event. */
export type RenderContext = {
  /** the origin that links lead to, without a slash at the end */
  publicUrl: string
  /** null: this is news. Else the monitor is still down: reminder `number` (from 1), down for "2 hours 5 minutes". */
  reminder: { number: number; downFor: string } | null
}

/** Many changes of a project in one message, to a chat or by mail. */
export type Digest = {
  deliveryId: string
  projectName: string
  /** ISO 8601 UTC: the first and the last of the changes */
  from: string
  to: string
  /**
   * One of each monitor. `status`: what it is in the end (up, down, degraded); `words`: how that is put where it is not
   * all, "down, then up" for instance.
   */
  changes: { name: string; status: string; words?: string; at: string; url: string }[]
  dashboardUrl: string
}

/** Why a host may not be reached, or null (shared/egress: `checkLiteral`). */
export type CheckLiteral = (host: string) => string | null

/** All that the product has to know of one type of alert channel. Pure. */
export type ChannelKind<Config extends object = Record<string, unknown>> = {
  /** shape of `config`; it is free-form, so more properties are kept and ignored */
  schema: TSchema
  /** true when deliveries are signed with a secret of the channel's own */
  isSigned: boolean
  /** what the schema cannot say, with paths that start with `config` */
  findProblems(config: Config, checkLiteral: CheckLiteral): ErrorDetail[]
  /** where the config leads, as a URL: what secrets are given for */
  getAddress(config: Config): string
  /** the id at a relay that messages go through instead; null or left out: none */
  getRelayId?(config: Config): string | null
  /** the installation of the app in a chat that messages go through; null or left out: none */
  getInstallationId?(config: Config): string | null
  /** the mail addresses that it sends to, which have to be confirmed; left out: none */
  getRecipients?(config: Config): string[]
  /** the config as reads show it */
  mask(config: Config): Config
  /** the config as keys below write see it; left out: as all reads show it */
  maskForReadOnly?(config: Config): Config
  /** a config that was sent back, with the stored secrets in place of masks */
  unmask(sent: Config, stored: Config | null): { config: Config; problems: ErrorDetail[] }
  render(envelope: Envelope, config: Config, context: RenderContext): ChannelMessage
  /** null for kinds that are told every change by itself */
  renderDigest: ((digest: Digest, config: Config, context: RenderContext) => ChannelMessage) | null
}

/** Ties a kind's functions to the type of its schema. */
export function defineKind<S extends TSchema>(kind: ChannelKind<Static<S> & object> & { schema: S }): ChannelKind {
  return kind as unknown as ChannelKind
}
