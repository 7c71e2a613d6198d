import { ConfigError, type Env, integer } from '../../shared/env.ts'
import { type ByPlan, COUNTED, type Counted, LIMITS, type Limits, PLANS, type Plan } from './plans.ts'

/** Reads one number (or `none`) for all plans, or three as `10/50/500` for free, pro and business. */
export function byPlan<Limit extends number | null>(
  env: Env,
  name: string,
  fallback: Record<Plan, Limit>,
  mayBeNone = false,
): Record<Plan, Limit> {
  const value = env[name] ?? ''
  if (value === '') return fallback
  const parts = value.split('/')
  const isGood = parts.every(part => /^\d{1,12}$/.test(part) || (mayBeNone && part === 'none'))
  if (!isGood || (parts.length !== 1 && parts.length !== PLANS.length)) {
    throw new ConfigError(
      `${name} is "${value}"; write one whole number, or three like 10/50/500 for ${PLANS.join('/')}`,
    )
  }
  const limits = parts.map(part => (part === 'none' ? null : Number(part)) as Limit)
  return Object.fromEntries(PLANS.map((plan, i) => [plan, limits[parts.length === 1 ? 0 : i]])) as Record<Plan, Limit>
}

/** `API_KEYS_LIMIT` and the like: what an organization may have, by plan. */
export function limitSettings(env: Env): Limits {
  const limits = COUNTED.map(counted => [counted, byPlan(env, variableOf(counted), LIMITS[counted], true)])
  return {
    ...(Object.fromEntries(limits) as Record<Counted, ByPlan>),
    channelsPerHost: integer(env, 'CHANNELS_PER_HOST', LIMITS.channelsPerHost, 1, 1_000_000),
    rulesPerMonitor: integer(env, 'ALERT_RULES_LIMIT', LIMITS.rulesPerMonitor, 1, 1_000_000),
  }
}

const variableOf = (counted: string) => `${counted.replace(/[A-Z]/g, '_$&').toUpperCase()}_LIMIT`
