import { ConfigError, type Env, readInteger } from '../../../shared/process/env.ts'
import {
  COUNTED_RESOURCES,
  type CountedResource,
  DEFAULT_LIMITS,
  type InstallationLimits,
  type LimitByPlan,
  PLANS,
  type PlanName,
} from './plans.ts'

/** Reads one number (or `none`) for all plans, or three as `10/50/500` for free, pro and business. */
export function readPlanLimits<Limit extends number | null>(
  env: Env,
  name: string,
  fallback: Record<PlanName, Limit>,
  mayBeNone = false,
): Record<PlanName, Limit> {
  const value = env[name] ?? ''
  if (value === '') return fallback
  const parts = value.split('/')
  const isGood = parts.every(part => /^\d{1,12}$/.test(part) || (mayBeNone && part === 'none'))
  if (!isGood || (parts.length !== 1 && parts.length !== PLANS.length)) {
    throw new ConfigError(
      `${name} is "${value}"; must be one whole number${mayBeNone ? ' or none' : ''}, or three like 10/50/500 for ${PLANS.join('/')}`,
    )
  }
  const limits = parts.map(part => (part === 'none' ? null : Number(part)) as Limit)
  return Object.fromEntries(PLANS.map((plan, i) => [plan, limits[parts.length === 1 ? 0 : i]])) as Record<
    PlanName,
    Limit
  >
}

/** Reads `API_KEYS_LIMIT` and the other limits of an organization, by plan. */
export function readLimitSettings(env: Env): InstallationLimits {
  const limits = COUNTED_RESOURCES.map(counted => [
    counted,
    readPlanLimits(env, toVariableName(counted), DEFAULT_LIMITS[counted], true),
  ])
  return {
    ...(Object.fromEntries(limits) as Record<CountedResource, LimitByPlan>),
    channelsPerHost: readInteger(env, 'CHANNELS_PER_HOST', DEFAULT_LIMITS.channelsPerHost, 1, 1_000_000),
    rulesPerMonitor: readInteger(env, 'ALERT_RULES_LIMIT', DEFAULT_LIMITS.rulesPerMonitor, 1, 1_000_000),
  }
}

const toVariableName = (counted: string) => `${counted.replace(/[A-Z]/g, '_$&').toUpperCase()}_LIMIT`
