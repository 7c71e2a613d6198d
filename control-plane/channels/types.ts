import type { Static, TSchema } from 'typebox'
import type { Envelope } from '../events/envelope.ts'
import type { Detail } from '../web/errors.ts'

/** The request that a channel makes of an event, before it is signed. Header names in lower case. */
export type Message = { method: 'POST'; url: string; headers: Record<string, string>; body: Buffer }

/** Why a host may not be reached, or null (shared/egress: `checkLiteral`). */
export type CheckLiteral = (host: string) => string | null

/** All that the product has to know of one type of alert channel. Pure. */
export type ChannelKind<Config extends object = Record<string, unknown>> = {
  /** shape of `config`; it is free-form, so more properties are kept and ignored */
  schema: TSchema
  /** true when deliveries are signed with a secret of the channel's own */
  isSigned: boolean
  /** what the schema cannot say, with paths that start with `config` */
  problems(config: Config, checkLiteral: CheckLiteral): Detail[]
  /** where the config leads, as a URL: what secrets are given for */
  addressOf(config: Config): string
  /** the config as reads show it */
  mask(config: Config): Config
  /** a config that was sent back, with the stored secrets in place of masks */
  unmask(sent: Config, stored: Config | null): { config: Config; problems: Detail[] }
  render(envelope: Envelope, config: Config): Message
}

/** Ties a kind's functions to the type of its schema. */
export function defineKind<S extends TSchema>(kind: ChannelKind<Static<S> & object> & { schema: S }): ChannelKind {
  return kind as unknown as ChannelKind
}
