import { validationError } from '../../../foundation/web/server/errors.ts'
import type { ProjectFile } from '../file/project-file.ts'
import type { ImportWarning } from '../import/import-report.ts'

/** A file of another product, in Picket's form. What could not be carried over is in the warnings, each with its place. */
export type ConvertedFile = { file: ProjectFile; warnings: ImportWarning[] }

/** Throws 400 for what is no file of that product. */
export type Converter = (source: unknown) => ConvertedFile

/** What another product wrote: anything may stand anywhere. */
export type ForeignRecord = Record<string, unknown>

export type WarnAt = (path: string, message: string) => void

export const isRecord = (value: unknown): value is ForeignRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The records of a list, or of an object by their ids; what is no record is told. */
export function listRecords(value: unknown, path: string, warn: WarnAt): { record: ForeignRecord; path: string }[] {
  const entries = Array.isArray(value) ? value.map((one, i) => [`[${i}]`, one] as const) : []
  const named = isRecord(value) ? Object.entries(value).map(([key, one]) => [`.${key}`, one] as const) : []
  return [...entries, ...named].flatMap(([key, record]) => {
    if (isRecord(record)) return [{ record, path: `${path}${key}` }]
    warn(`${path}${key}`, 'this is no record; it was left out')
    return []
  })
}

/** A text with something in it; null for anything else. Numbers are texts to YAML where nobody quoted them. */
export function toText(value: unknown): string | null {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return typeof value === 'string' && value.trim() !== '' ? value : null
}

export const toNumber = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null

/** A name as ours may be: one line of 100 characters. */
export function toName(value: unknown, fallback: string): string {
  const line = (toText(value) ?? fallback).replace(/[\r\n\0]+/g, ' ').trim()
  return [...line].slice(0, 100).join('') || fallback
}

/** Tags as ours may be: one line of 50 characters, each once, at most 50; told where some had to be cut. */
export function toTags(texts: readonly (string | null)[], tell: (message: string) => void): string[] {
  const lines = [...new Set(texts.flatMap(text => text?.replace(/[\r\n\0]+/g, ' ').trim() || []))]
  const tags = [...new Set(lines.map(line => [...line].slice(0, 50).join('')))].slice(0, 50)
  if (lines.some(line => !tags.includes(line))) tell('its tags were cut to 50 of 50 characters')
  return tags
}

/** Tells that a name was longer than ours may be. */
export function warnIfCut(value: unknown, name: string, tell: (message: string) => void): void {
  if ((toText(value)?.trim().length ?? 0) > name.length) tell('its name was cut to 100 characters')
}

/** Whether something is set: what says nothing is not lost. */
export const isSet = (value: unknown): boolean =>
  value != null && value !== '' && value !== false && value !== 0 && !(Array.isArray(value) && value.length === 0)

/** A whole number within bounds; told where it had to be moved. */
export function clampWithWarning(value: number, [least, most]: [number, number], say: (moved: number) => void): number {
  const moved = Math.min(most, Math.max(least, Math.round(value)))
  if (moved !== value) say(moved)
  return moved
}

export const INTERVAL_BOUNDS: [number, number] = [30, 3_600]
export const TIMEOUT_BOUNDS: [number, number] = [1_000, 60_000]
export const HEARTBEAT_BOUNDS: [number, number] = [30, 31 * 86_400]
export const REMINDER_BOUNDS: [number, number] = [5, 1_440]
export const MAX_RETRIES = 5

/** Throws 400: the body is no file of the product. */
export const wrongProductError = (product: string, sign: string) =>
  validationError([{ path: '', message: `the body is no file of ${product}: it has no ${sign}` }])
