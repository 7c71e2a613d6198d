import { readFileSync } from 'node:fs'

/** Readers of environment variables. Each error names the variable, its value and the accepted values. */

export type Env = Record<string, string | undefined>

export class ConfigError extends Error {}

export function readText(env: Env, name: string, fallback?: string): string {
  const value = env[name] ?? ''
  if (value !== '') return value
  if (fallback !== undefined) return fallback
  throw new ConfigError(`${name} is not set`)
}

export function readOptionalText(env: Env, name: string): string | null {
  return env[name] || null
}

/** The content of the file that a variable names; null when the variable is not set. */
export function readFileVariable(env: Env, name: string): Buffer | null {
  const path = readOptionalText(env, name)
  try {
    return path === null ? null : readFileSync(path)
  } catch (error) {
    throw new ConfigError(`${name} is "${path}", which is not readable: ${(error as NodeJS.ErrnoException).code}`)
  }
}

export function readInteger(env: Env, name: string, fallback: number, min: number, max: number): number {
  const value = env[name] ?? ''
  if (value === '') return fallback
  const number = Number(value)
  if (!Number.isInteger(number) || number < min || number > max) {
    throw new ConfigError(`${name} is "${value}"; it must be a whole number from ${min} to ${max}`)
  }
  return number
}

export function readList(env: Env, name: string): string[] {
  return (env[name] ?? '')
    .split(',')
    .map(item => item.trim())
    .filter(item => item !== '')
}

export function readEnum<T extends string>(env: Env, name: string, allowed: readonly T[], fallback: T): T {
  const value = env[name] ?? ''
  if (value === '') return fallback
  if (!(allowed as readonly string[]).includes(value)) {
    throw new ConfigError(`${name} is "${value}"; it must be one of ${allowed.join(', ')}`)
  }
  return value as T
}

/** Reads a URL. The value may contain a password, so the error does not repeat it. */
export function readUrl(env: Env, name: string, protocols: string[], fallback?: string): string {
  const value = readText(env, name, fallback)
  const isGood = URL.canParse(value) && protocols.includes(new URL(value).protocol)
  if (!isGood) throw new ConfigError(`${name} must be a URL that begins with ${protocols.join('// or ')}//`)
  return value
}
