import { validationError } from '../../../foundation/web/server/errors.ts'
import type { ProjectFile } from '../file/project-file.ts'
import { type ImportWarning, LEFT_OUT } from '../import/import-report.ts'

/** A converted file. Warnings, each with a path, say what could not be carried over. */
export type ConvertedFile = { file: ProjectFile; warnings: ImportWarning[] }

/** Throws 400 when the body is not a file of that product. */
export type Converter = (source: unknown) => ConvertedFile

/** A record of another product, with values of unknown types. */
export type ForeignRecord = Record<string, unknown>

export type WarnAt = (path: string, message: string) => void

export const isRecord = (value: unknown): value is ForeignRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the records of a list, or of an object by id. Warns about other values. */
export function listRecords(value: unknown, path: string, warn: WarnAt): { record: ForeignRecord; path: string }[] {
  const entries = Array.isArray(value) ? value.map((item, i) => [`[${i}]`, item] as const) : []
  const named = isRecord(value) ? Object.entries(value).map(([key, item]) => [`.${key}`, item] as const) : []
  return [...entries, ...named].flatMap(([key, record]) => {
    if (isRecord(record)) return [{ record, path: `${path}${key}` }]
    warn(`${path}${key}`, `not a record${LEFT_OUT}`)
    return []
  })
}

/** Returns a text that is not blank; null for other values. Unquoted numbers of YAML are texts. */
export function toText(value: unknown): string | null {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return typeof value === 'string' && value.trim() !== '' ? value : null
}

/** Returns a number, also of a text such as `443`; null for other values. */
export function toNumber(value: unknown): number | null {
  if (typeof value === 'string' && /^\s*-?\d+(\.\d+)?\s*$/.test(value)) return Number(value)
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

/** Parses a value, or returns the default, and calls `onInvalid` when the value is set but cannot be parsed. */
export function parseOr<T>(parse: (value: unknown) => T | null, fallback: T, value: unknown, onInvalid: () => void): T {
  const parsed = parse(value)
  if (parsed === null && isSet(value)) onInvalid()
  return parsed ?? fallback
}

/** Returns a number, or the default, with a warning when the value is set but is not a number. */
export const toNumberOr = (
  fallback: number,
  [name, value]: [name: string, value: unknown],
  addWarning: (message: string) => void,
): number => parseOr(toNumber, fallback, value, () => addWarning(`its ${name} was not understood; ${fallback} is used`))

/** Whether a switch is on: true, 1, or one of them as a text. */
export const isOn = (value: unknown): boolean => ['true', '1'].includes(String(value))

const MAX_RECIPIENTS = 20

/** Returns addresses without duplicates. Warns when there are more than a channel may have. */
export function toRecipients(addresses: readonly string[], addWarning: (message: string) => void): string[] {
  const different = [...new Set(addresses)]
  const lost = different.slice(MAX_RECIPIENTS)
  if (lost.length > 0) {
    addWarning(`only its first ${MAX_RECIPIENTS} recipients were carried over, without ${lost.join(', ')}`)
  }
  return different.slice(0, MAX_RECIPIENTS)
}

/** Returns a valid name: one line of at most 100 characters. */
export function toName(value: unknown, fallback: string): string {
  const line = (toText(value) ?? fallback).replace(/[\r\n\0]+/g, ' ').trim()
  return [...line].slice(0, 100).join('') || fallback
}

/** Returns valid tags: at most 50, each one line of 50 characters, without duplicates. Warns when tags were cut. */
export function toTags(texts: readonly (string | null)[], addWarning: (message: string) => void): string[] {
  const lines = [...new Set(texts.flatMap(text => text?.replace(/[\r\n\0]+/g, ' ').trim() || []))]
  const tags = [...new Set(lines.map(line => [...line].slice(0, 50).join('')))].slice(0, 50)
  if (lines.some(line => !tags.includes(line))) addWarning('its tags were cut to 50 tags of 50 characters')
  return tags
}

/** Warns when a name was cut. */
export function warnIfCut(value: unknown, name: string, addWarning: (message: string) => void): void {
  if ((toText(value)?.trim().length ?? 0) > name.length) addWarning('its name was cut to 100 characters')
}

/** Whether a value is set. Unset values need no warning. */
export const isSet = (value: unknown): boolean =>
  value != null && value !== '' && value !== false && value !== 0 && !(Array.isArray(value) && value.length === 0)

/** Returns a whole number within bounds, and calls `onClamped` when it had to be changed. */
export function clampWithWarning(
  value: number,
  [min, max]: [number, number],
  onClamped: (clamped: number) => void,
): number {
  const clamped = Math.min(max, Math.max(min, Math.round(value)))
  if (clamped !== value) onClamped(clamped)
  return clamped
}

export const INTERVAL_BOUNDS: [number, number] = [30, 3_600]
export const TIMEOUT_BOUNDS: [number, number] = [1_000, 60_000]
export const HEARTBEAT_BOUNDS: [number, number] = [30, 31 * 86_400]
export const REMINDER_BOUNDS: [number, number] = [5, 1_440]
export const MAX_RETRIES = 5

/** 400: the body is not a file of the product, because a property is missing. */
export const wrongProductError = (file: string, missing: string) =>
  validationError([{ path: '', message: `the body is not ${file}: ${missing} is missing` }])
