export const PLANS = ['free', 'pro', 'business'] as const
export type Plan = (typeof PLANS)[number]

/** Null: no limit. */
export type PlanLimits = {
  monitors: number | null
  statusPages: number | null
  dataSources: number | null
  alertChannels: number | null
  members: number | null
  customDomain: boolean
  minIntervalSeconds: number
}

/** What a plan includes (decisions 2.5). */
export const PLAN_LIMITS: Record<Plan, PlanLimits> = {
  free: {
    monitors: 50,
    statusPages: 1,
    dataSources: 2,
    alertChannels: 10,
    members: 3,
    customDomain: false,
    minIntervalSeconds: 30,
  },
  pro: {
    monitors: 500,
    statusPages: 10,
    dataSources: 20,
    alertChannels: 50,
    members: 20,
    customDomain: true,
    minIntervalSeconds: 30,
  },
  business: {
    monitors: null,
    statusPages: null,
    dataSources: null,
    alertChannels: 500,
    members: null,
    customDomain: true,
    minIntervalSeconds: 30,
  },
}

/** Rules of one monitor, on every plan. */
export const RULES_PER_MONITOR = 20

/** What an installation sets for all plans. `alertChannels` null: what the plan says. */
export type AlertLimits = { alertChannels: number | null; rulesPerMonitor: number }

/** What plans count. */
export type Counted = 'monitors' | 'statusPages' | 'dataSources' | 'alertChannels' | 'members'

export type Usage = { plan: Plan; counted: Counted; limit: number | null; used: number }

const NOUNS: Record<Counted, string> = {
  monitors: 'monitor',
  statusPages: 'status page',
  dataSources: 'data source',
  alertChannels: 'alert channel',
  members: 'member',
}

/** Why one of some monitors, which have so many rules each, has too many; null when all are fine. */
export function overRules(rules: number[], limit: number): string | null {
  const most = Math.max(0, ...rules)
  return most <= limit ? null : `a monitor has at most ${limit} alert rules, and this would be ${most}`
}

/** Why `adding` more do not fit into the plan, with the limit and the current count; null when they do. */
export function overLimit({ plan, counted, limit, used }: Usage, adding: number): string | null {
  if (limit === null || used + adding <= limit) return null
  const noun = `${NOUNS[counted]}${limit === 1 ? '' : 's'}`
  return `the ${plan} plan includes ${limit} ${noun} and ${used} ${used === 1 ? 'is' : 'are'} in use`
}
