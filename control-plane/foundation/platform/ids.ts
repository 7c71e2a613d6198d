import { randomBytes, randomInt } from 'node:crypto'
import { v7, validate } from 'uuid'
import { nowMs } from './time/clock.ts'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** After a larger step back, ids use the new time; a smaller one is only a more precise measurement. */
const MIN_SET_BACK_MS = 1_000
let lastMs = Number.NEGATIVE_INFINITY
let sequence = 0

/** By the clock that all processes share, so that ids of several processes sort. Ids of one process are strictly ordered. */
function uuidv7(): string {
  const ms = nowMs()
  if (ms > lastMs || ms < lastMs - MIN_SET_BACK_MS) {
    lastMs = ms
    sequence = randomInt(2 ** 30)
  } else sequence++
  return v7({ msecs: lastMs, seq: sequence })
}

/** A record id: UUIDv7, so ids sort by creation. */
export const newId = (): string => uuidv7()

/** The smallest record id of a moment: ids created before it are smaller. */
export function firstIdAt(moment: Date): string {
  const ms = moment.getTime().toString(16).padStart(12, '0')
  return `${ms.slice(0, 8)}-${ms.slice(8)}-7000-8000-000000000000`
}

/** True when a text can be a record id. A malformed id is "not found" (docs/design/api.md#records). */
export const isId = (text: string): boolean => validate(text)

/** A delivery's id: `whd_` + UUIDv7 without dashes. */
export const newDeliveryId = (): string => `whd_${uuidv7().replaceAll('-', '')}`

/** True when a text can be a delivery's id. A malformed one is "not found" as well. */
export const isDeliveryId = (text: string): boolean => /^whd_[0-9a-f]{32}$/.test(text)

/** The time at which a delivery was queued, from its id. */
export const parseDeliveryTime = (id: string): Date => new Date(Number.parseInt(id.slice(4, 16), 16))

/** `length` random base62 characters, uniformly distributed. */
export function randomBase62(length: number): string {
  let text = ''
  for (let i = 0; i < length; i++) text += BASE62[randomInt(62)]
  return text
}

/** `bytes` random bytes as base64url, for links and tokens. */
export const randomToken = (bytes: number): string => randomBytes(bytes).toString('base64url')

/** A number as base62, padded with zeros to `length`. */
export function toBase62(value: number, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest = Math.floor(rest / 62)) text = BASE62[rest % 62] + text
  return text
}

/** A random part of `ms`, to spread the work of several processes. */
export const jitterMs = (ms: number): number => randomInt(Math.max(1, Math.floor(ms)))

/** A random number from 0 (inclusive) to 1 (exclusive). */
export const randomFraction = (): number => randomInt(2 ** 32) / 2 ** 32
