import { ConfigError, type Env } from '../../shared/env.ts'
import { PLANS, type Plan } from './plans.ts'

/** What a limit is on each plan; null: none. */
export type ByPlan = Record<Plan, number | null>

/** Reads one number (or `none`) for all plans, or three as `10/50/500` for free, pro and business. */
export function byPlan<Limit extends number | null>(
  env: Env,
  name: string,
  fallback: Record<Plan, Limit>,
): Record<Plan, Limit> {
  const value = env[name] ?? ''
  if (value === '') return fallback
  const parts = value.split('/')
  const mayBeNone = Object.values(fallback).includes(null as Limit)
  const isGood = parts.every(part => /^\d{1,12}$/.test(part) || (mayBeNone && part === 'none'))
  if (!isGood || (parts.length !== 1 && parts.length !== PLANS.length)) {
    throw new ConfigError(
      `${name} is "${value}"; write one whole number, or three like 10/50/500 for ${PLANS.join('/')}`,
    )
  }
  const limits = parts.map(part => (part === 'none' ? null : Number(part)) as Limit)
  return Object.fromEntries(PLANS.map((plan, i) => [plan, limits[parts.length === 1 ? 0 : i]])) as Record<Plan, Limit>
}
